"""How a model is trained: parameter groups and optimizers, schedules, the loop, checkpoints and run folders.

Nothing here reads a config: each piece takes plain or typed values, so that it can be called from a notebook or a test.
What goes from a config to a run folder is `zoo.jobs`.
"""
