"""From byte pairs by rank to byte pairs by a list of merges, as a tokenizer.json has them.

By rank, a token is only ever made in one way: what happens to its bytes inside a text is what happens to them alone, because merges never
cross the ends of what becomes the token, and so the last merge is always that of the same two parts. One merge a token, in the order of
the ids, therefore gives the same ids for every text. A token that its own bytes do not merge to can still be a whole pretoken, which is
what `ignore_merges` says.
"""

from __future__ import annotations

from .._native.files import splits
from .._native.split import known_patterns
from .._native.vocab import Vocab
from ..errors import PatternError, SpecError
from ..spec import BPE, AddedToken, Spec, TokenTable
from ..stages._pattern.oniguruma import translate
from ..stagespecs import decoders, postprocessors, pretokenizers
from ..stagespecs.models import table_of_texts
from ..stagespecs.spelling import spell
from . import Conversion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..spec import Record

# Family of patterns that say the same -> how a tokenizer.json says it. The tail of cl100k_tail is the end of the text, not of a line.
SPELLINGS = {
    "cl100k_tail": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
}


def last_merges(tokens: TokenTable) -> dict[bytes, tuple[bytes, bytes]]:
    """Return the two parts of each token's last merge; tokens that merging by rank does not give are not in it."""
    vocab = Vocab(tokens.data, tokens.ends, tokens.ids)
    lengths = bytes(tokens.splits) or splits(vocab) or _long_splits(dict(tokens))
    return {token: (token[:left], token[left:]) for (token, _), left in zip(tokens, lengths) if left}


def _long_splits(ranks: dict[bytes, int]) -> list[int]:
    """The slow way, for vocabularies with tokens of more than 255 bytes."""
    found = []
    for token in ranks:
        parts = [token[i : i + 1] for i in range(len(token))]
        while len(parts) > 2:
            pairs = [(ranks[parts[i] + parts[i + 1]], i) for i in range(len(parts) - 1) if parts[i] + parts[i + 1] in ranks]
            if not pairs:
                break
            i = min(pairs)[1]
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
        found.append(len(parts[0]) if len(parts) == 2 else 0)
    return found


def as_merges(spec: Spec) -> Conversion:
    """Return a specification by rank with a list of merges and byte-level stages."""
    tokens: TokenTable = spec.model.tokens
    ids = dict(tokens)
    lost = []
    missing = [byte for byte in range(256) if bytes([byte]) not in ids]
    if missing:
        lost.append(f"{len(missing)} bytes have no token (0x{missing[0]:02x}, ...), which would be left out there and not refused")
    parts = last_merges(tokens)
    made = sorted((ids[token], ids[left], ids[right]) for token, (left, right) in parts.items())
    merges = b"".join(number.to_bytes(4, "little") for _, left, right in made for number in (left, right))
    whole = any(len(token) > 1 and token not in parts for token in ids)
    added, doubled = _one_an_id(spec.added_tokens)
    lost += doubled
    texts = {spell(token): number for token, number in ids.items()}
    _put_added(texts, added)
    try:
        model = BPE(table_of_texts(texts), "merges", merges, ignore_merges=whole)
        cut = _cut(spec.pre_tokenizer.pattern)
    except PatternError as error:
        raise SpecError(f"a tokenizer.json cannot say the pre-tokenizer of {spec.name!r}: {error}") from error
    told = spec.replace(
        model=model,
        pre_tokenizer=cut,
        added_tokens=added,
        post_processor=postprocessors.ByteLevel(trim_offsets=False),
        decoder=decoders.ByteLevel(),
        document=None,
    )
    return Conversion(told, lost)


def _one_an_id(added: tuple[AddedToken, ...]) -> tuple[tuple[AddedToken, ...], list[str]]:
    owners: dict[int, AddedToken] = {}
    lost = []
    for token in added:
        owner = owners.setdefault(token.id, token)
        if owner is not token:
            lost.append(f"the added token {token.content!r} has the id {token.id} of {owner.content!r}")
    return tuple(owners.values()), lost


def _put_added(texts: dict[str, int], added: tuple[AddedToken, ...]) -> None:
    """Let the vocabulary list the added tokens, as GPT-2's does: readers give ids of their own to those that it does not."""
    used = set(texts.values())
    for token in added:
        number = texts.setdefault(token.content, token.id)
        if number != token.id or token.id in used:
            raise SpecError(f"the added token {token.content!r} with the id {token.id} has the text or the id of another token")


def _cut(pattern: str) -> Record:
    """Return the pre-tokenizers that a split pattern is, as the reference reads them."""
    families = dict(known_patterns())
    family = families.get(pattern)
    if family == "gpt2":
        return pretokenizers.ByteLevel(add_prefix_space=False)
    same = [text for text, known in families.items() if known == family and translate(text) == text]
    spelled = SPELLINGS.get(family or "") or (same[0] if family and same else pattern)
    if family is None and translate(pattern) != pattern:
        raise PatternError(
            f"the split pattern {pattern!r} says something else in the syntax of tokenizer.json files", pattern=pattern
        )
    # A pattern that leaves nothing out isolates its matches; of any other the matches are all that is kept.
    behavior, invert = ("isolated", False) if family is not None else ("removed", True)
    split = pretokenizers.Split(pretokenizers.Regex(spelled), behavior, invert=invert)
    return pretokenizers.Sequence([split, pretokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
