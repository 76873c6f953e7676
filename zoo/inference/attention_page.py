"""What a model looks at, as a page. Needs no torch: reads plain numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from zoo.mismatch import told
from zoo.page import Axis, Cell, Column, Figure, Grid, Page, Section, Table, heat

NUMBERS = {
    "previous": "on the position before",
    "same": "on itself",
    "first": "on the first",
    "entropy": "entropy (nats)",
    "of_most": "share of maximal entropy",
}


def attention_page(found: Mapping[str, Any]) -> Page:
    """Numbers of every head, a picture of every head, influence by gradients, and the layers."""
    tokens, source = _labels(found["tokens"]), _labels(found["source"])
    pictures = [
        Section(f"mixer-{number}", f"Attention: {one['name']}", [Grid(_pictures(one, tokens, source))])
        for number, one in enumerate(found["mixers"])
    ]
    return Page(
        title=f"What {found['run']} looks at",
        answer=_answer(found),
        facts=[
            *told(found),
            "Rows are queries, columns what they look at; the weights of a row sum to 1.",
            f"Step {found['step']}; the weights are those of the computation itself, in {found['dtype']}.",
        ],
        sections=[
            Section("heads", "What each head looks at", [_numbers(found)] if found["mixers"] else [], _without(found)),
            *pictures,
            Section("influence", "Influence, by gradients", _influence(found, tokens, source)),
            Section("layers", "What each layer holds", [_layers(found)]),
        ],
        kind="Attention",
    )


def _without(found: Mapping[str, Any]) -> str:
    return "" if found["mixers"] else "No mixer of this model has attention weights; see the influence."


def _answer(found: Mapping[str, Any]) -> str:
    """Which head looks most at each kind of place."""
    heads = [(one["name"], number, head) for one in found["mixers"] for number, head in enumerate(one["heads"])]
    words = []
    for key in ("previous", "same", "first"):
        own = [(head[key], name, number) for name, number, head in heads if head[key] is not None]
        if own:
            most, name, number = max(own)
            words.append(f"{NUMBERS[key]}: {name}, head {number + 1} ({most:.2f})")
    if not words:
        return "Its mixers have no attention weights; what a position depends on is shown by gradients."
    return f"Most weight {'; '.join(words)}."


def _numbers(found: Mapping[str, Any]) -> Table:
    skills = list(found["even"])
    columns = [Column("mixer"), Column("head"), *(Column(name, digits=3) for name in NUMBERS.values())]
    columns += [Column(f"{skill}: on what it depends on", digits=3) for skill in skills]
    rows: list[list[Cell]] = [
        [one["name"], number + 1, *(head[key] for key in NUMBERS), *(head["grounds"].get(skill) for skill in skills)]
        for one in found["mixers"]
        for number, head in enumerate(one["heads"])
    ]
    if not skills:
        return Table(columns, rows, "means over the queries of this text")
    rows.append(["uniform attention", None, *(None for _ in NUMBERS), *(found["even"][skill] for skill in skills)])
    caption = (
        "means over the queries of this text; the last columns over validation documents: the weight, from the position"
        " that predicts a word, on the word that it depends on (reference: the referent)"
    )
    return Table(columns, rows, caption)


def _pictures(one: Mapping[str, Any], tokens: Sequence[str], source: Sequence[str]) -> list[Figure]:
    keys = source if one["kind"] == "cross" else tokens
    queries = source if one["stack"] == "encoder" else tokens
    keys = source if one["stack"] == "encoder" else keys
    return [
        _picture(f"head {number + 1}", weights, queries, keys, 1.0, number)
        for number, weights in enumerate(one["weights"])
    ]


def _picture(
    title: str, values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str], top: float, slot: int
) -> Figure:
    upside = list(reversed(rows))  # the first row stands above
    mark = heat(title, columns, rows, values, slot % 6, top=top)
    x, y = Axis("", categories=columns), Axis("", categories=upside)
    return Figure(title, [mark], x, y, height=90 + max(260, 16 * len(rows)))


def _influence(found: Mapping[str, Any], tokens: Sequence[str], source: Sequence[str]) -> list[str | Figure | Grid]:
    figures = []
    for title, key, columns in (("of the tokens", "influence", tokens), ("of the source", "source_influence", source)):
        if found[key] is not None:
            top = max(max(row) for row in found[key]) or 1.0
            figures.append(_picture(title, found[key], tokens, columns, top, 2))
    words = "|∂ best logit at the row / ∂ embedding of the column|: what the output depends on, through all layers."
    return [words, Grid(figures)]


def _layers(found: Mapping[str, Any]) -> Table:
    columns = [Column("layer"), Column("effective rank", digits=2), Column("largest possible")]
    rows = [[one["name"], one["rank"], one["most"]] for one in found["layers"]]
    return Table(columns, rows, "exp of the entropy of the singular values of positions × features, after each layer")


def _labels(tokens: Sequence[str]) -> list[str]:
    """Each by its place, so that no two are one."""
    return [f"{place} {token}" for place, token in enumerate(tokens)]
