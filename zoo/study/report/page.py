"""All sections in their order, and the files they become."""

import csv
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zoo.number import counted
from zoo.page import Page, Section, html, markdown
from zoo.study.evidence import sort_out
from zoo.study.loading import load_runs
from zoo.study.report import (
    budgets,
    changes,
    costs,
    curves,
    distances,
    environment,
    failures,
    generation,
    gradients,
    ladder,
    lengths,
    literature,
    matching,
    pareto,
    points,
    reproduce,
    skills,
    translation,
    tuning,
    verdicts,
)
from zoo.study.report.answer import answer
from zoo.study.report.findings import Findings, find
from zoo.study.report.picture import picture
from zoo.study.report.resolution import too_small
from zoo.study.report.suspicion import suspicions
from zoo.study.tables import run_row, unread_row
from zoo.training.files import write_whole

SECTIONS: tuple[Callable[[Findings], Section], ...] = (
    verdicts.section,
    ladder.section,
    literature.section,
    points.section,
    curves.section,
    budgets.section,
    skills.section,
    distances.section,
    lengths.section,
    pareto.section,
    translation.section,
    generation.section,
    gradients.section,
    tuning.section,
    changes.section,
    matching.section,
    costs.section,
    failures.section,
    reproduce.section,
    environment.section,
)


@dataclass(frozen=True)
class Report:
    """A report before it is written."""

    findings: Findings
    page: Page

    def write(self, folder: Path) -> list[Path]:
        """Write the four files into a folder. Raises UserError when the disk refuses."""
        content = {
            "report.html": html(self.page),
            "report.md": markdown(self.page),
            "results.csv": results(self.findings),
            "verdicts.svg": picture(self.findings),
        }
        for name, text in content.items():
            write_whole(folder / name, text.encode())
        return [folder / name for name in content]


def built(folder: Path) -> Report:
    """Read a study and judge it. Raises UserError for a folder that is no study."""
    findings = find(sort_out(load_runs(folder)))
    return Report(findings, page_of(findings))


def page_of(findings: Findings) -> Page:
    """The page of a study."""
    question = findings.question
    facts = [_progress(findings), *suspicions(findings.evidence), *too_small(findings)]
    if question.expected:
        source = f" (source: {question.source})" if question.source else ""
        facts.append(f"Expected: {question.expected}{source}")
    return Page(
        title=question.question,
        answer=answer(findings),
        sections=[section(findings) for section in SECTIONS],
        facts=facts,
        kind=f"Transformer Zoo · study {question.name}",
    )


def _progress(findings: Findings) -> str:
    evidence = findings.evidence
    states = Counter([*(run.state for run in evidence.runs), *(one.state for one in evidence.unread)])
    others = "".join(f", {states[state]} {state}" for state in sorted(states) if state != "done")
    seeds = counted(len({run.seed for run in evidence.runs}), "seed")
    return f"{counted(states.total(), 'job')}, {seeds}: {states['done']} done{others}."


def results(findings: Findings) -> str:
    """One line a run, as CSV."""
    evidence = findings.evidence
    rows = [run_row(run) for run in evidence.runs]
    compared = {id(run) for one in evidence.accepted.values() for run in one.values()}
    refused = {id(run): reason for run, reason in evidence.refused}
    text = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(text, [*columns, "compared", "why_not"], lineterminator="\n")
    writer.writeheader()
    for run, row in zip(evidence.runs, rows, strict=True):
        writer.writerow({**row, "compared": id(run) in compared, "why_not": refused.get(id(run), "")})
    writer.writerows({**unread_row(one), "compared": False} for one in evidence.unread)
    return text.getvalue()
