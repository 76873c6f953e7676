"""Where a prefix ends, and which predictions after it are scored."""

import pytest
import torch
from torch import Tensor

from tests.helpers import SERVED, TOPOLOGIES, build, close, draw, files, model_node, option, real_of
from zoo.data.batch import Notes, PairBatch, TextBatch
from zoo.data.special import Special
from zoo.model import Output
from zoo.objective import Task, objectives
from zoo.topology import topologies

WORDS = 13
SPECIAL = Special.after(WORDS)


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


# --- through a model ------------------------------------------------------------------------------------------------


def asked(objective: str, topology: str, batch: TextBatch | PairBatch) -> tuple[Task, Output]:
    """The task of two rows, and what a small model with experts answers."""

    def draws(length: int, each: int) -> Tensor:
        return torch.rand(2, length, each, generator=torch.Generator().manual_seed(0))

    traits = topologies.get(option("topology", topology)["name"]).traits
    one = objectives.get(objective)().prepare(batch, SPECIAL, traits, draws)
    return one, build(model_node(topology=topology, ffn="moe"), vocabulary=SPECIAL.mask + 1)(**one.inputs)


def padded(tokens: Tensor, real: Tensor, seed: int) -> Tensor:
    """The real tokens, and anything else where there is padding."""
    return torch.where(real, tokens, draw(*tokens.shape, seed=seed))


@pytest.mark.parametrize(("objective", "kind", "topology"), SERVED)
@torch.no_grad()
def test_what_stands_in_padding_moves_no_prediction_and_no_loss_of_a_part(
    objective: str, kind: str, topology: str
) -> None:
    found = []
    for seed in (1, 2):
        tokens, real = draw(2, 20), real_of([20, 13], 20, "right")
        batch: TextBatch | PairBatch = TextBatch(padded(tokens, real, seed), real)
        if kind == "pairs":
            target_real = real_of([7, 12], 12, "right")
            batch = PairBatch(batch.tokens, real, padded(draw(2, 12, seed=3), target_real, seed), target_real)
        one, out = asked(objective, topology, batch)
        found.append((one.targets[one.weights > 0], out.logits[one.weights > 0], out.auxiliary["balance"]))
    assert len(found[0][0]) > 0
    assert all(close(a, b) for a, b in zip(*found, strict=True))


LOWER = 6
"""Tokens of the first document are below it, those of the second are not."""


@pytest.mark.parametrize(("objective", "topology"), [(name, where) for name, kind, where in SERVED if kind == "text"])
@pytest.mark.parametrize("changed", [0, 1])
@torch.no_grad()
def test_no_prediction_depends_on_another_document_of_its_row(objective: str, topology: str, changed: int) -> None:
    """The cut of a window falls into the second document of the first row, and into the first of the second."""
    documents = (torch.arange(20) >= torch.tensor([[8], [13]])).long()
    texts = [draw(2, 20, vocabulary=LOWER), LOWER + draw(2, 20, vocabulary=WORDS - LOWER)]
    answers = []
    for seed in (1, 2):
        texts[changed] = LOWER * changed + draw(2, 20, seed=seed, vocabulary=LOWER)
        answers.append(asked(objective, topology, TextBatch(torch.where(documents == 0, *texts), None, documents)))
    (one, before), (two, after) = answers
    kept = (one.weights > 0) & ((one.targets < LOWER) == bool(changed))
    assert kept.any()
    assert torch.equal(one.targets[kept], two.targets[kept])
    assert close(before.logits[kept], after.logits[kept])
