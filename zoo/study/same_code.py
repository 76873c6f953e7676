"""Whether the options of two runs are the same code: the numbers of one that was edited, or whose arithmetic changed
since, are of another option with the same name."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zoo.families import group_of, part_at
from zoo.jobs.identity import CODE, VERSION
from zoo.study.run import Run

Known = tuple[str, str]
"""The hash of a plugin's code, and the version."""

Codes = Mapping[tuple[str, str], Known]
"""By group and name of an option: it is one wherever it stands, in all layers, in some, across or inside a mixture."""


def common_code(runs: Sequence[Run]) -> Codes:
    """What most of these runs have of each option, the first of several."""
    found: dict[tuple[str, str], Counter[Known]] = {}
    for run in runs:
        for option, code in {option: code for option, _, code in _options(run.science, "")}.items():
            found.setdefault(option, Counter())[code] += 1
    return {option: codes.most_common(1)[0][0] for option, codes in found.items()}


def other_code(run: Run, common: Codes) -> str:
    """Which options of the run are other code, as a sentence; nothing where all are the same."""
    differing = [told for option, told, code in _options(run.science, "") if common.get(option, code) != code]
    return f"{', '.join(differing)}: its code is another one than that of most runs" if differing else ""


def _options(node: Any, place: str) -> Iterator[tuple[tuple[str, str], str, Known]]:
    """Each option, how it is told, and what it is known by."""
    if not isinstance(node, Mapping):
        return
    if "name" in node:
        option = group_of(part_at(place) or place), str(node["name"])
        yield option, f"{place} '{node['name']}'", (str(node.get(CODE)), str(node.get(VERSION, 1)))
    for key, inner in node.items():
        yield from _options(inner, f"{place}.{key}".lstrip("."))
