from zoo.ability import Ability
from zoo.topology import topologies
from zoo.topology.single import SingleStack
from zoo.traits import Traits


@topologies.register("encoder_only")
class EncoderOnly(SingleStack):
    """One stack in which every position sees every other.

    paper: Devlin et al. 2018, arXiv:1810.04805
    differs: no segment embeddings; one text is read at a time.
    """

    traits = Traits(generates=False)
    needs = frozenset({Ability.BIDIRECTIONAL})
