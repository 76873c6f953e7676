from typing import Annotated, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from zoo.common import Common
from zoo.context import Context
from zoo.errors import HERE, PartError
from zoo.ffn import FFN, Auxiliary, ffns
from zoo.ffn.routes import Routes, loads, runs_of
from zoo.knob import Knob
from zoo.option import Option
from zoo.part import flops_of
from zoo.roles import Linear, Role

MOST_EXPERTS = 10_000
"""More of them are slips of the keyboard, and would be built for hours."""


@ffns.register("moe")
class MixtureOfExperts(FFN):
    """Σ_{e in top-k} g_e · FFN_e(x),  p = softmax(W_r x); g is p of the k best experts, divided by its sum if
    `renormalize`.

    balance: coefficient of E · Σ_e f_e P_e, where f_e is the share of the k·N assignments that went to expert e and P_e
        the mean of p_e over the N real tokens: 1 when even, for every k; E when all go to one expert and k = 1
    router_z: coefficient of mean(logsumexp(W_r x)²), which keeps the router's scores small
    expert: any dense FFN

    Both losses are means over the real tokens of one forward pass, summed over layers. Padding is never routed and is
    in no statistic. No expert has a capacity: nothing is dropped, and a token's result does not depend on the others.

    paper: Shazeer et al. 2017, arXiv:1701.06538; Fedus et al. 2021, arXiv:2101.03961 (balance); Zoph et al. 2022,
        arXiv:2202.08906 (router z-loss); Jiang et al. 2024, arXiv:2401.04088 (renormalised top-2)
    differs: no noise in the router; f_e is divided by k, so that the coefficient means the same for every k.
    """

    version = 2
    """1 rounded each product of a gate and an answer before it was added."""

    knobs = (Knob("expert.d_ff"), Knob("experts"))

    compiles = False  # how many tokens an expert gets is known only when they are routed

    def __init__(
        self,
        common: Common,
        *,
        expert: Annotated[Option, "ffn"],
        experts: int = 8,
        k: int = 2,
        renormalize: bool = True,
        balance: float = 0.01,
        router_z: float = 0.0,
    ):
        super().__init__(common)
        if experts < 1:
            raise PartError(f"{HERE}.experts={experts} must be at least 1")
        if not 1 <= k <= experts:
            raise PartError(f"{HERE}.k={k} must be between 1 and experts={experts}")
        if experts > MOST_EXPERTS:
            raise PartError(f"{HERE}.experts={experts} must be at most {MOST_EXPERTS}")
        for key, value in {"balance": balance, "router_z": router_z}.items():
            if value < 0:
                raise PartError(f"{HERE}.{key}={value} must not be negative")
        if k == 1 and renormalize:
            raise PartError(
                f"{HERE}.renormalize=true with k=1 makes every weight 1, so that the router learns nothing; set it to"
                " false"
            )
        kind = ffns.get(expert.name)
        if issubclass(kind, MixtureOfExperts) or kind.absent or not kind.per_position:
            raise PartError(f"an expert must be a dense ffn; choose one with model/ffn@{HERE}.expert=swiglu")
        self.k, self.renormalize = k, renormalize
        self.balance, self.router_z = balance, router_z
        self.router = Linear(common.d_model, experts, bias=False, role=Role.ROUTER)
        self.experts = cast(list[FFN], nn.ModuleList(ffns.build(expert, common) for _ in range(experts)))

    def forward(self, x: Float[Tensor, "B T D"], context: Context) -> tuple[Float[Tensor, "B T D"], Auxiliary]:
        real = context.queries.real
        tokens = x.flatten(0, 1) if real is None else x[real]
        with torch.autocast(x.device.type, enabled=False):  # a router in bfloat16 ties and misroutes
            scores = nn.functional.linear(tokens.float(), self.router.weight.float())
        probabilities = self.shares(scores)
        chosen = scores.topk(self.k, dim=-1).indices  # of the scores: two tiny probabilities may round to one
        gates = self.gates(scores).gather(-1, chosen)
        if self.renormalize:
            gates = gates / gates.sum(dim=-1, keepdim=True)
        mixed = self._mix(tokens, gates.to(x.dtype), chosen, context)
        y = mixed.view_as(x) if real is None else torch.zeros_like(x).masked_scatter(real[..., None], mixed)
        return y, self._losses(scores, probabilities, chosen)

    def shares(self, scores: Float[Tensor, "N E"]) -> Float[Tensor, "N E"]:
        """p: what the balance loss evens out; each row sums to 1."""
        return scores.softmax(dim=-1)

    def gates(self, scores: Float[Tensor, "N E"]) -> Float[Tensor, "N E"]:
        """What the experts are weighted with."""
        return self.shares(scores)

    def _mix(
        self, tokens: Float[Tensor, "N D"], gates: Float[Tensor, "N k"], chosen: Int[Tensor, "N k"], context: Context
    ) -> Float[Tensor, "N D"]:
        """Sort the assignments by expert, let each expert work on its run, add up what the experts of a token say."""
        routes = Routes(chosen)
        runs = runs_of(routes.dispatch(tokens), loads(chosen, len(self.experts)))
        every = torch.is_grad_enabled() or torch.compiler.is_compiling()  # without tokens too: its gradient is zeros
        answers = [
            expert(run[None], context)[0][0] if every or len(run) else run
            for expert, run in zip(self.experts, runs, strict=True)
        ]
        return routes.combine(torch.cat(answers), gates)

    def _losses(
        self, scores: Float[Tensor, "N E"], probabilities: Float[Tensor, "N E"], chosen: Int[Tensor, "N k"]
    ) -> Auxiliary:
        losses: Auxiliary = {}
        count = max(1, scores.shape[0])
        if self.balance:
            share = loads(chosen, scores.shape[-1]) / (count * self.k)
            mean = probabilities.sum(dim=0) / count
            losses["balance"] = self.balance * scores.shape[-1] * (share * mean).sum()
        if self.router_z:
            losses["router_z"] = self.router_z * scores.logsumexp(dim=-1).square().sum() / count
        return losses

    def flops(self, queries: int, keys: int) -> int:
        """The router and k experts: what a token really passes."""
        return flops_of(self.router, queries, keys) + self.k * flops_of(self.experts[0], queries, keys)

    def idle_parameters(self) -> int:
        """All experts but k."""
        return sum(p.numel() for expert in self.experts[self.k :] for p in expert.parameters())
