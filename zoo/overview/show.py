"""One composed architecture as a tree."""

from collections.abc import Iterator, Sequence

import torch
from rich.tree import Tree
from torch import nn

from zoo.accounting import costs
from zoo.assembly import assemble
from zoo.block import Block
from zoo.config import parse_model
from zoo.data.tokenizer import refuse_vocabulary
from zoo.dropout import Dropout
from zoo.errors import UserError
from zoo.model import Model
from zoo.overview.asked import asked
from zoo.part import flops_of
from zoo.schema import convert, positive
from zoo.terminal import NARROW, show
from zoo.topology.stack import Stack


def print_tree(overrides: Sequence[str], vocabulary: int) -> None:
    """Draw the model of these overrides; layers that are alike are drawn once. FLOPs are forward, per row of
    budget.context tokens; state is what a row keeps after them, as numbers."""
    if vocabulary < 1:
        raise UserError(f"--vocabulary {vocabulary} must be at least 1")
    refuse_vocabulary(vocabulary, "--vocabulary")
    for word in overrides:
        if word.startswith(("tokenizer", "data", "objective", "optimizer", "schedule")):
            raise UserError(f"{word} is nothing of a model; it is drawn for as many ids as --vocabulary says")
    node = asked("show", overrides, ("model", "budget.context"))
    context = convert(node["budget"]["context"], int, "budget.context")
    positive("budget", context=context)
    with torch.device("meta"):
        model = assemble(parse_model(node["model"]), vocabulary)
    show(draw(model, context), width=NARROW)


def draw(model: Model, context: int) -> Tree:
    """The tree of a model at that context length."""
    total = costs(model, context)
    also = " and a source of as many" if model.topology.traits.reads_source else ""
    tree = Tree(
        f"[bold]model[/]  {total.parameters:,} parameters ({total.embedding_parameters:,} in tables,"
        f" {total.active_parameters:,} active per token)  {_number(model.flops(context))} FLOPs for"
        f" {context} tokens{also}  state {_number(model.state_elements(context))} numbers"
    )
    for name, stack in model.topology.named_children():
        if isinstance(stack, Stack):
            _draw_stack(tree, name, stack, context, keeps=stack is model.topology.generating)
    _draw_modules(tree, "head", model.head, context)
    tree.add(f"logits (B, T, {model.vocabulary})")
    return tree


def _draw_stack(tree: Tree, name: str, stack: Stack, context: int, *, keeps: bool) -> None:
    tree = tree.add(f"[bold]{name}[/]  {_about(stack, context)}{_state(stack, context, keeps)}")
    _draw_modules(tree, "embedding", stack.embedding, context)
    for key, position in stack.positions.items():
        _draw_modules(tree, f"position {key}", position, context)
    for first, last, block in _runs(stack):
        layers = f"layer {first}" if first == last else f"layers {first}–{last}, each"
        branch = tree.add(f"[bold]{layers}[/]  {_about(block, context)}{_state(block, context, keeps)}")
        for name, child in block.named_children():
            if not isinstance(child, Dropout):
                _draw_modules(branch, name, child, context)
    _draw_modules(tree, "closing_norm", stack.closing_norm, context)
    tree.add("hidden (B, T, D)")


def _draw_modules(tree: Tree, name: str, module: nn.Module, context: int) -> None:
    """A part with its own parameters' shapes, then the parts in it; experts that are alike are drawn once."""
    shapes = "  ".join(f"{key} {tuple(p.shape)}" for key, p in module.named_parameters(recurse=False))
    branch = tree.add(f"{name}  {_about(module, context)}  [dim]{shapes}[/]".rstrip())
    children = dict(module.named_children())
    if isinstance(module, nn.ModuleList) and len({_signature(one) for one in module}) == 1:
        children = {f"0–{len(module) - 1}, each": module[0]}
    for key, child in children.items():
        if any(True for _ in child.parameters()) or isinstance(child, nn.ModuleList):
            _draw_modules(branch, key, child, context)


def _about(module: nn.Module, context: int) -> str:
    """Class, parameters and FLOPs of a part."""
    words = [f"[cyan]{type(module).__name__}[/]"]
    count = sum(p.numel() for p in module.parameters())
    if count:
        words.append(f"{count:,} parameters")
    flops = 0 if isinstance(module, nn.ModuleList) else flops_of(module, context, context)  # a token skips experts
    if isinstance(module, Block | Stack):
        flops += module.cross_flops(context, context)
    if flops:
        words.append(f"{_number(flops)} FLOPs")
    return "  ".join(words)


def _state(module: Block | Stack, context: int, keeps: bool) -> str:
    """What a row keeps when generating, of a stack that does."""
    return f"  state {_number(module.state_elements(context, context))}" if keeps else ""


def _runs(stack: Stack) -> Iterator[tuple[int, int, Block]]:
    """Consecutive layers that are alike: (first, last, one of them)."""
    first = 0
    blocks = list(stack.blocks)
    signatures = [(_signature(block), scheme) for block, scheme in zip(blocks, stack.schemes, strict=True)]
    for i in range(1, len(blocks) + 1):
        if i == len(blocks) or signatures[i] != signatures[first]:
            yield first, i - 1, blocks[first]
            first = i


def _signature(module: nn.Module) -> str:
    """Equal for modules that are alike: classes, plain settings and shapes all the way down."""
    plain = {k: v for k, v in vars(module).items() if isinstance(v, int | float | str | None) and k != "training"}
    own = [tuple(p.shape) for p in module.parameters(recurse=False)]
    inner = [f"{name}={_signature(child)}" for name, child in module.named_children()]
    return f"{type(module).__name__}{plain}{own}{inner}"


def _number(value: int | float) -> str:
    """1234567 → 1.23M."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.0f}"
