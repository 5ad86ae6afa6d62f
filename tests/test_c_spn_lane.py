"""SentencePiece's lane for plain text, built for each kind of processor, against a loop over characters."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from c_compiler import lacks_sanitizers

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
UNITS = ["spn_lane", "spn", "charsmap", "trie", "utf8", "mem"]


@pytest.mark.parametrize("how", ["-DCTOK_ANY", "-DCTOK_NO_AVX512", "-U__SSE2__", "-fsanitize=address,undefined"])
def test_spn_lane_gives_what_a_loop_over_characters_gives(tmp_path, how):
    compiler = os.environ.get("CC", "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler}) on PATH")
    sources = [ROOT / "tests" / "c" / "test_spn_lane.c", *(ROOT / "csrc" / f"ctok_{unit}.c" for unit in UNITS)]
    program = tmp_path / "test_spn_lane"
    command = [compiler, *FLAGS, how, f"-I{ROOT / 'csrc'}", *map(str, sources), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0 and lacks_sanitizers(built.stderr):
        pytest.skip("the C compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    # A preloaded sanitizer runtime of the surrounding process would clash with the program's own.
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    ran = subprocess.run([str(program)], capture_output=True, text=True, env=environment, timeout=120)
    assert ran.returncode == 0, ran.stderr
