"""What variants are judged by: a score of a held-out split, in rows as long as in training or of another length."""

import re
from dataclasses import dataclass
from functools import lru_cache

from zoo.errors import UserError

UNITS = {"loss": "nats per token", "bits_per_byte": "bits per byte", "accuracy": "share"}
HIGHER_IS_BETTER = ("accuracy",)

FORM = re.compile(r"(?P<split>validation|test) (?P<name>[a-z_]+)(?: at (?P<context>[1-9][0-9]*))?")


@dataclass(frozen=True)
class Metric:
    """`test loss`, or `test loss at 256`: in rows of 256 positions, one of `record.lengths`."""

    split: str
    name: str
    context: int | None

    @property
    def unit(self) -> str:
        """Its unit."""
        return UNITS[self.name]

    @property
    def sign(self) -> int:
        """1 where less is better, −1 where more is."""
        return -1 if self.name in HIGHER_IS_BETTER else 1


@lru_cache
def read_metric(text: str, where: str = "study.metric") -> Metric:
    """The metric that a text names. Raises UserError for any other text."""
    found = FORM.fullmatch(text)
    if found is None or found["name"] not in UNITS:
        raise UserError(
            f"{where}='{text}' is no metric; write validation or test, then {', '.join(UNITS)}, as in 'test loss'"
        )
    if found["context"] is not None and found["split"] != "test":
        raise UserError(f"{where}='{text}': other lengths are scored on the test split only; write 'test loss at 256'")
    return Metric(found["split"], found["name"], None if found["context"] is None else int(found["context"]))
