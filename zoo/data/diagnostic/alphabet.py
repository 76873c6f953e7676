"""Words of diagnostic tasks: every tokenizer can cut them apart, and the words of one kind look alike."""

from string import ascii_lowercase


def letters(count: int) -> list[bytes]:
    """a, b, …, z, aa, ab, …, each with a space before it."""
    return [f" {_name(i)}".encode() for i in range(count)]


def capitals(count: int) -> list[bytes]:
    """The same in capitals."""
    return [one.upper() for one in letters(count)]


def numbers(count: int) -> list[bytes]:
    """0, 1, 2, …, each with a space before it."""
    return [f" {i}".encode() for i in range(count)]


def _name(number: int) -> str:
    name = ""
    while number >= 0:
        name = ascii_lowercase[number % 26] + name
        number = number // 26 - 1
    return name
