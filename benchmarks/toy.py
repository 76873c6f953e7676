"""How fast the toy language is made and built into a corpus, on one core, and the most memory that it took.

python benchmarks/toy.py [words]                        generation, then a corpus in each tokenizer
python benchmarks/toy.py 100000000 words                a corpus in that tokenizer alone
"""

import resource
import sys
import tempfile
import time

import torch

from zoo.data.corpus import load_corpus
from zoo.data.source import sources
from zoo.option import Option

torch.set_num_threads(1)
WORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000


def generation(name: str, **keys: object) -> None:
    """Words a second of CPU time, without tokenizing or writing."""
    source = sources.build(Option(name, {"tokens": (WORDS, 1, 1), **keys}))
    start = time.process_time()
    made = sum(len(documents.words) for documents in source.made("train"))  # type: ignore[attr-defined]
    seconds = time.process_time() - start
    settings = ", ".join(f"{key}={value}" for key, value in keys.items()) or "defaults"
    print(f"{name:16} {settings:32} {made:>12,} words  {made / seconds:>12,.0f} words/s")


def building(tokenizer: str) -> None:
    """The same with tokenizer, notes and files: the first load of a corpus."""
    with tempfile.TemporaryDirectory() as cache:
        start = time.process_time()
        corpus = load_corpus(Option("toy", {"tokens": (WORDS, 50_000, 50_000)}), Option(tokenizer), cache)
        seconds = time.process_time() - start
        tokens = sum(len(split.tokens) for split in corpus.splits.values())
        print(
            f"corpus, {tokenizer:8} {tokens:>12,} tokens  {(WORDS + 100_000) / seconds:>12,.0f} words/s"
            f"  peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB of this process so far"
        )


if __name__ == "__main__":
    if not sys.argv[2:]:
        generation("toy")
        generation("toy", shortest=8192)
        generation("toy_translation")
    for each in sys.argv[2:] or ("words", "bytes", "chars", "bpe"):
        building(each)
