"""Build the compiled rooms: every ``ctok/_native/*.pyx`` with the csrc units it links.

``CTOK_BUILD`` chooses the mode: ``release`` (the default), ``quick`` (the same, optimised less and compiled in half the time),
``test`` (bounds and C assertions checked, allocations can be made to fail), ``sanitize`` (the same under AddressSanitizer and UBSan)
or ``coverage`` (the same with line tracing for coverage.py).
"""

import os
import re
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

# Module -> csrc units it links. Headers hold the hot look-ups as static inline and need no entry.
MODULES = {
    "added": ["added", "mem", "unicode", "utf8"],
    "align": ["mem", "added", "unicode", "utf8"],
    "batch": ["mem", "pool", "text", "utf8"],
    "bpe": ["mem"],
    "bpelanes": ["mem"],
    "buildinfo": [],
    "cells": ["mem", "utf8"],
    "chains": ["chain", "machine", "mem", "text", "utf8"],
    "charsmap": ["mem", "charsmap_build"],
    "counter": ["mem", "utf8"],
    "counting": ["mem", "borders", "bytesort", "counts", "dfa", "unicode", "utf8"],
    "cut": ["mem", "cut", "cut_class", "cut_match", "cut_text", "cut_wide", "dfa", "unicode", "utf8"],
    "decode": ["chain", "decoder", "machine", "mem", "text", "utf8"],
    "decodestate": ["chain", "decoder", "machine", "mem", "text", "utf8"],
    "detokenize": ["chain", "decoder", "machine", "mem", "text", "utf8"],
    "encoder": [],
    "engine": ["mem", "dfa", "listed", "unicode", "utf8", "vocab"],
    "expect": ["mem", "pool", "trie"],
    "files": ["mem", "bytesort", "mapping", "rankfile", "pack"],
    "flow": ["mem", "added", "safecut", "unicode", "utf8"],
    "flowstate": ["mem", "added", "unicode", "utf8"],
    "growing": ["mem", "tokenset"],
    "ids": ["mem"],
    "joining": ["mem", "pairs"],
    "jsonfile": ["mem", "bytesort", "json", "jsonscore", "jsonvocab", "mergeids", "tekken", "texttable", "utf8"],
    "jsonvalue": ["json", "utf8"],
    "lattice": ["mem", "lattice", "lattice_forward", "lattice_search"],
    "learn": ["mem"],
    "likely": ["mem"],
    "mergelanes": ["mem"],
    "mergelist": ["mem"],
    "mergemodel": ["mem", "bytelevel", "joins", "listed", "pairmap", "vocab"],
    "mergeopen": ["mem", "vocab"],
    "mergequeue": ["mem"],
    "model": ["mem"],
    "normalize": ["mem", "charsmap", "dfa", "normal", "normal_chars", "normal_charsmap", "normal_facts", "normal_keep", "normal_map",
                  "normal_ops", "normal_rooms", "normal_spn", "spn", "spn_lane", "trie", "unicode", "utf8"],
    "padded": ["mem"],
    "piecebpe": ["mem", "bytesort", "piecepairs"],
    "piecedrop": ["mem"],
    "piecetree": ["mem", "trie"],
    "piecewords": ["mem", "trie"],
    "pipeline": ["mem", "utf8", "vocab"],
    "places": ["mem", "utf8"],
    "readids": ["mem"],
    "resegment": ["mem", "trie"],
    "rooms": [],
    "safecut": ["mem", "safecut"],
    "scan": ["mem", "scan", "scan_gpt2", "scan_cl100k", "scan_o200k", "scan_deepseek", "unicode"],
    "seeds": ["mem", "suffix"],
    "spans": ["chain", "decoder", "machine", "mem", "text", "utf8"],
    "spmfile": ["mem", "bytesort", "spm"],
    "split": ["mem", "dfa", "split", "scan", "scan_gpt2", "scan_cl100k", "scan_o200k", "scan_deepseek", "unicode"],
    "spmunigram": ["beside", "bestpath", "mem"],
    "state": ["mem", "utf8"],
    "stream": ["mem", "dfa", "unicode", "utf8", "vocab"],
    "stretches": ["mem", "bytesort", "counts", "utf8"],
    "survivors": ["mem", "vocab"],
    "texts": ["mem", "stops"],
    "tiktoken_calls": [],
    "tokenbytes": ["mem", "text", "utf8"],
    "unicode": ["unicode"],
    "unigram": ["finepath", "mem", "trie"],
    "unigram_open": ["mem", "pool"],
    "visible": ["mem"],
    "viterbi": ["mem"],
    "vocab": ["mem", "joins", "vocab"],
    "wordlevel": ["mem", "trie"],
    "wordpiece": ["mem", "trie", "utf8"],
    "words": ["beside", "bestpath", "mem"],
}

# The module that holds what Cython would put into every other one (memoryviews, above all), which halves what there is to compile
# and to load. Cython writes its source.
UTILITY = "_cyutility"

MODE = os.environ.get("CTOK_BUILD") or "release"
if MODE not in ("release", "quick", "test", "sanitize", "coverage"):
    sys.exit(f"CTOK_BUILD={MODE!r}: expected release, quick, test, sanitize or coverage")
TEST_BUILD = MODE not in ("release", "quick")
COVERAGE = MODE == "coverage"
BUILD_BASE = "build" if MODE == "release" else f"build/{MODE}"
VERSION = runpy.run_path("ctok/_version.py")["__version__"]

MACROS = [("CTOK_VERSION", f'"{VERSION}"'), ("CTOK_BUILD_MODE", f'"{MODE}"')]
LDFLAGS = []
if sys.platform == "win32":
    CFLAGS = ["/std:c11", "/O2"]
else:
    # One rounding per operation, on every machine: -ffp-contract=off.
    CFLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"]
    LDFLAGS = ["-lm"]  # else exp and log would be found only by way of Python itself, in the slower form of long ago
    if TEST_BUILD:
        CFLAGS += ["-UNDEBUG", "-g", "-O1"]
    else:
        CFLAGS += ["-g0"]  # Python's own flags often say -g, which would triple the wheel
    if MODE == "quick":
        CFLAGS += ["-O1"]  # compiled in half the time, for a look whether it builds and starts
    if MODE == "sanitize":
        CFLAGS += ["-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        LDFLAGS += ["-fsanitize=address,undefined"]
if TEST_BUILD:
    MACROS += [("CTOK_TEST_ALLOC", "1")]
if COVERAGE:
    MACROS += [("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]

DIRECTIVES = {
    "language_level": 3,
    "freethreading_compatible": True,
    "auto_pickle": False,
    # Methods of compiled classes as descriptors: they check the type of self, which Cython's own function objects do not.
    "binding": False,
    "embedsignature": True,
    "embedsignature.format": "clinic",
    "boundscheck": TEST_BUILD,
    "wraparound": False,
    "initializedcheck": TEST_BUILD,
    "cdivision": True,
    "linetrace": COVERAGE,
}


@cache
def named_in(path):
    """The headers and declarations that a source names: what it includes and what it cimports."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    headers = re.findall(r'^\s*(?:#\s*include|cdef extern from) "(ctok_\w+\.h)"', text, re.MULTILINE)
    rooms = re.findall(r"^from ctok\._native\.(\w+) cimport", text, re.MULTILINE)
    return [f"csrc/{header}" for header in headers] + [f"ctok/_native/{room}.pxd" for room in rooms]


def headers_of(sources):
    """All headers of ours that are compiled with these sources."""
    reached, ahead = set(), list(sources)
    while ahead:
        ahead += set(named_in(ahead.pop())) - reached
        reached.update(ahead)
    return sorted(path for path in reached if path.endswith(".h"))


def extension(name, *sources):
    own = [path for path in (*sources, f"ctok/_native/{name}.pxd") if os.path.exists(path)]
    return Extension(
        f"ctok._native.{name}",
        list(sources),
        include_dirs=["csrc"],
        depends=headers_of(own),
        define_macros=MACROS,
        extra_compile_args=CFLAGS,
        extra_link_args=LDFLAGS,
    )


class BuildExt(build_ext):
    """``build_ext`` that translates only when it builds, and compiles all again when a flag differs from the last build's.

    Metadata and the sdist therefore need no compiler and no ``.c`` file. Dates of files do not show a changed flag: without the
    stamp a release build after a sanitizer build would keep the sanitizer's objects.
    """

    def finalize_options(self):
        super().finalize_options()
        # Not an option given to setup(): an editable installation would forget it.
        self.parallel = self.parallel or os.cpu_count() or 1

    def run(self):
        place = "inplace" if self.inplace else "lib"
        stamp = os.path.join("build", f"{place}-{sys.implementation.cache_tag}.flags")
        flags = repr((MODE, CFLAGS, LDFLAGS, MACROS, DIRECTIVES))
        self.force = self.force or read(stamp) != flags
        translated = cythonize(
            self.extensions,
            # The coverage plug-in reads a module's .c beside its .pyx; every other build keeps the tree clean.
            build_dir=None if COVERAGE else f"{BUILD_BASE}/cython",
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=f"ctok._native.{UTILITY}",
            force=self.force,
            nthreads=self.parallel if sys.platform == "linux" else 0,
        )
        for ext, made in zip(self.extensions, translated, strict=True):
            ext.sources = made.sources
        super().run()
        os.makedirs("build", exist_ok=True)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(flags)

    def build_extensions(self):
        """Compile every csrc unit once, then the modules, each with the objects of the units it links."""
        units = sorted({source for ext in self.extensions for source in ext.sources if source.startswith("csrc/")})
        with ThreadPoolExecutor(self.parallel) as pool:
            objects = dict(zip(units, pool.map(self.compile_unit, units), strict=True))
        for ext in self.extensions:
            linked = [source for source in ext.sources if source in objects]
            ext.sources = [source for source in ext.sources if source not in objects]
            ext.depends = ext.depends + linked
            ext.extra_objects = [objects[source] for source in linked]
        super().build_extensions()

    def compile_unit(self, source):
        [made] = self.compiler.object_filenames([source], output_dir=self.build_temp)
        if self.force or newer_group([source, *headers_of([source])], made):
            self.compiler.compile(
                [source],
                output_dir=self.build_temp,
                macros=MACROS,
                include_dirs=["csrc"],
                debug=self.debug,
                extra_postargs=CFLAGS,
            )
        return made


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


setup(
    cmdclass={"build_ext": BuildExt},
    options={"build": {"build_base": BUILD_BASE}},
    ext_modules=[
        *(extension(name, f"ctok/_native/{name}.pyx", *(f"csrc/ctok_{unit}.c" for unit in units)) for name, units in MODULES.items()),
        extension(UTILITY, f"ctok/_native/{UTILITY}.c"),
    ],
)
