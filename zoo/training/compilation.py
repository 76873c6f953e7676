"""What torch's compiler is told."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from zoo.errors import RunFailed


def save_tensors_not_views() -> None:
    """Between the passes it keeps a tensor, and takes views of it again, rather than keep the view and, since the
    tensor is then gone, what is computed from it too: of a ReLU, a mask of bytes, which takes longer to write than the
    layer's products. Changes no number. Only where this torch knows the setting: it is not promised to stay."""
    from torch._functorch import config

    if hasattr(config, "recompute_views"):
        config.recompute_views = True


def keep_counts_in_the_program() -> None:
    """A program goes on where the length of a tensor is known only when it runs, as with what an expert gets; else it
    ends there, and what comes between is compiled again for each length it meets."""
    from torch._dynamo import config

    config.capture_scalar_outputs = True
    config.capture_dynamic_output_shape_ops = True


def add_rows_in_order(device: torch.device) -> None:
    """Have the gradient of a table add its rows in their order. Compiled for a processor, each thread would add to the
    table when it comes to it, so that two runs of the same seed round differently; and that takes longer. Eager code
    there knows one order anyway, and an accelerator none for some operations that a model may need."""
    if device.type == "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


@contextmanager
def compiling() -> Iterator[None]:
    """For code that may be compiled within. Raises RunFailed, in one sentence, for what the compiler raises."""
    try:
        yield
    except Exception as error:
        known = sys.modules.get("torch._dynamo.exc")
        if known is None or not isinstance(error, known.TorchDynamoException):
            raise
        said = " ".join(str(error).strip().partition("\n\n")[0].split())
        folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
        cache = f", or remove {folder}: half a file of a compilation that was killed may lie there" if folder else ""
        raise RunFailed(f"torch's compiler failed: {said}. Set runtime.compile=false{cache}") from error
