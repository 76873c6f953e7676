from jaxtyping import Float
from torch import Tensor

from zoo.block import Block, blocks
from zoo.common import Common
from zoo.context import Context
from zoo.ffn import FFN, Auxiliary
from zoo.mixer import Mixer


@blocks.register("post_norm")
class PostNorm(Block):
    """x ← norm(x + dropout(sublayer(x))) for each sublayer. The stream is normalised at every step, so no closing norm.

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.1
    differs: nothing.
    """

    closes = True

    def __init__(self, common: Common, mixer: Mixer, cross: Mixer | None, ffn: FFN | None):
        super().__init__(common, mixer, cross, ffn)
        self.mixer_norm = common.norm(common.d_model)
        self.cross_norm = None if cross is None else common.norm(common.d_model)
        self.ffn_norm = None if ffn is None else common.norm(common.d_model)

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        x = self.mixer_norm(x + self.mixer_dropout(self.mixer(x, context)))
        if self.cross is not None and self.cross_norm is not None:
            x = self.cross_norm(x + self.cross_dropout(self.cross(x, context.cross)))
        if self.ffn is None or self.ffn_norm is None:
            return x, {}
        y, auxiliary = self.ffn(x, context)
        return self.ffn_norm(x + self.ffn_dropout(y)), auxiliary
