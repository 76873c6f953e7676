"""`python -m zoo floor data=toy`: the best possible loss, in total, by skill and by distance."""

from rich.table import Table

from zoo.data.building.making import teach
from zoo.data.floor import Floor, Part, floor_of_source
from zoo.data.generated import Generated, as_plain
from zoo.data.source import sources
from zoo.data.split import SPLITS
from zoo.data.tokenizer import tokenizers
from zoo.errors import UserError
from zoo.option import Option
from zoo.registry import did_you_mean
from zoo.terminal import show, show_json


def floor_table(data: Option, tokenizer: Option, split: str = "validation", as_json: bool = False) -> None:
    """Print the floor of a split of a generated corpus, for each token of that tokenizer. Raises UserError for other
    corpora."""
    source = generated(data, split)
    taught = tokenizers.build(tokenizer)
    teach(source, taught)
    found = floor_of_source(source, split, taught)
    if as_json:
        what = {"data": data.name, "split": split, "tokenizer": tokenizer.name}
        facts = {**what, **found.as_dict(), "lines": as_plain(source.lines())}
        show_json(facts)
        return
    unit = "word" if taught.whole_words else "token"
    show(_table(found, f"data={data.name} tokenizer={tokenizer.name}, {split}", unit))
    for skill, lines in source.lines().items():
        said = [f"{name} {line.accuracy:.4f} right, {line.nats:.4f} nats" for name, line in lines.items()]
        show(f"{skill}, of what is determined: {'; '.join(said)}")
    show(
        f"{found.nats:.4f} nats per {unit}, end marks included; {found.bits_per_byte:.4f} bits per byte"
        f" of {found.bytes:,} bytes; {found.determined / found.words:.1%} of the words are determined"
    )


def generated(data: Option, split: str) -> Generated:
    """The source of that option. Raises UserError when its probabilities are not known, or that split is not made."""
    source = sources.build(data)
    if not isinstance(source, Generated):
        raise UserError(f"data={data.name} is a text whose true probabilities nobody knows; choose data=toy")
    made = [name for name, size in zip(SPLITS, source.split, strict=True) if size]
    if split not in made:
        hint = did_you_mean(split, made)
        raise UserError(f"data={data.name} makes no split '{split}'{hint}; choose from {', '.join(made)}")
    return source


def _table(found: Floor, title: str, unit: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in ("skill", "words back", f"{unit}s", "share", f"nats per {unit}", "words determined"):
        table.add_column(column, justify="left" if column == "skill" else "right")
    for skill, part in found.skills.items():
        _row(table, found, f"[bold]{skill}[/]", "", part)
        buckets = found.distances[skill]
        for name, one in buckets.items() if len(buckets) > 1 else ():
            _row(table, found, "", name, one)
    return table


def _row(table: Table, found: Floor, skill: str, distance: str, part: Part) -> None:
    share, certain = f"{part.tokens / found.tokens:.1%}", f"{part.determined / max(part.words, 1):.1%}"
    table.add_row(skill, distance, f"{part.tokens:,}", share, f"{part.nats:.4f}", certain)
