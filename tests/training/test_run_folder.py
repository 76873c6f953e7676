import json
import multiprocessing
import os
import re
from pathlib import Path

import pytest
import yaml

from zoo.errors import UserError
from zoo.training.metrics import read_metrics
from zoo.training.record import code_differs
from zoo.training.run import RunFolder, read_config, read_record, read_status


def test_a_run_leaves_plain_files_that_other_programs_read(tmp_path):
    with RunFolder(tmp_path / "deep" / "run") as run:
        run.start({"optimizer": {"lr": 1e-5, "betas": [0.9, 0.99]}, "name": "né"}, {"commit": "abc"})
        run.log(step=1, split="train", loss=2.5)
        run.finish("done", step=1)
    assert yaml.safe_load((run.path / "config.yaml").read_text()) == {
        "optimizer": {"lr": 1e-5, "betas": [0.9, 0.99]},
        "name": "né",
    }
    assert json.loads((run.path / "record.json").read_text()) == {"commit": "abc"}
    assert read_metrics(run.path) == [{"step": 1, "split": "train", "loss": 2.5}]
    assert read_status(run.path)["state"] == "done"
    assert sorted(os.listdir(run.path)) == [".lock", "config.yaml", "metrics.jsonl", "record.json", "status.json"]


def test_a_number_that_is_not_finite_is_null_in_json(tmp_path):
    with RunFolder(tmp_path) as run:
        run.start({}, {"worst": float("inf")})
        run.log(step=1, split="train", loss=float("nan"), parts={"a": [float("-inf"), 1.0]})
        run.finish("diverged", loss=float("nan"))
    for name in ("record.json", "metrics.jsonl", "status.json"):
        json.loads((tmp_path / name).read_text(), parse_constant=pytest.fail)
    assert read_metrics(tmp_path) == [{"step": 1, "split": "train", "loss": None, "parts": {"a": [None, 1.0]}}]


def test_resuming_drops_what_lies_beyond_the_checkpoint_and_a_torn_last_line(tmp_path):
    with RunFolder(tmp_path) as run:
        run.start({}, {})
        for step in range(1, 6):
            run.log(step=step, split="train", loss=1 / step)
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"step": 6, "spl')
    assert [line["step"] for line in read_metrics(tmp_path)] == [1, 2, 3, 4, 5]
    with RunFolder(tmp_path) as run:
        run.start({}, {}, step=3)
        run.log(step=4, split="train", loss=0.5)
    assert [line["step"] for line in read_metrics(tmp_path)] == [1, 2, 3, 4]


def test_lines_that_a_checkpoint_counted_must_be_there(tmp_path):
    with RunFolder(tmp_path) as run:
        run.start({}, {})
        for step in (1, 2, 3):
            run.log(step=step, split="train", loss=1.0)
        run.log(step=3, split="validation", loss=1.0)
        assert (run.lines(3), run.lines(4)) == (3, 4)
    with RunFolder(tmp_path) as run:
        with pytest.raises(UserError, match=r"has 2 of the 3 lines.*remove the folder to begin anew"):
            run.start({}, {}, step=2, lines=3)
        assert len(read_metrics(tmp_path)) == 4
        run.start({}, {}, step=2, lines=2)
        run.log(step=3, split="train", loss=1.0)
        assert run.lines(3) == 3


def test_a_torn_line_that_looks_whole_is_not_believed(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"step": 2}')  # no newline: the write was cut
    assert read_metrics(tmp_path) == [{"step": 1}]


def test_a_run_that_goes_on_keeps_its_first_config_and_record(tmp_path):
    with RunFolder(tmp_path) as run:
        run.start({"seed": 1}, {"commit": "first"})
    for step in (3, 5):
        with RunFolder(tmp_path) as run:
            run.start({"seed": 2}, {"commit": "later"}, step=step, resumed={"commit": f"c{step}"})
    assert yaml.safe_load((tmp_path / "config.yaml").read_text()) == {"seed": 1}
    assert json.loads((tmp_path / "record.json").read_text()) == {
        "commit": "first",
        "resumed": [{"step": 3, "commit": "c3"}, {"step": 5, "commit": "c5"}],
    }


def test_what_begins_anew_leaves_nothing_of_the_attempt_before(tmp_path):
    for commit in ("first", "second"):
        with RunFolder(tmp_path) as run:
            run.start({}, {"commit": commit})
            run.log(step=1, split="train", loss=1.0)
    assert json.loads((tmp_path / "record.json").read_text()) == {"commit": "second"}
    assert len(read_metrics(tmp_path)) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "5", "null", "{}", '{"state": 5}', "\x00"])
@pytest.mark.parametrize(
    ("file", "read"), [("status.json", read_status), ("record.json", read_record), ("config.yaml", read_config)]
)
def test_a_damaged_file_is_named_in_a_sentence(tmp_path, file, read, content):
    (tmp_path / file).write_text(content)
    if file == "config.yaml" and content in ("{}", '{"state": 5}'):
        return  # a mapping: what is in it is for zoo.config to judge
    with pytest.raises(UserError, match=re.escape(str(tmp_path))):
        read(tmp_path)


@pytest.mark.parametrize("line", ["{", "[]", '{"split": "train"}', "null", '{"step": "x"}'])
def test_a_damaged_line_of_the_metrics_is_named(tmp_path, line):
    (tmp_path / "metrics.jsonl").write_text(f'{{"step": 1}}\n{line}\n{{"step": 3}}\n')
    with pytest.raises(UserError, match="damaged in line 2"):
        read_metrics(tmp_path)


WHOLE = {"choices": {}, "overrides": [], "science": {}, "machinery": {}}
CODE = {
    "commit is no text": {"commit": 3},
    "dirty is no true or false": {"dirty": "no"},
    "packages is no mapping of versions": {"commit": None, "packages": []},
    "machinery is no mapping": {"machinery": None},
}
WRONG = CODE | {
    "it lacks science": {"science": ...},
    "choices is no mapping": {"choices": 1},
    "overrides is no list of texts": {"overrides": [1]},
    "science.budget is no mapping": {"science": {"budget": 3}},
    "resumed[0] is no mapping": {"resumed": [1, 2]},
    **{f"resumed[1].{said}": {"resumed": [{}, harm]} for said, harm in CODE.items()},
}


@pytest.mark.parametrize("said", WRONG)
def test_a_record_of_wrong_types_is_a_sentence(tmp_path, said):
    file = tmp_path / "record.json"
    file.write_text(json.dumps(WHOLE | {"commit": None, "packages": {"torch": None}, "resumed": [{"commit": "a"}]}))
    assert code_differs(read_record(tmp_path)).startswith("commit a")
    file.write_text(json.dumps({key: one for key, one in (WHOLE | WRONG[said]).items() if one is not ...}))
    with pytest.raises(UserError) as caught:
        code_differs(read_record(tmp_path))
    assert str(caught.value) == f"{file} is damaged: {said}; remove the folder to begin anew"


def write_in(path, ready, leave):
    with RunFolder(path) as run:
        run.start({}, {})
        ready.set()
        leave.wait(60)


def test_a_second_live_writer_is_refused_with_the_pid_and_a_killed_one_is_not_in_the_way(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    first = context.Process(target=write_in, args=(tmp_path, ready, leave))
    first.start()
    try:
        assert ready.wait(60)
        with pytest.raises(UserError, match=rf"process {first.pid} "), RunFolder(tmp_path):
            pass
    finally:
        first.kill()
        first.join()
    with RunFolder(tmp_path) as run:
        run.start({}, {})
    assert read_status(tmp_path)["pid"] == os.getpid()


def test_two_writers_of_one_process_are_refused_too(tmp_path):
    with RunFolder(tmp_path), pytest.raises(UserError, match="being written"), RunFolder(tmp_path):
        pass
    with RunFolder(tmp_path):
        pass


def test_an_unknown_state_is_refused(tmp_path):
    with RunFolder(tmp_path) as run, pytest.raises(Exception, match="finished"):
        run.finish("finished")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=re.escape(f"cannot write {tmp_path / 'file' / 'run'}")):
        RunFolder(tmp_path / "file" / "run").__enter__()


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("step", ["NaN", "Infinity", "1.5", "true", '"1"', "null", "-1", "[1]", DEEP])
def test_a_step_of_the_metrics_is_a_whole_number(tmp_path, step):
    (tmp_path / "metrics.jsonl").write_text(f'{{"step": {step}}}\n')
    with pytest.raises(UserError, match=r"damaged in line 1.*remove the folder to begin anew"):
        read_metrics(tmp_path)


def test_metrics_that_are_a_folder_are_refused(tmp_path):
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(UserError, match=r"metrics\.jsonl .*remove the folder to begin anew"):
        read_metrics(tmp_path)


@pytest.mark.parametrize("text", [DEEP, '{"a": ' * 500 + "1" + "}" * 500, "a: &a [*a]"])
@pytest.mark.parametrize(
    ("file", "read"), [("status.json", read_status), ("record.json", read_record), ("config.yaml", read_config)]
)
def test_what_nests_too_deep_is_a_sentence(tmp_path, file, read, text):
    (tmp_path / file).write_text(text)
    with pytest.raises(UserError, match=re.escape(file)):
        read(tmp_path)


def test_a_damaged_status_says_what_to_do(tmp_path):
    (tmp_path / "status.json").write_text("{")
    with pytest.raises(UserError, match="remove the folder to begin anew"):
        read_status(tmp_path)


def test_resumptions_that_are_no_list_are_refused_before_the_run_is_marked_running(tmp_path):
    (tmp_path / "record.json").write_text('{"resumed": 5}')
    with RunFolder(tmp_path) as run, pytest.raises(UserError, match="resumed is no list; remove the folder"):
        run.start({}, {}, step=1)
    assert read_status(tmp_path) is None


def test_a_folder_in_which_no_file_can_be_made_is_not_said_to_be_written_by_another_process() -> None:
    with pytest.raises(UserError, match=r"cannot write /proc/self: ") as told, RunFolder(Path("/proc/self")):
        pass
    assert "is being written" not in str(told.value)


def test_what_dead_writers_left_is_swept_up(tmp_path):
    dead = 999_999_999
    for name in (f".record.json.{os.getpid()}.tmp", f".said.json.{dead}.tmp", f".said.json.{os.getppid()}.tmp"):
        (tmp_path / name).write_text("")
    (tmp_path / "checkpoints" / ".step_2.tmp").mkdir(parents=True)
    (tmp_path / "checkpoints" / ".step_4.old.tmp").mkdir()
    with RunFolder(tmp_path) as run:
        run.start({}, {})
        assert os.listdir(run.checkpoints) == []
        assert [one.name for one in tmp_path.glob(".*.tmp")] == [f".said.json.{os.getppid()}.tmp"]
        (tmp_path / "checkpoints" / ".step_4.old.tmp").mkdir()
    assert os.listdir(tmp_path / "checkpoints") == []
