"""Models with lists of merges for tests: random ones with every option, and the same in the reference, the kernel and the twin."""

import json
import random

import tokenizers

from ctok._reference import mergelist as twin
from ctok.stages.models import build_model
from ctok.stagespecs.models import bpe_from_merges
from model_checks import real_file

SPELLING = twin.spelling()
OPTIONS = ("unk_token", "fuse_unk", "byte_fallback", "ignore_merges")
UNKNOWN = [None, "<unk>", "<gone>", "a", "ab"]


def some_options(rng, affixes=True):
    return {
        "unk_token": rng.choice(UNKNOWN),
        "fuse_unk": rng.random() < 0.5,
        "byte_fallback": rng.random() < 0.5,
        "ignore_merges": rng.random() < 0.3,
        "prefix": rng.choice(["", "", "", "##", "\u00e9", "a"]) if affixes else "",
        "suffix": rng.choice(["", "", "</w>", "b"]) if affixes else "",
    }


def some_vocab(rng, alphabet, options, n_merges):
    """(vocab, merges): characters, of which some are missing, at all places; merges of what is there already; and texts nothing makes."""
    prefix, suffix = options["prefix"], options["suffix"]
    units = [p + character + s for character in alphabet for p in {"", prefix} for s in {"", suffix} if rng.random() < 0.85]
    texts = dict.fromkeys(units)
    if options["unk_token"] not in (None, "<gone>"):
        texts[options["unk_token"]] = None
    if options["byte_fallback"]:
        names = [f"<0x{byte:02X}>" for byte in range(256)]
        missing = set(rng.sample(range(256), rng.choice((0, 0, 60))))
        texts |= dict.fromkeys(name for byte, name in enumerate(names) if byte not in missing)
    joins_unknown = rng.random() < 0.3
    merges, makers = [], [text for text in texts if text[:1] != "<" or (joins_unknown and (text == "<unk>" or rng.random() < 0.01))]
    for _ in range(n_merges if makers else 0):
        left, right = rng.choice(makers), rng.choice(makers)
        try:
            joined = left + right.encode()[len(prefix.encode()) :].decode()
        except UnicodeDecodeError:
            continue
        if len(right.encode()) < len(prefix.encode()) or len(joined) > 12 or not joined:
            continue
        merges.append((left, right))
        texts[joined] = None
        makers.append(joined)
    if rng.random() < 0.5:
        rng.shuffle(merges)
    texts |= dict.fromkeys("".join(rng.choices(alphabet, k=rng.randint(2, 5))) for _ in range(6))
    ids = rng.sample(range(2 * len(texts)), len(texts)) if rng.random() < 0.5 else range(len(texts))
    return dict(zip(texts, ids, strict=True)), merges


def live(vocab, merges, prefix="", suffix="", dropout=None, **options):
    options |= {"continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None, "dropout": dropout}
    return tokenizers.models.BPE(vocab, merges, **{name: value for name, value in options.items() if value is not None})


def record(vocab, merges, prefix="", suffix="", **options):
    return bpe_from_merges(vocab, merges, continuing_subword_prefix=prefix or None, end_of_word_suffix=suffix or None, **options)


def kernel(vocab, merges, byte_level=False, **options):
    return build_model(record(vocab, merges, **options), byte_level)


def random_models(seed, count, alphabet="ab\u00e9\u2581", n_merges=12, affixes=True, **fixed):
    """Yield (rng, vocab, merges, options)."""
    for i in range(count):
        rng = random.Random(seed * 10_000 + i)
        options = some_options(rng, affixes) | fixed
        yield rng, *some_vocab(rng, alphabet, options, rng.randint(0, n_merges)), options


def real_model(shared, name):
    """(the live tokenizer, the kernel, is it byte-level?) of a packed tokenizer.json."""
    text = real_file(shared, name)
    file = json.loads(text)
    model = file["model"]
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    options = {name: model.get(name) for name in ("unk_token", "continuing_subword_prefix", "end_of_word_suffix", "dropout")}
    options |= {name: bool(model.get(name)) for name in ("fuse_unk", "byte_fallback", "ignore_merges")}
    byte_level = '"ByteLevel"' in json.dumps(file["pre_tokenizer"])
    return tokenizers.Tokenizer.from_str(text), build_model(bpe_from_merges(model["vocab"], merges, **options), byte_level), byte_level
