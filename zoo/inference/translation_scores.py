"""How good translations are beside their references: exact match, exact match up to synonyms, chrF."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from zoo.data.source import Places
from zoo.inference.chrf import ChrF


@dataclass(frozen=True)
class Synonyms:
    """What is known where all right translations are."""

    exact: float
    """Share of the translations that have one of the allowed words at each place."""
    best: float
    """The best exact match that can be expected: that of always saying the most frequent word, on these references."""


@dataclass(frozen=True)
class TranslationScores:
    """Of one split."""

    pairs: int
    exact: float
    """Share of the translations that equal their reference."""
    chrf: float
    """Of all of them together, 0 to 100."""
    synonyms: Synonyms | None

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


def scored(
    translations: Sequence[bytes], references: Sequence[bytes], allowed: Sequence[Places] | None, chrf: ChrF
) -> TranslationScores:
    """The scores of at least one translation. `allowed` are all that are right, of each; None where it is not known."""
    said, wanted = ([one.decode("utf-8", "replace") for one in texts] for texts in (translations, references))
    synonyms = None
    if allowed is not None:
        synonyms = Synonyms(
            _share([fits(one, places) for one, places in zip(translations, allowed, strict=True)]),
            _share([b"".join(p[0] for p in places) == one for one, places in zip(references, allowed, strict=True)]),
        )
    exact = _share([a == b for a, b in zip(translations, references, strict=True)])
    return TranslationScores(len(references), exact, chrf.score(said, wanted), synonyms)


def fits(text: bytes, places: Places) -> bool:
    """Whether the text is one of what may stand at each place, joined."""
    ends = {0}  # where the places so far may end
    for words in places:
        ends = {end + len(word) for end in ends for word in words if text.startswith(word, end)}
    return len(text) in ends


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right)
