"""What the machine can do decides how a run is computed; what was decided is recorded with the run."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from zoo.errors import UserError
from zoo.experiment import Runtime
from zoo.number import counted
from zoo.schema import positive
from zoo.training.capability import bfloat16_pays, can_compile, emulated
from zoo.training.files import json_text, read_json

MOST_THREADS = 1024
COMPILED_FROM = {"cpu": 24e12, "cuda": 5e15}
"""Training FLOPs, of a CPU per thread, from which compiling is worth its time. Measured on a CPU (docs/performance.md):
20 s and more to compile, 1.03 to 1.3 times as fast then; the figure of accelerators is a guess on the safe side."""
PRODUCTS_UP_TO = {"float32": 128, "bfloat16": 512, "float16": 512}
"""The longest rows for which a CPU computes attention faster by products than by torch's fused kernel."""
BLOCKS_FROM = 2**23
"""Logits of a micro-batch, 32 MiB of them in float32, from which a loss in blocks was measured to be faster."""
FEW = 0.5
"""Share of scored positions up to which it is faster in any case: the others get no logits."""
UNTOLD = {"logits": "whole"}
"""The only way there was, when files did not tell."""
DEFAULT_THREADS = torch.get_num_threads()
"""What torch chose when it was imported; a job that asks for nothing gets it back."""


@dataclass(frozen=True)
class Machinery:
    """How the numbers of a run are computed. Runs that differ here are not compared."""

    device: str
    dtype: str
    attention: str
    compile: bool
    threads: int
    torch_version: str
    logits: str = "whole"

    @property
    def autocast(self) -> torch.dtype | None:
        """The dtype of matrix products, None for float32 throughout."""
        return {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}[self.dtype]

    def as_dict(self) -> dict[str, str | bool | int]:
        """For a record."""
        return asdict(self)

    def words(self) -> str:
        """For a person: 'cpu, 2 threads, float32, fused attention, compiled'."""
        how = "compiled" if self.compile else "eager"
        logits = {"whole": "", "blocks": ", logits in blocks"}[self.logits]
        threads = counted(self.threads, "thread")
        return f"{self.device}, {threads}, {self.dtype}, {self.attention} attention, {how}{logits}"

    def advice(self) -> str:
        """What to do where its dtype is emulated; nothing elsewhere."""
        if not emulated(torch.device(self.device), self.dtype):
            return ""
        return (
            f"{self.dtype} is emulated here, as torch has no fast products in it for this processor:"
            " runtime.dtype=float32 can be more than ten times as fast"
        )

    def differs(self, before: Mapping[str, Any]) -> str:
        """How the machinery of a record differs from this one, as in 'runtime.threads=2 instead of 4', which can be
        set so; nothing when it does not."""
        now, before = self.as_dict(), {**UNTOLD, **before}
        different = [key for key in now if before.get(key) != now[key]]
        return ", ".join(f"{_set(key, before.get(key))} instead of {_written(now[key])}" for key in different)


def _set(key: str, value: object) -> str:
    """As on a command line, where the key is one of `runtime`."""
    place = "runtime." if key in Runtime.__dataclass_fields__ else ""
    return f"{place}{key}={_written(value)}"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Work:
    """What is to be computed: the longest row, and the floating-point operations of the whole training."""

    context: int
    flops: float
    compiles: bool = True
    """Whether all parts of the model do."""
    logits: int = 0
    """Of all positions of a micro-batch."""
    scored: float = 1.0
    """Share of the positions whose targets count."""


def resolve(runtime: Runtime, cache: str, work: Work | None = None, study: Path | None = None) -> Machinery:
    """Replace every `auto` and null by what this machine does fastest; the jobs of the study with that folder all do as
    the first of them. The choice follows from the config, the machine and what `cache` keeps of its speed, from no
    timing of the run.

    device: the accelerator if there is one.  dtype: bfloat16 where products in it are faster, else float32.
    attention, on a CPU: by products up to a length, beyond it fused; elsewhere fused.
    compile: where the training is so long that it pays, and the machine can; never for scoring alone (no `work`).
    logits: in blocks where there are many of them, or few are of any use.
    Raises UserError for what this machine does not have."""
    device, threads = refuse_absent(runtime), runtime.threads or DEFAULT_THREADS
    dtype = runtime.dtype
    if dtype == "auto":
        dtype = "bfloat16" if bfloat16_pays(device, Path(cache)) else "float32"
    compiled = runtime.compile
    if compiled == "auto":
        enough = COMPILED_FROM.get(device.type, COMPILED_FROM["cuda"]) * (threads if device.type == "cpu" else 1)
        compiled = work is not None and work.compiles and work.flops >= enough and can_compile(device)
    attention = runtime.attention
    if attention == "auto":
        length = 0 if dtype == "float32" and not compiled else PRODUCTS_UP_TO[dtype]
        short = work is not None and work.context <= length
        attention = "products" if device.type == "cpu" and short else "fused"
    logits = runtime.logits
    if logits == "auto":
        many = work is not None and (work.logits >= BLOCKS_FROM or work.scored <= FEW)
        logits = "blocks" if many else "whole"
    chosen = {"dtype": dtype, "attention": attention, "compile": compiled, "logits": logits}
    open_ones = (runtime.dtype, runtime.attention, runtime.compile, runtime.logits)
    if study is not None and "auto" in open_ones:
        asked = [str(device), threads, *open_ones]
        if runtime.logits == "auto":  # as before there was a choice: a study that was begun then goes on as it began
            asked.pop()
        chosen |= first_choice(study / f"runtime-{'-'.join(map(str, asked))}.json".replace(":", "_"), chosen)
    return Machinery(str(device), threads=threads, torch_version=torch.__version__, **chosen)  # type: ignore[arg-type]


def refuse_absent(runtime: Runtime) -> torch.device:
    """The device. Raises UserError for what this machine does not have; nothing is measured, and nothing written."""
    positive("runtime", threads=runtime.threads)
    if (runtime.threads or 1) > MOST_THREADS:
        raise UserError(f"runtime.threads={runtime.threads} must be at most {MOST_THREADS}")
    device = _device(runtime.device)
    if runtime.compile is True and not can_compile(device):
        raise UserError(f"runtime.compile=true needs a C++ compiler or, on {device.type}, Triton; set it to false")
    return device


def first_choice(file: Path, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What the first job has written there; this one's choice, now written there, if it is the first."""
    own = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        own.write_text(json_text(dict(chosen)))
        with suppress(FileExistsError):
            os.link(own, file)  # whole, or not at all
        own.unlink()
        first = {**UNTOLD, **read_json(file)}
        return {key: first[key] for key in chosen}
    except (OSError, KeyError) as error:
        raise UserError(
            f"{file} cannot be used to agree on a runtime ({error}); set runtime.dtype, .attention, .compile"
        ) from error


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.accelerator.current_accelerator() or torch.device("cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = re.split(r"\. |\n", str(error))[0]
        raise UserError(f"runtime.device={name} cannot be used here: {reason}; cpu always can") from error
    return device
