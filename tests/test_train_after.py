"""After training: vocabularies extended and pruned, and words explained."""

import random

import pytest

import ctok
from ctok import formats, registry, train
from ctok._reference.train_bpe import go_on
from ctok.errors import SpecError, TrainingError
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable
from ctok.stagespecs import decoders, postprocessors, pretokenizers
from ctok.stagespecs.models import WordPiece, bpe_from_merges, table_of_texts
from ctok.stagespecs.sentencepiece import Normalizer, pieces_from_list
from ctok.train import Counts, UnigramTrainer, WordLevelTrainer, explain, extend, merge_trees, prune
from ctok.train._extend import _learn as learn_more
from ctok.train._view import View

tokenizers = pytest.importorskip("tokenizers")
tiktoken = pytest.importorskip("tiktoken")
OLD = ["the low lower lowest of the new newer newest", "wide wider widest widely; low and new"] * 4
NEW = ["tokenizer tokens tokenizing the token", "tokenized and detokenized; low tokenizers \u00e9t\u00e9"] * 5
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEXT = " ".join(OLD + NEW)


def ranks_of(n):
    return {token: rank for token, rank in registry.spec_for("o200k_base").model.tokens if rank < n}


def by_rank(n=2000, **fields):
    added = [AddedToken("<|end|>", n + 7)]
    return Spec("small", BPE(TokenTable.from_dict(ranks_of(n))), Split(GPT2), added, **fields)


def live_merges():
    """A byte-level tokenizer that the reference trained."""
    live = tokenizers.Tokenizer(tokenizers.models.BPE())
    live.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    live.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=275, special_tokens=["<s>"], initial_alphabet=alphabet, show_progress=False)
    live.train_from_iterator(OLD, trainer)
    return live


def wordpiece():
    texts = ["[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz;", *("##" + char for char in "abcdefghijklmnopqrstuvwxyz")]
    texts += ["the", "low", "##er", "new", "##est", "lower"]
    ids = {text: number for number, text in enumerate(texts)}
    added = [AddedToken(text, ids[text]) for text in texts[:3]]
    around = postprocessors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    model = WordPiece(table_of_texts(ids))
    return Spec("wordpiece", model, pretokenizers.BertPreTokenizer(), added, None, around, decoders.WordPiece())


def spec_of_live(live, tmp_path):
    live.save(str(tmp_path / "live.json"))
    return formats.load(tmp_path / "live.json")


def texts_of(spec):
    found = {number: text for text, number in spec.model.tokens}
    return found | {token.id: token.content.encode() for token in spec.added_tokens}


def check_in_tokenizers(spec, tmp_path):
    formats.dump(spec, tmp_path / "made.json", format="tokenizer_json")
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "made.json"))
    tok = ctok.Tokenizer.from_spec(spec)
    for text in [*OLD[:2], *NEW[:2], TEXT]:
        assert live.encode(text).ids == tok.encode(text)
    return tok


# ---- more tokens ----


def test_k11_09_extended_ranks_keep_old_ids_and_load_in_tiktoken(tmp_path):
    old = by_rank()
    spec = extend(old, NEW, 10)
    assert texts_of(old).items() <= texts_of(spec).items()
    assert sorted(texts_of(spec).keys() - texts_of(old).keys()) == list(range(2008, 2018))
    tok = ctok.Tokenizer.from_spec(spec)
    live = tiktoken.Encoding("x", pat_str=GPT2, mergeable_ranks=dict(spec.model.tokens), special_tokens={"<|end|>": 2007})
    assert tok.encode(TEXT) == live.encode(TEXT)
    assert max(tok.encode(" ".join(NEW))) > 2007
    assert tok.count(" ".join(NEW)) < ctok.Tokenizer.from_spec(old).count(" ".join(NEW))


def test_k6_47_ranks_with_special_tokens_become_a_tokenizer_json(tmp_path):
    tok = ctok.Tokenizer.from_spec(train.BpeTrainer(280, form="bytes", special_tokens=["<s>"]).train(OLD))
    tok.save(tmp_path / "tokenizer.json")
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = ctok.load(tmp_path / "tokenizer.json")
    for text in [*OLD[:20], TEXT, "<s>the<s>"]:
        assert live.encode(text).ids == again.encode(text, allowed_special="all") == tok.encode(text, allowed_special="all")


def test_k11_09_extended_merges_keep_old_ids_and_load_in_tokenizers(tmp_path):
    old = spec_of_live(live_merges(), tmp_path)
    spec = extend(old, NEW, 15)
    assert texts_of(old).items() <= texts_of(spec).items()
    assert len(spec.model.tokens) == len(old.model.tokens) + 15
    tok = check_in_tokenizers(spec, tmp_path)
    assert tok.count(" ".join(NEW)) < ctok.Tokenizer.from_spec(old).count(" ".join(NEW))


def test_training_on_is_what_training_longer_would_have_been(tmp_path):
    """On the same corpus, the extension continues where the trainer stopped."""
    old = spec_of_live(live_merges(), tmp_path)
    live = live_merges()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=285, special_tokens=["<s>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    live.train_from_iterator(OLD, trainer)
    longer = spec_of_live(live, tmp_path)
    assert extend(old, OLD, len(longer.model.tokens) - len(old.model.tokens), min_frequency=0).model == longer.model


@pytest.mark.parametrize("kind", ["ranks", "wordpiece"])
def test_merges_of_an_extension_are_those_of_the_plain_twin(kind):
    rng = random.Random(7)
    old = by_rank(300) if kind == "ranks" else wordpiece()
    view = View(old)
    if kind == "ranks":
        firsts = rests = [number for number, text in view.texts.items() if len(text) == 1 and text.isalpha()][:6]
    else:
        rests = [view.ids[text] for text in (b"##a", b"##b", b"##c", b"##e", b"##r", b"##er")]
        firsts = [number for number, text in view.texts.items() if not text.startswith(b"##")][3:8]
    prefix = b"" if kind == "ranks" else b"##"
    for _ in range(25):
        words = [([rng.choice(firsts), *rng.choices(rests, k=rng.randint(1, 9))], rng.randint(1, 4)) for _ in range(rng.randint(1, 40))]
        texts, least = dict(view.texts), rng.randint(1, 4)
        texts |= {view.first_free - 1: b"|"} if kind == "ranks" else {}
        want = go_on(words, texts, 30, least, prefix)
        learned = learn_more(view, words, 30, least, 2**31 - 1)
        assert [pair for pair, _ in learned] == want
        assert [text for _, text in learned] == [texts[view.first_free + at] for at in range(len(want))]


def test_extended_tokens_are_not_longer_than_asked_for():
    for length in (1, 2, 3, 5):
        new = [text.decode() for number, text in texts_of(extend(wordpiece(), NEW, 60, max_token_length=length)).items() if number > 61]
        assert max(len(text.removeprefix("##")) for text in new) == length
        spec = extend(by_rank(300), NEW, 60, max_token_length=length)
        assert max((len(text) for number, text in texts_of(spec).items() if number > 307), default=1) == length


def test_extended_wordpiece_loads_in_tokenizers(tmp_path):
    old = wordpiece()
    spec = extend(old, NEW, 12)
    assert texts_of(old).items() <= texts_of(spec).items()
    new = [text.decode() for number, text in sorted(texts_of(spec).items()) if number not in texts_of(old)]
    assert new[:2] == ["##\u00e9", "\u00e9"]  # what it could not say at all
    assert len(new) == 12
    check_in_tokenizers(spec, tmp_path)


def test_extended_words_and_unigrams_load_in_tokenizers(tmp_path):
    words = WordLevelTrainer(9).train(OLD)
    spec = extend(words, NEW, 3)
    assert texts_of(words).items() <= texts_of(spec).items()
    assert len(spec.model.tokens) == len(words.model.tokens) + 3
    check_in_tokenizers(spec, tmp_path)
    old = UnigramTrainer(60).train(OLD)
    spec = extend(old, NEW, 10)
    assert texts_of(old).items() <= texts_of(spec).items()
    assert len(old.model.tokens) < len(spec.model.tokens) <= len(old.model.tokens) + 10
    assert "\u00e9" in {text.decode() for text in texts_of(spec).values()}
    check_in_tokenizers(spec, tmp_path)


def test_extended_pieces_of_a_model_go_on_behind_the_others():
    listed = [("<unk>", 0.0, 2), *((char, -3.0, 1) for char in "\u2581abc"), ("\u2581ab", -2.0, 1)]
    old = Spec("m", pieces_from_list(listed), None, (), Normalizer())
    spec = extend(old, {"\u2581abcd": 9, "\u2581cab": 7, "\u2581d": 5}, 4)
    assert texts_of(old).items() <= texts_of(spec).items()
    assert len(spec.model.types) == len(spec.model.scores) // 4 == len(spec.model.tokens) == 9
    assert "d" in {text.decode() for text in texts_of(spec).values()}


def test_byte_pair_models_of_sentencepiece_are_extended_pruned_and_explained(tmp_path):
    spm = pytest.importorskip("sentencepiece")
    old = train.BpeTrainer(55, form="sentencepiece").train(OLD + NEW[:1])
    spec = extend(old, NEW, 6)
    assert texts_of(old).items() <= texts_of(spec).items()
    assert len(spec.model.tokens) == len(old.model.tokens) + 6
    less = prune(old, OLD, vocab_size=len(old.model.tokens) - 8)
    for made in (spec, less.spec):
        formats.dump(made, tmp_path / "m.model")
        live = spm.SentencePieceProcessor(str(tmp_path / "m.model"))
        tok = ctok.Tokenizer.from_spec(made)
        assert [tok.encode(text) for text in OLD + NEW] == [live.encode(text) for text in OLD + NEW]
    assert ctok.Tokenizer.from_spec(spec).count(TEXT) < ctok.Tokenizer.from_spec(old).count(TEXT)
    assert "\u251c\u2500 " in explain(old, "low")


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(TrainingError):
        extend(by_rank(300), [], 5)
    with pytest.raises(ValueError, match="n_tokens"):
        extend(by_rank(300), NEW, 0)
    gap = UnigramTrainer(60).train(OLD)
    gap = gap.replace(added_tokens=[*gap.added_tokens, AddedToken("<far>", 99)])
    with pytest.raises(SpecError, match="gap"):
        extend(gap, NEW, 3)


# ---- fewer tokens ----


@pytest.mark.parametrize("vocab_size", [None, 300, 700])
def test_pruned_ranks_say_the_same_text_and_load_in_tiktoken(vocab_size):
    old = by_rank()
    pruned = prune(old, OLD, vocab_size=vocab_size)
    assert vocab_size is None or len(pruned.old_ids) == vocab_size
    assert list(pruned.old_ids) == sorted(set(pruned.old_ids))
    assert all(texts_of(pruned.spec)[new] == texts_of(old)[number] for new, number in enumerate(pruned.old_ids))
    ranks = dict(pruned.spec.model.tokens)
    live = tiktoken.Encoding("x", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={"<|end|>": pruned.spec.added_tokens[0].id})
    tok = ctok.Tokenizer.from_spec(pruned.spec)
    assert tok.encode(TEXT) == live.encode(TEXT)
    if vocab_size is None:  # the corpus itself is encoded as before, under other numbers
        before = ctok.Tokenizer.from_spec(old)
        assert [[pruned.old_ids[i] for i in tok.encode(text)] for text in OLD] == [before.encode(text) for text in OLD]


def test_pruned_merges_and_wordpieces_load_in_tokenizers(tmp_path):
    for old in (spec_of_live(live_merges(), tmp_path), wordpiece()):
        for corpus, size in ((OLD, None), (None, len(texts_of(old)) - 4), (OLD[:1], len(texts_of(old)) - 6)):
            pruned = prune(old, corpus, vocab_size=size)
            assert all(texts_of(pruned.spec)[new] == texts_of(old)[number] for new, number in enumerate(pruned.old_ids))
            tok = check_in_tokenizers(pruned.spec, tmp_path)
            if corpus is OLD:
                before = ctok.Tokenizer.from_spec(old)
                assert [[pruned.old_ids[i] for i in tok.encode(text)] for text in OLD] == [before.encode(text) for text in OLD]


def test_pruned_unigrams_keep_characters_and_the_best(tmp_path):
    old = UnigramTrainer(80).train(OLD + NEW)
    size = len(old.model.tokens) - 5
    pruned = prune(old, vocab_size=size, keep=["\u2581token"])
    kept = {text.decode() for text in texts_of(pruned.spec).values()}
    assert len(pruned.old_ids) == size and "\u2581token" in kept
    assert {text.decode() for text in texts_of(old).values() if len(text.decode()) == 1} <= kept
    check_in_tokenizers(pruned.spec, tmp_path)


def test_the_least_used_goes_first_and_its_use_is_that_of_its_parts():
    merges = [("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "e")]
    ids = {text: n for n, text in enumerate([*"abcde", "ab", "abc", "cd", "cde"])}
    old = Spec("m", bpe_from_merges(ids, merges), None)
    counts = Counts.from_mapping({"abc": 3, "cde": 2, "cd": 2})
    assert [prune(old, counts, vocab_size=n).old_ids[5:] for n in (8, 7, 6)] == [(5, 6, 7), (5, 7), (7,)]


def test_a_size_that_cannot_be_had_is_refused():
    with pytest.raises(TrainingError) as caught:
        prune(by_rank(), vocab_size=100)
    assert caught.value.smallest == 257
    assert len(prune(by_rank(), vocab_size=257).old_ids) == 257
    with pytest.raises(ValueError, match="corpus"):
        prune(by_rank())
    with pytest.raises(ValueError, match="no token"):
        prune(by_rank(), vocab_size=400, keep=["no such token"])


# ---- why ----


def test_merge_tree_spells_the_token_at_every_node():
    spec = by_rank()
    encoder = ctok.Tokenizer.from_spec(spec)
    rng = random.Random(3)
    words = [token.decode() for token, _ in rng.sample(list(spec.model.tokens), 60) if token.isascii()]
    for word in words:
        trees = merge_trees(spec, word)
        assert sorted(tree.id for tree in trees) == sorted(set(encoder.encode(word))) or len(trees) == len(encoder.encode(word))
        left = list(trees)
        while left:
            node = left.pop()
            left += node.parts
            assert len(node.parts) in (0, 2)
            assert not node.parts or node.parts[0].text + node.parts[1].text == node.text


def test_explanations_are_told_in_lines(tmp_path):
    assert explain(by_rank(), " the").splitlines()[0].startswith("' the' ")
    assert "\u2514\u2500 " in explain(by_rank(), " the")
    assert "next best" in explain(UnigramTrainer(80).train(OLD + NEW), "token")
    assert explain(wordpiece(), "lowest").splitlines()[0] == "'low' 57"
    assert explain(spec_of_live(live_merges(), tmp_path), " wide").startswith("' wide' ")


def test_names_at_the_door_are_functions():
    for name in train.__all__:
        assert callable(getattr(train, name)), name
