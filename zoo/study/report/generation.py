"""What generating costs, variant by variant, where it was measured."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zoo.inference.latency_page import Group, One, first_token, memory, per_token, throughput
from zoo.number import counted
from zoo.page import Block, Figure, Section
from zoo.study.evidence import Evidence
from zoo.study.measured import misfit, reasons, unused
from zoo.study.report.findings import Findings
from zoo.study.run import Run

TITLE = "Generation"
HOW = "python evaluate.py run=<run> 'latency.prompts=[16,64]'"


def section(findings: Findings) -> Section:
    """Both phases, throughput and state of one run of each variant. Those that were measured otherwise than the first
    are named and left out."""
    evidence = findings.evidence
    measured = {name: run for name in evidence.shown if (run := _measured(evidence.done(name))) is not None}
    notes = unused(evidence, _reasons, "drawn")
    if not measured:
        return Section("generation", TITLE, missing=" ".join([f"No run's generation was measured (`{HOW}`).", *notes]))
    first = next(iter(measured.values())).latency
    alike = {name: run.latency["measurements"] for name, run in measured.items() if _how(run.latency) == _how(first)}
    plan, how = first["plan"], first["machinery"]
    said = (
        f"{plan['new_tokens']} new tokens, greedy; median of {plan['repetitions']} repetitions, bands from the fastest"
        f" to the slowest; one run of each variant. {first['machine']['processor']},"
        f" {counted(how['threads'], 'thread')}, {how['device']}, {how['dtype']},"
        f" steps {'compiled' if plan['compiled'] else 'eager'}."
    )
    blocks: list[Block] = [said, *notes]
    if others := [name for name in measured if name not in alike]:
        blocks.append(f"Measured otherwise, and not drawn: {', '.join(others)}.")
    return Section("generation", TITLE, [*blocks, *_figures(evidence, alike)])


def _figures(evidence: Evidence, measured: Mapping[str, list[One]]) -> list[Figure]:
    """A curve for each variant, at the longest prompt and the largest batch where those are not the axis."""
    rows = next(iter(measured.values()))
    batch, prompt = max(one["batch"] for one in rows), max(one["prompt"] for one in rows)
    after, at = f"after a prompt of {prompt}", f"at batch {batch}"

    def groups(**only: int) -> list[Group]:
        return [
            Group(name, name, evidence.slot(name), [one for one in own if only.items() <= one.items()])
            for name, own in measured.items()
        ]

    def least(value: Callable[[One], float]) -> tuple[str, float]:
        values = {group.name: value(group.rows[0]) for group in groups(batch=batch, prompt=prompt)}
        return min(values.items(), key=lambda one: one[1])

    soonest, first = least(lambda one: 1e3 * one["first_token_seconds"]["median"])
    quickest, each = least(lambda one: 1e3 * one["token_seconds"]["median"])
    most, negative = least(lambda one: -one["tokens_per_second"]["median"])
    smallest, state = least(lambda one: one["state_bytes"] / 1024)
    return [
        replace(
            first_token("variant", groups(batch=batch)),
            title=f"The first token comes soonest with `{soonest}`: {first:,.2f} ms {after}, {at}",
        ),
        replace(
            per_token("variant", groups(batch=batch, prompt=prompt)),
            title=f"A token takes least time with `{quickest}`: {each:,.2f} ms {after}, {at}",
        ),
        replace(
            throughput("variant", groups(prompt=prompt)),
            title=f"Most tokens come from `{most}`: {-negative:,.0f} a second {after}, {at}",
        ),
        replace(
            memory("variant", groups(prompt=prompt)),
            title=f"No state is smaller than that of `{smallest}`: {state:,.1f} KiB {after}, {at}",
        ),
    ]


def _measured(runs: list[Run]) -> Run | None:
    """The first run, by seed, whose generation was measured."""
    return next((run for run in runs if run.latency and not _reasons(run)), None)


def _reasons(run: Run) -> list[str]:
    """Why a measurement cannot be used: it is damaged, or of a model that is not the one that was trained."""
    if not run.latency:
        return []
    return reasons(run.latency, misfit(run.latency), "latency.json", "measure")


def _how(found: Mapping[str, Any]) -> object:
    """What must be equal for two measurements to be compared."""
    what = sorted((one["prompt"], one["batch"]) for one in found["measurements"])
    return [what, *(found[key] for key in ("plan", "machinery", "machine"))]
