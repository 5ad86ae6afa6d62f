"""The rules of the house, checked: who may import whom, what an import costs, what is documented, what the C code is clean under."""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import ctok
from ctok._native import buildinfo

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ctok"
SOURCES = sorted(p for suffix in (".py", ".pyx", ".pxd") for p in PACKAGE.rglob(f"*{suffix}"))

# Room -> floor. The table of docs/architecture.md; the front door stands outside.
FLOORS = {
    "_version": 0, "errors": 0, "spec": 0, "stagespecs": 0.5,
    "_native": 1, "_reference": 1, "encoding": 1,
    "stages": 2, "formats": 2, "incremental": 2, "cutting": 2, "conversion": 2.5,
    "tokenizer": 3, "train": 3,
    "registry": 4,
    "streams": 5, "compat": 5, "analysis": 5, "integrations": 5.5,
    "cli": 6, "server": 6, "__main__": 6,
}  # fmt: skip
HEAVY = {"anyio", "numpy", "regex", "json", "dataclasses", "asyncio", "trio", "rich", "tiktoken", "argparse", "importlib.metadata"}


# ---- floors ----


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module):
    parts = module.split(".")
    return parts[1] if parts[0] == "ctok" and len(parts) > 1 else None


def absolute(package, level, module):
    """The full name of what `from {'.' * level}{module} import ...` names inside a package."""
    if level == 0:
        return module or ""
    base = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join(base + ([module] if module else []))


class RunTime(ast.NodeTransformer):
    """Leaves out what only type checkers see."""

    def visit_If(self, node):
        checkers_only = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return self.generic_visit(node) if not checkers_only else None


def imports_of_python(path):
    name = module_name(path)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(RunTime().visit(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "absolute") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(package, node.level, node.module)
            kind = "relative" if node.level else "absolute"
            yield from ((node.lineno, f"{base}.{alias.name}", kind) for alias in node.names)


CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+(c?import)\s+(\([^)]*\)|[^\n#]+)|(c?import)\s+([^\n#]+))", re.MULTILINE)


def imports_of_cython(path):
    text = path.read_text(encoding="utf-8")
    package = module_name(path).rpartition(".")[0]
    for match in CYTHON_IMPORT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        module, verb, names, plain_verb, plain = match.groups()
        if module is None:
            yield from ((line, name.split(" as ")[0].strip(), plain_verb) for name in plain.split(","))
            continue
        level = len(module) - len(module.lstrip("."))
        base = absolute(package, level, module[level:])
        kind = "relative" if level else "absolute"
        if verb == "cimport":
            kind = "cimport" if level == 0 else "relative cimport"
        yield from ((line, f"{base}.{name.split(' as ')[0].strip()}", kind) for name in names.strip("()").split(",") if name.strip())


def imports_of(path):
    return imports_of_python(path) if path.suffix == ".py" else imports_of_cython(path)


def test_floors_every_room_has_one():
    rooms = {room(module_name(path)) for path in SOURCES} - {None, "data"}
    assert rooms <= set(FLOORS), f"rooms without a floor: {sorted(rooms - set(FLOORS))}"


def test_floors_imports_only_point_down():
    wrong = []
    for path in SOURCES:
        here = room(module_name(path))
        if here is None:
            continue
        for line, target, _ in imports_of(path):
            there = room(target)
            if not target.startswith("ctok") or there == here:
                continue
            if there is None or there not in FLOORS:
                ok = there == "__version__"
            else:
                ok = FLOORS[there] < FLOORS[here] or FLOORS[here] == 6
            if not ok:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_floors_lowest_room_imports_only_the_standard_library():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {target}"
        for path in SOURCES
        if FLOORS.get(room(module_name(path)), 9) == 0
        for line, target, _ in imports_of(path)
        if target.split(".")[0] not in sys.stdlib_module_names | {"ctok"}
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_inside_the_package_are_relative_and_cimports_absolute():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {target} ({kind})"
        for path in SOURCES
        for line, target, kind in imports_of(path)
        if target.split(".")[0] == "ctok" and kind in ("absolute", "import", "relative cimport")
    ]
    assert not wrong, "\n".join(wrong)


# ---- the import ----


def test_import_ctok_loads_nothing_heavy(run_python):
    loaded = set(run_python("import sys; bare = set(sys.modules); import ctok; print(*set(sys.modules) - bare)").split())
    assert not loaded & HEAVY, sorted(loaded & HEAVY)


def test_import_ctok_loads_few_modules(run_python):
    # What an import costs is measured in benchmarks; what makes it dear is the number of compiled modules.
    loaded = run_python("import sys; import ctok; print(*(name for name in sys.modules if name.startswith('ctok._native.')))").split()
    assert len(loaded) < 45, sorted(loaded)


def test_compiled_rooms_are_compiled_and_of_this_version():
    assert buildinfo.version == ctok.__version__
    assert buildinfo.__file__.endswith((".so", ".pyd"))


def test_every_kernel_source_is_built():
    for source in sorted((PACKAGE / "_native").glob("*.pyx")):
        module = importlib.import_module(f"ctok._native.{source.stem}")
        assert module.__file__.endswith((".so", ".pyd")), module.__file__


def test_every_kernel_source_has_a_stub():
    bare = [p.name for p in (PACKAGE / "_native").glob("*.pyx") if not p.with_suffix(".pyi").exists()]
    assert not bare, f"no .pyi beside: {sorted(bare)}"


def copy_of_the_package(folder, *patterns):
    """A copy of the imported package in `folder`, without the files that match."""
    shutil.copytree(Path(ctok.__file__).parent, folder / "ctok", ignore=shutil.ignore_patterns("__pycache__", *patterns))
    return folder


def test_import_of_an_unbuilt_tree_says_how_to_build(tmp_path, run_python):
    home = copy_of_the_package(tmp_path / "tree", "*.so", "*.pyd")
    (home / "ctok" / "_native" / "buildinfo.pyx").touch()
    done = run_python("import ctok", check=False, PYTHONPATH=str(home))
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert "pip install --no-build-isolation -e ." in done.stderr


def test_import_of_mixed_files_names_the_other_distribution(tmp_path, run_python):
    home = copy_of_the_package(tmp_path / "site", "*.so", "*.pyd", "*.pyx")
    done = run_python("import ctok", check=False, PYTHONPATH=str(home))
    assert done.returncode == 1
    assert "pip uninstall ctok ctok-stream" in done.stderr


def test_import_of_a_stale_build_says_so(tmp_path, run_python):
    home = copy_of_the_package(tmp_path / "site", "*.pyx")
    (home / "ctok" / "_version.py").write_text('__version__ = "9.9.9"\n', encoding="utf-8")
    done = run_python("import ctok", check=False, PYTHONPATH=str(home))
    assert done.returncode == 1
    assert f"compiled part version {ctok.__version__}" in done.stderr


def test_unknown_name_at_the_front_door_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        ctok.no_such_name  # noqa: B018


# ---- what is public is documented ----


def public_members():
    for name in ctok.__all__:
        value = getattr(ctok, name)
        if name.startswith("__"):
            continue
        yield name, value
        if inspect.isclass(value):
            for attribute, member in vars(value).items():
                if not attribute.startswith("_") and (callable(member) or isinstance(member, property | classmethod | staticmethod)):
                    yield f"{name}.{attribute}", member


def test_every_public_name_has_a_docstring():
    bare = [name for name, value in public_members() if not (inspect.getdoc(value) or "").strip()]
    assert not bare, f"no docstring: {bare}"


def test_front_door_names_exist():
    for name in ctok.__all__:
        getattr(ctok, name)


# ---- text of the repository ----

TEXT = {".py", ".pyx", ".pxd", ".pyi", ".c", ".h", ".md", ".toml", ".in", ".yml", ".txt", ".sh", ""}
FOLDERS = ("csrc", "ctok", "tests", "docs", "tools", "examples", "benchmarks", "fuzz", ".ci")


def repository_texts():
    paths = [p for p in ROOT.iterdir() if p.is_file()]
    paths += [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file()]
    return [p for p in paths if p.suffix in TEXT and "__pycache__" not in p.parts and p.name != ".git"]


def test_repository_names_no_machine_and_no_registry():
    words = ["/" + place + "/" for place in ("work", "farm", "root")]
    pattern = re.compile("(^|[^A-Za-z.])(" + "|".join(words) + ")|index" + "-url|extra" + "-index|registry *= *http", re.MULTILINE)
    wrong = []
    for path in repository_texts():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not wrong, "\n".join(wrong)


def test_architecture_page_names_every_kernel_and_every_unit_and_no_other():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    kernels, units = (re.search(f"### The {head}(.*?)\n##", page, re.DOTALL).group(1) for head in ("rooms of `_native`", "units of `csrc`"))
    named = {name for row in re.findall(r"^\| (`.*?) \|", kernels, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == {path.stem for path in (PACKAGE / "_native").glob("*.pyx")}
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|.*", units, re.MULTILINE))))
    assert named == {path.stem.removeprefix("ctok_") for path in CSRC.glob("*.h")}


class BudgetWarning(UserWarning):
    """A file has outgrown what one reader can hold."""


@pytest.mark.filterwarnings("default::UserWarning")
def test_files_stay_small():
    budgets = {".py": 400, ".pyx": 500, ".h": 300}
    for path in repository_texts():
        budget = budgets.get(path.suffix)
        if budget is None or path.name.endswith("_data.h") or path.parts[-2] in ("tests",):
            continue
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > budget:
            warnings.warn(BudgetWarning(f"{path.relative_to(ROOT)} has {lines} lines; the budget is {budget}"), stacklevel=1)


# ---- C ----

CSRC = ROOT / "csrc"
C_FLAGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only", f"-I{CSRC}"]


def compiler(name, variable):
    found = shutil.which(os.environ.get(variable, name).split()[0])
    if found is None:
        pytest.skip(f"no {name} here")
    return found


def compile_clean(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted(CSRC.glob("*.[ch]")), ids=lambda p: p.name)
def test_c_file_is_clean_under_strict_warnings(path):
    if path.name.endswith("_data.h"):
        pytest.skip("a generated table; checked through the file that includes it")
    language = ["-Wno-unused-function"] if path.suffix == ".h" else []
    compile_clean([compiler("gcc", "CC"), "-std=c11", "-x", "c", *C_FLAGS, *language, str(path)])


@pytest.mark.parametrize("path", sorted(CSRC.glob("*.h")), ids=lambda p: p.name)
def test_c_header_parses_as_cpp(path, tmp_path):
    if path.name.endswith("_data.h"):
        pytest.skip("a generated table, included by one C file")
    unit = tmp_path / "unit.cpp"
    unit.write_text(f'#include "{path.name}"\n', encoding="utf-8")
    compile_clean([compiler("g++", "CXX"), "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", f"-I{CSRC}", str(unit)])


# ---- the tests themselves ----


@pytest.mark.anyio
async def test_anyio_variants_run_on_the_loop_they_name(anyio_backend):
    import sniffio

    assert sniffio.current_async_library() == anyio_backend
