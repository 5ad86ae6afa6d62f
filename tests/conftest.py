"""Fixtures that every test may use; and the rule which `ctok` the tests run.

The package under test is the installed one, or the tree when it is built in place. A tree that is not built is taken off `sys.path`, so
that it cannot hide the installed package whichever way pytest was started.
"""

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

if not any((ROOT / "ctok" / "_native" / f"buildinfo{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
    sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != ROOT]

# CTOK_EXAMPLES multiplies the number of random examples; without it a whole run takes minutes, not hours.
EXAMPLES = float(os.environ.get("CTOK_EXAMPLES", "1"))
SLOW_BUILD = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("here", max_examples=max(1, int(60 * EXAMPLES)), deadline=None, suppress_health_check=SLOW_BUILD)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    """Both event loops, by name, for every test marked `anyio`."""
    return request.param


@pytest.fixture(scope="session")
def shared():
    """The folder with the conformance kit and the collected cases, beside the repository; without it the test is skipped."""
    folder = Path(os.environ.get("CTOK_SHARED") or ROOT.parent / "shared")
    if not (folder / "conformance").is_dir():
        pytest.skip(f"no conformance kit at {folder}; CTOK_SHARED names another place")
    return folder


@pytest.fixture
def run_python(tmp_path):
    """Run a program text in a fresh interpreter that imports the very ctok under test, and return what it printed.

    The interpreter starts in an empty folder. Its exit status must be 0 unless `check=False`; then the finished process is returned.
    """
    import ctok

    home = str(Path(ctok.__file__).resolve().parent.parent)

    def run(program, *options, check=True, **env):
        done = subprocess.run(
            [sys.executable, *options, "-c", program],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": home, **env}, capture_output=True, text=True, timeout=120, check=False,
        )
        if not check:
            return done
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
