"""Write ctok/data/charsmaps.bin: the tables of replacements that SentencePiece has by name.

    python tools/gen_spm_maps.py            write the file
    python tools/gen_spm_maps.py --check    exit with 1 when the committed file is not what would be written

Asked of the installed package `sentencepiece`, byte for byte; they follow its version of Unicode. The file: a line
``name:length name:length ...``, then as many .xz files of these lengths, one behind the other. Each holds a table whose trie is turned
over: the first bytes of all units, the second bytes, and so on.
"""

import argparse
import lzma
import sys
from pathlib import Path

import sentencepiece

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "ctok" / "data" / "charsmaps.bin"
VERSION = "0.2.3"
NAMES = ("nfkc", "nfkc_cf", "nmt_nfkc", "nmt_nfkc_cf")
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20, "lc": 3, "lp": 0, "pb": 0}]


def table(name):
    from sentencepiece import sentencepiece_model_pb2

    spec = sentencepiece_model_pb2.NormalizerSpec()
    spec.ParseFromString(sentencepiece.SentencePieceNormalizer(rule_name=name).serialized_normalizer_spec())
    return spec.precompiled_charsmap


def packed(data):
    stop = 4 + int.from_bytes(data[:4], "little")
    turned = data[:4] + b"".join(data[4 + i : stop : 4] for i in range(4)) + data[stop:]
    return lzma.compress(turned, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    if sentencepiece.__version__ != VERSION:
        sys.exit(f"needs sentencepiece {VERSION}, found {sentencepiece.__version__}")
    tables = {name: table(name) for name in NAMES}
    if args.check:
        # What it holds counts: other versions of the compressor may pack it otherwise.
        sys.path.append(str(ROOT))  # last: an unbuilt tree must not hide the installed package
        from ctok.formats.charsmap import named

        same = TARGET.exists() and {name: named(name) for name in NAMES} == tables
        sys.exit(0 if same else f"{TARGET} is not what sentencepiece {VERSION} has; run tools/gen_spm_maps.py")
    files = {name: packed(data) for name, data in tables.items()}
    content = " ".join(f"{name}:{len(data)}" for name, data in files.items()).encode() + b"\n" + b"".join(files.values())
    TARGET.write_bytes(content)
    print(f"{TARGET}: {len(content)} bytes, {sum(map(len, tables.values()))} unpacked")


if __name__ == "__main__":
    main()
