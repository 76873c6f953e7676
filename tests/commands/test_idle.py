"""A value that cannot act is refused where the command sets it, and stays where a preset brings it along."""

import pytest

from tests.commands.conftest import TINY, Command
from tests.helpers import composed
from zoo.config import parse
from zoo.errors import UserError
from zoo.jobs.idle import refuse_idle

PAIRS = ("model=transformer_2017", "data=toy_translation")
STACKS = ("model=transformer_2017", "model.topology.n_encoder_layers=1")

IDLE = {
    "a depth that both stacks have": ((*STACKS, "model.topology.n_decoder_layers=2", "model.n_layers=4"), "n_layers=4"),
    "a ratio beside a width": (("model.ffn.d_ff=20", "model.ffn.ratio=3"), "model.ffn.d_ff=20 is set"),
    "a rounding beside a width": (("model/ffn=relu", "model.ffn.multiple_of=8", "model.ffn.d_ff=20"), "d_ff=20 is set"),
    "a ratio of experts": (
        ("model/ffn=moe", "model.ffn.expert.d_ff=20", "model.ffn.expert.ratio=3"),
        "model.ffn.expert.d_ff=20 is set",
    ),
    "a table of no source": (("model.embedding.tie=all",), "'decoder_only' has no source"),
    "a norm that is none": (("model/norm=none", "model.embedding.norm=true"), "the model's norm, which is 'none'"),
    "tables that no decay reaches": (
        ("optimizer.weight_decay=0", "optimizer.decay_embeddings=true"),
        "optimizer.weight_decay is 0.0",
    ),
    "tables under the decay of 2017, which is none": (
        ("optimizer=adam_2017", "optimizer.decay_embeddings=true"),
        "optimizer.weight_decay is 0.0",
    ),
    "a cut of pairs": ((*PAIRS, "objective.source=0.3"), "the data is pairs"),
}
ACTS = {
    "a depth that one stack has": (*STACKS, "model.n_layers=4"),
    "a ratio alone": ("model.ffn.ratio=3",),
    "a ratio of experts alone": ("model/ffn=moe", "model.ffn.expert.ratio=3"),
    "a key of a mixture": ("model/ffn=moe", "model.ffn.experts=4"),
    "a ratio that is taken away": ("model/ffn=relu", "model.ffn.d_ff=20", "~model.ffn.ratio"),
    "the default beside a width": ("model/ffn=relu", "model.ffn.d_ff=20", "model.ffn.ratio=4.0"),
    "a preset's table, in a decoder": (
        "model=transformer_2017",
        "model/topology=decoder_only",
        "model.embedding.scale=false",
    ),
    "a table of a source": (*PAIRS, "model.embedding.tie=all"),
    "a preset's norm of embeddings, without norms": ("model=bert", "model/norm=none"),
    "no norm of embeddings": ("model/norm=none", "model.embedding.norm=false"),
    "a norm of embeddings": ("model.embedding.norm=true",),
    "tables that a decay reaches": ("optimizer.weight_decay=0.1", "optimizer.decay_embeddings=true"),
    "no tables, and no decay": ("optimizer.weight_decay=0", "optimizer.decay_embeddings=false"),
    "a cut of texts": ("model=transformer_2017", "objective.source=0.3"),
    "the default cut of pairs": (*PAIRS, "objective.source=0.5"),
}


@pytest.mark.parametrize("case", IDLE)
def test_a_value_that_cannot_act_is_refused(case: str) -> None:
    overrides, says = IDLE[case]
    with pytest.raises(UserError, match=" would change nothing: ") as refused:
        refuse_idle(parse(composed(*overrides)), overrides)
    assert says in str(refused.value)


@pytest.mark.parametrize("case", ACTS)
def test_a_value_that_acts_or_is_not_set_by_the_command_is_none_of_them(case: str) -> None:
    refuse_idle(parse(composed(*ACTS[case])), ACTS[case])


def test_an_entry_of_a_pattern_is_looked_at_too() -> None:
    node = composed("model/ffn=relu")
    entries = {"a": node["model"]["ffn"] | {"d_ff": 20, "ratio": 3.0}, "b": node["model"]["ffn"] | {"ratio": 3.0}}
    ffn = {"name": "pattern", "layers": ["a", "b"], **entries}
    experiment = parse(node | {"model": node["model"] | {"ffn": ffn}})
    refuse_idle(experiment, ["model.ffn.b.ratio=3", "model.ffn.layers=[a,b]"])
    with pytest.raises(UserError, match=r"model\.ffn\.a\.d_ff=20 is set"):
        refuse_idle(experiment, ["model.ffn.a.ratio=3"])


@pytest.mark.parametrize("more", [("model.ffn.d_ff=20",), ("match=params", "match.reference=gpt2")])
def test_the_command_refuses_it_also_beside_a_width_that_was_solved_for(
    command: Command, more: tuple[str, ...]
) -> None:
    done = command("train", *TINY, "model.ffn.ratio=3", *more)
    assert done.code == 2
    assert done.err.startswith("error: model.ffn.ratio=3 would change nothing: model.ffn.d_ff=")
    assert done.err.count("\n") == 1
