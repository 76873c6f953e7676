"""python -m zoo [list | show | matrix] [overrides]: what there is, what one model looks like, and what combines.

    python -m zoo                                   every option: family, name, file, paper
    python -m zoo list norm mixer                   of some families only
    python -m zoo show model=llama model/norm=none  one architecture as a tree with shapes, parameters, FLOPs, state
    python -m zoo matrix                            which options meet, and why not

Overrides are those of train.py; parts of your own are included by plugins=[my_module] hydra.searchpath=[my_conf].
"""

import argparse

from zoo.cli import run


def main() -> None:
    """Entry point of `python -m zoo` and of the command `zoo`."""
    run(_main)


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m zoo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", choices=("list", "show", "matrix"), default="list")
    parser.add_argument("--vocabulary", type=int, default=259, metavar="V", help="ids of the model that `show` draws")
    parser.add_argument("words", nargs="*", metavar="family|override")
    arguments = parser.parse_intermixed_args()
    if arguments.command == "list":
        from zoo.listing import print_list

        print_list(arguments.words)
    elif arguments.command == "show":
        from zoo.show import print_tree

        print_tree(arguments.words, arguments.vocabulary)
    else:
        from zoo.matrix import print_matrix

        print_matrix(arguments.words)


if __name__ == "__main__":
    main()
