"""What the machine can do decides how a run is computed; what was decided is recorded with the run."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from zoo.config import positive
from zoo.errors import UserError
from zoo.experiment import Runtime

MOST_THREADS = 1024
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

    @property
    def autocast(self) -> torch.dtype | None:
        """The dtype of matrix products, None for float32 throughout."""
        return {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}[self.dtype]

    def as_dict(self) -> dict[str, str | bool | int]:
        """For a record."""
        return asdict(self)

    def differs(self, before: Mapping[str, Any]) -> str:
        """How the machinery of a record differs from this one, as in 'threads=2 instead of 4'; nothing when it does
        not."""
        now = self.as_dict()
        return ", ".join(f"{key}={before.get(key)} instead of {now[key]}" for key in now if before.get(key) != now[key])


def resolve(runtime: Runtime) -> Machinery:
    """Replace every `auto` and null: the accelerator if there is one; bfloat16 on it if it is native there, else
    float32; fused attention, except in bfloat16 on a CPU, where torch's kernel is slower than attention written out.
    Raises UserError for what this machine does not have."""
    positive("runtime", threads=runtime.threads)
    if (runtime.threads or 1) > MOST_THREADS:
        raise UserError(f"runtime.threads={runtime.threads} must be at most {MOST_THREADS}")
    device = _device(runtime.device)
    dtype = runtime.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    attention = runtime.attention
    if attention == "auto":
        attention = "plain" if device.type == "cpu" and dtype == "bfloat16" else "fused"
    threads = runtime.threads or DEFAULT_THREADS
    return Machinery(str(device), dtype, attention, runtime.compile, threads, torch.__version__)


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
