"""What `python -m zoo` prints: the options, what combines, one model as a tree, one corpus and its floor."""
