"""Models of characters behind a byte-level pre-tokenizer, against the live reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok._native import model, unigram, unigram_open, visible, vocab, wordpiece
from ctok._native.unigram import Unigram
from ctok._native.visible import Visible
from ctok._native.wordlevel import WordLevel
from ctok._native.wordpiece import WordPiece
from ctok.stages.models import build_model
from ctok.stagespecs.models import WordLevel as WordLevelRecord
from ctok.stagespecs.models import WordPiece as WordPieceRecord
from ctok.stagespecs.models import table_of_texts, unigram_from_pieces
from model_checks import REFUSED, check_memory, check_open_form, whole

tokenizers = pytest.importorskip("tokenizers")
CHECKING = vocab.fail_after(0) != -1 or vocab.fail_after(-1) != -1

TEXTS = st.text(st.sampled_from("ab \n\u00e9\u2581\U0001f600\0\u00ad"), min_size=1, max_size=7)


def spelled(text):
    step = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return "".join(piece for piece, _ in step.pre_tokenize_str(text))


PIECES = st.lists(TEXTS.map(spelled).map(lambda text: text[:4]), max_size=12, unique=True)


def in_bytes(live, text):
    """(id, end in bytes of the text) as the reference gives them for the spelling."""
    try:
        return [(token.id, len(spelled(text).encode()[: token.offsets[1]].decode())) for token in live.tokenize(spelled(text))]
    except Exception:
        return REFUSED


def check(kernel, live, text):
    want = in_bytes(live, text)
    got = whole(kernel, text.encode())
    if want == REFUSED:
        assert got == REFUSED
        return
    assert got == [number for number, _ in want]
    assert list(zip(*kernel.encode_with_ends(text.encode()), strict=True)) == want


@given(PIECES, TEXTS, st.lists(st.integers(0, 20), max_size=4))
def test_models_behind_byte_level_equal_the_reference(pieces, text, cuts):
    numbered = {piece: number for number, piece in enumerate(["<unk>", *(piece for piece in pieces if piece != "<unk>")])}
    numbered |= {f"##{piece}": number + 100 for piece, number in numbered.items()}
    scored = [(piece, -1.0 - number % 3) for number, piece in enumerate(numbered)]
    spec = unigram_from_pieces(scored, unk_id=0)
    for inner, live in (
        (
            WordPiece(table_of_texts(numbered), "<unk>", 9),
            tokenizers.models.WordPiece(numbered, unk_token="<unk>", max_input_chars_per_word=9),
        ),
        (WordLevel(table_of_texts(numbered)), tokenizers.models.WordLevel(numbered, unk_token="<unk>")),
        (Unigram(spec.tokens, spec.scores, 0), tokenizers.models.Unigram(scored, 0)),
    ):
        check(Visible(inner), live, text)
        check_open_form(Visible(inner), text.encode(), cuts)


@pytest.mark.parametrize("byte_level", [False, True])
def test_models_are_built_from_their_records(byte_level):
    vocab = {"[UNK]": 0, "<unk>": 1, "a": 2, "##\u0120": 3, "\u0120": 4, " ": 5}
    records = [WordPieceRecord(table_of_texts(vocab)), WordLevelRecord(table_of_texts(vocab))]
    records += [unigram_from_pieces([(text, -1.0) for text in vocab], unk_id=0, byte_fallback=True)]
    found = [build_model(record, byte_level).encode(text) for record in records for text in (b"a", b" ", b"a ")]
    assert found == (
        [[2], [4], [2, 3], [2], [4], [1], [2], [4], [2, 4]] if byte_level else [[2], [5], [0], [2], [5], [1], [2], [5], [2, 5]]
    )


def test_bare_model_is_refused():
    with pytest.raises(TypeError):
        Visible(model.Model())


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_models_that_find_no_memory_work_later():
    spec = unigram_from_pieces([("<unk>", 0.0), ("a", -1.0), ("\u0120a", -1.0)])
    texts = [b"a a a", b"a" * 3000, b" a" * 9000]
    check_memory([visible, unigram, unigram_open, model], lambda: Visible(Unigram(spec.tokens, spec.scores, 0)), texts)
    table = table_of_texts({"[UNK]": 0, "a": 1, "##\u0120": 2})
    check_memory([visible, wordpiece, model], lambda: Visible(WordPiece(table)), texts[:1])
