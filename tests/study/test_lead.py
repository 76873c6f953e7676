import pytest

from zoo.study.report.lead import Lead, lead

NOISE = ", without two seeds to know noise by"


@pytest.mark.parametrize(
    ("values", "noise"),
    [
        ({"a": {0: 1.0, 1: 2.0, 2: 3.0}, "b": {0: 1.5, 1: 2.4, 2: 3.6}}, ""),  # paired, always by about 0.5
        ({"a": {0: 1.0, 1: 2.0, 2: 3.0}, "b": {0: 3.5, 1: 2.4, 2: 1.6}}, ", within noise of `b`"),
        ({"c": {0: 9.0, 1: 9.1}, "a": {0: 1.0, 1: 2.0}, "b": {0: 3.5, 1: 1.6}}, ", within noise of `b`"),
        ({"a": {0: 1.0}, "b": {0: 2.0}}, NOISE),
        ({"a": {0: 1.0, 1: 1.1}, "b": {2: 2.0, 3: 2.1}}, NOISE),
        ({"a": {0: 1.0, 1: 2.0}}, ""),
        ({"a": {0: 1.0, 1: 2.0}, "b": {}}, ""),
    ],
)
def test_a_lead_is_told_from_noise_by_the_seeds_that_both_have(values: dict[str, dict[int, float]], noise: str) -> None:
    assert lead(values).best == "a"
    assert lead(values).noise == noise


def test_the_highest_may_be_best() -> None:
    assert lead({"a": {0: 1.0, 1: 2.0}, "b": {0: 3.0, 1: 4.0}}, highest=True) == Lead("b", 3.5, "")
