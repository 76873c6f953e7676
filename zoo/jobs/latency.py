"""Measure what generating with a trained run costs."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from omegaconf import DictConfig
from rich.table import Table

from zoo.config import plain
from zoo.errors import UserError
from zoo.inference.latency import Plan, measure, refuse_unmeasurable
from zoo.inference.latency_page import latency_page
from zoo.jobs.opened import Opened, opened, tell_emulated
from zoo.jobs.results import json_target
from zoo.memory import enough_memory
from zoo.mismatch import told
from zoo.page import html
from zoo.schema import positive, typed
from zoo.terminal import show
from zoo.training.files import json_text, write_whole
from zoo.training.record import environment

WORDS = (
    "TTFT: time to the first token, with the reading of the prompt; TPOT: time per output token after it; state: bytes"
    " that generation keeps, measured, and counted from the model's shapes; peak: most bytes beside the weights"
)
"""What the columns of the table mean."""


def latency(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Measure what `latency` of `conf/evaluate.yaml` says, print a table, and leave latency.json and latency.html in
    the run folder. Raises UserError for bad input."""
    node = plain(config)
    plan, target = _plan(node["latency"]), json_target(node)
    given = opened(node)
    tell_emulated(given.machinery)
    with enough_memory("make latency.prompts, latency.batches or latency.new_tokens smaller"):
        found = measured(given, plan)
    _show(found)
    text = f"{json_text(found, indent=1)}\n".encode()
    write_whole(given.folder / "latency.json", text)
    if target is not None:
        write_whole(target, text)
    page = given.folder / "latency.html"
    write_whole(page, html(latency_page(found)).encode())
    show(f"drawn in {page}")
    return found


def measured(given: Opened, plan: Plan) -> dict[str, Any]:
    """What `latency.json` holds: how it was measured, and a list of `Latency`."""
    machinery = given.machinery
    plan = replace(plan, compiled=machinery.compile)
    refuse_unmeasurable(given.run.model, plan)
    places = [(prompt, batch) for prompt in plan.prompts for batch in plan.batches]
    measurements, rows = measure(given.run.model, plan, machinery.autocast), []
    for number, (prompt, batch) in enumerate(places, start=1):
        print(f"measuring prompt {prompt:,}, batch {batch:,} ({number} of {len(places)})", file=sys.stderr, flush=True)
        rows.append(next(measurements))
    about = {"run": given.folder.name, **given.run.weights(), "plan": vars(plan), "machinery": machinery.as_dict()}
    return {"version": 1, **about, "machine": environment()["machine"], "measurements": [one.as_dict() for one in rows]}


def _plan(node: Any) -> Plan:
    if not isinstance(node, Mapping):
        raise UserError("latency must be a mapping, as in latency.prompts=[16,64]")
    plan = Plan(**typed(Plan, node, "latency", "a measurement"))
    for name in ("prompts", "batches"):
        values = getattr(plan, name)
        if not values or min(values) < 1:
            raise UserError(f"latency.{name}={list(values)} must list whole numbers, at least 1")
        twice = next((one for one in values if values.count(one) > 1), None)
        if twice is not None:
            raise UserError(f"latency.{name} names {twice} twice; name each once")
    positive("latency", repetitions=plan.repetitions)
    if plan.new_tokens < 2 or plan.warm_up < 0:
        raise UserError("latency needs new_tokens of at least 2, one for each phase, and warm_up of at least 0")
    return plan


def _show(found: Mapping[str, Any]) -> None:
    title = f"{found['run']}, step {found['step']}: medians of {found['plan']['repetitions']} repetitions"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in ("prompt", "batch", "TTFT ms", "TPOT ms", "± %", "tokens/s", "state KiB", "counted KiB", "peak MiB"):
        table.add_column(column, justify="right")
    for one in found["measurements"]:
        first, each = one["first_token_seconds"], one["token_seconds"]
        spread = 50 * (each["high"] - each["low"]) / each["median"]
        table.add_row(
            f"{one['prompt']:,}",
            f"{one['batch']:,}",
            f"{1e3 * first['median']:.2f}",
            f"{1e3 * each['median']:.3f}",
            f"{spread:.0f}",
            f"{one['tokens_per_second']['median']:,.0f}",
            f"{one['state_bytes'] / 1024:,.1f}",
            f"{one['state_bytes_counted'] / 1024:,.1f}",
            f"{one['peak_bytes'] / 2**20:,.2f}",
        )
    show(table, WORDS, *told(found))
