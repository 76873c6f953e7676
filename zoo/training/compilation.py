"""What torch's compiler is told."""


def save_tensors_not_views() -> None:
    """Between the passes it keeps a tensor, and takes views of it again, rather than keep the view and, since the
    tensor is then gone, what is computed from it too: of a ReLU, a mask of bytes, which takes longer to write than the
    layer's products. Changes no number. Only where this torch knows the setting: it is not promised to stay."""
    from torch._functorch import config

    if hasattr(config, "recompute_views"):
        config.recompute_views = True
