"""Prove that an installed ctok works, with nothing but the standard library: run it with the interpreter it is installed for.

    python tests/smoke.py [--version 0.1.0]

CI runs it outside the source tree against a wheel that was built from the sdist. pytest does not collect it.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

# The folder of this file is on sys.path; that of the source tree must not be, or the tree would be tested instead of the wheel.
ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != ROOT]

TEXT = "Hello, wörld! \u4f60\u597d \U0001f600  don't\n\n  stop 12345 <|endoftext|>\r\n"


def check_files(ctok):
    home = Path(ctok.__file__).resolve().parent
    assert ROOT not in home.parents, f"{home} is the source tree"
    names = {p.relative_to(home).as_posix() for p in home.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert "py.typed" in names
    assert "_native/buildinfo.pyi" in names
    assert not [n for n in names if n.endswith((".c", ".pyx", ".h"))], "sources in the wheel"
    assert [n for n in names if n.startswith("_native/buildinfo.") and n.endswith((".so", ".pyd"))]
    if hasattr(ctok, "load"):
        assert "data/o200k_base.bin" in names


def check_whole(tok):
    ids = tok.encode(TEXT)
    assert tok.decode(ids) == TEXT
    assert tok.count(TEXT) == len(ids)
    assert tok.encode("hello world") == [24912, 2375]
    assert list(tok.encode_ids(TEXT)) == ids
    assert tok.encode_batch([TEXT, ""]) == [ids, []]
    assert tok.encode("<|endoftext|>", allowed_special="all") == [199999]


def check_streamed(ctok, tok):
    ids = tok.encode(TEXT)
    for step in (1, 3, 7):
        encoder, counter, out = tok.encoder(), tok.counter(), []
        for at in range(0, len(TEXT), step):
            out += encoder.encode(TEXT[at : at + step])
            assert out == ids[: len(out)]
            counter.feed(TEXT[at : at + step])
            assert counter.count == tok.count(TEXT[: at + step])
        assert out + encoder.encode("", final=True) == ids
    decoder = tok.decoder()
    assert "".join(decoder.decode(one) for one in ids) + decoder.decode([], final=True) == TEXT


def check_async(ctok, tok):
    import asyncio

    async def source():
        for at in range(0, len(TEXT), 5):
            yield TEXT[at : at + 5]

    async def run():
        out = []
        async for ids in ctok.streams.encode(source(), tok):
            out += ids
        return out

    assert asyncio.run(run()) == tok.encode(TEXT)


def check_command():
    for arguments, text, wanted in ((["count", "-"], b"hello world", b"2\n"), (["decode"], b"24912 2375", b"hello world")):
        done = subprocess.run([sys.executable, "-m", "ctok", *arguments], input=text, capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (wanted, b""), done


def main():
    parser = argparse.ArgumentParser(description="prove that the installed ctok works")
    parser.add_argument("--version", help="the version that must be installed")
    args = parser.parse_args()

    import ctok

    assert args.version in (None, ctok.__version__), ctok.__version__
    check_files(ctok)
    if hasattr(ctok, "load"):
        tok = ctok.load("o200k_base")
        check_whole(tok)
        check_streamed(ctok, tok)
        check_async(ctok, tok)
        check_command()
    print(f"smoke: ctok {ctok.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
