"""A number with its noun, in running text."""


def counted(number: int, noun: str) -> str:
    """`1 seed`, `2 seeds`, `1,000 seeds`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
