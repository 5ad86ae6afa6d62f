"""Small tokenizers of every kind, as files say them: each for ctok and for the live reference, built in memory."""

import json
import random
from base64 import b64encode
from functools import cache
from itertools import pairwise

import pytest

from ctok.formats import tokenizer_json
from ctok.tokenizer import Tokenizer
from normalize_charsmap import charsmap

tokenizers = pytest.importorskip("tokenizers")

RULES = {
    "\u3000": " ", "\u00a0": " ", "\ufb01": "fi", "\u200b": "", "\u212b": "\u00c5", "e\u0301": "\u00e9", "\u1100\u1161": "\uac00",
    "\t": " ", "\n": " ",
}  # fmt: skip
CORPUS = "hello world the theme of the thing new york is nice and the cafe was naive "
CORPUS += "\u4e2d\u6587\u4e2d\u6587 \u65e5\u672c don't 123 1234 aaaa abab"
CORPUS = CORPUS.split()
SPACE = "\u2581"


def visible():
    """Return the characters that spell bytes, in the order of the bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) if b in plain else chr(256 + others.index(b)) for b in range(256)]


def spelled(text):
    table = visible()
    return "".join(table[b] for b in text.encode())


def merged(words, alphabet, n, seed):
    """Return vocabulary and merges: pairs that occur in the words, joined in a random order of preference."""
    rng = random.Random(seed)
    vocab = {piece: i for i, piece in enumerate(alphabet)}
    parts, merges = [list(word) for word in words], []
    for _ in range(n):
        pairs = sorted({pair for word in parts for pair in pairwise(word)})
        if not pairs:
            break
        left, right = rng.choice(pairs)
        merges.append([left, right])
        vocab.setdefault(left + right, len(vocab))
        for word in parts:
            i = 0
            while i + 1 < len(word):
                if word[i : i + 2] == [left, right]:
                    word[i : i + 2] = [left + right]
                i += 1
    return vocab, merges


def added(vocab, *tokens):
    """Return the entries of added tokens: ``(content, flags)`` with flags out of s(pecial) n(ormalized) l(strip) r(strip) w(ord)."""
    known, entries = dict(vocab), []
    for content, flags in tokens:
        number = known.setdefault(content, max(known.values()) + 1)
        entries.append(
            {
                "id": number,
                "content": content,
                "single_word": "w" in flags,
                "lstrip": "l" in flags,
                "rstrip": "r" in flags,
                "normalized": "n" in flags,
                "special": "s" in flags,
            }
        )
    return entries


ADDED = [
    ("<s>", "s"),
    ("</s>", "s"),
    ("<m>", "slr"),
    ("New York", "n"),
    ("<x>", ""),
    ("<x>y", "n"),
    ("abc", "w"),
    ("<e> ", "snl"),
    ("\u00dcn\u00ef", "n"),
]


def document(model, tokens=ADDED, **stages):
    """Return a file's text; the ids of template tokens are filled in."""
    vocab = dict(model["vocab"]) if isinstance(model["vocab"], dict) else {piece: i for i, (piece, _) in enumerate(model["vocab"])}
    entries = added(vocab, *tokens)
    whole = (
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": entries,
            "normalizer": None,
            "pre_tokenizer": None,
            "post_processor": None,
            "decoder": None,
        }
        | stages
        | {"model": model}
    )
    template = whole["post_processor"]
    numbers = vocab | {entry["content"]: entry["id"] for entry in entries}
    if isinstance(template, dict):
        template |= {side: [template[side], numbers[template[side]]] for side in ("sep", "cls")}
    if isinstance(template, str):
        before, _, after = template.partition("A")
        ring = [[{"SpecialToken": {"id": name, "type_id": 0}} for name in side.split()] for side in (before, after)]
        single = [*ring[0], {"Sequence": {"id": "A", "type_id": 0}}, *ring[1]]
        pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}, *[{"SpecialToken": {"id": name, "type_id": 1}} for name in after.split()]]
        names = dict.fromkeys((before + " " + after).split())
        table = {name: {"id": name, "ids": [numbers[name]], "tokens": [name]} for name in names}
        whole["post_processor"] = {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": table}
    return json.dumps(whole, ensure_ascii=False)


def chain(key, *steps):
    return {"type": "Sequence", key: list(steps)}


def byte_level(prefix=False, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def metaspace(scheme, split=True):
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": split}


def replace(old, new, kind="String"):
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def bpe(vocab, merges, **options):
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": vocab,
        "merges": merges,
    } | options


LETTERS = sorted(set("".join(CORPUS)) | set(".,!'<>/xXyYNMSes") | {SPACE})
BYTES = [f"<0x{b:02X}>" for b in range(256)]
SPM_DECODER = chain(
    "decoders", replace(SPACE, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}
)
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
GPT4 += r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def byte_level_bpe(**options):
    words = [spelled(f" {word}") for word in CORPUS] + [spelled(word) for word in CORPUS]
    return bpe(*merged(words, visible(), 120, 1), **options)


def spm_bpe(n=110, seed=2, **options):
    words = [SPACE + word for word in CORPUS] + [SPACE * 4]
    return bpe(*merged(words, ["<unk>", *BYTES, *LETTERS], n, seed), unk_token="<unk>", fuse_unk=True, byte_fallback=True, **options)


def bare_bpe(**options):
    return bpe(*merged([SPACE + word for word in CORPUS], ["<unk>", *LETTERS], 90, 3), **options)


def pieces(seed, *first):
    rng = random.Random(seed)
    found = dict.fromkeys(LETTERS)
    for word in CORPUS:
        word = SPACE + word
        for _ in range(4):
            a, b = sorted(rng.sample(range(len(word) + 1), 2))
            found.setdefault(word[a:b])
    return [*first, *[[piece, round(-rng.uniform(1, 12), 3)] for piece in found if piece]]


def unigram(seed=5, byte_fallback=False):
    first = [["<pad>", 0.0], ["</e>", 0.0], ["<unk>", -9.0], *([[piece, -15.0] for piece in BYTES] if byte_fallback else [])]
    return {"type": "Unigram", "unk_id": 2, "vocab": pieces(seed, *first), "byte_fallback": byte_fallback}


def wordpiece(**options):
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz0123456789.,!'<>/", "\u4e2d", "\u6587", "\u65e5"]
    names += [f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789"] + [word for word in CORPUS if word.isascii() and word.isalpha()]
    names += ["th", "##eme", "##ing", "hel", "##lo", "na", "##iv"]
    vocab = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 20,
        "vocab": vocab,
    } | options


def wordlevel(unk="[UNK]", *more):
    names = dict.fromkeys(["[UNK]", *CORPUS, "a", "b", ".", "!", *more])
    return {"type": "WordLevel", "vocab": {name: i for i, name in enumerate(names)}, "unk_token": unk}


BERT_NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
BERT_TOKENS = [(name, "s") for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")] + ADDED
T5_TOKENS = [(name, "s") for name in ("<pad>", "</e>", "<unk>")] + ADDED

KINDS = {
    "gpt2": lambda: document(byte_level_bpe(), pre_tokenizer=byte_level(), decoder=byte_level(), post_processor="<s> A"),
    "gpt4": lambda: document(
        byte_level_bpe(ignore_merges=True),
        normalizer={"type": "NFC"},
        pre_tokenizer=chain(
            "pretokenizers", {"type": "Split", "pattern": {"Regex": GPT4}, "behavior": "Isolated", "invert": False}, byte_level(regex=False)
        ),
        decoder=byte_level(),
    ),
    "falcon": lambda: document(
        byte_level_bpe(),
        pre_tokenizer=chain(
            "pretokenizers",
            {"type": "Punctuation", "behavior": "Contiguous"},
            byte_level(),
            {"type": "Digits", "individual_digits": False},
            {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
        ),
        decoder=byte_level(),
    ),
    "roberta": lambda: document(
        byte_level_bpe(),
        pre_tokenizer=byte_level(prefix=True),
        decoder=byte_level(),
        post_processor={"type": "RobertaProcessing", "sep": "</s>", "cls": "<s>", "trim_offsets": True, "add_prefix_space": True},
    ),
    "llama": lambda: document(
        spm_bpe(),
        [("<unk>", "s"), *ADDED],
        normalizer=chain("normalizers", {"type": "Prepend", "prepend": SPACE}, replace(" ", SPACE)),
        decoder=SPM_DECODER,
        post_processor="<s> A",
    ),
    "mistral": lambda: document(
        spm_bpe(seed=8), [("<unk>", "s"), *ADDED], pre_tokenizer=metaspace("first", False), decoder=SPM_DECODER, post_processor="<s> A </s>"
    ),
    "gemma": lambda: document(
        spm_bpe(140, 9),
        [("<unk>", "s"), *ADDED],
        normalizer=replace(" ", SPACE),
        pre_tokenizer={"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
        decoder=chain("decoders", replace(SPACE, " "), {"type": "ByteFallback"}, {"type": "Fuse"}),
        post_processor="<s> A",
    ),
    "stripped": lambda: document(
        bare_bpe(),
        normalizer=chain("normalizers", {"type": "Nmt"}, {"type": "Strip", "strip_left": True, "strip_right": False}, replace("x", "")),
        pre_tokenizer=metaspace("first"),
        decoder=metaspace("first"),
    ),
    "prepended": lambda: document(
        bare_bpe(),
        normalizer=chain("normalizers", replace("b+", "", "Regex"), {"type": "NFKC"}, {"type": "Prepend", "prepend": "h l"}),
        pre_tokenizer=chain("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("first")),
    ),
    "bare": lambda: document(bare_bpe()),
    "fused": lambda: document(bare_bpe(unk_token="<unk>", fuse_unk=True), pre_tokenizer=metaspace("always"), decoder=metaspace("always")),
    "suffix": lambda: document(
        bpe(
            {"<unk>": 0, "a": 1, "b": 2, "a</w>": 3, "b</w>": 4, "ab</w>": 5, "ba": 6, "baa</w>": 7},
            [["a", "b</w>"], ["b", "a"], ["ba", "a</w>"]],
            unk_token="<unk>",
            end_of_word_suffix="</w>",
        ),
        normalizer={"type": "Lowercase"},
        pre_tokenizer={"type": "WhitespaceSplit"},
        decoder={"type": "BPEDecoder", "suffix": "</w>"},
    ),
    "bert": lambda: document(
        wordpiece(),
        BERT_TOKENS,
        normalizer=BERT_NORMALIZER,
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor="[CLS] A [SEP]",
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    ),
    "cased": lambda: document(
        wordpiece(max_input_chars_per_word=6),
        BERT_TOKENS,
        normalizer=dict(BERT_NORMALIZER, lowercase=False, strip_accents=True),
        pre_tokenizer=chain("pretokenizers", {"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}),
        post_processor={"type": "BertProcessing", "sep": "[SEP]", "cls": "[CLS]"},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": False},
    ),
    "t5": lambda: document(
        unigram(),
        T5_TOKENS,
        normalizer=chain(
            "normalizers",
            {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap(RULES)).decode()},
            replace(" {2,}", " ", "Regex"),
        ),
        pre_tokenizer=metaspace("always"),
        decoder=metaspace("always"),
        post_processor="A </e>",
    ),
    "albert": lambda: document(
        unigram(6),
        T5_TOKENS,
        normalizer=chain(
            "normalizers",
            replace("``", '"'),
            {"type": "NFKD"},
            {"type": "StripAccents"},
            {"type": "Lowercase"},
            {"type": "Strip", "strip_left": True, "strip_right": True},
        ),
        pre_tokenizer=chain("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("always")),
        decoder=metaspace("always"),
    ),
    "fallback": lambda: document(
        unigram(7, True), T5_TOKENS, normalizer={"type": "Nmt"}, pre_tokenizer=metaspace("never", False), decoder=SPM_DECODER
    ),
    "words": lambda: document(
        wordlevel(),
        normalizer=chain("normalizers", {"type": "NFKC"}, {"type": "Lowercase"}),
        pre_tokenizer={"type": "Whitespace"},
    ),
    "columns": lambda: document(
        wordlevel("[UNK]", " ", "the ", "x"),
        pre_tokenizer=chain("pretokenizers", {"type": "Punctuation", "behavior": "Isolated"}, {"type": "FixedLength", "length": 4}),
    ),
    "spelled": lambda: document(
        wordlevel("[UNK]", spelled(" the"), spelled(" world"), spelled("\u4e2d\u6587")), pre_tokenizer=byte_level(), decoder=byte_level()
    ),
}


def both(text):
    return Tokenizer.from_spec(tokenizer_json.loads(text.encode())), tokenizers.Tokenizer.from_str(text)


@cache
def pair(kind):
    """Return ctok's tokenizer of that kind and the reference's."""
    return both(KINDS[kind]())


@cache
def plain_pair(kind):
    """Return both so that texts of special tokens are plain text for the reference, too."""
    mine, live = both(KINDS[kind]())
    live.encode_special_tokens = True
    return mine, live


PARTS = [
    *"abehlotxyY1.,!' \n\t",
    "  ",
    "    ",
    "the",
    " the",
    "hello",
    " world",
    "New York",
    "new york",
    "<s>",
    "</s>",
    "<m>",
    " <m> ",
    "<x>",
    "<x>y",
    "<x",
    "abc",
    "<e> ",
    "<e>",
    "\u00dcn\u00ef",
    "\u00fcn\u00ef",
    "caf\u00e9",
    "cafe\u0301",
    "\u4e2d\u6587",
    "\u65e5",
    "\U0001f600",
    "\u2581",
    "\u2581\u2581",
    "\ufb01",
    "\u212b",
    "\u0130",
    "\u00a0",
    "\u200b",
    "don't",
    "1234",
    "aaaa",
    "abab",
    "[MASK]",
    "\u1100\u1161",
    "\u3000",
    "\r\n",
    "``",
]
