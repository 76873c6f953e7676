"""What a model can and cannot do yet: nats above the floor, and what is right of what is certain, by skill and by
distance."""

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table

from zoo.training.evaluate import Scores, Skill


def skill_tables(split: str, scores: Scores) -> list[RenderableType]:
    """Two tables, where the corpus has skills and words that are certain."""
    if not scores.skills:
        return []
    asked = any(map(_asks, scores.skills.values()))
    return [_above(split, scores), _right(scores)] if asked else [_above(split, scores)]


def _above(split: str, scores: Scores) -> Table:
    """The last column: how far above the floor a target is by how many words back that stands on which it depends."""
    title = f"{split}: {scores.loss - (scores.floor or 0.0):.4f} nats per token above the floor"
    table = _table(title, "targets", "nats", "floor", "above", "accuracy")
    table.add_column("above, by words back", justify="left")
    for name, skill in scores.skills.items():
        values = [f"{one:.3f}" for one in (skill.loss, skill.floor, skill.loss - skill.floor, skill.accuracy)]
        table.add_row(name, f"{skill.tokens:,}", *values, _far(skill.by_distance))
    return table


def _right(scores: Scores) -> Table:
    """Of the words that are certain, or of all where none is: how many are right in every token, beside what guessing
    and the source itself score."""
    table = _table("of what is determined", "words", "right", "chance", "best", "nats", "of chance", "of best")
    table.add_column("right, by words back", justify="left")
    for name, skill in scores.skills.items():
        if _asks(skill):
            certain = skill.determined > 0
            lines = [skill.lines.get(line, {}) for line in ("chance", "best")]
            table.add_row(
                name if certain else f"{name} (none determined: all)",
                f"{skill.determined if certain else skill.words:,}",
                _number(skill.determined_accuracy if certain else skill.word_accuracy),
                *(_number(line.get("accuracy")) for line in lines),
                _number(skill.determined_loss if certain else skill.word_loss),
                *(_number(line.get("nats")) for line in lines),
                _far(skill.determined_by_distance),
            )
    return table


def _asks(skill: Skill) -> bool:
    """Whether there is an answer, which something stands before or which guessing can be held against."""
    return bool(skill.lines) or any(distance != "none" for distance in skill.determined_by_distance)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for column in ("skill", *columns):
        table.add_column(column, justify="left" if column == "skill" else "right")
    return table


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def _far(by_distance: Mapping[str, float]) -> str:
    return "  ".join(f"{bucket}: {value:.2f}" for bucket, value in by_distance.items() if bucket != "none")
