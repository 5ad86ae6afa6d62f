"""The UTF-8 unit of csrc under AddressSanitizer and UBSan, without an interpreter."""

import subprocess
from pathlib import Path

import pytest

from c_compiler import check_built, compiler, run_sanitized

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def build(unit, target, flags):
    sources = [ROOT / "tests" / "c" / f"test_{unit}.c", ROOT / "csrc" / f"ctok_{unit}.c"]
    command = [compiler(), *FLAGS, *flags, f"-I{ROOT / 'csrc'}", *map(str, sources), "-o", str(target)]
    return subprocess.run(command, capture_output=True, text=True)


def test_utf8_unit_under_sanitizers_passes(tmp_path):
    program = tmp_path / "test_utf8"
    built = build("utf8", program, SANITIZE)
    check_built(built)
    ran = run_sanitized([str(program)], 120)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("without", ["-U__SSE2__", "-DCTOK_NO_AVX512"])
def test_utf8_unit_without_vector_instructions_passes(tmp_path, without):
    built = build("utf8", tmp_path / "test_utf8", [without])
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(tmp_path / "test_utf8")], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
