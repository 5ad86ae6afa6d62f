"""Properties of code points against the engines they must agree with, over all 1,112,064 scalars."""

import subprocess
import sys
from pathlib import Path

import pytest

from ctok._native import unicode

ROOT = Path(__file__).resolve().parent.parent
SCALARS = [*range(0xD800), *range(0xE000, 0x110000)]
GROUPS = ["L", "N", "M", "P", "S", "Z", "Lu", "Lt", "Ll", "Lm", "Lo", "Nd", "Mn", "Cn"]


@pytest.fixture(scope="module")
def found():
    return {code: unicode.category(code) for code in SCALARS}


def matched_by_tiktoken(pattern):
    """Return the scalars that `pattern` matches: text it does not match is dropped, ids are bytes."""
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={})
    return set(bytes(encoding.encode_ordinary("".join(map(chr, SCALARS)))).decode())


@pytest.mark.parametrize("group", GROUPS)
def test_category_of_every_scalar_equals_tiktoken(found, group):
    expected = matched_by_tiktoken(rf"\p{{{group}}}+")
    assert {chr(code) for code, name in found.items() if name.startswith(group)} == expected


def test_is_space_of_every_scalar_equals_tiktoken():
    assert {chr(code) for code in SCALARS if unicode.is_space(code)} == matched_by_tiktoken(r"\s+")


def test_category_of_every_scalar_equals_unicodedata2(found):
    unicodedata2 = pytest.importorskip("unicodedata2")
    if unicodedata2.unidata_version != unicode.UNICODE_VERSION:
        pytest.skip(f"unicodedata2 is {unicodedata2.unidata_version}")
    assert all(unicodedata2.category(chr(code)) == name for code, name in found.items())


def test_category_of_surrogate_is_cs():
    assert unicode.category(0xD800) == unicode.category(0xDFFF) == "Cs"


@pytest.mark.parametrize("code", [-1, 0x110000, 2**32, 2**40])
def test_category_of_no_code_point_raises(code):
    with pytest.raises(ValueError, match="not a code point"):
        unicode.category(code)
    with pytest.raises(ValueError, match="not a code point"):
        unicode.is_space(code)


def test_generated_table_is_up_to_date():
    pytest.importorskip("unicodedata2")
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "gen_unicode.py"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
