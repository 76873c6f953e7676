"""What all parts of one layer share: the first argument of every part's constructor.

B batch   T time (S: of what is attended to)   D model width   H heads   G key–value heads   K head width
F hidden width   E experts   V vocabulary
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Common:
    """Sizes, the dropout rate, whether projections have biases unless their part says otherwise, the norm to use at a
    given width, and where the part stands: in layer `layer` (from 0) of a stack of `depth` layers, causal or not."""

    d_model: int
    n_heads: int
    dropout: float
    bias: bool
    norm: Callable[[int], nn.Module]
    layer: int
    depth: int
    causal: bool
