"""chrF, by sacrebleu: an extra, so it is imported where it is asked for."""

from collections.abc import Sequence

from zoo.errors import UserError


class ChrF:
    """Character n-gram F-score of texts beside one reference each, 0 to 100, with sacrebleu's own settings. Raises
    UserError with the install line where sacrebleu is absent.

    paper: Popović 2015, W15-3049
    """

    def __init__(self) -> None:
        try:
            import sacrebleu
            from sacrebleu.metrics.chrf import CHRF
        except ModuleNotFoundError:
            raise UserError(
                "translation.pairs computes chrF with sacrebleu, which is not installed;"
                " run pip install -e '.[translation]'"
            ) from None
        self._metric = CHRF()
        self.version = sacrebleu.__version__

    def score(self, said: Sequence[str], wanted: Sequence[str]) -> float:
        """Of all texts together, at least one."""
        return float(self._metric.corpus_score(list(said), [list(wanted)]).score)

    @property
    def signature(self) -> str:
        """How it was computed, as sacrebleu writes it; known after a score."""
        return str(self._metric.get_signature())
