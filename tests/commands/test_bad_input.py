"""Bad input gets one clear sentence and exit code 2, and nothing is left half-written."""

from pathlib import Path

import pytest

import zoo.memory
from tests.commands.conftest import TINY, Command
from zoo.command.compose import compose
from zoo.jobs.train import train
from zoo.training import runtime
from zoo.training.optimizer import optimizers

SAYS = {
    "an option that does not exist": (("model/norm=rmsnrm",), "did you mean rmsnorm?"),
    "a model that does not exist": (("model=gpt3",), "did you mean gpt2?"),
    "a misspelt key": (("sed=1",), "did you mean seed?"),
    "a misspelt key of a part": (("model.norm.esp=1",), "did you mean model.norm.eps?"),
    "a key that is added": (("+sed=1",), "did you mean seed?"),
    "a key of a part that is not chosen": (("model/norm=none", "model.norm.eps=1"), "no key 'model.norm.eps'"),
    "an added key of a part that is not chosen": (("+model.norm.alpha=1",), "no 'alpha'"),
    "a word where a number belongs": (("model.d_model=wide",), "model.d_model must be a whole number"),
    "a quoted number": (("optimizer.lr='1e-3'",), "optimizer.lr must be a number"),
    "heads that do not divide": (("model.n_heads=3",), "must be a multiple of model.n_heads=3"),
    "a window of nothing in a pattern": (
        ("model/mixer=local_global", "model.mixer.local.window=0"),
        "error: model.mixer.local.window=0 must be at least 1",
    ),
    "groups that do not divide": (("model.mixer.n_kv_heads=3",), "must be a multiple"),
    "an objective for another topology": (("model/topology=encoder_only",), "objective 'causal' needs a topology"),
    "plain text where a source is read": (
        ("model/topology=encoder_decoder",),
        "choose objective=seq2seq or another model/topology",
    ),
    "pairs for a masked model": (
        ("model=bert", "data=pairs", "data.path=pairs.tsv"),
        "this objective reads text; choose objective=tagging or other data",
    ),
    "a group set to null": (("model=transformer_2017", "model/mixer@model.cross=null"), "null is no option"),
    "a part's name": (("model.ffn.name=gelu",), "choose it with model/ffn=gelu"),
    "the name of an entry": (("model/ffn=moe", "model.ffn.expert.name=relu"), "model/ffn@model.ffn.expert=relu"),
    "an entry that is not there": (("model/ffn@model.ffn.expert=relu",), "take from model/ffn"),
    "a key that another option has": (("objective.source=0.3",), "objective=seq2seq has it"),
    "a dry run of no study": (("dry_run=true",), "dry_run is of a study: give study=…, or -m"),
    "an equals sign in a path": (("data=text", "data.path=a=b.txt"), "cannot be read at data.path=a=b.txt — quote"),
    "an equals sign in a list": (
        ("match=params", "match.reference=[model=gpt2,seed=1]"),
        """quote each entry, as in 'match.reference=["model=gpt2","seed=1"]'""",
    ),
    "a key of other tokenizers": (("tokenizer.vocabulary=3",), "tokenizer=bpe or words has it"),
    "jobs at once that are no number": (("study=ffn", "hydra.launcher.n_jobs=a"), "n_jobs must be a whole number, got"),
    "no jobs at once": (("study=ffn", "hydra.launcher.n_jobs=0"), "hydra.launcher.n_jobs=0 must be at least 1, or -1"),
    "an unquoted special character": (
        ("data=text", "data.path=my#1.txt"),
        "cannot be read at data.path=my#1.txt — quote",
    ),
    "a value that names itself": (("seed=${seed}",), "the config does not resolve: Recursive interpolation"),
    "a variable that is not set": (("seed=${oc.env:NO_SUCH_VARIABLE}",), "'NO_SUCH_VARIABLE' not found"),
    "a missing value": (("seed=???", "data=text"), "no value for data.path, seed"),
    "no steps": (("budget.steps=0",), "budget.steps=0 must be at least 1"),
    "a warm-up longer than the run": (("schedule.warmup=9",), "schedule.warmup=9"),
    "a missing file": (("data=text", "data.path=nowhere.txt"), "nowhere.txt"),
    "an empty file": (("data=text", "data.path=empty.txt"), "empty"),
    "a file that is not UTF-8": (("data=text", "data.path=latin.txt", "tokenizer=chars"), "byte"),
    "a corpus shorter than the context": (("data=text", "data.path=short.txt", "budget.context=128"), "context"),
    "a resumed folder that is none": (("resume=nowhere",), "nowhere is no run folder"),
    "a plugin that is none": (("plugins=[no_such_module]",), "no_such_module"),
    "a device that is none": (("runtime.device=quantum",), "runtime.device=quantum"),
    "a clip that is no number": (("optimizer.clip=inf",), "optimizer.clip=inf must be a finite number"),
    "a rate that is no number": (("optimizer.lr=nan",), "optimizer.lr=nan must be a finite number"),
    "a negative eps": (("optimizer.eps=-1",), "optimizer.eps=-1.0 must be positive"),
    "a memory that never forgets": (("optimizer.betas=[0.9,1]",), "optimizer.betas=[0.9, 1.0]"),
    "a negative seed": (("seed=-1",), "seed=-1 must be at least 0"),
    "a huge seed": ((f"seed={10**30}",), "seed must fit into 64 bits"),
    "a width beyond all counting": (("model.d_model=100000000000000",), "larger than any memory could be; make model."),
    "heads beyond all counting": (("model.mixer.head_dim=9000000000000000000",), "larger than any memory could be"),
    "a hidden width beyond all counting": (("model.ffn.d_ff=9000000000000000000",), "larger than any memory could be"),
    "experts beyond all patience": (
        ("model/ffn=moe", "model.ffn.experts=1000000000"),
        "model.ffn.experts=1000000000 must be at most 10000",
    ),
    "a corpus with nothing to train on": (
        ("data.split=[0,1,0]",),
        "the corpus has no train split; give it a share in data.split=[0.0, 1.0, 0.0]",
    ),
    "a generated corpus with nothing to train on": (
        ("data=toy", "data.tokens=[0,500,0]"),
        "the corpus has no train split; give it a share in data.tokens=[0, 500, 0]",
    ),
    "a generated corpus beyond all disks": (
        ("data=toy", "data.tokens=[1000000000000000,500,500]"),
        "data.tokens=[1000000000000000, 500, 500] need at least 1,862,645 GiB of disk, and ",
    ),
    "a length twice": (("record.lengths=[8,16,8]",), "record.lengths names 8 twice; name each length once"),
    "a number for compilation": (("runtime.compile=1",), "runtime.compile=1; choose from true, false, auto"),
    "a misspelt compilation": (("runtime.compile=aut",), "did you mean auto?"),
    "a cache without a name": (("cache=",), "cache= is empty; give a folder"),
    "an out without a name": (("out=",), "out= is empty; give a folder"),
    "a cache in which no file can be made": (("cache=/proc",), "cannot write the tokens of the corpus in /proc ("),
    "two models": (("model=[llama,gpt2]",), "model takes one option; to run each: -m model=llama,gpt2"),
    "a model that is added": (("+model=llama",), "write model=llama, without the +"),
    "a norm that is added": (("++model/norm=layernorm",), "write model/norm=layernorm, without the +"),
    "a width beyond all memory": (("model.d_model=100000000",), "needs more memory than there is (tried to allocate"),
    "layers beyond all patience": (("model.n_layers=100000000",), "a stack has 1 to 10000 layers"),
    "a device without numbers": (("runtime.device=meta",), "runtime.device=meta cannot be used here"),
    "a plugin that exits": (("plugins=[exits]",), "plugins=exits: importing it fails with SystemExit: 3"),
    "two options of a part": (
        ("model/norm=[rmsnorm,layernorm]",),
        "model/norm takes one option; to run each: -m",
    ),
    "two models of a sweep's job": (("hydra.mode=MULTIRUN", "model/size=[tiny],small"), "model/size takes one option"),
    "two studies": (("study=[norm,ffn]",), "error: study=[norm,ffn]: study takes one option; run one after the other"),
    "a word for the seeds of a study": (("study=ffn", "seed=x"), "error: seed=x: a seed is a whole number"),
    "a fraction for the seeds of a study": (("study=ffn", "seed=1.5", "dry_run=true"), "seed=1.5: a seed is a whole"),
    "no seed of a study": (("study=ffn", "seed="), "error: seed=: a seed is a whole number"),
    "one seed twice": (
        ("hydra.mode=MULTIRUN", "seed=1,1"),
        "error: seed=[1, 1] must list at least one seed",
    ),
    "perhaps a dry run": (("study=ffn", "dry_run=maybe"), "dry_run must be true or false, got 'maybe'"),
    "perhaps failing fast": (("study=ffn", "fail_fast=1"), "fail_fast must be true or false, got 1"),
    "a length that no run is scored at": (
        ("study=position", "study.metric='test loss at 999'"),
        "study.metric='test loss at 999', but 'sinusoidal' is scored at record.lengths=[16, 32, 64, 128, 256]",
    ),
    "a length where none is asked for": (
        ("study=ffn", "study.metric='test loss at 64'", "dry_run=true"),
        "study.metric='test loss at 64', but 'relu' is scored at record.lengths=null",
    ),
    "variants that are one run": (
        (
            "study=norm",
            "study.published=[]",
            "study.variants=[{name: a}, {name: b, overrides: ['record.log_every=7']}]",
        ),
        "'a' and 'b' are the same run",
    ),
    "a value twice in a sweep": (("hydra.mode=MULTIRUN", "model.n_layers=2,2"), "'n_layers=2' are the same run"),
    "a vocabulary beyond all use": (("tokenizer=bpe", "tokenizer.vocabulary=2000000000"), "must be at most 16777216"),
    "as many words": (("tokenizer=words", "tokenizer.vocabulary=2000000000"), "must be at most 16777216"),
    "a resumed folder without a name": (("resume=",), "resume= is empty"),
    "an unquoted comma": (("data=text", "data.path=a=b"), "quote"),
}


@pytest.mark.parametrize(
    ("script", "overrides", "words"),
    [
        ("train", ("data=text", "data.path=nowhere.txt"), "nowhere.txt"),
        ("train", ("match=params", "match.reference=gpt3"), "gpt3"),
        ("evaluate", ("run=nowhere",), "nowhere"),
        ("evaluate", ("run=nowhere", "generate.prompt=x"), "nowhere"),
        ("evaluate", ("run=nowhere", "latency.prompts=[4]"), "nowhere"),
        ("evaluate", ("run=nowhere", "attention.text=x"), "nowhere"),
        ("evaluate", ("run=RUN", "data=text", "data.path=nowhere.txt"), "nowhere.txt"),
        ("evaluate", ("run=RUN", "json=nowhere/found.json"), "json: there is no folder nowhere"),
        ("evaluate", ("run=RUN", "json=."), "json='.' must be a file"),
        ("evaluate", ("run=RUN", "json=.."), "is a folder; give a file"),
        ("evaluate", ("run=RUN", "json=..", "generate.prompt=x"), "json: .. is a folder"),
        ("evaluate", ("run=RUN", "json=/proc/x/y", "latency.prompts=[4]"), "json: there is no folder /proc/x"),
        (
            "evaluate",
            ("run=RUN", "attention.out=no/a.html", "attention.text=x"),
            "attention.out: there is no folder no",
        ),
        ("evaluate", ("run=",), "there is no run ''"),
        ("evaluate", ("run=RUN", "cache="), "cache= is empty"),
        ("evaluate", ("run=RUN", "splits=[tset]"), "did you mean test?"),
        ("evaluate", ("run=RUN", "data=pydoc", "data.split=[1,0,0]"), "nothing to score"),
    ],
)
def test_nothing_is_measured_of_the_machine_for_bad_input(
    command: Command, monkeypatch: pytest.MonkeyPatch, a_run: Path, script: str, overrides: tuple[str, ...], words: str
) -> None:
    def measure(*_: object) -> bool:
        raise AssertionError("measured")

    monkeypatch.setattr(runtime, "bfloat16_pays", measure)
    asked = [f"run='{a_run}'" if one == "run=RUN" else one for one in overrides]
    tiny = TINY if script == "train" else ()
    done = command(script, *tiny, "runtime.dtype=auto", *asked)
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize("bad", ["schedule.warmup=4", "optimizer.lr=-1"])
def test_bad_input_leaves_nothing_where_the_corpus_is_there(
    command: Command, monkeypatch: pytest.MonkeyPatch, a_run: Path, tmp_path: Path, bad: str
) -> None:
    monkeypatch.setattr(runtime, "bfloat16_pays", lambda *_: pytest.fail("measured"))
    there = ("data=pydoc", "tokenizer=bytes", f"cache='{a_run.parent}/cache'")
    done = command("train", *TINY, *there, "runtime.dtype=auto", bad)
    assert done.code == 2, done.err
    assert bad.partition("=")[0] in done.err
    assert not list(tmp_path.iterdir())


LOOKS_AT_THE_MODEL = """
from zoo.training.optimizer import optimizers
from zoo.training.optimizer.adamw import AdamW
from zoo.bare import bare

@optimizers.register("looking")
class Looking(AdamW):
    def __init__(self, model, *, lr: float = 1e-3):
        assert bare(model).topology.stack.blocks
        super().__init__(model, lr=lr)
"""


def test_an_optimizer_may_look_at_the_model(
    command: Command, monkeypatch: pytest.MonkeyPatch, text: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(optimizers, "_classes", {name: optimizers.get(name) for name in optimizers.names()})
    (tmp_path / "looking.py").write_text(LOOKS_AT_THE_MODEL)
    (tmp_path / "conf" / "optimizer").mkdir(parents=True)
    (tmp_path / "conf" / "optimizer" / "looking.yaml").write_text("name: looking\nlr: 1.0e-3\n")
    plugin = ("plugins=[looking]", f"hydra.searchpath=['{tmp_path}/conf']", "optimizer=looking")
    done = command("train", *TINY, "data=text", f"data.path='{text}'", *plugin)
    assert done.code == 0, done.err


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder that can be scored, and does not say how it was computed."""
    folder = tmp_path_factory.mktemp("runs")
    where = (f"out='{folder}'", f"cache='{folder}/cache'")
    train(compose([*TINY, "data=pydoc", "data.split=[0.98,0.01,0.01]", "tokenizer=bytes", *where]), {}, [])
    (run,) = (one for one in folder.iterdir() if one.name != "cache")
    (run / "record.json").unlink()  # which says in what it was trained
    return run


@pytest.mark.parametrize("case", SAYS)
def test_bad_input_is_refused_with_one_sentence(command: Command, tmp_path: Path, case: str) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "latin.txt").write_bytes("naïve café, again and again\n".encode("latin-1") * 200)
    (tmp_path / "short.txt").write_text("short\n" * 20)
    (tmp_path / "pairs.tsv").write_text("".join(f"line {i}\tits answer {i}\n" for i in range(100)))
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    before = set(tmp_path.iterdir())
    overrides, words = SAYS[case]
    done = command("train", *TINY, *overrides)
    assert done.code == 2
    assert words in done.err
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    left = {path.name for path in set(tmp_path.iterdir()) - before}
    assert left <= {".cache", "__pycache__"}, left


def test_data_that_the_objective_cannot_read_are_refused_before_their_tokens_are_made(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"line {i}\tits answer {i}\n" for i in range(100)))
    done = command("train", *TINY, *SAYS["pairs for a masked model"][0])
    assert "error: the data is pairs, but this objective reads text" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.tsv"}


EARLY = {
    **{case: SAYS[case] for case in ("a warm-up longer than the run", "a negative eps", "a memory that never forgets")},
    **{case: SAYS[case] for case in ("heads that do not divide", "as many words", "a device that is none")},
    "a smoothing beyond certainty": (("objective.label_smoothing=1.5",), "objective.label_smoothing=1.5"),
    "a rate of nothing, of a matched model": (("optimizer.lr=0", "match=params"), "optimizer.lr=0.0 must be positive"),
    "more rows than any memory holds": (("budget.batch_size=1000000000000",), "1,000,000,000,000 rows need"),
    "a row too short to cut": (("objective=seq2seq", "model/topology=prefix_lm", "budget.context=1"), "set it to 2"),
}


@pytest.mark.parametrize("case", EARLY)
def test_what_a_config_tells_is_refused_before_a_corpus_is_made(command: Command, tmp_path: Path, case: str) -> None:
    overrides, words = EARLY[case]
    done = command("train", *TINY, *overrides)
    assert done.code == 2
    assert words in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_batch_beyond_all_memory_ends_its_run_with_one_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zoo.memory, "total_memory", lambda device: 1 << 80)  # beyond is tested elsewhere
    done = command("train", *TINY, "budget.batch_size=1000000000000", "runtime.compile=false")
    assert done.code == 2
    assert "error: this needs more memory than there is (unable to allocate" in done.err
    assert "Traceback" not in done.err
    (status,) = tmp_path.glob("runs/*/status.json")
    assert '"failed"' in status.read_text()


def test_an_option_file_that_is_no_yaml_is_named_with_its_line(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "model" / "norm"
    mine.mkdir(parents=True)
    (mine / "torn.yaml").write_text("name: rmsnorm\neps: [1\n")
    done = command("train", f"hydra.searchpath=[{tmp_path / 'mine'}]", "model/norm=torn", *TINY)
    assert done.code == 2
    assert "torn.yaml, line 3 is no YAML" in done.err


def test_an_option_file_that_sets_a_value_of_another_part_is_refused(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "model" / "init"
    mine.mkdir(parents=True)
    (mine / "leaky.yaml").write_text("# @package model\ninit: {name: xavier}\nffn: {d_ff: 8}\n")
    search = f"hydra.searchpath=[{tmp_path / 'mine'}]"
    done = command("train", search, "model/init=leaky", "model/ffn=relu", *TINY)
    assert done.code == 2
    assert "model/init/leaky.yaml sets model.init.name" in done.err or "sets model.ffn.d_ff" in done.err


def test_a_preset_that_sets_a_value_inside_a_part_is_refused(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "conf" / "model"
    mine.mkdir(parents=True)
    (mine / "leaky.yaml").write_text("defaults: [modern, _self_]\nnorm: {eps: 0.5}\n")
    search = f"hydra.searchpath=[file://{tmp_path}/conf]"
    done = command("train", search, "model=leaky", "model/norm=layernorm", *TINY)
    assert done.code == 2
    assert "model/leaky.yaml sets model.norm.eps" in done.err


@pytest.mark.parametrize(
    "path",
    [
        "with space.txt",
        "a=b.txt",
        "50%.txt",
        "me@home.txt",
        "a|b.txt",
        "a#1.txt",
        "a(1).txt",
        "it's.txt",
        "$x.txt",
        "2023-09-16",
    ],
)
def test_a_path_with_special_characters_reaches_the_run_when_quoted(
    command: Command, tmp_path: Path, path: str
) -> None:
    (tmp_path / path).write_text("the same line, again and again\n" * 100)
    quoted = path.replace("'", "\\'")
    done = command("train", "data=text", f"data.path='{quoted}'", *TINY)
    assert done.code == 0, done.err


@pytest.mark.parametrize("target", ["os.system", "builtins.eval", "subprocess.Popen", "torch.nn.Linear"])
def test_a_config_cannot_name_a_callable(command: Command, target: str) -> None:
    done = command("train", f"+model.norm._target_={target}", *TINY)
    assert done.code == 2
    assert "_target_" in done.err
