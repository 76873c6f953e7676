"""Every study that ships is whole: each variant composes, builds, and differs from the reference in what it says."""

import pytest

from zoo.command.compose import compose
from zoo.config import ASIDE, parse, plain
from zoo.jobs.idle import refuse_idle
from zoo.jobs.matched import matched
from zoo.matching.solve import sizes_of
from zoo.paths import CONF
from zoo.study.plan import Job, Plan
from zoo.study.spec import parse_study

STUDIES = sorted(path.stem for path in (CONF / "study").glob("*.yaml") if not path.stem.startswith("_"))
VOCABULARY = 800


def plan_of(name: str) -> Plan:
    return Plan(parse_study(plain(compose([f"study={name}"]))["study"], name), ["runtime.threads=1"])


def test_the_studies_of_the_design_ship() -> None:
    wanted = "ladder ladder_back norm_placement norm ffn position heads topology moe bias attention_scale"
    assert {*wanted.split(), "embedding_scale", "init", "single_head", "no_position"} <= {*STUDIES}


@pytest.mark.parametrize("name", STUDIES)
def test_every_job_of_a_study_is_a_run_of_its_own(name: str) -> None:
    plan = plan_of(name)
    alike: dict[str, str] = {}
    tunings = len(plan.study.tunings())
    for job in plan.first()[: len(plan.study.variants) * tunings : tunings]:
        model = _model_of(job)
        said = repr((model, [one for one in job.overrides if one.startswith(("objective", "schedule"))]))
        assert said not in alike, f"{job.variant} is {alike[said]}"
        alike[said] = job.variant


def _model_of(job: Job) -> object:
    """The matched model of a job; it can be built."""
    node = plain(compose(job.overrides))
    experiment = {key: value for key, value in node.items() if key not in ASIDE}
    parse(experiment)
    refuse_idle(parse(experiment), job.overrides)
    found, report = matched(node["match"], experiment, list(job.overrides), VOCABULARY)
    if report is None:
        sizes_of(found["model"], VOCABULARY, 64)
    else:
        assert abs(report["residual"]) <= 0.01 or report["why_not"]
    return found["model"]


def test_a_file_opens_with_its_command_its_cost_what_is_expected_and_the_source() -> None:
    for name in STUDIES:
        head = (CONF / "study" / f"{name}.yaml").read_text().split("defaults:")[0]
        assert head.startswith(f"# python train.py study={name}\n# cost on 2 cores: "), name
        assert "\n# expected: " in head, name
        assert "\n# source: " in head, name
