"""What every model of one pretoken must do: its open form equals the whole one under any cut, saves, copies, survives a lack of memory."""

import lzma
import random

import pytest

from alloc_walk import walk
from ctok.errors import EncodeError, StateError
from feeds import all_feeds, cut_at

REFUSED = "refused"


def whole(model, pretoken):
    """The ids of a pretoken, or REFUSED."""
    try:
        return model.encode(pretoken)
    except EncodeError:
        return REFUSED


def piecewise(model, parts, between=lambda pretoken: pretoken):
    """The ids of a pretoken given in parts, or REFUSED; `between` takes the open pretoken after each part and returns what goes on."""
    open_pretoken, ids = model.open(), []
    try:
        for part in parts:
            ids += open_pretoken.feed(part)
            open_pretoken = between(open_pretoken)
        return ids + open_pretoken.end()
    except EncodeError:
        return REFUSED


def spoil(pretoken):
    try:
        pretoken.feed(b"ab")
    except EncodeError:
        pass


def reloaded(model):
    """A `between` that saves and loads."""

    def between(pretoken):
        other = model.open()
        spoil(other)  # loading forgets it
        other.load(pretoken.save())
        assert other.save() == pretoken.save()
        return other

    return between


def copied(pretoken):
    """A `between` that copies and spoils the original."""
    other = pretoken.copy()
    spoil(pretoken)
    return other


def check_open_form(model, pretoken, cuts=()):
    """The open form of `pretoken` gives the ids of the whole one, however it is cut, copied, saved and loaded on the way."""
    want = whole(model, pretoken)
    for parts in [cut_at(pretoken, cuts), *all_feeds(pretoken)]:
        assert piecewise(model, parts) == want
    parts = cut_at(pretoken, cuts)
    for between in (copied, reloaded(model)):
        assert piecewise(model, parts, between) == want
    text = pretoken.decode(errors="ignore")
    for stop in range(1, min(len(text), 40) + 1):
        if model.waits(text[:stop].encode()):
            assert model.open().feed(text[:stop].encode()) == []
    one = model.open()
    for part in parts:
        try:
            one.feed(part)
        except EncodeError:
            continue
    try:
        one.end()
    except EncodeError:
        pass
    assert one.save() == model.open().save()


def check_bad_states(model, pretoken, tries=300, seed=5):
    """Damaged states are refused or harmless."""
    rng, one = random.Random(seed), model.open()
    one.feed(pretoken)
    state = one.save()
    for _ in range(tries):
        bad = bytearray(state)
        for _ in range(rng.randint(1, 3)):
            if bad and rng.random() < 0.8:
                bad[rng.randrange(len(bad))] = rng.choice((0, 1, 2, 127, 255, rng.randrange(256)))
            else:
                bad = bad[: rng.randrange(len(bad) + 1)]
        other = model.open()
        try:
            other.load(bad)
        except StateError:
            assert other.save() == model.open().save()
            continue
        try:
            other.feed("aé▁b".encode())
            other.end()
        except EncodeError:
            pass


def check_memory(modules, make, pretokens, most=400):
    """Make every allocation of building and of encoding fail once: a `MemoryError`, and the next try works."""

    def act(model):
        ids, ends = zip(*(model.encode_with_ends(pretoken) for pretoken in pretokens), strict=True)
        opened = []
        for pretoken in pretokens:
            one = model.open()
            opened.append(one.feed(pretoken[:7]))
            other = one.copy()
            other.load(one.save())
            opened.append(other.feed(pretoken[7:]) + other.end())
        return ids, ends, opened

    walk(modules, lambda _: act(make()), most=most)


def real_file(shared, name):
    """The text of a packed tokenizer.json of the conformance kit."""
    return lzma.decompress((shared / "conformance" / "vocabs" / f"{name}.json.xz").read_bytes()).decode()


def real_texts(shared, most=3000):
    """The starts of all texts of the conformance kit."""
    files = sorted((shared / "conformance" / "texts").glob("*.txt"))
    if not files:
        pytest.skip("the conformance kit has no texts")
    return [file.read_text(encoding="utf-8")[:most] for file in files]


def pretokens_of(tokenizer, texts):
    """The distinct pretokens that a live reference cuts the texts into."""
    found = set()
    for text in texts:
        if tokenizer.normalizer is not None:
            text = tokenizer.normalizer.normalize_str(text)
        found.update(piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
    return sorted(found)
