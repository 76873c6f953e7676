"""What a model can and cannot do yet: nats above the floor by skill and by distance."""

from collections.abc import Mapping

from rich.table import Table

from zoo.training.evaluate import Scores, Skill


def skill_table(split: str, scores: Scores) -> Table:
    """Scores by skill; the last column says how far above the floor a target is by how many words back that stands on
    which it depends."""
    above = scores.loss - (scores.floor or 0.0)
    table = Table(title=f"{split}: {above:.4f} nats per token above the floor", title_justify="left", box=None)
    for column in ("skill", "targets", "nats", "floor", "above", "accuracy", "determined", "of them right"):
        table.add_column(column, justify="left" if column == "skill" else "right")
    table.add_column("above, by words back", justify="left")
    for name, skill in scores.skills.items():
        table.add_row(name, *_numbers(skill), _far(skill.by_distance))
    return table


def _numbers(skill: Skill) -> list[str]:
    certain = "—" if skill.determined_accuracy is None else f"{skill.determined_accuracy:.3f}"
    values = [f"{skill.tokens:,}", *(f"{one:.3f}" for one in (skill.loss, skill.floor, skill.loss - skill.floor))]
    return [*values, f"{skill.accuracy:.3f}", f"{skill.determined:,}", certain]


def _far(by_distance: Mapping[str, float]) -> str:
    return "  ".join(f"{bucket}: {above:.2f}" for bucket, above in by_distance.items() if bucket != "none")
