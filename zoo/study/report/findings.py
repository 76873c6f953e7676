"""What all sections of a report draw from: the evidence, and the verdicts on it."""

from dataclasses import dataclass

from zoo.page import Word
from zoo.study.evidence import Evidence
from zoo.study.metric import read_metric
from zoo.study.question import Question
from zoo.study.verdict import Row, judge

TONES = {"better": "good", "worse": "bad", "within noise": "flat"}


@dataclass(frozen=True)
class Findings:
    """A study that has been judged."""

    evidence: Evidence
    rows: tuple[Row, ...]
    """Each variant against the one that it is compared with."""
    from_reference: tuple[Row, ...]
    """In a chain: each variant against the reference, corrected among themselves."""

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.evidence.question

    @property
    def unit(self) -> str:
        """Of the metric, in brackets."""
        return read_metric(self.question.metric).unit


def find(evidence: Evidence) -> Findings:
    """Judge a study."""
    question = evidence.question
    others = [name for name in question.names if name != question.reference]
    rows = judge(evidence, [(name, question.before(name) or question.reference) for name in others])
    chained = judge(evidence, [(name, question.reference) for name in others]) if question.chain else []
    return Findings(evidence, tuple(rows), tuple(chained))


def word(row: Row) -> Word:
    """A verdict as a cell."""
    tone = TONES.get(row.verdict, "open")
    return Word(row.says, tone)  # type: ignore[arg-type]
