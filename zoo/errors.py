"""Errors that are told as a sentence: those a user can put right, and runs that failed."""


class UserError(Exception):
    """Bad input. The message says what was wrong, where, and what to do."""


HERE = "‹here›"
"""Where a part stands in the config, in the message of a `PartError`."""


class PartError(UserError):
    """What a part refuses. It does not know where it stands (`model.mixer`, an entry of a pattern, an expert), so its
    message says `HERE`, as in f"{HERE}.window={window} must be at least 1"; `Option.placing` puts the place in."""

    def __str__(self) -> str:
        return super().__str__().replace(f"{HERE}.", "")


class RunFailed(Exception):  # noqa: N818  (a state of a run, as in its status.json)
    """The input was right, but the run did not come to its end. Entry points exit with code 1."""

    state = "failed"
    """How a note of a sweep calls it."""
