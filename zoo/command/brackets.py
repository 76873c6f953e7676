"""Brackets and quotes of a value on a command line that do not match."""

PAIRS = {"[": "]", "{": "}", "(": ")"}


def unmatched(value: str) -> str:
    """What is wrong with them, as in 'its [ is not closed'; empty when all of them match."""
    opened: list[str] = []
    quote, escaped = "", False
    for one in value:
        if escaped or one == "\\":
            escaped = not escaped
        elif quote:
            quote = "" if one == quote else quote
        elif one in "'\"":
            quote = one
        elif one in PAIRS:
            opened.append(one)
        elif one in PAIRS.values():
            if not opened:
                return f"its {one} closes nothing"
            if one != PAIRS[opened[-1]]:
                return f"its {opened[-1]} is closed by {one}"
            opened.pop()
    left = quote or "".join(opened[-1:])
    return f"its {left} is not closed" if left else ""
