"""The words of a command line, what Hydra composes of them, and how what it refuses is told."""
