"""SentencePiece's lane for plain text, built for each kind of processor, against a loop over characters."""

import subprocess
from pathlib import Path

import pytest

from c_compiler import check_built, compiler, run_sanitized

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
UNITS = ["spn_lane", "spn", "charsmap", "trie", "utf8", "mem"]


@pytest.mark.parametrize("how", ["-DCTOK_ANY", "-DCTOK_NO_AVX512", "-U__SSE2__", "-fsanitize=address,undefined"])
def test_spn_lane_gives_what_a_loop_over_characters_gives(tmp_path, how):
    sources = [ROOT / "tests" / "c" / "test_spn_lane.c", *(ROOT / "csrc" / f"ctok_{unit}.c" for unit in UNITS)]
    program = tmp_path / "test_spn_lane"
    command = [compiler(), *FLAGS, how, f"-I{ROOT / 'csrc'}", *map(str, sources), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    check_built(built)
    ran = run_sanitized([str(program)], 120)
    assert ran.returncode == 0, ran.stderr
