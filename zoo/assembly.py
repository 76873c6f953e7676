"""From a ModelConfig to a Model: the registry builds the parts, here they are put together and checked."""

from torch import nn

from zoo.ability import Ability, refuse_unless
from zoo.block import Block, blocks
from zoo.common import Common
from zoo.embedding import embeddings
from zoo.errors import UserError
from zoo.experiment import ModelConfig
from zoo.ffn import ffns
from zoo.head import heads
from zoo.init import initialise, inits
from zoo.mixer import Mixer, mixers
from zoo.model import Model
from zoo.norm import Norm, norms
from zoo.option import Choice, Option
from zoo.position import Position, positions
from zoo.stack import Stack
from zoo.topology import MakeStack, Topology, topologies


def build_model(config: ModelConfig, vocabulary: int, seed: int) -> Model:
    """The model of that config, on the CPU in float32, initialised from the seed. Raises UserError when parts do not
    fit, with the reason."""
    model = assemble(config, vocabulary)
    initialise(model, inits.build(config.init), seed, lambda name: _depth(model, name))
    return model


def assemble(config: ModelConfig, vocabulary: int) -> Model:
    """The same with its matrices unfilled: to load weights into or, under `torch.device("meta")`, for counting."""
    common, kind = _common(config, 0), topologies.get(config.topology.name)
    if config.cross is not None and not kind.reads_source:
        raise UserError(
            f"model.cross is set, but topology '{config.topology.name}' reads no other sequence; leave it out (null)"
        )
    topology = topologies.build(config.topology, common, _StackMaker(config, vocabulary, kind))
    head = heads.build(config.head, common, vocabulary)
    limits = [part.limit for part in topology.modules() if isinstance(part, Position) and part.limit is not None]
    model = Model(topology, head, vocabulary, min(limits, default=None))
    _tie(model)
    return model


class _StackMaker(MakeStack):
    """Makes the stacks that a topology asks for."""

    def __init__(self, config: ModelConfig, vocabulary: int, topology: type[Topology]):
        self.config, self.vocabulary, self.topology = config, vocabulary, topology

    def __call__(self, n_layers: int | None, *, cross: bool = False) -> Stack:
        config = self.config
        depth = config.n_layers if n_layers is None else n_layers
        if depth < 1:
            raise UserError(
                f"a stack needs at least 1 layer, got {depth}: model.n_layers, or the topology's own depths"
            )
        layers = [self._block(i, cross) for i in range(depth)]
        schemes = [config.position.key(i) for i in range(depth)]
        stack = Stack(
            embeddings.build(config.embedding, _common(config, 0), self.vocabulary),
            {key: positions.build(option, _common(config, 0)) for key, option in config.position.distinct.items()},
            schemes,
            layers,
            nn.Identity() if layers[-1].closes else _common(config, depth - 1).norm(config.d_model),
        )
        for block, scheme in zip(layers, schemes, strict=True):
            stack.positions[scheme].check(block.mixer, scheme)
        return stack

    def _block(self, i: int, cross: bool) -> Block:
        config, common = self.config, _common(self.config, i)
        mixer = mixers.build(config.mixer.at(i), common)
        refuse_unless(mixer, self.topology.needs, f"topology '{config.topology.name}'")
        reader = self._reader(i, common) if cross else None
        return blocks.build(config.block.at(i), common, mixer, reader, ffns.build(config.ffn.at(i), common))

    def _reader(self, i: int, common: Common) -> Mixer:
        """The cross-mixer: the one chosen for `cross`, else one like the layer's own mixer."""
        choice: Choice = self.config.mixer if self.config.cross is None else self.config.cross
        reader = mixers.build(choice.at(i), common)
        refuse_unless(
            reader,
            frozenset({Ability.CROSS}),
            f"the decoder of '{self.config.topology.name}' (choose one with model/mixer@model.cross=mha)",
        )
        return reader


def _common(config: ModelConfig, layer: int) -> Common:
    norm: Option = config.norm.at(layer)

    def make_norm(width: int) -> Norm:
        return norms.build(norm, width)

    return Common(
        d_model=config.d_model,
        n_heads=config.n_heads,
        n_layers=config.n_layers,
        max_context=config.max_context,
        dropout=config.dropout,
        bias=config.bias,
        norm=make_norm,
    )


def _tie(model: Model) -> None:
    """Share the tables that the embedding says are one, as far as the topology has them."""
    out, source = model.topology.out, model.topology.source
    if out.tie in ("output", "all"):
        model.head.out.weight = out.weight
    if out.tie == "all" and source is not None:
        source.weight = out.weight


def _depth(model: Model, name: str) -> int:
    """Layers of the stack that the parameter is in."""
    for prefix, module in model.named_modules():
        if isinstance(module, Stack) and name.startswith(f"{prefix}."):
            return len(module.blocks)
    return 1
