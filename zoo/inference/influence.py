"""What each position depends on, by gradients: for every model, whatever mixes its positions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.func import functional_call

from zoo.embedding import Embedding
from zoo.inference.looking import text_of
from zoo.mixer.backend import plain
from zoo.model import Model
from zoo.sequence import Sequence
from zoo.topology import Text


@torch.enable_grad()
def influence(
    model: Model, tokens: Int[Tensor, "1 T"], source: Int[Tensor, "1 S"] | None = None
) -> tuple[Float[Tensor, "T T"], Float[Tensor, "T S"] | None]:
    """|∂ max_v logit[t, v] / ∂ embedding[s]|, Euclidean over the features, for the tokens and for the source where one
    is read. A position that cannot be seen has exactly 0.

    Each position gets a table row of its own, so that the gradient of the table is that of the positions.
    """
    was_training = model.training
    model.eval()
    try:
        tables = {_name(model, model.topology.out): _rows(model.topology.out, tokens)}
        if source is not None and model.topology.source is not None:
            tables[_name(model, model.topology.source)] = _rows(model.topology.source, source)
        read = None if source is None else Text(_numbered(source), Sequence.of(source))
        text = Text(_numbered(tokens), text_of(model, tokens).sequence)
        hidden, _ = functional_call(model.topology, tables, (text, read, plain), tie_weights=False)
        best = model.head(hidden)[0].amax(-1)
        found = [torch.autograd.grad(one, list(tables.values()), retain_graph=True) for one in best]
    finally:
        model.train(was_training)
    own, *others = (torch.stack([row[i].norm(dim=-1) for row in found]) for i in range(len(tables)))
    return own, others[0] if others else None


def _name(model: Model, embedding: Embedding) -> str:
    """The name of its table in the topology."""
    modules = model.topology.named_modules(remove_duplicate=False)
    return next(f"{name}.weight" for name, module in modules if module is embedding)


def _rows(embedding: Embedding, tokens: Int[Tensor, "1 T"]) -> Float[Tensor, "T D"]:
    return embedding.weight.detach()[tokens[0]].requires_grad_()


def _numbered(tokens: Int[Tensor, "1 T"]) -> Int[Tensor, "1 T"]:
    return torch.arange(tokens.shape[1], device=tokens.device)[None]
