"""The one error a user can put right; entry points print it as a sentence and exit with code 2."""


class UserError(Exception):
    """Bad input. The message says what was wrong, where, and what to do."""
