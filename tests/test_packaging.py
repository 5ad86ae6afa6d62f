"""What building ctok takes: a C compiler, on whatever machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="the tests do not stand in a clone")


def test_k9_03_building_takes_a_c_compiler_and_python_packages_only():
    pytest.importorskip("Cython", reason="setup.py imports Cython")
    told = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert {re.split(r"\W", name)[0] for name in re.findall(r'"(.+?)"', told[1])} == {"setuptools", "Cython"}
    code = """
import setuptools  # brings distutils
from distutils.core import run_setup
for module in run_setup("setup.py", stop_after="init").ext_modules:
    print(*module.sources, *module.libraries, *module.extra_objects)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sources = done.stdout.split()
    assert {Path(source).suffix for source in sources} == {".pyx", ".c"}
    missing = [source for source in sources if not (ROOT / source).exists()]
    assert missing == ["ctok/_native/_cyutility.c"]  # Cython writes it


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    ["x86_64-linux-gnu.2.17", "aarch64-linux-musl", "aarch64-macos", "aarch64-windows-gnu"],
    ids=["k9_01_old_glibc", "k9_02_musl_on_arm", "k9_04_apple_silicon", "k9_04_windows_on_arm"],
)
def test_units_of_c_compile_for(target, tmp_path):
    pytest.importorskip("ziglang", reason="ziglang, a C compiler for other machines, is not installed")
    flags = ["-cflags", "-std=c11", "-Wall", "-Wextra", "-Werror", "--"]
    command = [sys.executable, "-m", "ziglang", "build-lib", "-target", target, "-lc", *flags, *map(str, (ROOT / "csrc").glob("*.c"))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
