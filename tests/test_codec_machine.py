"""Codecs under any order of calls: chunks, copies, saved states, refused input, ends. What they gave is always a part of the whole."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import ctok
from ctok.errors import EncodeError
from flow_files import KINDS, PARTS, pair

ALL = {"allowed_special": "all"}
CHUNKS = st.lists(st.sampled_from(PARTS) | st.text(max_size=2), max_size=4).map("".join)


def tokenizer(kind):
    return ctok.load(kind) if kind == "o200k_base" else pair(kind)[0]


class Codecs(RuleBasedStateMachine):
    """An encoder and a counter that get the same text; a decoder that gets the encoder's ids."""

    @initialize(kind=st.sampled_from(["o200k_base", *sorted(KINDS)]))
    def begin(self, kind):
        self.tok = tokenizer(kind)
        self.encoder, self.counter, self.decoder = self.tok.encoder(**ALL), self.tok.counter(**ALL), self.tok.decoder()
        self.text, self.ids, self.shown = "", [], ""

    def take(self, ids):
        self.ids += ids
        self.shown += self.decoder.decode(ids)

    @rule(chunk=CHUNKS)
    def feed(self, chunk):
        self.text += chunk
        self.take(self.encoder.encode(chunk))
        self.counter.feed(chunk)

    @rule(chunk=CHUNKS.filter(bool), data=st.data())
    def feed_bytes(self, chunk, data):
        raw = chunk.encode()
        at = data.draw(st.integers(0, len(raw)))
        self.text += chunk
        for part in (raw[:at], raw[at:]):
            self.take(self.encoder.encode(part))
            self.counter.feed(part)

    @rule()
    def go_on_with_copies(self):
        self.encoder, self.counter, self.decoder = self.encoder.copy(), self.counter.copy(), self.decoder.copy()

    @rule()
    def go_on_with_saved_states(self):
        old = self.encoder, self.counter, self.decoder
        self.encoder, self.counter, self.decoder = self.tok.encoder(**ALL), self.tok.counter(**ALL), self.tok.decoder()
        for before, after in zip(old, (self.encoder, self.counter, self.decoder), strict=True):
            after.setstate(before.getstate())
            assert after.getstate() == before.getstate()

    @rule(bad=st.sampled_from([b"\xff", "\udc00", 5]))
    def refuse(self, bad):
        before = self.encoder.getstate(), self.counter.getstate()
        for call in (self.encoder.encode, self.counter.feed):
            with pytest.raises((EncodeError, TypeError)):
                call(bad)
        assert (self.encoder.getstate(), self.counter.getstate()) == before

    @rule()
    def end(self):
        self.take(self.encoder.encode("", final=True))
        want = self.tok.encode(self.text, **ALL)
        assert self.ids == want
        assert self.shown + self.decoder.decode([], final=True) == self.tok.decode(want)
        self.counter.feed("", final=True)
        assert self.counter.count == len(want)
        self.counter.reset()
        self.text, self.ids, self.shown = "", [], ""

    @invariant()
    def counts_agree(self):
        if hasattr(self, "tok"):
            want = self.tok.encode(self.text, **ALL)
            assert self.counter.count == len(want)
            assert want[: len(self.ids)] == self.ids


TestCodecs = Codecs.TestCase
TestCodecs.settings = settings(max_examples=settings.default.max_examples, stateful_step_count=12, deadline=None)
