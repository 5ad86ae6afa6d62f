"""Which encoding a model uses: tiktoken's table to the letter, and ctok's own rule."""

import pytest

from ctok import registry
from ctok.errors import VocabularyNotFoundError
from ctok.registry import _models


def test_tiktoken_tables_are_those_of_the_installed_release():
    theirs = pytest.importorskip("tiktoken.model")
    assert theirs.MODEL_TO_ENCODING == _models.TIKTOKEN_MODELS
    assert list(theirs.MODEL_PREFIX_TO_ENCODING.items()) == list(_models.TIKTOKEN_PREFIXES.items())


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o",
        "gpt-5.1",
        "gpt-50",
        "ft:gpt-4.1:a::b",
        "ft:gpt-4o-mini:a",
        "gpt-oss",
        "gpt-oss-20b",
        "openai/gpt-4o",
        "GPT-4o",
        "",
        "o1-x",
        "o2",
    ],
)
def test_tiktoken_rule_answers_as_tiktoken_does(model):
    theirs = pytest.importorskip("tiktoken.model")
    try:
        want = theirs.encoding_name_for_model(model)
    except KeyError:
        want = None
    assert _models.tiktoken_encoding_for(model) == want


@pytest.mark.parametrize(
    ("model", "encoding", "exact"),
    [
        ("gpt-4o", "o200k_base", True), ("gpt-4o-mini", "o200k_base", False), ("gpt-4", "cl100k_base", True),
        ("gpt-4-32k", "cl100k_base", False),
        ("gpt-4.1", "o200k_base", True), ("gpt-4.1-nano", "o200k_base", False), ("gpt-4.5-preview", "o200k_base", False),
        ("gpt-4.5", "o200k_base", True),
        ("gpt-oss", "o200k_harmony", True), ("gpt-oss-20b", "o200k_harmony", False), ("o1", "o200k_base", True),
        ("o3-pro", "o200k_base", False),
        ("o4-mini-2025-04-16", "o200k_base", False), ("gpt-realtime", "o200k_base", True), ("gpt-realtime-mini", "o200k_base", False),
        ("gpt-audio", "o200k_base", True), ("codex-mini-latest", "o200k_base", False), ("gpt-5-codex", "o200k_base", False),
        ("computer-use-preview", "o200k_base", True), ("chat-latest", "o200k_base", True), ("gpt-image-1", "o200k_base", False),
        ("chatgpt-4o-latest", "o200k_base", False), ("gpt-4o-realtime-preview", "o200k_base", False),
        ("text-embedding-3-small", "cl100k_base", True), ("text-embedding-3-large", "cl100k_base", True), ("gpt2", "gpt2", True),
        ("text-davinci-003", "p50k_base", True), ("code-davinci-edit-001", "p50k_edit", True), ("davinci", "r50k_base", True),
        ("gpt-35-turbo", "cl100k_base", True), ("gpt-3.5-turbo-0125", "cl100k_base", False),
    ],
)  # fmt: skip
def test_model_is_of_its_encoding(model, encoding, exact):
    info = registry.model_info(model)
    assert (info.name, info.encoding, info.exact) == (model, encoding, exact)
    assert info.source


@pytest.mark.parametrize(
    ("model", "encoding"),
    [("gpt-5.1", "o200k_base"), ("gpt-5.6-mini", "o200k_base"), ("gpt-5", "o200k_base"), ("gpt-50", None), ("gpt-5o", None), ("o11", None),
     ("gpt-4.9", None), ("gpt-4all", None), ("gpt-6", None), ("o1x", None)],
)  # fmt: skip
def test_k11_15_families_end_where_their_name_ends(model, encoding):
    assert registry.model_info(model).encoding == encoding


@pytest.mark.parametrize(
    ("model", "encoding"),
    [("ft:gpt-4.1:acme::abc", "o200k_base"), ("ft:gpt-4o-mini-2024-07-18:acme:x:y", "o200k_base"), ("ft:gpt-3.5-turbo:acme", "cl100k_base"),
     ("ft:davinci-002", "cl100k_base"), ("davinci:ft-acme-2023-01-01", "r50k_base"), ("ft:unheard-of", None)],
)  # fmt: skip
def test_fine_tuned_model_is_looked_up_by_its_base(model, encoding):
    assert registry.model_info(model).encoding == encoding


@pytest.mark.parametrize(
    ("model", "encoding"),
    [("openai/gpt-4o", "o200k_base"), ("azure/gpt-35-turbo", "cl100k_base"), ("openrouter/openai/gpt-5.1", "o200k_base"),
    ("openai/gpt-4o:free", "o200k_base"),
     ("GPT-4o", "o200k_base"), (" gpt-4 ", "cl100k_base"), ("somebody/gpt-4o-copy", None), ("openai/gpt-oss-120b", "o200k_harmony")],
)  # fmt: skip
def test_provider_and_spelling_are_understood(model, encoding):
    assert registry.model_info(model).encoding == encoding


@pytest.mark.parametrize("model", ["claude-3-5-sonnet", "anthropic/claude-opus-4", "us.anthropic.claude-3-haiku", "openrouter/anthropic/x"])
def test_claude_is_refused_with_a_pointer(model):
    info = registry.model_info(model)
    assert (info.encoding, info.exact) == (None, False)
    assert "count_tokens" in info.source
    with pytest.raises(VocabularyNotFoundError, match=r"messages\.count_tokens") as caught:
        registry.for_model(model)
    assert caught.value.name == model


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "models/gemini-2.0-flash", "google/gemini-pro", "vertex_ai/gemini-pro"])
def test_gemini_is_refused_with_a_pointer(model):
    with pytest.raises(VocabularyNotFoundError, match="countTokens"):
        registry.for_model(model)


def test_unknown_model_says_what_to_do():
    with pytest.raises(VocabularyNotFoundError, match=r"ctok\.load"):
        registry.for_model("llama-3-70b")


def test_model_that_is_no_str_is_a_type_error():
    with pytest.raises(TypeError, match="NoneType"):
        registry.model_info(None)


def test_every_name_of_the_reference_that_it_gets_right_is_the_same_here():
    for model, encoding in _models.TIKTOKEN_MODELS.items():
        assert registry.model_info(model) == registry.ModelInfo(model, encoding, True, registry.model_info(model).source)
    for prefix, encoding in _models.TIKTOKEN_PREFIXES.items():
        assert registry.model_info(prefix + ("" if prefix.startswith("ft:") or prefix == "gpt-5" else "x")).encoding == encoding


def test_name_of_a_model_given_as_vocabulary_and_the_reverse_say_so():
    with pytest.raises(VocabularyNotFoundError, match=r"name of a model, which uses 'o200k_base': use ctok\.for_model"):
        registry.load("gpt-4o")
    with pytest.raises(VocabularyNotFoundError, match=r"name of a vocabulary, not of a model; use ctok\.load"):
        registry.for_model("o200k_base")
