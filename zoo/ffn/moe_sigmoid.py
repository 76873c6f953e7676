import torch
from jaxtyping import Float
from torch import Tensor

from zoo.ffn import ffns
from zoo.ffn.moe import MixtureOfExperts


@ffns.register("moe_sigmoid")
class SigmoidMixture(MixtureOfExperts):
    """The mixture of `moe` with g_e = σ(W_r x)_e: experts do not compete for one sum. Its balance loss evens out
    σ_e / Σ σ, computed as softmax(log σ), so that scores which all shrink towards −∞ do not escape it.

    paper: DeepSeek-AI 2024, arXiv:2412.19437, section 2.1.2
    differs: balanced by the loss of `moe` over the whole batch; there are no biases that balance without a loss.
    """

    def shares(self, scores: Float[Tensor, "N E"]) -> Float[Tensor, "N E"]:
        return torch.nn.functional.logsigmoid(scores).softmax(dim=-1)

    def gates(self, scores: Float[Tensor, "N E"]) -> Float[Tensor, "N E"]:
        return self.shares(scores) if self.renormalize else scores.sigmoid()
