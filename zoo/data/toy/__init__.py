"""A toy language whose every probability is known: what it is stands in docs/toy-language.md."""
