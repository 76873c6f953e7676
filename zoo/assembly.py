"""From a ModelConfig to a Model: the registry builds the parts, here they are put together and checked."""

from torch import nn

from zoo.ability import Ability, refuse_unless
from zoo.block import Block
from zoo.block import blocks as blocks_registry
from zoo.common import Common
from zoo.embedding import embeddings
from zoo.errors import HERE, PartError, UserError
from zoo.experiment import ModelConfig
from zoo.families import PER_LAYER
from zoo.ffn import ffns
from zoo.head import heads
from zoo.init import initialise, inits
from zoo.memory import countable
from zoo.mixer import Mixer, mixers
from zoo.model import Model
from zoo.norm import Norm, norms
from zoo.option import Choice, Option
from zoo.position import Position, positions
from zoo.topology import MakeStack, topologies
from zoo.topology.stack import Stack

MOST_LAYERS = 10_000
"""Deeper ones are slips of the keyboard, and would be built for hours."""


def build_model(config: ModelConfig, vocabulary: int, seed: int) -> Model:
    """The model of that config, on the CPU in float32, initialised from the seed. Raises UserError when parts do not
    fit, with the reason."""
    model = assemble(config, vocabulary)
    initialise(model, inits.build(config.init), seed, lambda name: _residuals(model, name))
    return model


@countable("make model.d_model, model.ffn.d_ff or whatever is so large in model smaller")
def assemble(config: ModelConfig, vocabulary: int) -> Model:
    """The same with its matrices unfilled: to load weights into or, under `torch.device("meta")`, for counting."""
    if config.cross is not None and not topologies.get(config.topology.name).traits.reads_source:
        raise UserError(
            f"model.cross is set, but topology '{config.topology.name}' reads no other sequence; leave it out (null)"
        )
    outside = common_of(config, layer=0, depth=config.n_layers, causal=True)
    stacks = _Stacks(config, vocabulary)
    topology = topologies.build(config.topology, outside, stacks)
    stacks.refuse_idle()
    head = heads.build(config.head, outside, vocabulary)
    limits = [part.limit for part in topology.modules() if isinstance(part, Position) and part.limit is not None]
    model = Model(topology, head, vocabulary, min(limits, default=None))
    _tie(model)
    return model


def common_of(config: ModelConfig, *, layer: int, depth: int, causal: bool) -> Common:
    """What the parts of that layer share."""
    norm: Option = config.norm.at(layer)

    def make_norm(width: int) -> Norm:
        return norms.build(norm, width)

    return Common(
        d_model=config.d_model,
        n_heads=config.n_heads,
        dropout=config.dropout,
        bias=config.bias,
        norm=make_norm,
        layer=layer,
        depth=depth,
        causal=causal,
    )


class _Stacks(MakeStack):
    """Makes the stacks that a topology asks for."""

    def __init__(self, config: ModelConfig, vocabulary: int):
        self.config, self.vocabulary = config, vocabulary
        self.needs = topologies.get(config.topology.name).needs
        self.deepest = self.deepest_reading = 0

    def __call__(self, n_layers: int | None, *, causal: bool, cross: bool = False) -> Stack:
        config = self.config
        depth = config.n_layers if n_layers is None else n_layers
        if not 1 <= depth <= MOST_LAYERS:
            raise UserError(
                f"a stack has 1 to {MOST_LAYERS} layers, got {depth}: set model.n_layers, or the topology's own depths"
            )
        self.deepest = max(self.deepest, depth)
        if cross:
            self.deepest_reading = max(self.deepest_reading, depth)
        commons = [common_of(config, layer=i, depth=depth, causal=causal) for i in range(depth)]
        blocks = [self._block(common, cross) for common in commons]
        schemes = [config.position.key(i) for i in range(depth)]
        options = config.position.distinct
        places = {key: positions.build(options[key], commons[0]) for key in dict.fromkeys(schemes)}
        for block, scheme in zip(blocks, schemes, strict=True):
            with options[scheme].placing():
                places[scheme].check(block.mixer, scheme)
        _refuse_some_layers(places)
        embedding = embeddings.build(config.embedding, commons[0], self.vocabulary)
        closing = nn.Identity() if blocks[-1].closes else commons[-1].norm(config.d_model)
        return Stack(embedding, places, schemes, blocks, closing, causal)

    def refuse_idle(self) -> None:
        """Refuse a pattern that is longer than every stack: an option in it would be in no layer."""
        choices = {axis: (getattr(self.config, axis), self.deepest) for axis in PER_LAYER}
        if self.config.cross is not None:
            choices["cross"] = self.config.cross, self.deepest_reading
        for axis, (choice, depth) in choices.items():
            used = {choice.key(i) for i in range(depth)}
            for key in choice.distinct:
                if key not in used:
                    raise UserError(
                        f"model.{axis}.{key} is in no layer: the pattern is longer than the {depth} layers of"
                        f" the model; set model.n_layers higher or model.{axis}.layers shorter"
                    )

    def _block(self, common: Common, cross: bool) -> Block:
        config, i = self.config, common.layer
        mixer = mixers.build(config.mixer.at(i), common)
        refuse_unless(mixer, self.needs, f"topology '{config.topology.name}'")
        reader = self._reader(common) if cross else None
        ffn = ffns.build(config.ffn.at(i), common)
        refuse_unless(ffn, self.needs, f"topology '{config.topology.name}'")
        return blocks_registry.build(config.block.at(i), common, mixer, reader, None if ffn.absent else ffn)

    def _reader(self, common: Common) -> Mixer:
        """The cross-mixer: the one chosen for `cross`, else one like the layer's own mixer."""
        choice: Choice = self.config.mixer if self.config.cross is None else self.config.cross
        reader = mixers.build(choice.at(common.layer), common)
        if self.config.cross is not None:
            option = choice.at(common.layer)
            with option.placing():
                _refuse_idle_across(reader, option)
        who = f"the decoder of '{self.config.topology.name}' (choose one with model/mixer@model.cross=mha)"
        refuse_unless(reader, frozenset({Ability.CROSS}), who)
        return reader


def _refuse_some_layers(places: dict[str, Position]) -> None:
    for key, place in places.items():
        if place.marks_embeddings and len(places) > 1:
            raise UserError(
                f"model.position.{key} marks the embeddings once, below the first layer, and so acts on all layers; a"
                " pattern cannot give it to some of them"
            )


def _refuse_idle_across(reader: Mixer, option: Option) -> None:
    for key in sorted(reader.idle_across):
        if option.values[key] is not None:
            raise PartError(
                f"{HERE}.{key}={option.values[key]} would change nothing: a memory is read as a whole; set it to"
                " null, or choose another mixer with model/mixer@model.cross=mha"
            )


def _tie(model: Model) -> None:
    """Share the tables that the embedding says are one, as far as the topology has them."""
    out, source = model.topology.out, model.topology.source
    if out.tie in ("output", "all"):
        model.head.out.weight = out.weight
    if out.tie == "all" and source is not None:
        source.weight = out.weight


def _residuals(model: Model, name: str) -> int:
    """How often the stack that the parameter is in writes into its residual stream."""
    for prefix, module in model.named_modules():
        if isinstance(module, Stack) and name.startswith(f"{prefix}."):
            return sum(block.writes for block in module.blocks)
    return 1
