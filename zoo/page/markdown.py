"""The same page in Markdown: a figure is its finding and its numbers."""

from collections.abc import Iterator

from zoo.page.content import Block, Code, Figure, Grid, Page, Section, Table
from zoo.page.html import numeric
from zoo.page.text import shown


def markdown(page: Page) -> str:
    """The whole text."""
    lines = [f"# {page.title}", "", f"**{page.answer}**", ""]
    lines += [line for fact in page.facts for line in (fact, "")]
    for section in page.sections:
        lines += _section(section)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    yield ""
    if section.missing:
        yield section.missing
        yield ""
    for block in section.blocks:
        yield from _block(block)
        yield ""


def _block(block: Block) -> Iterator[str]:
    match block:
        case str():
            yield block
        case Code():
            yield from ("```", block.text, "```")
        case Table():
            if block.caption:
                yield from (f"**{block.caption}**", "")
            yield from _table(block)
        case Grid():
            for one in block.figures:
                yield from _block(one)
                yield ""
        case Figure():
            yield from (f"**{block.title}**", "")
            if block.table is not None:
                yield from _block(block.table)
            if block.note:
                yield from ("", block.note)


def _table(table: Table) -> Iterator[str]:
    yield _row([column.name for column in table.columns])
    yield _row(["---:" if numeric(table, place) else "---" for place in range(len(table.columns))])
    for row in table.rows:
        yield _row([shown(cell, column) for cell, column in zip(row, table.columns, strict=True)])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
