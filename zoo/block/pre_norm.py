from jaxtyping import Float
from torch import Tensor

from zoo.block import Block, blocks
from zoo.common import Common
from zoo.context import Context
from zoo.ffn import FFN, Auxiliary
from zoo.mixer import Mixer


@blocks.register("pre_norm")
class PreNorm(Block):
    """x ← x + dropout(sublayer(norm(x))) for each sublayer. The stream itself is never normalised, so the stack closes
    with a norm.

    paper: Xiong et al. 2020, arXiv:2002.04745
    differs: nothing.
    """

    closes = False

    def __init__(self, common: Common, mixer: Mixer, cross: Mixer | None, ffn: FFN | None):
        super().__init__(common, mixer, cross, ffn)
        self.mixer_norm = common.norm(common.d_model)
        self.cross_norm = None if cross is None else common.norm(common.d_model)
        self.ffn_norm = None if ffn is None else common.norm(common.d_model)

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        x = x + self.mixer_dropout(self.mixer(self.mixer_norm(x), context))
        if self.cross is not None and self.cross_norm is not None:
            x = x + self.cross_dropout(self.cross(self.cross_norm(x), context.cross))
        if self.ffn is None or self.ffn_norm is None:
            return x, {}
        y, auxiliary = self.ffn(self.ffn_norm(x), context)
        return x + self.ffn_dropout(y), auxiliary
