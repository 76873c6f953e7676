"""What one run is, typed and frozen. `zoo.config` makes these from a composed config."""

from dataclasses import dataclass
from typing import Literal

from zoo.option import Choice, Option


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """One architecture: sizes that the parts share, and a choice for each axis."""

    d_model: int
    n_layers: int
    n_heads: int
    dropout: float
    bias: bool
    topology: Option
    embedding: Option
    position: Choice
    block: Choice
    norm: Choice
    mixer: Choice
    cross: Choice | None
    ffn: Choice
    head: Option
    init: Option


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much a run may see and how often it is scored."""

    steps: int
    batch_size: int
    context: int
    accumulate: int
    evaluate_every: int
    evaluate_batches: int | None


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """What merely runs the experiment. It is recorded, but is no part of a run's identity."""

    device: str
    dtype: Literal["auto", "float32", "bfloat16", "float16"]
    attention: Literal["auto", "plain", "fused", "products"]
    compile: bool | Literal["auto"]
    threads: int | None
    logits: Literal["auto", "whole", "blocks"] = "whole"
    checkpoint_activations: bool = False


@dataclass(frozen=True, kw_only=True)
class Record:
    """What a run writes down on its way, and how often. It changes nothing that is computed."""

    log_every: int
    checkpoint_every: int
    keep_checkpoints: int
    gradients_every: int | None
    lengths: tuple[int, ...] | None


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Everything one run is: science first, machinery last."""

    model: ModelConfig
    objective: Option
    data: Option
    tokenizer: Option
    optimizer: Option
    schedule: Option
    budget: Budget
    seed: int
    runtime: Runtime
    record: Record
    out: str
    cache: str
