"""Score trained models, let them speak, or report on a study.

python evaluate.py run=runs/<run>                              on the held-out splits of its own corpus
python evaluate.py run=runs/<run> data=text data.path=my.txt   on another corpus
python evaluate.py run=runs/<run> data=text data.path=my.txt data.split=[0,0,1]   on all of it
python evaluate.py run=runs/<run> 'latency.prompts=[16,64]'      time to the first token and per token, memory
python evaluate.py run=runs/<run> attention.text="about forests. the small dog sleeps."   what every head looks at
python evaluate.py run=runs/<run> translation.pairs=500        exact match and chrF of what it translates
python evaluate.py run=runs/<run> generate.prompt="about forests. the small"   what it says after a text
python evaluate.py study=runs/studies/<study>                  verdicts, report.html, report.md, results.csv
"""

if __name__ == "__main__":
    from zoo.interruption import end_quietly

    end_quietly()

import sys

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from zoo.cli import job, run
from zoo.command.application import application
from zoo.command.evaluation import asked_for, start_from_launch


def main() -> None:
    """Look at a run, or build the report of a study."""
    words = sys.argv[1:]
    if any(word.startswith("study=") for word in words):  # no affair of Hydra, which would look for conf/study/<folder>
        from zoo.study.command import report_study

        report_study(words)
    else:
        evaluate()


@application("evaluate")
@job
def evaluate(config: DictConfig) -> None:
    """Rebuild the model from its folder, score it and print a table, or go on from a prompt."""
    mode = asked_for(config, HydraConfig.get().overrides.task)
    start_from_launch(config)
    if mode == "latency.prompts":
        from zoo.jobs.latency import latency

        latency(config)
    elif mode == "attention.text":
        from zoo.jobs.attention import attention

        attention(config)
    elif mode == "translation.pairs":
        from zoo.jobs.translation import translation

        translation(config)
    elif mode == "generate.prompt":
        from zoo.jobs.generate import generate

        generate(config)
    else:
        from zoo.jobs.score import score

        score(config)


if __name__ == "__main__":
    run(main, "evaluate")
