"""Every fuzz target, built with sanitizers and run for a moment on mutations of good files. `CTOK_EXAMPLES` makes the moment longer."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from c_compiler import check_built, compiler, run_sanitized
from ctok._native.files import write_pack
from ctok.spec import TokenTable

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{ROOT / 'csrc'}"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
RUNS = int(100000 * float(os.environ.get("CTOK_EXAMPLES", "1")))

TABLE = TokenTable.from_dict({b"": 7, b"a": 0, b"ab": 1, b"a" * 20: 2, b"a" * 20 + b"b" * 20: 3, b"\xff\0": 900, b"ac": 4})
COLUMNS = (TABLE.data, TABLE.ends, TABLE.ids)
SEEDS = {
    "added": [b"\x01\x00\x03\x00\x02\x04\x05\x06\x01\x07\x05\x02\0\x49" + bytes(range(16)) * 3 + b"\x03\x00\x05\x05\x05\x03\x00",
              b"\x03\x06\x03\x00\x04\x03\x02\x05\x00\x01\x03\x00\x03\0\xc7" + b"\x05\x05\x03\x00\x04\x06\x07" * 5],
    "chain": [b"\0\6\5\0\7\0\0\0\x08\0\0\0\3\1\0\1\xff\2" + bytes(range(20)) * 2,
              b"\n\0\0\0\0\0\1\0\x0b\0\0\0\t\x08\5\0\xff\"\x0b\x0b\n\n\0\0\x0b\x0c",
              b"\7\0\0\0\n\0\0\0\2\7\5\0\x19\0\3\0\xffC\6\7\x08\t\t\x08\7\6\6\x13\0\n",
              b"\x18\6\5\0\xff\x12\x10\x11\0\1\2\3\4\x11\x11", b"\t\1\5\0\5\0\0\0\3\0\0\n\xff\xb1" + bytes(range(19, -1, -1))],
    "rankfile": [b"YQ== 0\nYg== 1\r\n\nYWI= 300\n= 7\n", b"YWFhYWFhYWFhYQ== 1\nYWFhYWFhYWFhYg== 2\nYWFhYWFhYWE= 3"],
    "split": [bytes([k]) + b"\x07 I'll don't 12345  \n\n x" + bytes(range(k, k + 40)) for k in range(12)],
    "stops": [b"\3\1\2\3\2\1\2\0abcabcdefghabcabcbc", b"\5\0\1\2\3\4\1\xf0\7\3\4\3\4\3\4\3\0" + bytes(range(40)) * 3],
    "spn": [b"\xff\0\0\x7f" + bytes(range(16)) * 6,
            b"\xf7\1\3\xb5\x09\1\7\xc8\2\x09\x1e\0\xff" + b"\5\6\0\0\x09\n\1\0\2\x0b\x0b\x0c\r\3\3\x0e\x0f" * 5],
    "vocab": [b"\x01a\x02ab\x03abc\x03<x>\x04<x>y\0" + bytes(range(40)) + b"abcabab<x><x>y <x" * 3,
              b"\x08abcdefg\x07\x01<\0" + b"<a<<" * 9],
    "tekken": [
        rb'[{"rank":0,"token_bytes":"AA==","token_str":"\u0000"},{"rank":1,"token_bytes":"YWI="},{"token_bytes":"YWJj","rank":2},'
        rb'{"rank":9,"token_bytes":""}]',
    ],
    "jsonvocab": [
        rb'{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"\u0061\"\ud83d\ude00":3},"merges":["a b","a b"]},"x":[1.5e-3,true,null]}',
        rb'{"model":{"merges":[["a","b"],["ab","\u0061b"]],"vocab":{"a":0,"b":1,"ab":2,"abab":5}}}',
        rb'{"model":{"vocab":[["a",-1.25],["bb",1e-300],["a",-0.1234567890123456789]]}}',
        rb'{"a":0,"b":1,"ab":2}',
    ],
    "lattice": [
        b"\x08\0\0\1\0\1\1\0\1\2\0\0\1\2\0\1\0\0\5\1\4\0" + bytes(range(1, 19)) + b"\x02\x10\0\1\0\0\1\1\0\1\0\4\5\7",
        b"\x0b" + bytes(range(40)) * 2 + b"\x17\x05\0\1\0\1\0\1\0\1\0\1",
    ],
    "spm": [
        b"\n\x0e\n\5<unk>\x15\0\0\0\0\x18\2\n\x08\n\1a\x15\0\0\x80\xbf\n\n\n\1b\x15\0\0\0\xc0\x18\1\n\3\n\1c\x12\2\x18\1",
        b"\n\x09\n\3\xe2\x96\x81\x18\4\x1a\2\x18\0\n\5\n\1a\x18\3\n\5\n\1a\x18\1\n\5\n\1u\x18\2\xa2\6\1x",
    ],
    "pack": [write_pack(*COLUMNS, b"meta", True), write_pack(*COLUMNS, b"", False)],
}
SHARE = {"added": 3, "lattice": 10, "spm": 2, "chain": 10, "split": 5, "spn": 200, "vocab": 20}  # a run of these costs more


def targets():
    return sorted(path.stem.removeprefix("fuzz_") for path in (ROOT / "fuzz").glob("fuzz_*.c"))


def build(name, program):
    target = ROOT / "fuzz" / f"fuzz_{name}.c"
    units = re.search(r"links: ([\w\s]*)", target.read_text(encoding="utf-8")).group(1).split()
    sources = [ROOT / "fuzz" / "driver.c", target, *(ROOT / "csrc" / f"ctok_{unit}.c" for unit in units)]
    built = subprocess.run(
        [compiler(), *FLAGS, *SANITIZE, *map(str, sources), "-o", str(program), "-lm"], capture_output=True, text=True, check=False
    )
    check_built(built)


@pytest.mark.parametrize("name", targets())
def test_fuzz_target_finds_nothing(name, tmp_path):
    build(name, tmp_path / "target")
    files = []
    for number, seed in enumerate(SEEDS.get(name, [])):
        files.append(tmp_path / f"seed{number}")
        files[-1].write_bytes(seed)
    ran = run_sanitized([str(tmp_path / "target"), "-n", str(RUNS // SHARE.get(name, 1)), *map(str, files)], 600)
    assert ran.returncode == 0, ran.stderr[-3000:]
