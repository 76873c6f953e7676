"""Train one model on one corpus, into a run folder.

python train.py                                          a small modern model on a toy language
python train.py model=gpt2 data=text data.path=my.txt    another architecture, your own text
python train.py model/norm=layernorm model.d_model=256   swap a part, change a size
python train.py resume=runs/<run>                        go on where a run stopped
"""

if __name__ == "__main__":
    from zoo.interruption import end_quietly

    end_quietly()

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from zoo.cli import job, run
from zoo.command.application import application


@application("train")
@job
def main(config: DictConfig) -> None:
    """Compose (Hydra), parse, build, fit, record."""
    from zoo.jobs.train import train  # torch is imported here, so that --help answers at once

    hydra = HydraConfig.get()
    train(config, hydra.runtime.choices, list(hydra.overrides.task))


if __name__ == "__main__":
    run(main, "train")
