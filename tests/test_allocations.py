"""Every allocation of the engine fails in turn: a MemoryError, or nothing; and what raised it is as it was before the call.

Only builds with CTOK_BUILD=test or sanitize can make allocations fail.
"""

import pytest

from core import O200K, SPECIALS, ctok_of, real_ranks
from ctok._native import batch, bpe, engine, pipeline, readids, stream, vocab

pytestmark = pytest.mark.skipif(vocab.fail_after(0) == -1 and vocab.fail_after(-1) == -1, reason="only a checking build fails allocations")

HOOKS = {"vocab": vocab, "pipeline": pipeline, "engine": engine, "bpe": bpe, "stream": stream, "batch": batch, "readids": readids}
TEXT = "Hello wörld 世界 <|x|> don't" + "abcdefgh" * 60 + " \n" + "a" * 600 + "?"
MANY = 400  # more allocations than any scenario makes


def build():
    return ctok_of(real_ranks(1000), O200K, SPECIALS)


def failing(hook, action, check=lambda: None):
    """Run `action` with the first, second, ... allocation failing until it gets through. Returns its result and how often it did not."""
    for n in range(MANY):
        hook.fail_after(n)
        try:
            return action(), n
        except MemoryError:
            hook.fail_after(-1)
            check()
        finally:
            hook.fail_after(-1)
    raise AssertionError(f"still failing after {MANY} allocations")


def whole(tok):
    return tok.encode(TEXT, allowed_special="all")


@pytest.mark.parametrize("name", HOOKS)
def test_building_and_encoding_whole_texts_raises_memory_error(name):
    wanted = whole(build())

    def everything():
        tok = build()
        ids = whole(tok)
        assert tok.count(TEXT, allowed_special="all") == len(ids)
        assert tok.encode_batch([TEXT] * 3, 2, allowed_special="all") == [ids] * 3
        assert tok.decode_batch([ids] * 3, 2) == [TEXT] * 3
        return list(tok.encode_ids(TEXT, allowed_special="all"))

    result, failed = failing(HOOKS[name], everything)
    assert result == wanted
    assert failed > 0 or name == "stream"


@pytest.mark.parametrize("name", ["pipeline", "engine", "bpe", "vocab"])
def test_a_tokenizer_that_ran_out_of_memory_goes_on(name):
    tok = build()
    wanted = whole(build())
    result, _ = failing(HOOKS[name], lambda: whole(tok), lambda: whole(tok) == wanted or pytest.fail("other ids afterwards"))
    assert result == wanted


@pytest.mark.parametrize("step", [1, 7, 300, 5000])
@pytest.mark.parametrize("name", ["stream", "engine", "bpe", "pipeline"])
def test_an_encoder_that_ran_out_of_memory_is_as_before_the_call(name, step):
    tok, hook = build(), HOOKS[name]
    encoder, out = tok.encoder(allowed_special="all"), []
    chunks = [TEXT[at : at + step] for at in range(0, len(TEXT), step)]
    for number, chunk in enumerate(chunks):
        before = encoder.getstate()
        same = lambda before=before: encoder.getstate() == before or pytest.fail("another state afterwards")  # noqa: E731
        out += failing(hook, lambda chunk=chunk, number=number: encoder.encode(chunk, number == len(chunks) - 1), same)[0]
    assert out == whole(tok)


@pytest.mark.parametrize("name", ["stream", "engine", "bpe", "pipeline"])
def test_a_counter_that_ran_out_of_memory_is_as_before_the_call(name):
    tok, hook = build(), HOOKS[name]
    counter, text = tok.counter(rewind=True), TEXT * 3
    for at in range(0, len(text), 97):
        before = (counter.count, counter.stable, counter.getstate())
        same = lambda before=before: (counter.count, counter.stable, counter.getstate()) == before or pytest.fail("changed")  # noqa: E731
        failing(hook, lambda at=at: counter.feed(text[at : at + 97]), same)
        assert failing(hook, lambda: counter.count)[0] == tok.count(text[: at + 97])
    failing(hook, lambda: counter.truncate(1000))
    assert counter.count == tok.count(text[:1000])


def test_copies_and_states_of_codecs_raise_memory_error():
    tok = build()
    encoder = tok.encoder()
    encoder.encode("a" * 300)
    state, other = encoder.getstate(), tok.encoder()
    copy, failed = failing(stream, encoder.copy)
    assert failed > 0 and copy.getstate() == state
    failing(stream, lambda: other.setstate(state), lambda: other.pending == b"" or pytest.fail("half a state"))
    assert other.getstate() == state
