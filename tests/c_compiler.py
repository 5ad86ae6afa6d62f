"""What tests that compile C for themselves share."""

import os
import re
import shutil
import subprocess

import pytest


def compiler():
    """The name of the C compiler; without one, the test is skipped."""
    name = os.environ.get("CC", "cc").split()[0]
    if shutil.which(name) is None:
        pytest.skip(f"no C compiler ({name}) on PATH")
    return name


def lacks_sanitizers(said):
    """Does what a compiler said mean that it has no sanitizers? A folder may be named after them, and is quoted in any error."""
    return re.search(r"-fsanitize|-l(asan|ubsan)|lib(asan|ubsan)", said) is not None


def check_built(built):
    """A program was built; where only sanitizers are missing for that, the test is skipped."""
    if built.returncode != 0 and lacks_sanitizers(built.stderr + built.stdout):
        pytest.skip("the C compiler has no sanitizers")
    assert built.returncode == 0, built.stderr


def run_sanitized(command, timeout):
    """Run a program that may have sanitizers of its own, with which a preloaded runtime of this process would clash."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | {"ASAN_OPTIONS": "detect_leaks=1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout)
