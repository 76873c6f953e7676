"""Errors that are told as a sentence: those a user can put right, and runs that failed."""


class UserError(Exception):
    """Bad input. The message says what was wrong, where, and what to do."""


class RunFailed(Exception):  # noqa: N818  (a state of a run, as in its status.json)
    """The input was right, but the run did not come to its end. Entry points exit with code 1."""

    state = "failed"
    """How a note of a sweep calls it."""
