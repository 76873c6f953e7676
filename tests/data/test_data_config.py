import inspect
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import zoo.data.source
import zoo.data.tokenizer  # noqa: F401
from zoo.errors import UserError
from zoo.registry import FAMILIES
from zoo.schema import fields, parse_option

CONF = Path(__file__).parents[2] / "conf"
FILES = [(family, file) for family in ("data", "tokenizer") for file in sorted((CONF / family).glob("*.yaml"))]


@pytest.mark.parametrize(("family", "file"), FILES, ids=[f"{family}/{file.stem}" for family, file in FILES])
def test_a_file_shows_every_key_of_its_option_with_its_default(family: str, file: Path) -> None:
    assert file.read_text().startswith("# ")
    node = OmegaConf.load(file)
    shown = {str(key): None if OmegaConf.is_missing(node, key) else node[key] for key in node}
    shown.pop("defaults", None)  # what a corpus chooses besides
    known = fields(FAMILIES[family].get(shown.pop("name")))
    assert list(shown) == list(known)
    for key, parameter in known.items():
        if parameter.default is inspect.Parameter.empty:
            assert OmegaConf.is_missing(node, key)
        else:
            given = OmegaConf.to_container(node)[key]  # type: ignore[call-overload, index]
            assert (tuple(given) if isinstance(given, list) else given) == parameter.default


def test_every_registered_option_has_a_file() -> None:
    for family in ("data", "tokenizer"):
        named = {OmegaConf.load(file)["name"] for kind, file in FILES if kind == family}
        assert named >= set(FAMILIES[family].names())


def test_a_misspelt_key_is_refused_with_a_hint() -> None:
    with pytest.raises(UserError, match="did you mean vocabulary"):
        parse_option("tokenizer", {"name": "bpe", "vocabulray": 5}, "tokenizer")
