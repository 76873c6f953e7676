"""Equal-budget views side by side: the winner may change, and then the report says so."""

from zoo.page import Axis, Cell, Column, Figure, Section, Table, line
from zoo.study.budgets import AXES, View, views
from zoo.study.report.findings import Findings
from zoo.study.report.lead import in_noise
from zoo.study.report.numbers import plus
from zoo.study.statistics import Paired

TITLE = "At equal steps, tokens, FLOPs and seconds"


def section(findings: Findings) -> Section:
    """A line a variant over the four budgets: where two cross, who is ahead depends on the budget."""
    evidence = findings.evidence
    found = views(evidence)
    if not found:
        why = "It needs two variants whose runs have two validations each (`budget.evaluate_every`)."
        return Section("budgets", TITLE, missing=why)
    names = list(found[0].losses)
    places = [AXES[view.axis] for view in found]
    marks = [
        line(name, places, [view.means()[name] for view in found], evidence.slot(name), dots=True) for name in names
    ]
    rows: list[list[Cell]] = [[name, *(view.means()[name] for view in found)] for name in names]
    table = Table([Column("variant"), *(Column(place, 4) for place in places)], rows, _budgets(found))
    note = (
        "Validation loss, read between validations at the largest budget that all runs reached; nothing is"
        " extrapolated. Seconds are those of the machine that trained, of training alone."
    )
    y = Axis("validation loss (nats per token)")
    figure = Figure(verdict(found), marks, Axis("budget", categories=places), y, table, note)
    return Section("budgets", TITLE, [figure])


def verdict(found: list[View]) -> str:
    """Whether the winner is the same everywhere; if not, who wins where and by how much. A lead within noise is no
    change of the winner."""
    winners: dict[str, list[View]] = {}
    for view in found:
        winners.setdefault(view.winner, []).append(view)
    first, *others = winners
    if not others:
        return _everywhere(first, found)
    ahead = f"`{first}` is ahead at {_places(winners[first])}"
    changes = [f"`{name}` at {_places(winners[name])}{_lead(winners[name][0], first)}" for name in others]
    if all(in_noise(view.lead(first)) for name in others for view in winners[name]):
        return f"{ahead}; that the winner changes with the budget is not shown: {', '.join(changes)}"
    return f"The winner changes with the budget: {ahead}, {', '.join(changes)}"


def _everywhere(only: str, found: list[View]) -> str:
    """What is said of the one winner."""
    leads = [(view, _over_next(view)) for view in found]
    close = [view for view, lead in leads if in_noise(lead)]
    said = f"`{only}` is ahead at {_places(found)}"
    if all(lead is None or lead.low is None for _, lead in leads):
        return f"{said}; without two seeds of both, noise is not known"
    return said + (f"; within noise of the next one at {_places(close)}" if close else "")


def _over_next(view: View) -> Paired | None:
    """The lead over the second."""
    means = view.means()
    return view.lead(min((name for name in means if name != view.winner), key=lambda name: means[name]))


def _lead(view: View, over: str) -> str:
    found = view.lead(over)
    if found is None:
        return ""
    if found.low is None or found.high is None:
        return f" (by {plus(-found.mean)}, one seed)"
    noise = ", within noise" if in_noise(found) else ""
    return f" (by {-found.mean:.4f}, 95 % interval {plus(-found.high)} … {plus(-found.low)}{noise})"


def _places(found: list[View]) -> str:
    words = [AXES[view.axis] for view in found]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _budgets(found: list[View]) -> str:
    shown = [f"{_amount(view.budget)} {'FLOPs' if view.axis == 'flops' else view.axis}" for view in found]
    return f"validation loss (nats per token) at {', '.join(shown)}"


def _amount(value: float) -> str:
    return f"{value:.3g}" if value >= 1e7 else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
