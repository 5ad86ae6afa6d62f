"""The general line with every allocation made to fail once: a `MemoryError`, and everything as before. Needs CTOK_BUILD=test."""

import pytest

from alloc_walk import needs_failing, walk, walk_calls
from ctok._native import align, cut, flow, flowstate, normalize
from flow_files import KINDS, both

MODULES = [flow, flowstate, align, normalize, cut]
pytestmark = needs_failing(flow)

NAMES = ["gpt2", "llama", "stripped", "bert", "albert", "words"]
TEXT = " the <s>theme " + "hello world " * 40 + "<m>\u00dcn\u00ef cafe\u0301 " + "a" * 300 + "<x>y New York  "
TEXT += "\u4e2d\u6587" * 60 + " <e> x "
CHUNKS = [" ", " the <", "s>th", "eme " + "hello wor" * 40, "ld <m>U", b"cafe\xcc", b"\x81 ", "a" * 300, "<x", ">y New"]
CHUNKS += [" York  \u4e2d", "x" * 50]


def made(kind):
    return both(KINDS[kind]())[0]


@pytest.mark.parametrize("kind", NAMES)
def test_whole_text_that_finds_no_memory_is_encoded_afterwards(kind):
    def call(tok):
        found = tok.encoding(TEXT, allowed_special="all")
        return tok.encode(TEXT, allowed_special="all"), tok.count(TEXT), found.ids, found.spans, found.tokens, found.word_ids

    walk(MODULES, call, lambda: made(kind))


@pytest.mark.parametrize("kind", NAMES)
def test_encoder_that_finds_no_memory_is_as_before_the_call(kind):
    calls = [lambda one, chunk=chunk: one.encode(chunk) for chunk in CHUNKS]
    calls.append(lambda one: one.encode("", final=True))
    walk_calls(MODULES, lambda: made(kind).encoder(allowed_special="all"), calls, lambda one: (one.getstate(), one.pending))


@pytest.mark.parametrize("kind", NAMES)
def test_copied_and_saved_encoder_that_finds_no_memory_works_later(kind):
    def prepare():
        tok = made(kind)
        encoder = tok.encoder(allowed_special="all")
        for chunk in CHUNKS[:6]:
            encoder.encode(chunk)
        return tok, encoder

    def call(pair):
        tok, encoder = pair
        other, third = encoder.copy(), tok.encoder(allowed_special="all")
        third.setstate(encoder.getstate())
        return other.getstate(), other.encode(b"\x81 b", final=True), third.encode(b"\x81 b", final=True)

    walk(MODULES, call, prepare)
