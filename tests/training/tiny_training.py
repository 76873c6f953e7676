"""A model and a stream of tasks small enough for every test: the next token from the one before it."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from zoo.objective import Task
from zoo.roles import Linear, Role, set_role

VOCABULARY = 11
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Output:
    logits: Tensor
    auxiliary: dict[str, Tensor] = field(default_factory=dict)


class UsersNorm(nn.Module):
    """A norm no name list knows, with 1-D parameters that say no role."""

    def __init__(self, width: int):
        super().__init__()
        self.stretch = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.layer_norm(x, x.shape[-1:], self.stretch, self.bias)


class Tiny(nn.Module):
    """Embedding, one residual layer with dropout, a norm, a head (tied or not), and decay rates of its own."""

    def __init__(self, *, width: int = 8, dropout: float = 0.0, tied: bool = False, auxiliary: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        set_role(self.embedding, "weight", Role.EMBEDDING)
        self.norm = UsersNorm(width)
        self.up = Linear(width, 2 * width, bias=True)
        self.down = Linear(2 * width, width, bias=False, role=Role.RESIDUAL)
        self.dropout = nn.Dropout(dropout)
        self.rates = nn.Parameter(torch.empty(1, width))
        set_role(self, "rates", Role.OWN, fill=lambda tensor, generator: tensor.data.fill_(1.0))
        self.head = Linear(width, VOCABULARY, bias=False, role=Role.HEAD)
        self.coefficient = auxiliary
        fill(self)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Output:
        x = self.embedding(tokens)
        hidden = self.up(self.norm(x)).relu()
        x = x + self.dropout(self.down(hidden)) * self.rates
        auxiliary = {"balance": self.coefficient * hidden.square().mean()} if self.coefficient else {}
        return Output(self.head(x), auxiliary)


def fill(model: nn.Module, seed: int = 0) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)


def tasks(step: int, *, micro: int = 2, rows: int = 3, length: int = 6, seed: int = 0) -> list[Task]:
    """The micro-batches of one update: a pure function of its number; about a fifth of the targets is not scored."""
    generator = torch.Generator().manual_seed(1000 * seed + step)
    return [task(torch.randint(VOCABULARY, (rows, length + 1), generator=generator), generator) for _ in range(micro)]


def task(tokens: Tensor, generator: torch.Generator | None = None) -> Task:
    targets = tokens[:, 1:]
    weights = torch.ones(targets.shape)
    if generator is not None:
        weights = (torch.rand(targets.shape, generator=generator) > 0.2).float()
    return Task({"tokens": tokens[:, :-1]}, targets, weights)


def joined(parts: list[Task]) -> Task:
    """The one big batch of several micro-batches."""
    inputs = {"tokens": torch.cat([one.inputs["tokens"] for one in parts])}
    return Task(inputs, torch.cat([one.targets for one in parts]), torch.cat([one.weights for one in parts]))
