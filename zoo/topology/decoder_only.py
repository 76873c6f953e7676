from zoo.ability import Ability
from zoo.topology import topologies
from zoo.topology.single import SingleStack
from zoo.traits import Traits


@topologies.register("decoder_only")
class DecoderOnly(SingleStack):
    """One causal stack: position t sees positions ≤ t.

    paper: Liu et al. 2018, arXiv:1801.10198; Radford et al. 2018 (GPT)
    differs: nothing.
    """

    traits = Traits(generates=True)
    needs = frozenset({Ability.CAUSAL})
