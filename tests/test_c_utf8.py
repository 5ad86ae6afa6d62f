"""The UTF-8 unit of csrc under AddressSanitizer and UBSan, without an interpreter."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from c_compiler import lacks_sanitizers

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def build(unit, target, flags):
    compiler = os.environ.get("CC", "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler}) on PATH")
    sources = [ROOT / "tests" / "c" / f"test_{unit}.c", ROOT / "csrc" / f"ctok_{unit}.c"]
    command = [compiler, *FLAGS, *flags, f"-I{ROOT / 'csrc'}", *map(str, sources), "-o", str(target)]
    return subprocess.run(command, capture_output=True, text=True)


def test_utf8_unit_under_sanitizers_passes(tmp_path):
    program = tmp_path / "test_utf8"
    built = build("utf8", program, SANITIZE)
    if built.returncode != 0 and lacks_sanitizers(built.stderr + built.stdout):
        pytest.skip("the C compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    # A preloaded sanitizer runtime of the surrounding process would clash with the program's own.
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | {"ASAN_OPTIONS": "detect_leaks=1"}
    ran = subprocess.run([str(program)], capture_output=True, text=True, env=env, timeout=120)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("without", ["-U__SSE2__", "-DCTOK_NO_AVX512"])
def test_utf8_unit_without_vector_instructions_passes(tmp_path, without):
    built = build("utf8", tmp_path / "test_utf8", [without])
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(tmp_path / "test_utf8")], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
