"""What torch's compiler is told."""

import torch


def save_tensors_not_views() -> None:
    """Between the passes it keeps a tensor, and takes views of it again, rather than keep the view and, since the
    tensor is then gone, what is computed from it too: of a ReLU, a mask of bytes, which takes longer to write than the
    layer's products. Changes no number. Only where this torch knows the setting: it is not promised to stay."""
    from torch._functorch import config

    if hasattr(config, "recompute_views"):
        config.recompute_views = True


def add_rows_in_order(device: torch.device) -> None:
    """Have the gradient of a table add its rows in their order. Compiled for a processor, each thread would add to the
    table when it comes to it, so that two runs of the same seed round differently; and that takes longer. Eager code
    there knows one order anyway, and an accelerator none for some operations that a model may need."""
    if device.type == "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
