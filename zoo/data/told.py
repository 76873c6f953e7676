"""What a person should know of a corpus before believing a score on it, from its summary."""

from collections.abc import Mapping
from typing import Any


def told(summary: Mapping[str, Any]) -> str:
    """One line: tokens of each split, line ends, and what of the held-out splits stands in train too."""
    sizes = ", ".join(f"{facts['tokens']:,} {name}" for name, facts in summary["splits"].items())
    facts = [f"data={summary['data']}: {sizes} tokens of {summary['tokenizer']}"]
    if "line_ends" in summary:
        ends = ", ".join(f"{count:,} {end}" for end, count in summary["line_ends"].items() if count) or "none"
        facts.append(f"line ends {summary['line_end_rule']}: {ends}")
    if "run_folders" in summary:
        facts.append(f"run folders below data.path left out: {summary['run_folders']:,}")
    return "; ".join([*facts, ", ".join(repeated(summary)) or _nothing(summary)])


def repeated(summary: Mapping[str, Any]) -> list[str]:
    """For each held-out split of which something stands in train too: how much, as in '2 of 50 test lines (4.00 %)
    stand in train'."""
    found = []
    for split, facts in summary.get("overlap", {}).items():
        what = next(key for key in ("documents", "sources", "lines") if key in facts)
        if facts["in_train"]:
            counts = f"{facts['in_train']:,} of {facts[what]:,}"
            found.append(f"{counts} {split} {what} ({100 * facts['share']:.2f} %) stand in train")
    return found


def _nothing(summary: Mapping[str, Any]) -> str:
    """That nothing was found, or that there was nothing to look for."""
    compared = any(facts["share"] is not None for facts in summary.get("overlap", {}).values())
    return "nothing held out was found in train" if compared else "nothing held out was compared with train"
