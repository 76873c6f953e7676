"""What the machine can do decides how a run is computed; what was decided is recorded with the run."""

from dataclasses import asdict, dataclass

import torch

from zoo.errors import UserError
from zoo.experiment import Runtime

DEFAULT_THREADS = torch.get_num_threads()
"""What torch chose when it was imported; a job that asks for nothing gets it back."""


@dataclass(frozen=True)
class Machinery:
    """How the numbers of a run are computed. Runs that differ here are not compared."""

    device: str
    dtype: str
    attention: str
    compile: bool
    torch_version: str

    @property
    def autocast(self) -> torch.dtype | None:
        """The dtype of matrix products, None for float32 throughout."""
        return None if self.dtype == "float32" else torch.bfloat16

    def as_dict(self) -> dict[str, str | bool]:
        """For a record."""
        return asdict(self)


def resolve(runtime: Runtime) -> Machinery:
    """Replace every `auto`: the accelerator if there is one; bfloat16 on it if it is native there, else float32; fused
    attention, except in bfloat16 on a CPU, where torch's kernel is slower than attention written out."""
    device = _device(runtime.device)
    dtype = runtime.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    attention = runtime.attention
    if attention == "auto":
        attention = "plain" if device.type == "cpu" and dtype == "bfloat16" else "fused"
    return Machinery(str(device), dtype, attention, runtime.compile, torch.__version__)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.accelerator.current_accelerator() or torch.device("cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"runtime.device={name} cannot be used here: {str(error).splitlines()[0]}") from error
    return device
