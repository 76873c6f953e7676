import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from zoo.common import Common
from zoo.dropout import Dropout
from zoo.embedding import Embedding, Tie, embeddings
from zoo.roles import Role, set_role


@embeddings.register("table")
class Table(Embedding):
    """x = dropout(norm(s · E[token] + position)),  s = √D if `scale` else 1, norm the model's norm if `norm` (BERT).

    tie: `output` shares E with the head, `all` with the source's table too (2017)

    paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.4; Press & Wolf 2016, arXiv:1608.05859 (tying)
    differs: nothing; the scale never touches the head.
    """

    def __init__(self, common: Common, vocabulary: int, *, scale: bool = False, norm: bool = False, tie: Tie = "none"):
        super().__init__(common, vocabulary)
        self.scale = common.d_model**0.5 if scale else 1.0
        self.tie = tie
        self.weight = nn.Parameter(torch.empty(vocabulary, common.d_model))
        set_role(self, "weight", Role.EMBEDDING)
        self.norm = common.norm(common.d_model) if norm else nn.Identity()
        self.dropout = Dropout(common.dropout)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        x = F.embedding(tokens, self.weight)
        return x if self.scale == 1.0 else x * self.scale

    def close(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        return self.dropout(self.norm(x))
