"""Compiled code is looked at once: g++ 12 has been seen to make some, of 16-bit floats, that computes no gradient."""

import torch
from torch import Tensor

from zoo.bare import bare
from zoo.dropout import Dropout
from zoo.errors import RunFailed
from zoo.part import Part
from zoo.training.loop import Update
from zoo.training.loss_scale import LossScale
from zoo.training.uncompiled import eagerly

OWN, ALL = 0.25, 0.002
"""How far the gradient of a parameter may be off: that share of its norm, and that of the norm of all gradients, which
is what rounding leaves of those that are zero. Wrong code is off by as much as there is, or not finite."""
SCALE = 2.0**10
"""By which the loss is multiplied where the gradients are float16: most neither vanish nor overflow."""


def refuse_miscompiled(update: Update, device: torch.device, scaled: bool) -> None:
    """Compare the gradients of an update by compiled code with those of the model as it is written. Raises RunFailed
    when a parameter's are others. Weights stay, and no gradient is left. Nothing is said where the model's own are not
    finite, or where it drops, which compiled code does by other numbers; and of a model of which parts do not compile,
    only where those of its code are not finite: by another rounding a token goes to another expert."""
    if any(part.active for part in update.forward.model.modules() if isinstance(part, Dropout)):
        return
    got = _gradients(update, device, scaled)
    with eagerly():
        expected = _gradients(update, device, scaled)
    norms = {name: gradient.norm() for name, gradient in expected.items()}
    steady = all(part.compiles for part in update.forward.model.modules() if isinstance(part, Part))
    whole = torch.stack([torch.zeros((), device=device), *norms.values()]).norm()
    if not whole.isfinite():
        return
    for name, norm in norms.items():
        off = (got[name] - expected[name]).norm() if name in got else whole
        bound = OWN * norm + ALL * whole if steady else torch.finfo(norm.dtype).max
        if not off <= bound:  # so that NaN is refused
            raise RunFailed(
                f"compiled code gives other gradients than the model: those of {name} are off by {off:.3g}, where their"
                f" norm is {norm:.3g}. The compiler made wrong code; set runtime.compile=false, or"
                " runtime.dtype=float32, or name another C++ compiler in the variable CXX"
            )


def _gradients(update: Update, device: torch.device, scaled: bool) -> dict[str, Tensor]:
    model = bare(update.forward.model)
    model.zero_grad()
    update.backward(LossScale(device, SCALE) if scaled else None)
    found = {name: one.grad.detach().clone() for name, one in model.named_parameters() if one.grad is not None}
    model.zero_grad()
    return found
