"""Untrained runs, and models that say what they are told to."""

from collections.abc import Sequence
from weakref import ref

import torch
from torch import Tensor, nn

from tests.helpers import build, composed, model_node
from zoo.data.tokenizer import Tokenizer
from zoo.data.tokenizer.bytes import Bytes
from zoo.data.tokenizer.words import Words
from zoo.ffn import Auxiliary
from zoo.history import History
from zoo.model import Model
from zoo.run import Run
from zoo.state import ModelState
from zoo.traits import Traits

TEXT = b"the agent learns because the agent is intelligent and so it learns what the others say"


def words() -> Words:
    """A tokenizer of words that has read TEXT."""
    tokenizer = Words(vocabulary=64)
    tokenizer.train([TEXT])
    return tokenizer


def run_of(base: str = "modern", tokenizer: Tokenizer | None = None, *, seed: int = 0, **changes: object) -> Run:
    """The untrained run of a small model, with the objective that its preset chooses."""
    tokenizer = tokenizer or Bytes()
    model = build(model_node(base, **changes), vocabulary=tokenizer.vocabulary, seed=seed)
    objective = composed(f"model={base}")["objective"]
    return Run(model, tokenizer, {"objective": objective, "context": 64}, 0)


class Given(nn.Module):
    """A head for models whose hidden states are logits."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Rigged(Model):
    """Says a fixed sequence per row, whatever it is asked."""

    def __init__(self, says: Sequence[Sequence[int]], vocabulary: int = 5):
        nn.Module.__init__(self)
        self.says, self.vocabulary, self.limit, self.step = says, vocabulary, None, 0
        self.topology = type("Any", (), {"traits": Traits(generates=True), "state_elements": lambda *_: 0})()
        self.head = Given()  # type: ignore[assignment]

    def start(self, rows: int, capacity: int, back: int = 0) -> ModelState:
        self.step = 0
        return ModelState(History(rows, capacity, torch.device("cpu")), [], ref(self))

    def read(self, tokens: Tensor, *masks: object, **others: object) -> tuple[Tensor, Auxiliary]:
        wanted = torch.tensor([row[min(self.step, len(row) - 1)] for row in self.says])
        self.step += 1
        return nn.functional.one_hot(wanted, self.vocabulary)[:, None].float() * 50, {}


def rigged_run(*says: bytes, tokenizer: Tokenizer | None = None) -> Run:
    """A run whose rows say these texts."""
    tokenizer = tokenizer or Bytes()
    model = Rigged([tokenizer.encode(text).tolist() for text in says], tokenizer.vocabulary)
    return Run(model, tokenizer, {"objective": composed()["objective"], "context": 64}, 0)
