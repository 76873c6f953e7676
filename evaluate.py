"""Score trained models.

python evaluate.py run=runs/<run>                              on the held-out splits of its own corpus
python evaluate.py run=runs/<run> data=text data.path=my.txt   on another corpus
python evaluate.py run=runs/<run> data=text data.path=my.txt data.split=[0,0,1]   on all of it
"""

import hydra
from omegaconf import DictConfig

from zoo.cli import job, run
from zoo.paths import CONF


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="evaluate")
@job
def main(config: DictConfig) -> None:
    """Rebuild the model from its folder, score it, print a table."""
    from zoo.jobs.score import score

    score(config)


if __name__ == "__main__":
    run(main)
