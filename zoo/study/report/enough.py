"""On how many words a score stands: of a handful, nothing is found."""

from collections.abc import Iterable, Mapping, Sequence

ENOUGH = 50
"""Words of a run, whose tokens stand or fall together: a score on fewer is drawn, but no title is made of it."""

TOO_FEW = f"on fewer than {ENOUGH} words, too few to tell the variants apart"

Counts = Mapping[str, Sequence[int | float]]
"""By what is scored (a skill, a distance): how many words of it each run had."""


def with_enough(scored: Iterable[str], counts: Counts) -> list[str]:
    """Those of which a run has enough words; all of them, where no run says how many it had."""
    return [one for one in scored if not counts or max(counts.get(one, [0])) >= ENOUGH]
