from zoo.ability import Ability
from zoo.topology import topologies
from zoo.topology.single import SingleStack
from zoo.traits import Traits


@topologies.register("prefix_lm")
class PrefixLM(SingleStack):
    """One stack: the tokens of the prefix are seen by all positions, the rest is causal.

    paper: Raffel et al. 2019, arXiv:1910.10683, section 3.2.1
    differs: nothing; with an empty prefix it is decoder_only, with nothing but prefix it is encoder_only.
    """

    traits = Traits(generates=True, takes_prefix=True)
    needs = frozenset({Ability.CAUSAL, Ability.PREFIX})
