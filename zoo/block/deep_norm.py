from jaxtyping import Float
from torch import Tensor, nn

from zoo.block import Block, blocks
from zoo.common import Common
from zoo.context import Context
from zoo.ffn import FFN, Auxiliary
from zoo.mixer import Mixer
from zoo.roles import Role, role_of, scale_start

SCALED = frozenset({Role.VALUE, Role.RESIDUAL, Role.MATRIX, Role.GATE})
"""The projections that a sublayer's output is linear in, or grows with; queries and keys keep their size."""


@blocks.register("deep_norm")
class DeepNorm(Block):
    """x ← norm(α x + dropout(sublayer(x))): post-norm whose stream outweighs its sublayers, whose projections start
    smaller by β. α = (2N)^¼, β = (8N)^(−¼) for N layers of two sublayers; α = (3N)^¼, β = (12N)^(−¼) for N of three.

    paper: Wang et al. 2022, arXiv:2203.00555, figure 2
    differs: an encoder below a decoder goes by its own depth, where the paper mixes both; β scales what `model/init`
        draws, which in the paper is Xavier's.
    """

    closes = True

    def __init__(self, common: Common, mixer: Mixer, cross: Mixer | None, ffn: FFN | None):
        super().__init__(common, mixer, cross, ffn)
        each = 2 if cross is None else 3
        self.alpha = (each * common.depth) ** 0.25
        self.beta = (4 * each * common.depth) ** -0.25
        self.mixer_norm = common.norm(common.d_model)
        self.cross_norm = None if cross is None else common.norm(common.d_model)
        self.ffn_norm = None if ffn is None else common.norm(common.d_model)
        for sublayer in (mixer, cross, ffn):
            if sublayer is not None:
                self._shrink(sublayer)

    def _shrink(self, sublayer: nn.Module) -> None:
        for module in sublayer.modules():
            for name, parameter in module.named_parameters(recurse=False):
                if role_of(module, name, parameter)[0] in SCALED:
                    scale_start(module, name, self.beta)

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        x = self.mixer_norm(self.alpha * x + self.mixer_dropout(self.mixer(x, context)))
        if self.cross is not None and self.cross_norm is not None:
            x = self.cross_norm(self.alpha * x + self.cross_dropout(self.cross(x, context.cross)))
        if self.ffn is None or self.ffn_norm is None:
            return x, {}
        y, auxiliary = self.ffn(x, context)
        return self.ffn_norm(self.alpha * x + self.ffn_dropout(y)), auxiliary
