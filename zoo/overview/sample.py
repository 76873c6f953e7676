"""`python -m zoo sample data=toy`: documents of a generated corpus, coloured by the skill that each word needs."""

from itertools import islice

from rich.text import Text

from zoo.data.generated import END, Documents, Generated
from zoo.option import Option
from zoo.overview.floor import generated
from zoo.terminal import NARROW, show

COLOURS = ("dim", "default", "bold cyan", "bold blue", "bold magenta", "bold green", "bold yellow", "bold red")


def sample(data: Option, split: str = "validation", documents: int = 3) -> None:
    """Print the first documents of a split. What is underlined is determined, though it takes more than grammar."""
    source = generated(data, split)
    legend = Text("  ").join([Text(name, colour(i)) for i, name in enumerate(source.skills)])
    show(legend, Text("underlined: determined by what stands before", "underline"))
    singles = (part for made in source.made(split) for part in made.parts(1))
    for document in islice(singles, documents * source.parts):
        show("", coloured(document, source), width=NARROW)


def coloured(document: Documents, source: Generated) -> Text:
    """One document in colours."""
    text = Text()
    for word, floor, skill in zip(document.words, document.floor, document.skill, strict=True):
        if word != END:
            underline = " underline" if floor == 0 and skill > 0 else ""
            shown = source.surfaces[word].decode()
            bare = shown.lstrip(" ")
            text.append(shown[: len(shown) - len(bare)])
            text.append(bare, colour(int(skill)) + underline)
    return text


def colour(skill: int) -> str:
    """The colour of a skill."""
    return COLOURS[skill] if skill < len(COLOURS) else "bold bright_white"
