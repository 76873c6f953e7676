"""A sweep with -m is a study too: its axes say what is compared, what is tuned and what are seeds."""

from collections.abc import Sequence
from itertools import product

from zoo.command.overrides import key_of, parse_override, seeds_of, values_of
from zoo.study.spec import Study, read_seeds
from zoo.study.variants import Variant

TUNED = ("optimizer.lr", "optimizer.weight_decay", "optimizer.betas", "schedule", "schedule.warmup")
"""Keys that are tuned for each variant, unless nothing else varies."""


def unnamed_study(given: Sequence[str]) -> tuple[Study, list[str]]:
    """The study that these overrides sweep over, and those that all its runs share."""
    axes = {key_of(one): values_of(one) for one in given}
    shared = [values[0] for key, values in axes.items() if len(values) == 1 and key != "seed"]
    swept = {key: values for key, values in axes.items() if len(values) > 1 and key != "seed"}
    tuned = {key: values for key, values in swept.items() if key in TUNED}
    if len(tuned) == len(swept):
        tuned = {}
    compared = [values for key, values in swept.items() if key not in tuned]
    seeds = read_seeds(seeds_of(axes.get("seed", ["seed=0"])), "seed")
    variants = [Variant(" ".join(map(_name, one)) or "all", tuple(one), "") for one in product(*compared)]
    study = Study(
        name="sweep",
        question="Which of these is better?",
        expected="",
        source="",
        cost="",
        reference=variants[0].name,
        chain=False,
        metric="test loss",
        match="none",
        variants=tuple(variants),
        tuning={key: tuple(parse_override(one).value() for one in values) for key, values in tuned.items()},
        tuning_seeds=len(seeds),
        seeds=seeds,
        fixed=(),
        published=(),
    )
    return study, shared


def _name(override: str) -> str:
    """The value, where that says enough; a number or a truth value with the last word of its key."""
    key, _, value = override.partition("=")
    return value if "/" in key or key == "model" else f"{key.rpartition('.')[2]}={value}"
