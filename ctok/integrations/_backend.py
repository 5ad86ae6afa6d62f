"""What stands in a fast tokenizer of transformers in place of the reference's tokenizer."""

from __future__ import annotations

from sys import modules

from ..compat.tokenizers import AddedToken, Tokenizer
from ..compat.tokenizers._component import cell_of
from ..errors import SpecError, VocabularyFileError
from ..formats import tokenizer_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..spec import Spec

__all__ = ["Backend", "is_reference", "reference", "spec_of"]

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def reference() -> Any:
    """Return the library `tokenizers`; transformers needs it anyway."""
    import tokenizers

    return tokenizers


def is_reference(value: object) -> bool:
    """Return whether something is one of the reference's tokenizers. Who has one has imported that library."""
    library: Any = modules.get("tokenizers")
    return library is not None and isinstance(value, library.Tokenizer)


def spec_of(backend: Any, name: str) -> Spec:
    """Return what one of the reference's tokenizers is.

    Raises
    ------
    SpecError
        ctok does not know a part of it, or it has a part written in Python.
    """
    try:
        written = backend.to_str()
    except Exception as error:  # the reference has no class of its own for this
        raise SpecError(f"{name!r}: ctok cannot run a component written in Python: {error}") from error
    try:
        return tokenizer_json.loads(written.encode()).replace(name=name)
    except VocabularyFileError as error:
        raise SpecError(f"{name!r}: ctok does not know this tokenizer: {error}") from error


def _stage(name: str) -> Any:
    """Return the property of a component that can be given as an object of the reference's, too."""
    ours = getattr(Tokenizer, name)

    def put(self: Backend, value: Any) -> None:
        if any(base.__module__.partition(".")[0] == "tokenizers" for base in type(value).__mro__):
            self._put_cell(name, cell_of(_record(name, value)))
        else:
            ours.fset(self, value)

    return property(ours.fget, put, doc=ours.__doc__)


def _record(name: str, component: Any) -> Any:
    library = reference()
    bare = library.Tokenizer(component if name == "model" else library.models.BPE())
    if name != "model":
        setattr(bare, name, component)
    return getattr(spec_of(bare, name), name)


class Backend(Tokenizer):
    """A `ctok.compat.tokenizers.Tokenizer` that takes and gives the reference's own added tokens, and takes its components."""

    model = _stage("model")
    normalizer = _stage("normalizer")
    pre_tokenizer = _stage("pre_tokenizer")
    post_processor = _stage("post_processor")
    decoder = _stage("decoder")

    def add_tokens(self, tokens: list[Any]) -> int:
        """As the reference's."""
        return super().add_tokens(list(map(_ours, tokens)))

    def add_special_tokens(self, tokens: list[Any]) -> int:
        """As the reference's."""
        return super().add_special_tokens(list(map(_ours, tokens)))

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        """Return id -> added token, by id, with objects of the reference's class."""
        make = reference().AddedToken
        found = super().get_added_tokens_decoder().items()
        return {number: make(token.content, **{flag: getattr(token, flag) for flag in _FLAGS}) for number, token in found}

    def __reduce__(self) -> tuple[Any, ...]:
        return Backend.from_spec, (self._spec(written=True),)

    def __copy__(self) -> Tokenizer:
        return Backend.from_spec(self._spec(written=True))


def _ours(token: Any) -> Any:
    if isinstance(token, (str, AddedToken)) or not isinstance(token, reference().AddedToken):
        return token
    return AddedToken(token.content, **{flag: getattr(token, flag) for flag in _FLAGS})
