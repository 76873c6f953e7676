"""What was made equal, how well, and what was not."""

from zoo.page import Block, Cell, Column, Section, Table
from zoo.study.report.findings import Findings
from zoo.study.report.numbers import listed, mean
from zoo.study.tables import state_bytes

TITLE = "Matching"
COSTS = ("parameters", "active_parameters", "flops_per_token")


def section(findings: Findings) -> Section:
    """The residuals of the solver, then all sizes of all variants: what no one matched is seen there."""
    sizes = _sizes(findings)
    if findings.question.match == "none":
        said = "Nothing was matched: the variants are as large as their parts make them."
        return Section("matching", TITLE, [said, sizes]) if sizes.rows else Section("matching", TITLE, missing=said)
    rows: list[list[Cell]] = []
    for name in findings.question.names:
        found = next((run.match for run in findings.evidence.runs if run.variant == name and run.match), None)
        if found is None:
            why = "the reference" if name == findings.question.reference else "not matched yet"
            rows.append([name, findings.question.match, *[None] * 4, None, why])
            continue
        residual = found.get("residual")
        rows.append(
            [
                name,
                str(found.get("target")),
                _number(found.get("wanted")),
                _number(found.get("got")),
                None if not isinstance(residual, int | float) else 100.0 * residual,
                str(found.get("solved") or ""),
                ", ".join(f"{key} {value:+.1%}" for key, value in (found.get("not_matched") or {}).items()),
                str(found.get("why_not") or ""),
            ]
        )
    names = ("variant", "matched", "wanted", "got", "residual (%)", "solved for", "not matched", "why not")
    columns = [
        Column(name, 2 if name.startswith("residual") else None, sign=name.startswith("residual")) for name in names
    ]
    off = [str(row[0]) for row in rows if row[-1] and isinstance(row[4], float)]
    said = f"Sizes were matched by {findings.question.match}."
    said += f" Not within 1 %: {listed(off)}." if off else ""
    blocks: list[Block] = [said, Table(columns, rows), sizes]
    return Section("matching", TITLE, blocks)


def _sizes(findings: Findings) -> Table:
    """Costs of every variant, and how far they are from the reference's."""
    evidence, rows = findings.evidence, []
    reference = {key: _cost(findings, findings.question.reference, key) for key in (*COSTS, "state")}
    for name in evidence.shown:
        row: list[Cell] = [name]
        for key, base in reference.items():
            value = _cost(findings, name, key)
            row += [value, None if value is None or not base else 100 * (value / base - 1)]
        rows.append(row)
    heads = [Column("variant")]
    for key in ("parameters", "active parameters", "forward FLOPs per token", "state (bytes per row)"):
        heads += [Column(key, 0), Column("to reference (%)", 1, sign=True)]
    return Table(heads, rows, "Sizes as built")


def _cost(findings: Findings, name: str, key: str) -> float | None:
    runs = findings.evidence.done(name)
    return mean([v for run in runs if (v := state_bytes(run) if key == "state" else run.cost(key)) is not None])


def _number(value: object) -> Cell:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float) else None
