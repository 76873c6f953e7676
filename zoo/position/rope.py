from typing import Literal

from zoo.common import Common
from zoo.position import positions
from zoo.position.rotary import Rotary


@positions.register("rope")
class RoPE(Rotary):
    """Rotary position: the i-th pair of features of q and k at place t is turned by the angle t · base^(−2i/R), so that
    q·k depends on the distance only. R = fraction · K features turn, the rest stay.

    layout: which features form a pair: `half` pairs i with i + R/2 (Llama), `interleaved` 2i with 2i + 1 (the paper).
        The two differ by a permutation of the rows of the q and k projections.

    paper: Su et al. 2021, arXiv:2104.09864
    differs: angles are computed in float32 from float64 frequencies, whatever the dtype of the model.
    """

    def __init__(
        self,
        common: Common,
        *,
        base: float = 10000.0,
        fraction: float = 1.0,
        layout: Literal["half", "interleaved"] = "half",
    ):
        super().__init__(common, base=base, fraction=fraction, layout=layout)
