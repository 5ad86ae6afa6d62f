"""Decoders, tokens and vocabularies for the tests of decoder chains; the reference's decoder of a record."""

import json
import lzma

from hypothesis import strategies as st

from ctok._native.vocab import Vocab
from ctok._reference.chain import unspell
from ctok.spec import TokenTable
from ctok.stagespecs import decoders as records

BYTES = [0x41, 0xE4, 0xBD, 0xA0, 0xF0, 0x9F, 0x98, 0x80, 0xFF, 0xC0, 0x20, 0xC3, 0xA9]
PIECES = ["a", "b", "\u2581", " ", "##", "</w>", "<pad>", "|", "é", "中", "\U0001f600", "Ġ", "Ã", "©", "ä", "½", "'", ".", ",", "n", "t"]
PIECES += ["do not", "n't", "'s", "<0x41>", "<0xE4>", "<0x+5>", "<0x 5>", "\n", "<", ">", "0x", "Ċ", "\ufffd", "x", "\u0301", "aba"]
TEXTS = ["", "a", "aa", "\u2581", " ", "ab", "aba", "é", "<pad>", "</w>", "##", "|", "\U0001f600"]

byte_tokens = st.sampled_from([f"<0x{byte:02X}>" for byte in BYTES])
tokens = st.one_of(byte_tokens, st.lists(st.sampled_from(PIECES), max_size=4).map("".join), st.text(max_size=3))
# Few different ones, so that equal tokens meet.
token_lists = st.lists(tokens, min_size=1, max_size=8).flatmap(lambda pool: st.lists(st.sampled_from(pool), max_size=14))

characters = st.sampled_from(["a", "\u2581", " ", "é", "中"])
texts = st.sampled_from(TEXTS)
SIMPLE = {
    "ByteLevel": st.builds(records.ByteLevel),
    "ByteFallback": st.builds(records.ByteFallback),
    "Fuse": st.builds(records.Fuse),
    "Metaspace": st.builds(records.Metaspace, characters, st.sampled_from(["always", "never", "first"])),
    "Replace": st.builds(records.Replace, texts.map(records.String), texts),
    "Strip": st.builds(records.Strip, characters, st.integers(0, 2), st.integers(0, 2)),
    "WordPiece": st.builds(records.WordPiece, texts, st.booleans()),
    "BPEDecoder": st.builds(records.BPEDecoder, texts),
    "CTC": st.builds(records.CTC, texts, texts, st.booleans()),
}
simple_steps = st.one_of(*SIMPLE.values())
patterns = st.sampled_from(["a+", "\u2581|a", "[ab]*", "^.", "b*?", "$", "(?<=a)b", "é|中", ".", r"\s", r"\p{L}+", "(a)(b)?"])
regex_steps = st.builds(records.Replace, patterns.map(records.Regex), texts)


def chains(steps):
    """Records of one decoder, or of several, nested up to three deep."""
    several = st.recursive(steps, lambda inner: st.lists(inner, max_size=4).map(records.Sequence), max_leaves=6)
    return st.one_of(steps, st.lists(steps, max_size=5).map(records.Sequence), several)


def vocab_of(tokens, specials=()):
    """A vocabulary of texts, and the ids of `tokens` in it."""
    ids = {token: k for k, token in enumerate(dict.fromkeys(tokens))}
    table = TokenTable.from_dict({token.encode(): number for token, number in ids.items()})
    return Vocab(table.data, table.ends, table.ids, tuple(specials)), [ids[token] for token in tokens]


def reference_of(record):
    """The reference's object for a record."""
    from tokenizers import Regex, decoders

    name = type(record).__name__
    if name == "Sequence":
        return decoders.Sequence([reference_of(step) for step in record.steps])
    if name == "Replace":
        pattern = record.pattern.text
        return decoders.Replace(Regex(pattern) if isinstance(record.pattern, records.Regex) else pattern, record.content)
    fields = {name: getattr(record, name) for name in record.__slots__}
    if name == "Metaspace":
        fields.pop("split")
    return getattr(decoders, name)(**({} if name == "ByteLevel" else fields))


def panics(record, tokens):
    """Does the reference fall over, as its Strip does at the end of a token that has nothing else?"""
    try:
        reference_of(record).decode(tokens)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return True
        raise
    return False


def record_of(stored):
    """The record of a decoder as a tokenizer.json has it."""
    if stored is None:
        return None
    kind = stored["type"]
    if kind == "Sequence":
        return records.Sequence([record_of(step) for step in stored["decoders"]])
    if kind == "Replace":
        return records.Replace(records.String(stored["pattern"]["String"]), stored["content"])
    if kind == "Strip":
        return records.Strip(stored["content"], stored["start"], stored["stop"])
    if kind == "Metaspace":
        return records.Metaspace(stored["replacement"], stored.get("prepend_scheme", "always"))
    return getattr(records, kind)(**{k: v for k, v in stored.items() if k in ("prefix", "cleanup", "suffix")})


def file_parts(path):
    """(record, vocabulary, is it byte-level, text of the file) of a tokenizer.json, as far as decoding goes."""
    raw = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
    stored = json.loads(raw)
    table = stored["model"]["vocab"]
    table = {piece: k for k, (piece, _) in enumerate(table)} if isinstance(table, list) else table
    added = [(token["content"], token["id"], token["special"]) for token in stored["added_tokens"]]
    byte_level = "ByteLevel" in json.dumps([stored["pre_tokenizer"], stored["decoder"]])
    shown = {content for content, _, _ in added}
    bytes_of = {(unspell(piece) if byte_level else piece.encode()): number for piece, number in table.items() if piece not in shown}
    table = TokenTable.from_dict(bytes_of)
    return record_of(stored["decoder"]), Vocab(table.data, table.ends, table.ids, tuple(added)), byte_level, raw.decode()
