from zoo.position import Position, positions


@positions.register("none")
class NoPosition(Position):
    """x, q, k and scores stay as they are; a causal model can still tell order from what is hidden (NoPE).

    paper: Kazemnejad et al. 2023, arXiv:2305.19466
    differs: nothing.
    """
