"""A corpus: split, tokenized once, found again by what it was made of."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoo.data import files
from zoo.data.building import cache as built
from zoo.data.building.known import Known
from zoo.data.building.scan import scan
from zoo.data.building.store import Split
from zoo.data.generated import Generated, as_plain
from zoo.data.source import sources
from zoo.data.tokenizer import Tokenizer
from zoo.errors import UserError
from zoo.lock import lock_at
from zoo.option import Option


@dataclass(frozen=True)
class Corpus:
    """The splits of a text in the tokens of one tokenizer. `kind` is "text" or "pairs"."""

    kind: str
    tokenizer: Tokenizer
    fingerprint: str
    """Hash of the text, its split and the trained tokenizer: equal for equal tokens in equal splits."""
    summary: dict[str, Any]
    """Facts for the record of a run, as plain JSON."""
    splits: Mapping[str, Split]

    @property
    def rows(self) -> str:
        """What its batches are made of: windows, whole documents, or pairs."""
        return "pairs" if self.kind == "pairs" else str(self.summary.get("rows", "windows"))

    @property
    def lines(self) -> dict[str, dict[str, dict[str, float]]]:
        """What guessing and the source score, by skill; see `zoo.data.generated.Line`."""
        return dict(self.summary.get("lines", {}))

    @property
    def skills(self) -> list[str]:
        """The skills that the tokens of a generated corpus need, by number; none for other texts."""
        return list(self.summary.get("skills", []))

    def split(self, name: str) -> Split:
        """That split. Raises UserError when it has no share of the corpus."""
        if name not in self.splits:
            key = "tokens" if "tokens" in self.summary else "split"
            raise UserError(f"the corpus has no {name} split; give it a share in data.{key}={self.summary[key]}")
        return self.splits[name]


def load_corpus(
    data: Option, tokenizer: Option | Tokenizer, cache: str, before_building: Callable[[], None] = lambda: None
) -> Corpus:
    """The corpus of a data option, in the tokens of a tokenizer that is trained on its train split, or that is given.

    Built once in `<cache>/<hash>/`, by one process at a time; a damaged folder is built again. `before_building` is
    called where it is not there yet, and may refuse. Raises UserError for what is wrong with the data, and for a cache
    that cannot be written."""
    source = sources.build(data)
    root = files.resolve(cache)
    made, known = source.content(), Known(root, data, source)
    content, reading = made or known.content(), None
    with _written(root):
        if content is None:
            reading = scan(source, root)
            content = reading.content
        folder = root / built.key(content, source, tokenizer)
        found = built.read(folder)
        if found is None:
            before_building()
            reading = None if made else reading or scan(source, root)
            folder = root / built.key(reading.content if reading else content, source, tokenizer)
            root.mkdir(parents=True, exist_ok=True)
            built.sweep_up(root, but=folder)
            with lock_at(Path(f"{folder}.lock")):
                found = built.read(folder)  # another process may have built it meanwhile
                if found is None:
                    built.build(folder, source, reading, tokenizer)
                    found = built.read(folder)
    if found is None:
        raise UserError(f"{folder} cannot be read back after it was written; set cache=<another folder>")
    known.note(reading.content if reading else content)
    facts: dict[str, Any] = {"data": data.name, "kind": source.kind, "line_end_rule": source.line_end_rule}
    if isinstance(source, Generated):
        facts |= {"skills": list(source.skills), "rows": source.rows, "lines": as_plain(source.lines())}
    summary = {**facts, **source.describe(), **found.summary}
    return Corpus(source.kind, found.tokenizer, found.fingerprint, summary, found.splits)


@contextmanager
def _written(root: Path) -> Iterator[None]:
    """Raises UserError where the cache takes nothing."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write the tokens of the corpus in {root} ({error.strerror or error});"
            " make room there, or set cache=<another folder>"
        ) from None
