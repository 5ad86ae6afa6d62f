"""Every allocation of decoding by a chain made to fail once: a `MemoryError`, and everything as before. Needs CTOK_BUILD=test."""

import pytest

from alloc_walk import needs_failing, walk
from chain_parts import vocab_of
from ctok._native import chains, decode, decodestate, detokenize, spans, tokenbytes
from ctok._native.decode import IncrementalDecoder
from ctok.stages.decoders import build_decoder
from ctok.stagespecs import decoders as records

MODULES = [chains, decode, decodestate, detokenize, spans, tokenbytes]
pytestmark = needs_failing(chains)

SPACE = "\u2581"
TOKENS = [SPACE + "ab", "<0xE4>", "<0xBD>", "<0xA0>", "<0xF0>", "a</w>", "a</w>", "<pad>", "b</w>", "", "é" * 300]
RECORDS = [
    records.Sequence([records.Replace(records.String(SPACE), " "), records.ByteFallback(), records.Fuse(), records.Strip(" ", 1, 0)]),
    records.Sequence([records.ByteFallback(), records.BPEDecoder(), records.ByteLevel(), records.Replace(records.Regex("a+"), "-")]),
    records.Sequence([records.CTC(), records.Metaspace(), records.WordPiece()]),
    records.WordPiece(),
    records.ByteLevel(),
]


def everything(record):
    """What is made of the tokens in every way there is."""
    vocab, ids = vocab_of(TOKENS)
    table = build_decoder(record, vocab).vocab
    dec = IncrementalDecoder(table, stop=["never"], prefix_ids=ids[:2])
    texts = [dec.decode(number) for number in ids]
    twin = dec.copy()
    other = IncrementalDecoder(table, stop=["never"], prefix_ids=ids[:2])
    other.setstate(dec.getstate())
    ends = [each.decode([], final=True) for each in (dec, twin, other)]
    whole = detokenize.decode_str(table, ids, False, "replace", None)
    return whole, spans.decode_spans(table, ids, False, "replace", None, "char"), texts, ends


@pytest.mark.parametrize("record", RECORDS, ids=range(len(RECORDS)))
def test_decoding_that_finds_no_memory_says_so_and_works_afterwards(record):
    walk(MODULES, lambda _: everything(record))


@pytest.mark.parametrize("record", RECORDS, ids=range(len(RECORDS)))
def test_call_that_finds_no_memory_leaves_the_decoder_as_it_was(record):
    vocab, ids = vocab_of(TOKENS)
    table = build_decoder(record, vocab).vocab
    for cut in range(len(ids)):
        for n in range(400):
            dec = IncrementalDecoder(table)
            dec.decode(ids[:cut])
            state = dec.getstate()
            decode.fail_after(n)
            try:
                dec.decode(ids[cut:], final=True)
            except MemoryError:
                decode.fail_after(-1)
                assert dec.getstate() == state
                continue
            finally:
                left = decode.fail_after(-1)
            if left >= 0:
                break
