"""Keep small gradients of float16 from vanishing: the loss is multiplied by S, its gradients are divided by S."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from zoo.training.optimizer import Optimizer

START = 2.0**16


class LossScale:
    """∂(S·L)/∂w / S, before a norm is taken or anything is clipped; torch's GradScaler does the arithmetic.

    S starts at 2¹⁶; an update whose gradient overflows is not made, and halves S; 2,000 updates without one double it.

    paper: Micikevicius et al. 2017, arXiv:1710.03740, section 3.2
    differs: nothing.
    """

    def __init__(self, device: torch.device, start: float = START):
        self.scaler = torch.amp.GradScaler(device.type, init_scale=start)

    @property
    def value(self) -> float:
        """S."""
        return self.scaler.get_scale()

    def scaled(self, loss: Tensor) -> Tensor:
        """S · loss."""
        return self.scaler.scale(loss)

    def divide(self, optimizer: Optimizer) -> None:
        """Divide all gradients by S, once for each update, whatever its micro-batches."""
        for one in optimizer.inner:
            self.scaler.unscale_(one)

    def end(self) -> None:
        """The update was made, or dropped: choose S for the next one."""
        self.scaler.update()

    def state_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return self.scaler.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.scaler.load_state_dict(dict(state))
