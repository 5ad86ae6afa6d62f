"""Pack a rank file into the binary form that ships with ctok.

    python tools/pack_vocab.py o200k_base.tiktoken ctok/data/o200k_base.bin
    python tools/pack_vocab.py --check o200k_base.tiktoken          # is the committed file what this one gives?

The rank file must be one of the public encodings: name, split pattern and special tokens are those ctok knows for its SHA-256.
"""

import argparse
import sys
from pathlib import Path

from ctok._native.files import splits
from ctok._native.vocab import Vocab
from ctok.errors import CtokError
from ctok.formats import _disk, binary, tiktoken
from ctok.formats._known import BY_SHA256

DATA = Path(__file__).resolve().parent.parent / "ctok" / "data"


def pack(path):
    """Return the encoding's name and its packed bytes."""
    data = _disk.read(path)
    digest = _disk.sha256(data)
    spec = tiktoken.loads(data, path=path)
    if digest not in BY_SHA256:
        raise SystemExit(f"{path}: not one of the public encodings (sha256 {digest})")
    tokens = spec.model.tokens
    tokens = tokens.replace(splits=splits(Vocab(tokens.data, tokens.ends, tokens.ids)))
    return spec.name, binary.dumps(spec.replace(source=None, model=spec.model.replace(tokens=tokens)), packed=True, sha256=digest)


def main(argv=None):
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="the rank file")
    parser.add_argument(
        "out", nargs="?", help="where to write; with --check what to compare with (default: the committed file of this name)"
    )
    parser.add_argument("--check", action="store_true", help="compare, write nothing; status 1 when the bytes differ")
    args = parser.parse_args(argv)
    try:
        name, packed = pack(args.file)
    except CtokError as error:
        raise SystemExit(str(error)) from error
    out = Path(args.out) if args.out else DATA / f"{name}.bin"
    if args.check:
        same = out.exists() and out.read_bytes() == packed
        print(f"{out}: {'reproduced' if same else 'differs'} ({len(packed)} bytes)")
        return 0 if same else 1
    _disk.write(out, packed)
    print(f"{out}: {len(packed)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
