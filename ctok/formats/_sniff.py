"""What kind of file some bytes are, by content and never by name: a Llama 3 "tokenizer.model" is a rank file."""

from __future__ import annotations

from .._native.files import PACK_MAGIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

# name -> what to call it in an error
KINDS = {
    "binary": "a binary vocabulary of ctok",
    "tiktoken": "a rank file (.tiktoken)",
    "tokenizer_json": "a Hugging Face tokenizer.json",
    "tekken": "a tekken file of Mistral",
    "sentencepiece": "a SentencePiece model",
    "vocab_json": "a vocab.json",
    "merges_txt": "a merges.txt",
    "vocab_txt": "a vocab.txt",
    "json": "a JSON file of no known tokenizer format",
    "html": "an HTML page",
    "git_lfs": "a Git LFS pointer, not the file that it stands for",
    "archive": "a compressed file or archive",
    "empty": "an empty file",
    "unknown": "a file of no known format",
}

_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="


def sniff(data: Buffer) -> str:
    """Return the kind of file that some bytes begin, one of the keys of `KINDS`.

    Parameters
    ----------
    data
        The file, or its first 64 KiB or more.
    """
    head = bytes(memoryview(data)[:65536])
    if not head:
        return "empty"
    if head.startswith(PACK_MAGIC[:5]):
        return "binary"
    if head.startswith(_ARCHIVES):
        return "archive"
    if _is_sentencepiece(head):
        return "sentencepiece"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"<" and text[:64].lower().startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body", b"<!--")):
        return "html"
    if text.startswith(b"version https://git-lfs"):
        return "git_lfs"
    if text.startswith((b"#version", b'"bpe_simple_vocab_16e6.txt#version')):
        return "merges_txt"
    if text.startswith((b"[PAD]", b"[UNK]", b"[CLS]")) or b"\n[UNK]" in text:
        return "vocab_txt"
    if text[:1] == b"{":
        return _json_kind(text)
    return "tiktoken" if _is_rank_line(text.split(b"\n", 1)[0].rstrip(b"\r")) else "unknown"


def _is_rank_line(line: bytes) -> bool:
    token, _, rank = line.partition(b" ")
    return bool(token) and not token.strip(_BASE64) and rank.isdigit() and (len(token) % 4 == 0 or token == b"=")


def _is_sentencepiece(head: bytes) -> bool:
    """A protobuf whose first field is a piece (a text, then the end, a score or a type) or another message of such a file."""
    outer, at = _varint(head, 1)
    if head[0] in (0x12, 0x1A):
        return len(head) > 1 and (outer == 0 or head[at : at + 1] > b"\x07")
    if head[0] != 0x0A or head[at : at + 1] != b"\x0a":
        return False
    inner, text = _varint(head, at + 1)
    behind = text + inner
    return at + outer >= behind and (at + outer == behind or head[behind : behind + 1] in (b"\x15", b"\x18", b""))


def _varint(head: bytes, at: int) -> tuple[int, int]:
    """A protobuf's number, and the place behind it."""
    value = shift = 0
    for byte in head[at : at + 5]:
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            break
    return value, at


def _json_kind(text: bytes) -> str:
    keys = [key for key in (b'"token_bytes"', b'"added_tokens"', b'"pre_tokenizer"', b'"model"', b'"truncation"') if key in text]
    if b'"token_bytes"' in keys:
        return "tekken"
    if keys:
        return "tokenizer_json"
    body = text[1:].lstrip()
    value = body.partition(b":")[2].lstrip()
    return "vocab_json" if body[:1] == b'"' and value[:1].isdigit() else "json"
