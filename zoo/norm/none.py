from jaxtyping import Float
from torch import Tensor

from zoo.norm import Norm, norms


@norms.register("none")
class NoNorm(Norm):
    """y = x. The control: what a stack does without normalisation.

    paper: none
    differs: nothing to differ from.
    """

    absent = True

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        return x
