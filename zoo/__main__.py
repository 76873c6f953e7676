"""python -m zoo [list | show | matrix | floor | sample | export] [overrides]: what there is, and what it looks like.

    python -m zoo                                   every option: family, name, file, paper
    python -m zoo list norm mixer [--json]          of some families only
    python -m zoo show model=llama model/norm=none  one architecture as a tree with shapes, parameters, FLOPs, state
    python -m zoo matrix                            which options meet, and why not
    python -m zoo floor data=toy [--json]           the best possible loss of a generated corpus, by skill and distance
    python -m zoo sample data=toy                   some of its documents, coloured by skill
    python -m zoo export run=runs/<run> to=folder   the model in the layout that transformers loads

Overrides are those of train.py; parts of your own are included by plugins=[my_module] hydra.searchpath=[my_conf].
"""

if __name__ == "__main__":
    from zoo.interruption import end_quietly

    end_quietly()

import argparse
from typing import NoReturn

from zoo.cli import run
from zoo.errors import UserError
from zoo.registry import did_you_mean

COMMANDS = ("list", "show", "matrix", "floor", "sample", "export")
FLAGS = {"vocabulary": ("show",), "split": ("floor", "sample"), "json": ("list", "floor")}
"""The commands that read each flag."""


def main() -> None:
    """Entry point of `python -m zoo` and of the command `zoo`."""
    run(_main)


class _Parser(argparse.ArgumentParser):
    """Refuses in one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; `{self.prog} --help` shows what there is")


def _main() -> None:
    parser = _Parser(prog="python -m zoo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", metavar="|".join(COMMANDS), default="list")
    parser.add_argument("--vocabulary", type=int, metavar="V", help="ids of the model that `show` draws")
    parser.add_argument("--split", help="the split that `floor` and `sample` read")
    parser.add_argument("--json", action="store_true", help="print the list, or the floor, as JSON")
    parser.add_argument("words", nargs="*", metavar="family|override")
    arguments = parser.parse_intermixed_args()
    if arguments.command not in COMMANDS:
        hint = did_you_mean(arguments.command, COMMANDS)
        raise UserError(f"no command '{arguments.command}'{hint}; choose from {', '.join(COMMANDS)}")
    for flag, reading in FLAGS.items():
        given = getattr(arguments, flag)
        if given is not None and given is not False and arguments.command not in reading:
            have = "have" if len(reading) > 1 else "has"
            raise UserError(f"{arguments.command} has no --{flag}; {' and '.join(reading)} {have}")
    if arguments.command == "list":
        from zoo.overview.listing import print_list

        print_list(arguments.words, arguments.json)
    elif arguments.command == "show":
        from zoo.overview.show import print_tree

        print_tree(arguments.words, 259 if arguments.vocabulary is None else arguments.vocabulary)
    elif arguments.command == "matrix":
        from zoo.overview.matrix import print_matrix

        print_matrix(arguments.words)
    elif arguments.command == "export":
        from zoo.jobs.export import export_run

        export_run(arguments.words)
    else:
        _generated(arguments)


def _generated(arguments: argparse.Namespace) -> None:
    """The commands that look at a generated corpus."""
    import zoo.data.source
    import zoo.data.tokenizer  # noqa: F401  (both register what options name)
    from zoo.overview.asked import asked
    from zoo.overview.floor import floor_table
    from zoo.overview.sample import sample
    from zoo.schema import parse_option

    of_tokens = arguments.command == "floor"
    node = asked(arguments.command, arguments.words, ("data", "tokenizer") if of_tokens else ("data",))
    data = parse_option("data", node["data"], "data")
    split = "validation" if arguments.split is None else arguments.split
    if of_tokens:
        floor_table(data, parse_option("tokenizer", node["tokenizer"], "tokenizer"), split, arguments.json)
    else:
        sample(data, split)


if __name__ == "__main__":
    main()
