"""Whether two specifications give the same ids, tried on texts: some that people write, and many made of the vocabulary's own pieces."""

from __future__ import annotations

from .._native.pipeline import Pipeline
from ..spec import Spec
from ..stages.compose import compose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["differences", "texts"]

_SAMPLES = (
    "", " ", "a", " a", "a ", "  a  b  ", "Hello, world!", "It's 3.14 o'clock; isn't it?", "  leading and trailing   ", "a\tb\nc\r\n\n d",
    "Grüße aus Köln, naïve café, Ångström", "Zażółć gęślą jaźń", "Съешь ещё этих мягких булок", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "这是一个测试。世界，你好！", "これはテストです。カタカナとひらがな", "한국어 문장입니다.", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก",
    "\U0001f600 \U0001f44b\U0001f3fd \U0001f469\u200d\U0001f4bb", "x = [i ** 2 for i in range(10)]  # squares",
    "https://example.org/a?b=c&d=%20",
    "1234567890 12,345.67 -0.5e-10", "ALL CAPS and MiXeD", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ab" * 40, "\u3000full\u3000width\uff01\uff21",
    "\ufb01ne \u00bd \u2122 \u2026 \u201cquoted\u201d \u2014 dash", "e\u0301 \u0041\u030a", "a\u00a0b\u2009c\u200bd",
    "\u0000\u0001\u001f\u007f",
)  # fmt: skip
_MADE = 200


def differences(one: Spec, other: Spec, most: int = 2) -> list[str]:
    """Return a sentence for each of the first texts that two specifications give different ids; templates are left out.

    Raises
    ------
    SpecError
        One of them cannot be run.
    """
    first, second = _run(one), _run(other)
    found = []
    for text in texts(one):
        ids, others = (line.encode(text, add_special_tokens=False) for line in (first, second))
        if ids != others:
            found.append(f"the ids {_shown(ids, others)} of {_cut(text)}, which would be {_shown(others, ids)}")
            if len(found) == most:
                break
    return found


def _run(spec: Spec) -> Pipeline:
    vocab, flow, template, decoding = compose(spec)
    special = {token.content: token.id for token in spec.added_tokens if token.special}
    always = {token.content: token.id for token in spec.added_tokens if not token.special}
    return Pipeline(vocab, None, None, special, always, flow, template, decoding)


def _shown(ids: list[int], others: list[int]) -> str:
    """The ids from the first that differs on."""
    at = next((i for i, (a, b) in enumerate(zip(ids, others, strict=False)) if a != b), min(len(ids), len(others)))
    shown = ", ".join(map(str, ids[at : at + 4]))
    return f"[{'..., ' if at else ''}{shown}{', ...' if len(ids) > at + 4 else ''}]"


def _cut(text: str) -> str:
    return repr(text) if len(text) <= 60 else f"{text[:60]!r}..."


def texts(spec: Spec) -> Iterator[str]:
    """Yield the texts on which ids are compared; the same ones each time."""
    from random import Random

    yield from _SAMPLES
    rng = Random(0)
    pieces = [text for token, _ in spec.model.tokens if (text := _plain(token)) is not None]
    for _ in range(_MADE if pieces else 0):
        yield "".join(rng.choices(pieces, k=rng.randint(1, 40)))


def _plain(token: bytes) -> str | None:
    """A piece as it may stand in a text; None for what may be a control piece or a byte, or is no text."""
    text = token.decode("utf-8", "replace")
    return None if "\ufffd" in text or (text[:1] in "<[" and text[-1:] in ">]") else text.replace("\u2581", " ")
