"""Words that a .model carries together with their pieces, so that a reader can see that it does what was meant."""

from __future__ import annotations

from ..errors import TrainingError
from ._alphabet import BLANK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..spec import Spec
    from .counts import Counts

__all__ = ["with_samples"]

SAMPLES = 4  # the field of a .model


def with_samples(spec: Spec, counts: Counts, n: int) -> Spec:
    """Return the specification of a .model with the pieces of the n most frequent words.

    Words with a character that is unknown are left out.

    Raises
    ------
    TrainingError
        The pieces of a word do not spell it.
    """
    if not n:
        return spec
    from ..formats import sentencepiece
    from ..formats._spm_fields import enclosed

    samples = [enclosed(1, enclosed(1, text) + enclosed(2, b" ".join(pieces))) for text, pieces in _samples(spec, counts, n)]
    data = sentencepiece.dumps(spec) + enclosed(SAMPLES, b"".join(samples))
    return sentencepiece.loads(data).replace(name=spec.name)


def _samples(spec: Spec, counts: Counts, n: int) -> list[tuple[bytes, list[bytes]]]:
    from ..stages.compose import compose

    _, flow, _, _ = compose(spec)
    texts = {number: text for text, number in spec.model.tokens}
    found: list[tuple[bytes, list[bytes]]] = []
    for word, _ in sorted(counts, key=lambda item: (-item[1], item[0])):
        text = word.decode().replace(BLANK, " ").strip(" ")
        if len(found) == n:
            break
        normalized = (text if flow.normalizer is None else flow.normalizer.normalize(text)).encode()
        ids = flow.model.encode(normalized)
        if not ids or spec.model.unk_id in ids:
            continue
        pieces = [texts[number] for number in ids]
        if not spec.model.byte_fallback and b"".join(pieces) != normalized:
            raise TrainingError(f"self-test: the pieces of {text!r} do not spell it")
        found.append((text.encode(), pieces))
    return found
