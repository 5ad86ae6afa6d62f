"""Build the compiled rooms: every ``ctok/_native/*.pyx`` with the csrc units it links."""

import os
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

# Module -> csrc units it links. Headers hold the hot look-ups as static inline and need no entry.
MODULES = {
    "vocab": ["mem", "vocab"],
    "unicode": ["unicode"],
}

TEST_BUILD = os.environ.get("CTOK_BUILD") in ("test", "sanitize", "coverage")
SANITIZE = os.environ.get("CTOK_BUILD") == "sanitize"
COVERAGE = os.environ.get("CTOK_BUILD") == "coverage"

CFLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"]
LDFLAGS = []
MACROS = []
if TEST_BUILD:
    CFLAGS += ["-UNDEBUG", "-g"]
    MACROS += [("CTOK_TEST_ALLOC", "1")]
if SANITIZE:
    CFLAGS += ["-O1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    LDFLAGS += ["-fsanitize=address,undefined"]
if COVERAGE:
    MACROS += [("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]

DIRECTIVES = {
    "language_level": 3,
    "freethreading_compatible": True,
    "auto_pickle": False,
    "boundscheck": TEST_BUILD,
    "wraparound": False,
    "initializedcheck": TEST_BUILD,
    "cdivision": True,
    "linetrace": COVERAGE,
}


def extension(name, units):
    return Extension(
        f"ctok._native.{name}",
        [f"ctok/_native/{name}.pyx", *(f"csrc/ctok_{unit}.c" for unit in units)],
        include_dirs=["csrc"],
        depends=sorted(glob("csrc/*.h")),
        define_macros=MACROS,
        extra_compile_args=CFLAGS,
        extra_link_args=LDFLAGS,
    )


setup(
    ext_modules=cythonize(
        [extension(name, units) for name, units in MODULES.items()],
        build_dir=None if COVERAGE else "build/cython",
        compiler_directives=DIRECTIVES,
    )
)
