"""Which encoding a model uses: what tiktoken says, as it says it, and what ctok says.

Data, and the two rules that read it. ctok's rule goes further than tiktoken's: a fine-tuned model is looked up by its base, a provider's
prefix is understood, and the name of a family must be followed by a separator, so that "gpt-5.1" is of the family "gpt-5" and
"gpt-50" is not.
"""

from __future__ import annotations

from ..spec import Record

O200K, CL100K, P50K, R50K = "o200k_base", "cl100k_base", "p50k_base", "r50k_base"

# tiktoken 0.14, exact names.
TIKTOKEN_MODELS = {
    **dict.fromkeys(("o1", "o3", "o4-mini", "gpt-5", "gpt-4.1", "gpt-4o"), O200K),
    **dict.fromkeys(("gpt-4", "gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo", "davinci-002", "babbage-002"), CL100K),
    **dict.fromkeys(("text-embedding-ada-002", "text-embedding-3-small", "text-embedding-3-large"), CL100K),
    **dict.fromkeys(("text-davinci-003", "text-davinci-002"), P50K),
    **dict.fromkeys(("text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001", "davinci", "curie", "babbage", "ada"), R50K),
    **dict.fromkeys(
        ("code-davinci-002", "code-davinci-001", "code-cushman-002", "code-cushman-001", "davinci-codex", "cushman-codex"), P50K
    ),
    **dict.fromkeys(("text-davinci-edit-001", "code-davinci-edit-001"), "p50k_edit"),
    **{f"text-similarity-{size}-001": R50K for size in ("davinci", "curie", "babbage", "ada")},
    **{f"text-search-{size}-doc-001": R50K for size in ("davinci", "curie", "babbage", "ada")},
    **dict.fromkeys(("code-search-babbage-code-001", "code-search-ada-code-001"), R50K),
    **dict.fromkeys(("gpt2", "gpt-2"), "gpt2"),
}

# tiktoken 0.14, prefixes; the first that fits decides. "ft:gpt-4.1..." falls to "ft:gpt-4", which is wrong and kept.
TIKTOKEN_PREFIXES = {
    **dict.fromkeys(("o1-", "o3-", "o4-mini-", "gpt-5", "gpt-4.5-", "gpt-4.1-", "chatgpt-4o-", "gpt-4o-"), O200K),
    **dict.fromkeys(("gpt-4-", "gpt-3.5-turbo-", "gpt-35-turbo-"), CL100K),
    "gpt-oss-": "o200k_harmony",
    "ft:gpt-4o": O200K,
    **dict.fromkeys(("ft:gpt-4", "ft:gpt-3.5-turbo", "ft:davinci-002", "ft:babbage-002"), CL100K),
}

# ctok: the name itself, or the name followed by one of the separators.
FAMILIES = (
    *((name, "-", O200K) for name in ("o1", "o3", "o4-mini", "gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-realtime", "gpt-audio")),
    *((name, "-", O200K) for name in ("gpt-image", "codex-mini", "computer-use-preview", "chat-latest", "gpt-4o-realtime", "gpt-4o-audio")),
    ("gpt-5", "-.", O200K),
    ("gpt-oss", "-", "o200k_harmony"),
    *((name, "-", CL100K) for name in ("gpt-4", "gpt-3.5-turbo", "gpt-35-turbo", "text-embedding-3")),
)

PROVIDERS = frozenset(
    ("openai", "azure", "azure_ai", "openrouter", "github", "github_copilot", "litellm_proxy", "text-completion-openai", "models")
)

_CLAUDE = "Anthropic publishes no tokenizer for Claude; its API counts tokens: messages.count_tokens (POST /v1/messages/count_tokens)"
_GEMINI = "Google publishes no tokenizer file for Gemini; its API counts tokens: models.countTokens"
_OTHER = "no rule for this model; if its tokenizer file is public, use ctok.load(path); OpenAI's API counts tokens of any of its models: responses.input_tokens"  # noqa: E501
REFUSED = (("claude", _CLAUDE), ("anthropic", _CLAUDE), ("gemini", _GEMINI))


class ModelInfo(Record):
    """Which vocabulary a model uses, and how sure that is.

    Attributes
    ----------
    name
        The model's name as it was given.
    encoding
        Name of the encoding, or None when it is not known.
    exact
        True: this very name (or the base of a fine-tuned model) is in the table. False: inferred from its family, or not known.
    source
        The rule that decided; where `encoding` is None, why, and what to do instead.
    """

    __slots__ = ("name", "encoding", "exact", "source")  # noqa: RUF023 - the order of the constructor
    name: str
    encoding: str | None
    exact: bool
    source: str

    def __init__(self, name: str, encoding: str | None, exact: bool, source: str) -> None:
        self._set(name=name, encoding=encoding, exact=exact, source=source)


def tiktoken_encoding_for(model: str) -> str | None:
    """Return what tiktoken 0.14 says, errors included, or None where it raises."""
    if model in TIKTOKEN_MODELS:
        return TIKTOKEN_MODELS[model]
    return next((encoding for prefix, encoding in TIKTOKEN_PREFIXES.items() if model.startswith(prefix)), None)


def look_up(name: str) -> ModelInfo:
    """Return ctok's answer for a model's name; it never raises for a str."""
    *providers, model = name.strip().lower().split("/")
    for word, advice in REFUSED:
        if model.startswith(word) or f"{word}." in model or f"{word}-" in model or word in providers:
            return ModelInfo(name, None, False, advice)
    if not PROVIDERS.issuperset(providers):
        return ModelInfo(name, None, False, _OTHER)
    model, kind = _base(model)
    if model in TIKTOKEN_MODELS:
        return ModelInfo(name, TIKTOKEN_MODELS[model], True, f"table of models: {model}{kind}")
    for family, separators, encoding in FAMILIES:
        if model == family:
            return ModelInfo(name, encoding, True, f"table of families: {family}{kind}")
        if model.startswith(family) and model[len(family)] in separators:
            return ModelInfo(name, encoding, False, f"inferred from the family {family}{kind}")
    return ModelInfo(name, None, False, _OTHER)


def _base(model: str) -> tuple[str, str]:
    """The model without what fine-tuning ("ft:BASE:org::id", "BASE:ft-org-date") or a router ("BASE:variant") adds."""
    if model.startswith("ft:"):
        return model[3:].partition(":")[0], ", fine-tuned"
    base, _, rest = model.partition(":")
    return base, ", fine-tuned" if rest.startswith("ft-") else ""
