"""Score trained models, let them speak, or report on a study.

python evaluate.py run=runs/<run>                              on the held-out splits of its own corpus
python evaluate.py run=runs/<run> data=text data.path=my.txt   on another corpus
python evaluate.py run=runs/<run> data=text data.path=my.txt data.split=[0,0,1]   on all of it
python evaluate.py run=runs/<run> 'latency.prompts=[16,64]'      time to the first token and per token, memory
python evaluate.py run=runs/<run> attention.text="the agent"     what every head looks at, as one page
python evaluate.py run=runs/<run> generate.prompt="The "        what it says after a text
python evaluate.py study=runs/studies/<study>                  verdicts, report.html, report.md, results.csv
"""

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from zoo.cli import job, run
from zoo.paths import CONF


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="evaluate")
@job
def main(config: DictConfig) -> None:
    """Rebuild the model from its folder, score it and print a table, or go on from a prompt; or build the report of a
    study, which needs no torch."""
    if config.study is not None:
        from zoo.study.command import report_study

        report_study(config.study, list(HydraConfig.get().overrides.task))
        return
    if config.latency.prompts is not None:
        from zoo.jobs.latency import latency

        latency(config)
        return
    if config.attention.text is not None:
        from zoo.jobs.attention import attention

        attention(config)
        return
    if config.generate.prompt is not None:
        from zoo.jobs.generate import generate

        generate(config)
        return
    from zoo.jobs.score import score

    score(config)


if __name__ == "__main__":
    run(main)
