"""Rank files and merge lists, read and written as tiktoken does, with its cache."""

from __future__ import annotations

import os
from binascii import b2a_base64

from ...formats import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["check_hash", "data_gym_to_mergeable_bpe_ranks", "dump_tiktoken_bpe", "load_tiktoken_bpe", "read_file", "read_file_cached"]


def read_file(blobpath: str) -> bytes:
    """Return the bytes of a path, of an http(s) address, or of any other address through the package `blobfile`.

    Raises
    ------
    OSError
        It cannot be read, or it is on the network and ``CTOK_OFFLINE=1`` forbids that.
    ImportError
        `blobfile` is needed and not installed.
    """
    if "://" not in blobpath:
        return _disk.read(blobpath)
    from ...registry import _download

    if _download.is_forbidden():
        raise OSError(f"{blobpath}: not asked, CTOK_OFFLINE is set")
    if blobpath.startswith(("http://", "https://")):
        return _download._get(blobpath)
    data: bytes = _blobfile(blobpath).read_bytes(blobpath)
    return data


def _blobfile(blobpath: str) -> Any:
    from importlib import import_module

    try:
        return import_module("blobfile")
    except ImportError as error:
        raise ImportError(f"{blobpath} needs the package blobfile: `pip install blobfile`") from error


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return whether bytes have this SHA-256, given in hex."""
    from hashlib import sha256

    return sha256(data).hexdigest() == expected_hash


def _cache_path(blobpath: str) -> tuple[str | None, bool]:
    """Where the cache keeps an address (None: there is no cache), and whether the user chose the place."""
    from hashlib import sha1

    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            folder, chosen = os.environ[variable], True
            break
    else:
        import tempfile

        folder, chosen = os.path.join(tempfile.gettempdir(), "data-gym-cache"), False
    return (os.path.join(folder, sha1(blobpath.encode()).hexdigest()) if folder else None), chosen


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Return the bytes of a path or address, from the cache if it has them.

    The cache is the folder ``TIKTOKEN_CACHE_DIR``, else ``DATA_GYM_CACHE_DIR``, else ``data-gym-cache`` in the system's folder for
    temporary files; an empty value means none. A file there is named by the SHA-1 of its address.

    Raises
    ------
    ValueError
        What was read has another SHA-256 than `expected_hash`. Nothing was kept, and nothing taken away.
    OSError, ImportError
        As `read_file`; or a cache that the user chose cannot be written.
    """
    path, chosen = _cache_path(blobpath)
    if path is not None and os.path.exists(path):
        data = _disk.read(path)
        if expected_hash is None or check_hash(data, expected_hash):
            return data
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        from hashlib import sha256

        raise ValueError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}, got {sha256(data).hexdigest()}). "
            "The download may be damaged; try again."
        )
    if path is not None:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _disk.write(path, data)
        except OSError:
            if chosen:
                raise
    return data


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return the ranks of a rank file at a path or address: token bytes -> rank, in the file's order of ranks.

    Raises
    ------
    ValueError
        A line is malformed, a token or a rank occurs twice, or the file is empty: the error names the line. Or the SHA-256 is not the
        expected one.
    OSError, ImportError
        As `read_file_cached`.
    """
    from ..._native.files import read_ranks
    from ...spec import TokenTable

    table = TokenTable(*read_ranks(read_file_cached(tiktoken_bpe_file, expected_hash), tiktoken_bpe_file))
    return dict(sorted(table, key=lambda pair: pair[1]))


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write ranks as a rank file, ranks ascending: to a path whole or not at all, to an address through the package `blobfile`."""
    pairs = sorted(bpe_ranks.items(), key=lambda pair: pair[1])
    data = b"".join(b"%s %d\n" % (b2a_base64(token, newline=False), rank) for token, rank in pairs)
    if "://" not in tiktoken_bpe_file:
        _disk.write(tiktoken_bpe_file, data)
        return
    with _blobfile(tiktoken_bpe_file).BlobFile(tiktoken_bpe_file, "wb") as file:
        file.write(data)


# ---- merge lists ----


def _bytes_by_char() -> dict[str, int]:
    """The printable character that stands for each byte in a merge list -> the byte, in the order of the bytes' ranks."""
    shown = [byte for byte in range(256) if chr(byte).isprintable() and byte != 0x20]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {**{chr(byte): byte for byte in shown}, **{chr(256 + n): byte for n, byte in enumerate(hidden)}}


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Return the ranks of a vocabulary published as a merge list and a JSON file of ids, as GPT-2 is.

    Parameters
    ----------
    vocab_bpe_file, encoder_json_file
        Paths or addresses.
    vocab_bpe_hash, encoder_json_hash
        Their SHA-256, or None.
    clobber_one_byte_tokens
        Take the ranks of single bytes from the JSON file.

    Raises
    ------
    AssertionError
        The two files do not say the same.
    ValueError, OSError, ImportError
        As `read_file_cached`.
    """
    import json

    byte_of = _bytes_by_char()

    def raw(token: str) -> bytes:
        return bytes(byte_of[char] for char in token)

    ranks = {bytes((byte,)): rank for rank, byte in enumerate(byte_of.values())}
    lines = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]  # the first line is the file's version
    for rank, line in enumerate(lines, len(ranks)):
        first, second = line.split()
        ranks[raw(first) + raw(second)] = rank
    ids = json.loads(read_file_cached(encoder_json_file, encoder_json_hash))
    published = {raw(token): number for token, number in ids.items() if token not in ("<|endoftext|>", "<|startoftext|>")}
    if clobber_one_byte_tokens:
        ranks.update((token, number) for token, number in published.items() if len(token) == 1)
    if ranks != published:
        raise AssertionError(f"{vocab_bpe_file} and {encoder_json_file} are not the same vocabulary")
    return ranks
