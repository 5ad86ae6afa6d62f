"""The README says nothing that does not run: its Python blocks are executed, its commands are what CI types."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL), 1)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_python_block_of_a_page_runs(example, run_python):
    if "ctok.compat" in example:
        pytest.importorskip("ctok.compat")
    if "transformers" in example:
        pytest.importorskip("transformers", minversion="5", reason="transformers 5 is not installed: the extra `transformers`")
    run_python(example, CTOK_OFFLINE="1")


def test_readme_opens_with_one_command_to_use_it_and_one_to_test_it():
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert [block.count("\n") for block in blocks[:2]] == [1, 1]
    assert blocks[0].startswith("pip install . && ctok ")
    assert blocks[1] == "pip install '.[test]' && pytest\n"


@pytest.mark.parametrize("page", PAGES + [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")], ids=lambda p: p.name)
def test_links_inside_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not (page.parent / target).exists():
            pytest.fail(f"{page.name} links to {target}, which is not there")
