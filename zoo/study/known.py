"""What the run of a job is known by, as far as its config says; the parts, and so torch, are imported here."""

from collections.abc import Mapping
from typing import Any

from zoo.config import ASIDE, parse
from zoo.errors import UserError
from zoo.jobs.science import science_of
from zoo.registry import FAMILIES
from zoo.schema import defaults
from zoo.training.files import canonical_json


def known_by(node: Mapping[str, Any]) -> str | None:
    """The same text for two configs that are one run wherever their corpus is one. None for bad input, which its job
    will tell."""
    try:
        experiment = parse({key: value for key, value in node.items() if key not in ASIDE})
        data = {**defaults(FAMILIES["data"].get(experiment.data.name)), **experiment.data.values}
        return canonical_json(science_of(experiment, repr(sorted(data.items()))))
    except UserError:
        return None
