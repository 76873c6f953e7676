"""Jobs of one process leave nothing to each other."""

import gc
import random
import sys

import numpy as np
import torch


def start_fresh() -> None:
    """Bring back what a process has when torch was just imported: default dtype and device, gradients and autocast as
    they are by default, seeds, compiled code, cached memory of an accelerator. The threads are set with the machinery
    of each run."""
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(True)
    torch.set_autocast_enabled("cpu", False)
    if torch.are_deterministic_algorithms_enabled():  # setting it imports the compiler, a second of a short run
        torch.use_deterministic_algorithms(False)
        torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    torch.set_float32_matmul_precision("highest")
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        gc.collect()  # what is still held in cycles cannot be given back; on a CPU that can wait
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
