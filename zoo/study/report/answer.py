"""The answer in one sentence."""

from collections.abc import Sequence

from zoo.number import counted
from zoo.study.metric import read_metric
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import plus
from zoo.study.verdict import Row

NAMED = 4
"""Variants that are named, at most."""


def answer(findings: Findings) -> str:
    """What the verdict table comes to."""
    question, rows = findings.question, findings.rows
    if not rows:
        return "There is nothing to compare: the study has one variant."
    if all(row.verdict == "nothing yet" for row in rows):
        return "No answer yet: no two variants have runs of the same seed."
    if not any(row.verdict in ("better", "worse", "within noise") for row in rows):
        return _withheld(findings)
    if len(rows) == 1:
        is_ = {"within noise": "is within noise of"}.get(rows[0].verdict, f"is {rows[0].verdict} than")
        return f"`{rows[0].variant}` {is_} `{rows[0].against}` on {question.metric}{_by(rows[0])}."
    if question.chain:
        whole, than = f"Of {len(rows)} changes, each on top of those before it", ""
    elif len({row.against for row in rows}) > 1:
        whole, than = f"Of {len(rows)} comparisons", ""
    else:
        whole, than = f"Of {len(rows)} variants", f", compared with `{rows[0].against}`"
    pairs = whole.endswith("comparisons")
    parts = [
        _named(rows, "better", pairs),
        _named(rows, "worse", pairs),
        _counted(rows, "within noise"),
        _counted(rows, "undecided"),
    ]
    return f"{whole}, {'; '.join(part for part in parts if part)} ({question.metric}{than})."


def _named(rows: tuple[Row, ...], verdict: str, pairs: bool) -> str:
    chosen = [row for row in rows if row.verdict == verdict]
    names = ", ".join(f"`{row.variant}`{f' than `{row.against}`' * pairs}{_by(row)}" for row in chosen[:NAMED])
    rest = f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else ""
    return f"{_are(len(chosen))} {verdict}: {names}{rest}" if chosen else ""


def _counted(rows: tuple[Row, ...], verdict: str) -> str:
    known = ("better", "worse", "within noise")
    count = sum(row.verdict == verdict or (verdict == "undecided" and row.verdict not in known) for row in rows)
    return f"{_are(count)} {verdict}" if count else ""


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def _by(row: Row) -> str:
    """The mean difference, which is of the seeds that came to their end, and how many did not."""
    parts = [] if row.difference is None else [plus(row.difference.mean)]
    if row.losses:
        parts.append(f"diverged on {row.losses} of {counted(row.n, 'seed')}")
    return f" ({', '.join(parts)})" if parts else ""


def _withheld(findings: Findings) -> str:
    """The numbers without the claim."""
    metric = findings.question.metric
    sign = read_metric(metric).sign
    seen = {row: sign * row.difference.mean for row in findings.rows if row.difference is not None}
    if not seen:
        return f"No claim can be made: {findings.rows[0].why}."
    best = min(seen, key=lambda row: seen[row])
    why = f"No claim is made: there {'is' if best.n == 1 else 'are'} {best.why}."
    lower, change = ("lower", "increase") if sign > 0 else ("higher", "decrease")
    of_it = f"that of `{best.variant}` to `{best.against}`{_by(best)}"
    if seen[best] < 0:
        return f"{why} The most favourable difference of {metric} is {of_it}."
    if len(seen) == 1:
        return f"{why} The {metric} of `{best.variant}` is not {lower} than that of `{best.against}`{_by(best)}."
    none = f"None of {len(seen)} variants has a {lower} {metric} than {_other(list(seen))}"
    return f"{why} {none}; the smallest {change} is {of_it}."


def _other(rows: Sequence[Row]) -> str:
    others = {row.against for row in rows}
    return f"`{others.pop()}`" if len(others) == 1 else "the one that it is compared with"
