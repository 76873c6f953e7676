"""A part of the user's own, from a folder outside the checkout."""

import shlex
import signal
import sys
from collections.abc import Callable
from importlib.util import spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

import zoo
from tests.commands.conftest import TINY, Command
from tests.commands.started import Started
from zoo.code import code_of
from zoo.errors import UserError
from zoo.norm import norms
from zoo.page import markdown
from zoo.paths import CONF
from zoo.plugins import load_plugins, plugin_names
from zoo.study.report.page import built

PART = '''
import torch
from jaxtyping import Float
from torch import Tensor, nn
from zoo.norm import Norm, norms


@norms.register("my_scale")
class MyScale(Norm):
    """y = g x.

    paper: mine, 2026
    differs: nothing.
    """

    def __init__(self, width: int, *, start: float = 1.0):
        super().__init__(width)
        self.gain = nn.Parameter(torch.full((width,), start))

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        return self.gain * x
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The overrides that bring the part in."""
    code, conf = tmp_path / "code", tmp_path / "conf" / "model" / "norm"
    code.mkdir()
    conf.mkdir(parents=True)
    (code / "my_scale_part.py").write_text(PART)
    (conf / "my_scale.yaml").write_text("# my own\nname: my_scale\nstart: 0.5\n")
    monkeypatch.syspath_prepend(str(code))
    return ["plugins=[my_scale_part]", f"hydra.searchpath=[file://{tmp_path}/conf]"]


def test_a_plugin_trains_and_is_loaded_only_when_it_is_named(
    command: Command, text: Path, tmp_path: Path, plugin: list[str]
) -> None:
    done = command(
        "train", *plugin, "model/norm=my_scale", "model.norm.start=0.25", "data=text", f"data.path='{text}'", *TINY
    )
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "runs").iterdir()
    assert f"python evaluate.py run=runs/{folder.name} 'plugins=[my_scale_part]'\n" in done.out + done.err
    gains = [
        p for name, p in zoo.load(folder, plugins=["my_scale_part"]).model.named_parameters() if name.endswith("gain")
    ]
    assert gains

    forget()
    with pytest.raises(UserError, match=r"my_scale.*plugins"):
        zoo.load(folder)


def test_an_interrupted_run_with_a_plugin_goes_on_as_it_says(
    command: Command, text: Path, tmp_path: Path, plugin: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*arguments: object, **keys: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    forget()
    monkeypatch.setattr("zoo.jobs.job.score", ended)
    done = command("train", *plugin, "model/norm=my_scale", "data=text", f"data.path='{text}'", *TINY)
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    assert done.code == 130, done.err
    words = shlex.split(done.err.rstrip().partition("Go on with: python train.py ")[2])
    forget()
    done = command("train", *words)
    assert done.code == 0, done.err
    assert done.out.rstrip().endswith(" 'plugins=[my_scale_part]'")


def forget() -> None:
    """What a new process does not know."""
    for name in ("my_scale_part", "my_scale_help", "my_other_part", "my_all"):
        sys.modules.pop(name, None)
    for name in ("my_scale", "my_other"):
        norms._classes.pop(name, None)


def test_a_norm_that_sees_the_future_is_refused_before_it_is_trained(
    command: Command, tmp_path: Path, plugin: list[str]
) -> None:
    part = tmp_path / "code" / "my_scale_part.py"
    part.write_text(PART.replace("self.gain * x", "self.gain * (x - x.mean(-2, keepdim=True))"))
    forget()
    done = command("train", *plugin, "model/norm=my_scale", *TINY)
    assert done.code == 2
    assert "error: norm 'my_scale' (of my_scale_part) lets the future in" in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()
    part.write_text(PART)
    forget()


def test_an_edited_plugin_is_another_run(command: Command, text: Path, tmp_path: Path, plugin: list[str]) -> None:
    (tmp_path / "code" / "my_scale_help.py").write_text("FACTOR = 1.0\n")
    part = tmp_path / "code" / "my_scale_part.py"
    part.write_text(PART.replace("import torch\n", "import torch\nfrom my_scale_help import FACTOR\n", 1))
    options = ("train", *plugin, "model/norm=my_scale", "data=text", f"data.path='{text}'", *TINY)

    def run() -> str:
        forget()
        done = command(*options)
        assert done.code == 0, done.err
        return done.out

    assert "already" not in run()
    assert "already" in run()
    part.write_text(part.read_text().replace("self.gain * x", "FACTOR * self.gain * x"))
    assert "already" not in run()
    (tmp_path / "code" / "my_scale_help.py").write_text("FACTOR = 22.0\n")
    assert "already" not in run()
    assert len(list((tmp_path / "runs").iterdir())) == 3
    (first, *_) = sorted((tmp_path / "runs").iterdir(), key=lambda one: one.stat().st_mtime)
    forget()
    (first / "status.json").write_text('{"state": "running"}')
    refused = command("train", "plugins=[my_scale_part]", f"resume='{first}'", "runtime.threads=1")
    assert refused.code == 2
    assert "model.norm.(code) changed since the run began" in refused.err


STUDY = """
defaults: [_base, _self_]
question: q
expected: e
source: s
cost: c
seeds: [0]
tuning_seeds: 1
variants: [{name: theirs, overrides: []}, {name: mine, overrides: [model/norm=my_scale]}]
"""


def test_a_study_whose_plugin_is_broken_is_refused_and_what_it_did_is_still_known(
    command: Command, text: Path, tmp_path: Path, plugin: list[str]
) -> None:
    (tmp_path / "conf" / "study").mkdir()
    (tmp_path / "conf" / "study" / "own.yaml").write_text(STUDY)
    options = ("study=own", *plugin, "data=text", f"data.path='{text}'", *TINY, "hydra/launcher=basic")
    forget()
    done = command("train", *options)
    assert done.code == 0, done.err
    folder = tmp_path / "runs" / "studies" / "own"
    row = markdown(built(folder).page).partition("| mine | `python train.py ")[2]
    forget()
    again = command("train", *shlex.split(row.partition("`")[0]))
    assert "done already" in again.out + again.err
    before = {file.name: file.read_bytes() for file in folder.glob("*.json")}
    assert {"0.json", "1.json", "study.json"} <= before.keys()
    part = tmp_path / "code" / "my_scale_part.py"
    part.write_text(f"import no_such_module\n{part.read_text()}")
    forget()
    refused = command("train", *options)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: plugins=my_scale_part: importing it fails with ModuleNotFoundError")
    assert {file.name: file.read_bytes() for file in folder.glob("*.json")} == before
    assert refused.err.count("\n") == 1


def test_a_process_goes_on_with_the_code_that_it_has_imported(plugin: list[str], tmp_path: Path) -> None:
    """A plugin that is edited while a study runs: its processes still compute with what it was."""
    part = tmp_path / "code" / "my_scale_part.py"
    seen = []
    forget()
    for code in (PART, PART.replace("self.gain * x", "2 * self.gain * x")):
        part.write_text(code)
        load_plugins("my_scale_part")
        part.write_text("edited =")
        seen.append(code_of(norms.get("my_scale")))
        forget()
    part.write_text(PART)
    load_plugins("my_scale_part")
    assert seen[0] == code_of(norms.get("my_scale")) != seen[1]


def test_the_code_of_a_part_is_the_same_in_whatever_order_plugins_are_named(plugin: list[str], tmp_path: Path) -> None:
    """What a part imports only when it acts may be there already, imported by another plugin."""
    code = tmp_path / "code"
    (code / "my_scale_help.py").write_text("FACTOR = 11.0\n")
    late = PART.replace("return self.gain", "from my_scale_help import FACTOR\n\n        return FACTOR * self.gain")
    (code / "my_scale_part.py").write_text(late)
    (code / "my_other_part.py").write_text("import my_scale_help\n" + PART.replace('my_scale"', 'my_other"'))
    seen = set()
    for order in (("my_scale_part", "my_other_part"), ("my_other_part", "my_scale_part")):
        forget()
        load_plugins(order)
        seen.add(code_of(norms.get("my_scale")))
    forget()
    assert len(seen) == 1


def test_what_a_part_imports_when_it_acts_is_part_of_its_code(plugin: list[str], tmp_path: Path) -> None:
    """In a package too, and although importing it would run something, be no Python, or lead nowhere."""
    code = tmp_path / "code"
    (code / "my_help").mkdir()
    (code / "my_help" / "__init__.py").write_text("raise SystemExit('this is not to be run')\n")
    lines = "import my_help.late, no_such_module\n        from . import nothing\n        import my_wrong"
    (code / "my_scale_part.py").write_text(PART.replace("return self.gain", f"{lines}\n        return self.gain"))
    seen = []
    for late, wrong in (("from . import more", "edited ="), ("from . import more", "edit ="), ("import os", "edit =")):
        (code / "my_wrong.py").write_text(wrong)
        (code / "my_help" / "late.py").write_text(late)
        for factor in (11, 12):
            (code / "my_help" / "more.py").write_text(f"FACTOR = {factor}")
            forget()
            load_plugins("my_scale_part")
            seen.append(code_of(norms.get("my_scale")))
    forget()
    assert len({*seen}) == 5
    assert seen[4] == seen[5]  # where `more` is imported no longer
    (code / "my_help" / "__init__.py").write_text("raise SystemExit('nor is this')\n")
    load_plugins("my_scale_part")
    assert code_of(norms.get("my_scale")) not in seen  # what a package runs before its modules
    forget()
    assert "my_help" not in sys.modules


def test_what_an_editable_install_finds_is_part_of_the_code(
    plugin: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies in no folder of the path: a finder of its own tells where."""
    far = tmp_path / "far" / "my_far.py"
    far.parent.mkdir()
    place = spec_from_file_location("my_far", far)
    finder = SimpleNamespace(find_spec=lambda name, path=None, target=None: place if name == "my_far" else None)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    lines = "import my_far\n        return self.gain"
    (tmp_path / "code" / "my_scale_part.py").write_text(PART.replace("return self.gain", lines))
    seen = set()
    for factor in (11, 12):
        far.write_text(f"FACTOR = {factor}")
        forget()
        load_plugins("my_scale_part")
        seen.add(code_of(norms.get("my_scale")))
    forget()
    assert len(seen) == 2


def test_a_run_folder_cannot_have_code_imported(
    command: Command, trained: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, marker = trained(), tmp_path / "marker"
    (tmp_path / "comes_along.py").write_text(f"from pathlib import Path\nPath({str(marker)!r}).touch()\n{PART}")
    monkeypatch.syspath_prepend(str(tmp_path))
    (folder / "status.json").write_text('{"state": "running"}')
    with (folder / "config.yaml").open("a") as config:
        config.write("plugins: [comes_along]\n")
    done = command("train", f"resume='{folder}'")
    assert done.code == 2
    assert "names plugins, but a file may not have code imported" in done.err
    assert command("evaluate", f"run='{folder}'").code == 0
    assert command("evaluate", f"study='{folder.parent}'").code == 0
    assert not marker.exists()


def test_a_plugin_is_listed(
    command: Command, plugin: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from zoo.__main__ import main

    monkeypatch.setattr(sys, "argv", ["zoo", "list", "norm", *plugin])
    main()
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "my_scale " in line]
    assert "mine, 2026" in line


def test_a_model_with_a_part_of_ones_own_is_built_from_python(plugin: list[str]) -> None:
    assert zoo.build("modern", *plugin, "model/norm=my_scale", "model/size=tiny", "model.d_model=16")


def test_a_plugin_lies_in_the_folder_that_is_started_from(
    start: Callable[..., Started], text: Path, tmp_path: Path
) -> None:
    (tmp_path / "lying_here.py").write_text(f"print('it is loaded')\n{PART}")
    run = start("train", "plugins=lying_here", "data=text", f"data.path='{text}'", *TINY)
    assert run.code() == 0, run.err.read_text()
    assert "it is loaded" in run.out.read_text()


@pytest.mark.parametrize("name", ["nosuch", "nosuch.part", "zoo.nosuch"])
@pytest.mark.parametrize("words", [("list",), ("show",), ("matrix",), ("train",), ("evaluate", "run=nowhere")])
def test_a_plugin_that_does_not_exist_is_told_by_every_command(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    name: str,
) -> None:
    from zoo.__main__ import main

    if words[0] in ("train", "evaluate"):
        done = command(words[0], *words[1:], f"plugins=[{name}]")
        code, err = done.code, done.err
    else:
        monkeypatch.setattr(sys, "argv", ["zoo", *words, f"plugins=[{name}]"])
        with pytest.raises(SystemExit) as end:
            main()
        code, err = end.value.code, capsys.readouterr().err
    assert code == 2
    assert err.startswith(f"error: plugins={name}: there is no such module")


@pytest.mark.parametrize(("value", "names"), [(None, []), ("m", ["m"]), (["a", "b.c"], ["a", "b.c"]), ((), [])])
def test_plugins_are_a_list_of_modules_or_one_or_none(value: object, names: list[str]) -> None:
    assert plugin_names(value) == names


@pytest.mark.parametrize("value", [5, [5], {"a": 1}, [""], "", [None], True])
def test_what_is_no_list_of_modules_is_refused(value: object) -> None:
    with pytest.raises(UserError, match="must be a list of module names"):
        plugin_names(value)


@pytest.mark.parametrize("code", ["import nosuch", "1 / 0", "def"])
def test_a_plugin_that_cannot_be_imported_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    name = f"broken_{len(code)}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match=f"plugins={name}: importing it fails with"):
        load_plugins(name)


@pytest.mark.parametrize("words", [("train",), ("evaluate", "run=nowhere")])
def test_a_module_that_registers_nothing_is_no_plugin(command: Command, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty_part.py").write_text("import torch\nfrom zoo.norm.rmsnorm import RMSNorm\n")
    for name in ("os", "empty_part", "os"):
        done = command(*words, f"plugins=[{name}]")
        assert done.code == 2
        assert done.err.startswith(f"error: plugins={name} registers no part, and so does nothing; name a module that")


def test_a_plugin_may_be_imported_before_and_may_have_its_parts_elsewhere(plugin: list[str], tmp_path: Path) -> None:
    """Also in a second run in one process, where an import registers nothing new."""
    code = tmp_path / "code"
    (code / "my_all.py").write_text("import my_scale_part\n")
    package = code / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("import importlib\nimportlib.import_module('my_package.inner')\n")
    (package / "inner.py").write_text(PART.replace("my_scale", "my_inner"))
    (code / "my_borrowed.py").write_text(
        "from zoo.norm import norms\nfrom zoo.norm.rmsnorm import RMSNorm\n"
        "norms.register('my_borrowed')(type('Borrowed', (RMSNorm,), {'__module__': 'some_library'}))\n"
    )
    forget()
    try:
        for _ in range(2):
            load_plugins(["my_scale_part", "my_all", "my_package", "my_borrowed"])
        forget()
        load_plugins("my_all")
    finally:
        forget()
        norms._classes.pop("my_inner", None)
        norms._classes.pop("my_borrowed", None)


def test_composing_inside_a_running_hydra_app_leaves_it_as_it_was() -> None:
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        running = GlobalHydra.instance().hydra
        assert zoo.build("modern", "model/size=tiny", "model.d_model=16")
        with pytest.raises(UserError, match="nosuch"):
            zoo.build("modern", "model/norm=nosuch")
        with pytest.raises(UserError, match=r"set model\.d_model twice"):
            zoo.build("modern", "model.d_model=32", "++model.d_model=64")
        assert GlobalHydra.instance().hydra is running
