"""Where a prefix ends, and which predictions after it are scored."""

import torch

from tests.helpers import TOPOLOGIES, draw, files, option, real_of
from zoo.data.batch import Notes, PairBatch, TextBatch
from zoo.data.special import Special
from zoo.objective import Task, objectives
from zoo.topology import topologies

SPECIAL = Special.after(13)


def task(objective: str, topology: str, batch: TextBatch | PairBatch, **values: float) -> Task:
    draws = torch.rand(9, 99, 3, generator=torch.Generator().manual_seed(0))
    traits = topologies.get(topology).traits
    return objectives.get(objective)(**values).prepare(batch, SPECIAL, traits, lambda length, each: draws)


def test_a_prefix_of_six_is_scored_from_its_last_position_on() -> None:
    """Ten positions: a source of five and the start mark may be seen by all; the targets are predicted at 5 to 9."""
    tokens = draw(1, 10)
    asked = task("seq2seq", "prefix_lm", TextBatch(tokens))
    assert asked.inputs["tokens"].tolist() == [[*tokens[0, :5].tolist(), SPECIAL.start, *tokens[0, 5:9].tolist()]]
    assert asked.inputs["prefix"].tolist() == [[True] * 6 + [False] * 4]
    assert asked.weights.tolist() == [[0.0] * 5 + [1.0] * 5]
    assert asked.targets[0, 5:].tolist() == tokens[0, 5:].tolist()


def test_every_topology_is_scored_on_the_same_targets() -> None:
    tokens = draw(2, 10)
    found = [task("seq2seq", name, TextBatch(tokens)) for name in ("prefix_lm", "decoder_only", "encoder_decoder")]
    scored = [one.targets[one.weights > 0].tolist() for one in found]
    assert scored[0] == scored[1] == scored[2] == tokens[:, 5:].flatten().tolist()


def test_every_topology_scores_the_same_target_tokens_of_pairs() -> None:
    """Those of the target and the mark that closes it, row by row, whatever stands in front and behind."""
    source, target = draw(3, 9, seed=1), draw(3, 7, seed=2)
    source_real, target_real = real_of([9, 1, 4], 9, "right"), real_of([2, 7, 4], 7, "right")
    batch = PairBatch(source * source_real, source_real, target * target_real, target_real)
    expected = [[*target[i, :length].tolist(), SPECIAL.end] for i, length in enumerate((2, 7, 4))]
    for topology in ("encoder_decoder", "decoder_only", "prefix_lm"):
        asked = task("seq2seq", topology, batch)
        assert [row[real > 0].tolist() for row, real in zip(asked.targets, asked.weights, strict=True)] == expected
        before = [row[real > 0].tolist() for row, real in zip(asked.inputs["tokens"], asked.weights, strict=True)]
        assert before == [[SPECIAL.start, *row[:-1]] for row in expected]


def test_a_pair_in_front_of_its_target_takes_no_more_positions_than_it_has() -> None:
    """Each row is `source <start> target`, then padding; notes go along with the targets they are about."""
    lengths = [(9, 2), (1, 7), (4, 4)]
    source, target = draw(3, 16, seed=1), draw(3, 8, seed=2)
    source_real, target_real = (real_of([one[i] for one in lengths], (16, 8)[i], "right") for i in (0, 1))
    skill = target * target_real
    notes = Notes(skill.float(), skill, skill, skill)
    batch = PairBatch(source * source_real, source_real, target * target_real, target_real, notes)
    for topology in ("decoder_only", "prefix_lm"):
        asked = task("seq2seq", topology, batch)
        assert asked.inputs["tokens"].shape == (3, 16)  # the longest row has 12, rounded up to a multiple of 8
        for i, (s, t) in enumerate(lengths):
            row = [*source[i, :s].tolist(), SPECIAL.start, *target[i, :t].tolist()]
            real = asked.inputs["padding"][i]
            assert real.tolist() == [True] * len(row) + [False] * (16 - len(row))
            assert asked.inputs["tokens"][i][real].tolist() == row
            scored = asked.weights[i] > 0
            assert asked.targets[i][scored].tolist() == [*target[i, :t].tolist(), SPECIAL.end]
            assert asked.notes.skill[i][scored].tolist() == [*target[i, :t].tolist(), 0]
            if topology == "prefix_lm":
                assert asked.inputs["prefix"][i].sum() == s + 1


def test_a_continuation_keeps_what_is_known_of_its_tokens_in_every_topology() -> None:
    notes = Notes(torch.rand(2, 10), draw(2, 10), draw(2, 10), draw(2, 10))
    documents = torch.tensor([[0] * 8 + [1] * 2, [0] * 2 + [1] * 8])
    for name in ("prefix_lm", "decoder_only", "encoder_decoder"):
        asked = task("seq2seq", name, TextBatch(draw(2, 10), None, documents, notes))
        assert asked.notes is not None
        assert asked.weights.sum() == 3 + 5  # what follows in the document that the cut falls into
        scored = asked.weights > 0
        expected = torch.cat([notes.floor[0, 5:8], notes.floor[1, 5:]])
        assert torch.equal(asked.notes.floor[scored], expected)


def test_no_causal_target_is_among_the_tokens_that_predict_it() -> None:
    tokens = draw(3, 11)
    asked = task("causal", "decoder_only", TextBatch(tokens))
    assert torch.equal(asked.inputs["tokens"], tokens[:, :-1])
    assert torch.equal(asked.targets, tokens[:, 1:])
    assert asked.weights.all()


def test_no_document_predicts_the_first_token_of_the_next_and_padding_is_never_scored() -> None:
    real = torch.tensor([[True] * 8 + [False] * 2])
    documents = torch.tensor([[0] * 3 + [1] * 7])
    asked = task("causal", "decoder_only", TextBatch(draw(1, 10), real, documents))
    assert asked.weights.tolist() == [[1, 1, 0, 1, 1, 1, 1, 0, 0]]


def test_every_objective_serves_a_topology_that_has_an_option_file() -> None:
    there = [topologies.get(option("topology", name)["name"]).traits for name in TOPOLOGIES]
    for name in files("objective"):
        assert any(objectives.get(name).serves(traits) for traits in there)
