"""Models go out to transformers and come in from there with equal logits, or are refused with the reason."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import zoo
from tests.published.models import CASES, FAMILIES, VARIANTS, in_transformers, logits, run_of, theirs
from zoo.errors import UserError
from zoo.published.family import families
from zoo.published.resolved import resolved
from zoo.published.settings import REQUIRED, Key, OneOf, to_ours
from zoo.published.writing import expressed

TOLERANCE = 1e-5


def assert_equal(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=TOLERANCE)


NULL: Any = object()


def edit(file: Path, **values: Any) -> None:
    """Change keys of a JSON file; None removes one, NULL sets it to null."""
    found = {**json.loads(file.read_text()), **values}
    kept = {key: None if value is NULL else value for key, value in found.items() if value is not None}
    file.write_text(json.dumps(kept))


@pytest.mark.parametrize(("name", "overrides"), CASES)
def test_an_exported_model_computes_the_same_in_transformers_and_back_here(
    name: str, overrides: tuple[str, ...], tmp_path: Path
) -> None:
    """What a config sets is carried, eps and an explicit head width too; as a value, never as a null that
    stands for one."""
    run = run_of(f"model={name}", *overrides)
    zoo.export(run, tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["model_type"] == name
    assert None not in config.values()
    assert -1 not in config.values()
    wanted = logits(run.model)
    assert_equal(logits(in_transformers(tmp_path / "out", families()[name].objective)), wanted)
    back = zoo.load(tmp_path / "out")
    assert torch.equal(logits(back.model), wanted)
    assert back.tokenizer.vocabulary == back.config["vocabulary"]
    assert (back.step, back.config["context"], back.config["data"]) == (1, 24, run.config["data"])
    assert expressed(back.config) == expressed(run.config)


BEYOND = {"bert": {"bert.embeddings.token_type_embeddings.weight": (2, 16)}}
"""What a layout has beside our parameters, and its shape."""


@pytest.mark.parametrize("name", FAMILIES)
def test_an_export_holds_our_parameters_and_zeros_for_what_the_layout_has_beside_them(
    name: str, tmp_path: Path
) -> None:
    run = run_of(f"model={name}")
    zoo.export(run, tmp_path / "out")
    written = load_file(tmp_path / "out" / "model.safetensors")
    beyond = {key: written.pop(key) for key in BEYOND.get(name, {})}
    assert {key: tuple(one.shape) for key, one in beyond.items()} == BEYOND.get(name, {})
    assert not any(one.any() for one in beyond.values())
    assert sum(one.numel() for one in written.values()) == sum(one.numel() for one in run.model.parameters())


THEIRS: dict[str, list[dict[str, Any]]] = {
    "gpt2": [{"activation_function": "gelu", "n_inner": None, "tie_word_embeddings": False}],
    "bert": [{"intermediate_size": 20}],
    "llama": [
        {"num_key_value_heads": 2, "head_dim": None, "tie_word_embeddings": True},
        {"attention_bias": True, "mlp_bias": True, "head_dim": 6, "rope_parameters": {"rope_theta": 100.0}},
    ],
    "mixtral": [{"sliding_window": 4, "num_experts_per_tok": 3, "head_dim": None}],
}


@pytest.mark.parametrize(
    ("name", "values"),
    [(name, {}) for name in FAMILIES] + [(name, one) for name, more in THEIRS.items() for one in more],
)
def test_a_model_of_transformers_computes_the_same_here(name: str, values: dict[str, Any], tmp_path: Path) -> None:
    """A null head width is d / heads."""
    model = theirs(name, **values)
    model.save_pretrained(tmp_path)
    run = zoo.load(tmp_path)
    assert_equal(logits(run.model), logits(model))
    with pytest.raises(UserError, match="came without a tokenizer of the zoo"):
        run.tokenizer.encode(b"a text")


def optional(template: Any) -> Iterator[str]:
    """The keys of config.json that may be left out, with dots."""
    match template:
        case Key(name, _, also, default):
            yield from () if default is REQUIRED else (name, *also)
        case OneOf(key, cases):
            yield from (*optional(key), *optional(dict(cases)))
        case Mapping():
            for one in template.values():
                yield from optional(one)


LEFT_OUT = [(name, key) for name in FAMILIES for key in sorted({*optional(families()[name].template)})]


def without(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The config, where a key with dots is left out."""
    first, _, rest = key.partition(".")
    return {one: without(value, rest) if one == first else value for one, value in config.items() if one != key}


@pytest.mark.parametrize(("name", "key"), LEFT_OUT)
def test_what_a_config_leaves_out_is_what_transformers_takes_it_for(name: str, key: str) -> None:
    """Each key alone, in a config whose sizes are not those of the defaults."""
    family = families()[name]
    kind = getattr(transformers, family.architecture).config_class
    sizes = {"gpt2": {"n_head": 16, "n_embd": 64}}.get(name, {"num_attention_heads": 16, "hidden_size": 64})
    config = without(kind(**sizes).to_dict(), key)
    ours, usual = (to_ours(family.template, one) for one in (config, kind.from_dict(config).to_dict()))
    assert resolved(ours.pop("model")) == resolved(usual.pop("model"))
    assert ours == usual


@pytest.mark.parametrize("name", FAMILIES)
def test_what_has_one_meaning_here_has_it_in_transformers_where_a_config_leaves_it_out(name: str) -> None:
    family = families()[name]
    usual = getattr(transformers, family.architecture).config_class().to_dict()
    assert {key: usual.get(key, value) for key, value in family.fixed.items()} == family.fixed


def test_a_model_whose_config_leaves_out_what_may_be_is_loaded(tmp_path: Path) -> None:
    """8 key-value heads is what a Mixtral means by none; of the two that are one here, one may not be missing."""
    model = theirs("mixtral", num_attention_heads=16, num_key_value_heads=8, hidden_size=32, head_dim=2)
    model.save_pretrained(tmp_path / "mixtral")
    edit(tmp_path / "mixtral" / "config.json", num_key_value_heads=None)
    assert_equal(logits(zoo.load(tmp_path / "mixtral").model), logits(model))
    zoo.export(run_of("model=gpt2", "model.dropout=0.25"), tmp_path / "gpt2")
    edit(tmp_path / "gpt2" / "config.json", embd_pdrop=None)
    with pytest.raises(UserError, match=r"has resid_pdrop=0\.25 but no embd_pdrop, which then means 0\.1; here"):
        zoo.load(tmp_path / "gpt2")


def test_every_family_is_tried_beyond_its_defaults() -> None:
    assert VARIANTS.keys() == THEIRS.keys() == set(FAMILIES)


def test_older_config_files_are_read_as_they_were_meant(tmp_path: Path) -> None:
    """Rotary settings at the top; names of GPT-2 without their prefix."""
    run = run_of("model=llama", "model/position=rope_linear", "model.position.base=77.0")
    zoo.export(run, tmp_path / "llama")
    old = {"rope_theta": 77.0, "rope_scaling": {"type": "linear", "factor": 4.0}, "rope_parameters": None}
    edit(tmp_path / "llama" / "config.json", **old)
    assert torch.equal(logits(zoo.load(tmp_path / "llama").model), logits(run.model))
    run = run_of("model=gpt2")
    zoo.export(run, tmp_path / "gpt2")
    file = tmp_path / "gpt2" / "model.safetensors"
    bare = {key.removeprefix("transformer."): one for key, one in load_file(file).items()}
    save_file(bare | {"h.0.attn.bias": torch.ones(1, 1, 24, 24)}, file)
    assert torch.equal(logits(zoo.load(tmp_path / "gpt2").model), logits(run.model))


@pytest.mark.parametrize("tie", ["output", "none"])
def test_an_index_names_exactly_what_its_shards_hold(tie: str, tmp_path: Path) -> None:
    """A tied head is neither duplicated nor named."""
    run = run_of("model=llama", f"model.embedding.tie={tie}")
    files = zoo.export(run, tmp_path / "out", shard_bytes=4000)
    assert len(files) > 3
    index = json.loads((tmp_path / "out" / "model.safetensors.index.json").read_text())
    held = {name: file for file in files for name in load_file(tmp_path / "out" / file)}
    assert index["weight_map"] == held
    assert ("lm_head.weight" in held) == (tie == "none")
    assert index["metadata"]["total_size"] == 4 * sum(one.numel() for one in run.model.parameters())
    assert_equal(logits(in_transformers(tmp_path / "out", "causal")), logits(run.model))
    assert torch.equal(logits(zoo.load(tmp_path / "out").model), logits(run.model))


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    zoo.export(run_of("model=gpt2"), tmp_path / "out", shard_bytes=20000)
    return tmp_path / "out"


def test_a_damaged_shard_or_index_is_one_sentence_that_names_the_file(sharded: Path) -> None:
    first, second = (sharded / f"model-0000{i}-of-00003.safetensors" for i in (1, 2))
    whole = first.read_bytes()
    for damaged in (b"", whole[:5], b"\xff" * 8 + whole[8:], whole[:-1], whole[:20] + b"}" + whole[21:]):
        first.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"^.*{first.name} is no safetensors file, or a damaged one: [^\n]*$"):
            zoo.load(sharded)
    first.write_bytes(whole)
    index = sharded / "model.safetensors.index.json"
    kept = json.loads(index.read_text())["weight_map"]
    edit(index, weight_map={**kept, "dangling": second.name})
    with pytest.raises(UserError, match=rf"{second.name} lacks dangling, against"):
        zoo.load(sharded)
    edit(index, weight_map={**kept, "x": "../outside.safetensors"})
    with pytest.raises(UserError, match=r"index.json is refused: \.\./outside.safetensors is no file beside it"):
        zoo.load(sharded)
    edit(index, weight_map=kept)
    second.unlink()
    with pytest.raises(UserError, match=rf"{second.name} is missing"):
        zoo.load(sharded)


@pytest.mark.parametrize(("name"), ["gpt2", "llama"])
def test_missing_unknown_and_misshapen_tensors_are_all_listed(name: str, tmp_path: Path) -> None:
    """A square one that was transposed is told by its logits."""
    zoo.export(run_of(f"model={name}"), tmp_path / "out")
    file = tmp_path / "out" / "model.safetensors"
    whole = load_file(file)
    square, other, *_ = sorted(key for key, one in whole.items() if one.ndim == 2 and one.shape[0] == one.shape[1])
    changed = {key: one for key, one in whole.items() if key not in (square, other)}
    changed |= {"renamed": whole[other], next(iter(changed)): torch.zeros(3, 5)}
    save_file(changed, file)
    with pytest.raises(UserError) as refused:
        zoo.load(tmp_path / "out")
    assert f"missing: {square}, {other}; unknown: renamed; of another shape: " in str(refused.value)
    save_file(whole | {square: whole[square].t().contiguous()}, file)
    with pytest.raises(UserError, match="computes other logits than when it was saved"):
        zoo.load(tmp_path / "out")
    save_file(whole | {square: torch.full_like(whole[square], torch.nan)}, file)
    with pytest.raises(UserError, match="not finite"):
        zoo.load(tmp_path / "out")


def test_a_tied_table_may_come_under_either_name_or_both_but_not_with_two_values(tmp_path: Path) -> None:
    tied = run_of("model=gpt2")
    zoo.export(tied, tmp_path / "out")
    file, config = tmp_path / "out" / "model.safetensors", tmp_path / "out" / "config.json"
    whole = load_file(file)
    table = whole["transformer.wte.weight"]
    without = {key: one for key, one in whole.items() if key != "transformer.wte.weight"}
    for names in (["transformer.wte.weight"], ["lm_head.weight"], ["transformer.wte.weight", "lm_head.weight"]):
        save_file(without | {name: table.clone() for name in names}, file)
        back = zoo.load(tmp_path / "out").model
        assert torch.equal(logits(back), logits(tied.model))
        assert back.head.out.weight is back.topology.stack.embedding.weight
    edit(config, tie_word_embeddings=False)
    assert torch.equal(logits(zoo.load(tmp_path / "out").model), logits(tied.model))
    save_file(whole, file)
    with pytest.raises(UserError, match=r"missing: lm_head\.weight"):
        zoo.load(tmp_path / "out")
    edit(config, tie_word_embeddings=True)
    save_file(whole | {"lm_head.weight": table + 1}, file)
    with pytest.raises(UserError, match=r"different tensors for transformer\.wte\.weight and lm_head\.weight"):
        zoo.load(tmp_path / "out")


@pytest.mark.parametrize(
    ("overrides", "family", "said"),
    [
        (("model=llama", "model/position=learned"), None, "'llama', has no place for model.position.name=learned"),
        (("model=llama", "model/position=rope_ntk"), None, "'llama', has no place for model.position.name=rope_ntk"),
        (
            ("model=llama", "model.position.layout=interleaved"),
            None,
            "model.position.layout=interleaved, where .* half",
        ),
        (("model=llama", "model.embedding.scale=true"), None, "model.embedding.scale=True"),
        (("model=llama", "model/norm=none"), None, "model.norm.name=none, where it can only say rmsnorm"),
        (("model=llama", "model/mixer=local_global", "model.n_layers=4"), None, "model.mixer.name=pattern"),
        (("model=llama", "model/ffn=none"), None, "model.ffn.name=none"),
        (("model=gpt2", "model.mixer.head_dim=6"), None, "model.mixer.head_dim=6, where it can only say 4"),
        (("model=gpt2", "model.bias=false"), None, "model.mixer.bias=False"),
        (("model=gpt2",), "llama", "family 'llama' has no place for model.position.name=learned, where .*; model.norm"),
        (("model=gpt2",), "lama", r"no published family 'lama' \(did you mean llama\?\); choose from bert"),
        (("model=bert", "model.embedding.tie=none"), "bert", "model.embedding.tie=none, where it can only say output"),
    ],
)
def test_what_a_family_cannot_express_is_refused_by_the_name_of_the_option(
    overrides: tuple[str, ...], family: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=said):
        zoo.export(run_of(*overrides), tmp_path / "out", family=family)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"model_type": "lama"}, r"no published family 'lama' \(did you mean llama\?\); there are bert"),
        ({"architectures": ["LlamaForSequenceClassification"]}, "only LlamaForCausalLM is known"),
        ({"hidden_act": "gelu"}, "has hidden_act='gelu', which has no counterpart here; only 'silu' has"),
        ({"logit_softcap": 3.0}, "sets logit_softcap, which the family 'llama' does not know here"),
        ({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}, "partial_rotary_factor"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_type='yarn'; what there is a counterpart for: default"),
        ({"rope_scaling": {"type": "yarn", "factor": 2}}, "both rope_parameters=.*'default'.* rope_scaling=.*'yarn'"),
        ({"rope_scaling": {"factor": 2}}, "both rope_parameters=.* and its older name rope_scaling={'factor': 2}, wh"),
        ({"rope_theta": 9.0}, "rope_parameters.rope_theta=10000.0 but rope_theta=9.0; here they are one setting"),
        ({"hidden_size": None}, "config.json has no hidden_size"),
        ({"hidden_size": NULL}, "config.json has hidden_size=null, which says nothing"),
        ({"max_position_embeddings": NULL}, "config.json has max_position_embeddings=null, which says nothing"),
        ({"rms_norm_eps": NULL}, "config.json has rms_norm_eps=null, which says nothing"),
        ({"vocab_size": "many"}, "vocabulary must be a whole number of at least 1, got 'many'"),
        ({"num_attention_heads": 0}, "n_heads=0 must be at least 1"),
        ({"rms_norm_eps": "small"}, "model.norm.eps must be a number"),
    ],
)
def test_what_has_no_counterpart_here_is_not_imported(values: dict[str, Any], said: str, tmp_path: Path) -> None:
    zoo.export(run_of("model=llama"), tmp_path / "out")
    edit(tmp_path / "out" / "config.json", **values)
    with pytest.raises(UserError, match=said):
        zoo.load(tmp_path / "out")


def test_a_tokenizer_beside_a_model_has_as_many_ids(tmp_path: Path) -> None:
    """Rows of a table that no id has could be said, and would mean nothing."""
    zoo.export(run_of("model=llama", vocabulary=300), tmp_path / "out")
    with pytest.raises(UserError, match=r"zoo_tokenizer\.json has 259 ids, config\.json says 300"):
        zoo.load(tmp_path / "out")


def test_an_export_overwrites_nothing_and_a_pickle_is_not_read(tmp_path: Path) -> None:
    run = run_of("model=llama")
    zoo.export(run, tmp_path / "out")
    with pytest.raises(UserError, match="exists and is not empty"):
        zoo.export(run, tmp_path / "out")
    file = tmp_path / "out" / "model.safetensors"
    file.rename(tmp_path / "out" / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        zoo.load(tmp_path / "out")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out"]
