"""What a model is given, looked at before anything is computed: what would fail deep inside, or not at all."""

from typing import Any

import torch
from torch import Tensor, nn

from zoo.ability import Ability
from zoo.errors import UserError
from zoo.state import ModelState
from zoo.topology import Topology


def check_inputs(
    topology: Topology,
    vocabulary: int,
    tokens: Any,
    padding: Any,
    source: Any,
    source_padding: Any,
    prefix: Any,
    documents: Any,
    source_documents: Any,
) -> None:
    """Raise UserError for tensors of another kind than `Model.forward` takes, and for what its topology or its mixers
    cannot do with them."""
    kind, traits = type(topology).__name__, topology.traits
    if source is not None and not traits.reads_source:
        raise UserError(f"{kind} has no encoder to read a source; put the source in front of the tokens")
    if prefix is not None and not traits.takes_prefix:
        raise UserError(f"{kind} takes no prefix; choose model/topology=prefix_lm")
    check_tokens("tokens", tokens, vocabulary)
    if source is not None:
        check_tokens("source", source, vocabulary)
        if len(source) != len(tokens):
            raise UserError(f"the source has {len(source)} rows, the tokens have {len(tokens)}")
    check_mask("padding", padding, tokens)
    check_mask("prefix", prefix, tokens)
    check_mask("source_padding", source_padding, source)
    _check_documents(topology, tokens, documents, source, source_documents)
    if padding is not None or source_padding is not None:
        topology.require(Ability.PADDING)


def _check_documents(topology: Topology, tokens: Tensor, documents: Any, source: Any, source_documents: Any) -> None:
    """Packed rows: the k-th document of a target reads the k-th of its source, so there must be as many of both; all
    read a source that is not packed."""
    for name, found, text in (("documents", documents, tokens), ("source_documents", source_documents, source)):
        if found is None:
            continue
        topology.require(Ability.PACKING)
        if text is None or not _whole_numbers(found) or found.shape != text.shape:
            wanted = "of a source" if text is None else tuple(text.shape)
            raise UserError(f"{name} must be whole numbers of shape {wanted}, got {_told(found)}")
    if source_documents is not None:
        if documents is None:
            raise UserError("source_documents go with documents: the k-th of a target reads the k-th of its source")
        counts = [(one[:, 1:] != one[:, :-1]).sum(1) + 1 for one in (documents, source_documents)]
        if not torch.equal(*counts):
            raise UserError("a row has as many documents as its source has source_documents, and these differ")


def check_tokens(name: str, tokens: Any, vocabulary: int) -> None:
    """Tokens are whole numbers (B, T) of the vocabulary; their values are looked at on the CPU only, where nothing has
    to be waited for."""
    if not _whole_numbers(tokens) or tokens.ndim != 2:
        raise UserError(f"{name} must be a tensor of whole numbers of shape (B, T), got {_told(tokens)}")
    if tokens.device.type == "cpu" and tokens.numel():
        low, high = (int(value) for value in tokens.aminmax())
        if low < 0 or high >= vocabulary:
            wrong = low if low < 0 else high
            raise UserError(f"{name} has {wrong}, but the model's vocabulary is 0 to {vocabulary - 1}")


def check_mask(name: str, mask: Any, tokens: Tensor | None) -> None:
    """A mask is bool and as large as what it masks; True means real."""
    if mask is None:
        return
    wanted = "of a source" if tokens is None else tuple(tokens.shape)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or tokens is None or mask.shape != tokens.shape:
        raise UserError(f"{name} must be a bool tensor of shape {wanted} (True = real), got {_told(mask)}")


def check_state(state: ModelState, model: nn.Module, tokens: Tensor, documents: Tensor | None) -> None:
    """Raise UserError for a state of another model, or of another batch."""
    if state.model() is not model:
        raise UserError("this state belongs to another model; make one with model.start(rows, capacity)")
    if documents is not None:
        raise UserError("a state carries one document per row; leave out documents=")
    if len(tokens) != len(state.history.positions):
        raise UserError(f"this state is for {len(state.history.positions)} rows, the tokens have {len(tokens)}")


def _whole_numbers(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype in (torch.int64, torch.int32)


def _told(value: Any) -> str:
    return f"{value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
