"""Corpora, tokenizers and batches: a batch is a pure function of (data, seed, step)."""
