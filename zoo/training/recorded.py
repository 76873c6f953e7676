"""Whether record.json of a run folder holds what is written there: it may be damaged, or edited by hand."""

from collections.abc import Callable, Mapping
from typing import Any

NEEDED = ("choices", "overrides", "science", "machinery")

Check = Callable[[Any], bool]


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _versions(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str | None) for one in value.values())


CODE: Mapping[str, tuple[Check, str]] = {
    "commit": (lambda value: isinstance(value, str | None), "text"),
    "dirty": (lambda value: isinstance(value, bool | None), "true or false"),
    "packages": (_versions, "mapping of versions"),
    "machinery": (_mapping, "mapping"),
}
"""What the record, and each place where the run went on, says of what computed it."""

WHOLE: Mapping[str, tuple[Check, str]] = {
    "choices": (_mapping, "mapping"),
    "overrides": (_texts, "list of texts"),
    "science": (_mapping, "mapping"),
    "costs": (_mapping, "mapping"),
    "data": (_mapping, "mapping"),
    "machine": (_mapping, "mapping"),
    "resumed": (lambda value: isinstance(value, list), "list"),
    **CODE,
}

PARTS: Mapping[str, tuple[Check, str]] = {"tokenizer": (_mapping, "mapping"), "budget": (_mapping, "mapping")}
"""What a report takes apart of the science."""


def misfit(record: Mapping[str, Any]) -> str:
    """The first key that is missing or not as it should be, as in "commit is no text"; nothing where all is well."""
    for key in NEEDED:
        if key not in record:
            return f"it lacks {key}"
    return wrong(record) or _wrong(record["science"], PARTS, "science.")


def wrong(record: Mapping[str, Any]) -> str:
    """The first key that is there and not as it should be; nothing where all is in order."""
    if said := _wrong(record, WHOLE, ""):
        return said
    for number, one in enumerate(record.get("resumed", [])):
        if not isinstance(one, dict):
            return f"resumed[{number}] is no mapping"
        if said := _wrong(one, CODE, f"resumed[{number}]."):
            return said
    return ""


def _wrong(found: Mapping[str, Any], shape: Mapping[str, tuple[Check, str]], where: str) -> str:
    return next(
        (f"{where}{key} is no {kind}" for key, (fits, kind) in shape.items() if key in found and not fits(found[key])),
        "",
    )
