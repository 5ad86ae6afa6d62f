"""Training WordPiece: pairs are merged by how often they stand, or by how much likelier they make the corpus; the merges are forgotten."""

from __future__ import annotations

from ..spec import Spec
from . import _options
from ._running import SteppingTrainer
from .bpe import BpeTrainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._native.cells import Cells
    from .._native.joining import Joining
    from ..spec import Record, TokenTable
    from ._bpe_start import Start
    from ._checkpoint import Checkpoint
    from ._running import Steps
    from .counts import Counts

__all__ = ["WordPieceTrainer"]

ALGORITHMS = ("frequency", "likelihood")
DEFAULTS: dict[str, Any] = {
    "special_tokens": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "unk_token": "[UNK]",
    "min_frequency": 0,
    "initial_alphabet": (),
    "limit_alphabet": None,
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
    "normalizer": None,
    "pre_tokenizer": None,
    "name": "wordpiece",
}


class _LikelyPairs(BpeTrainer):
    """Pairs merged by likelihood."""

    def _kernel(self, start: Start, cells: Cells, longest: int) -> Joining:
        from .._native.likely import LikelyLearner

        prefix = self.options.continuing_subword_prefix.encode()
        return LikelyLearner(start.tokens, start.classes, prefix, longest, True, cells, False, True)


class WordPieceTrainer(SteppingTrainer):
    """Trains WordPiece; `train` gives a `Spec`.

    Parameters
    ----------
    vocab_size
        Tokens in all, special ones included.
    algorithm
        Which pair is merged next. ``"frequency"``: the one that stands most often, as the Hugging Face library has it.
        ``"likelihood"``: the one with the highest count(ab) / (count(a) * count(b)), as the papers define it; give it a `min_frequency`,
        since of pairs whose parts stand nowhere else the rarest are as good as any.
    special_tokens
        Texts or `AddedToken` objects, which take the first ids.
    unk_token
        What a word becomes that no tokens spell; put first if it is no special token.
    min_frequency
        A pair must stand so often.
    initial_alphabet
        Characters that become tokens whether they occur or not, at the start of words and inside them.
    limit_alphabet
        Keep so many of the characters, the most frequent; the others are left out of words.
    continuing_subword_prefix
        What tokens inside a word begin with.
    max_input_chars_per_word
        Longer words are unknown when encoding; in training they count.
    clean_text, handle_chinese_chars, strip_accents, lowercase
        Of the normalizer of BERT, where no other is given.
    normalizer, pre_tokenizer
        The stages before the model, records of `ctok.stagespecs`. Default: those of BERT.
    name
        What the `Spec` is called.

    Raises
    ------
    TypeError, ValueError
        There is no such option, or it cannot have this value.

    Notes
    -----
    The library's trainer gives ids by the order of a hash table and lets them decide between equally frequent pairs, so that two runs
    differ. Here forms inside words have their ids in the order of their characters; otherwise the tokens are the same.
    """

    def __init__(self, vocab_size: int = 30000, *, algorithm: str = "frequency", **options: Any) -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}, not {algorithm!r}")
        own = {"vocab_size": vocab_size, "algorithm": algorithm}
        o = _options.resolve("WordPieceTrainer", DEFAULTS | own, {"wordpieces_prefix": "continuing_subword_prefix"}, options)
        _options.at_least(o, 1, "vocab_size", "max_input_chars_per_word")
        _options.at_least(o, 0, "min_frequency")
        if o.unk_token is None:
            raise ValueError("a WordPiece model has an unk_token")
        from ..stagespecs import normalizers, pretokenizers

        o.special_tokens = _options.special(o.special_tokens, o.unk_token)
        if o.normalizer is None:
            o.normalizer = normalizers.BertNormalizer(o.clean_text, o.handle_chinese_chars, o.strip_accents, o.lowercase)
        if o.pre_tokenizer is None:
            o.pre_tokenizer = pretokenizers.BertPreTokenizer()
        self.options = o

    def __repr__(self) -> str:
        return f"WordPieceTrainer({self.options.vocab_size}, algorithm={self.options.algorithm!r})"

    def _stages(self) -> tuple[Record | None, Record | None]:
        return self.options.pre_tokenizer, self.options.normalizer

    def _learn(self, counts: Counts, checkpoint: Checkpoint, max_memory: int, num_threads: int | None) -> Steps:
        trained: Spec = yield from self._of_pairs()._learn(counts, checkpoint, max_memory, num_threads)
        return self._spec(trained.model.tokens)

    def _of_pairs(self) -> BpeTrainer:
        """The trainer of pairs with the same words and the same first tokens."""
        o = self.options
        alphabet = sorted({text[0] for text in o.initial_alphabet if text})
        first = [token.content for token in o.special_tokens]
        kind = BpeTrainer if o.algorithm == "frequency" else _LikelyPairs
        return kind(
            o.vocab_size,
            form="characters",
            ties="huggingface",
            special_tokens=first + [o.continuing_subword_prefix + char for char in alphabet],
            initial_alphabet=alphabet,
            limit_alphabet=o.limit_alphabet,
            min_frequency=o.min_frequency,
            continuing_subword_prefix=o.continuing_subword_prefix,
        )

    def _spec(self, tokens: TokenTable) -> Spec:
        from ..stagespecs import decoders, models, postprocessors

        o = self.options
        model = models.WordPiece(tokens, o.unk_token, o.max_input_chars_per_word, o.continuing_subword_prefix)
        special = {token.content: token.id for token in o.special_tokens}
        around = None
        if "[CLS]" in special and "[SEP]" in special:
            around = postprocessors.BertProcessing(("[SEP]", special["[SEP]"]), ("[CLS]", special["[CLS]"]))
        roles = {role: f"[{role.upper()}]" for role in ("cls", "mask", "pad", "sep") if f"[{role.upper()}]" in special}
        return Spec(
            o.name,
            model,
            o.pre_tokenizer,
            o.special_tokens,
            o.normalizer,
            around,
            decoders.WordPiece(o.continuing_subword_prefix),
            roles=roles | {"unk": o.unk_token},
        )
