"""Looking for a name, place after place, in the order that `ctok.registry` states."""

from __future__ import annotations

import os

from ..errors import VocabularyNotFoundError
from ..spec import BPE, Spec, Split
from . import _places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..formats._known import Encoding
    from ..spec import TokenTable


def spec_for(name: str) -> Spec:
    """Return the `Spec` of a named vocabulary, looked for as `ctok.registry` says. Nothing is kept.

    Raises
    ------
    VocabularyNotFoundError
        No place has this name; the error lists the places, and says how to supply the file.
    VocabularyFileError
        A file is malformed, damaged, or not the published one. It is left as it is.
    """
    from ..formats._known import ENCODINGS

    tried: list[str] = []
    if name in ENCODINGS:
        encoding = ENCODINGS[name]
        table, source = _table(encoding, tried)
        return Spec(name, BPE(table), Split(encoding.pattern), encoding.added_tokens(), source=source)
    spec = own_spec(name, tried)
    if spec is not None:
        return spec
    tried.append(f"the public encodings: {', '.join(ENCODINGS)}")
    cure = (
        "Give the path of a file (a model's tokenizer.json, say; nothing is loaded from a hub), put NAME.bin or NAME.tiktoken into "
        "CTOK_VOCAB_DIR, or run 'ctok cache add FILE'."
    )
    raise _not_found(name, tried, cure)


def own_spec(name: str, tried: list[str]) -> Spec | None:
    """Return the spec of a name that is not a public encoding, from a file in one of the user's folders or from a plug-in, or None."""
    from ..formats import load
    from . import _plugins

    for folder in (_places.vocab_dir(), _places.cache_dir()):
        for path in _places.named_files(folder, (name,)):
            if os.path.exists(path):
                return load(path).replace(name=name)
            tried.append(f"{path}: no such file")
    return _plugins.spec_of(name, tried)


def list_vocabularies() -> dict[str, str]:
    """Return the names that `load` takes, with where each would come from: a path, "built in", "tiktoken_ext.MODULE", or "download"."""
    from ..formats._known import ENCODINGS
    from ._plugins import constructors

    found = {name: _whereabouts(encoding) for name, encoding in ENCODINGS.items()}
    for folder in (_places.vocab_dir(), _places.cache_dir()):
        for file in sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else ():
            stem, suffix = os.path.splitext(file)
            if suffix == ".bin" and not stem.startswith("."):
                found.setdefault(stem, os.path.join(folder or "", file))
    for name, (module, _) in constructors([]).items():
        found.setdefault(name, f"tiktoken_ext.{module}")
    return found


def _table(encoding: Encoding, tried: list[str]) -> tuple[TokenTable, str]:
    stems = _places.stems_of(encoding)
    if _places.vocab_dir() is None:
        tried.append("CTOK_VOCAB_DIR: not set")
    found = _first_table(_places.named_files(_places.vocab_dir(), stems), encoding, tried)
    if found is None:
        packed = _places.built_in(encoding.file.name)
        if packed is not None:
            from ..formats import binary

            return binary.loads(packed).model.tokens, "built in"
        found = _first_table(_cached_files(encoding), encoding, tried)
    return found or _plugin_table(encoding, tried) or _downloaded(encoding, tried)


def _first_table(paths: Iterable[str], encoding: Encoding, tried: list[str]) -> tuple[TokenTable, str] | None:
    for path in paths:
        try:
            return _places.read_verified(path, encoding), path
        except OSError as error:
            tried.append(f"{path}: {error.strerror or error}")
    return None


def _cached_files(encoding: Encoding) -> Iterator[str]:
    stems = _places.stems_of(encoding)
    yield from _places.named_files(_places.cache_dir(), stems)
    theirs = _places.tiktoken_cache_dir()
    if theirs is not None:
        yield _places.url_file(theirs, encoding.file.url)
        if encoding.name == "gpt2":
            yield _places.url_file(theirs, _places.GPT2_MERGES)
        yield from _places.named_files(theirs, stems)


def _plugin_table(encoding: Encoding, tried: list[str]) -> tuple[TokenTable, str] | None:
    """What a plug-in gives under a public encoding's name counts only if it is the published content."""
    from ..formats import _disk, tiktoken
    from . import _plugins

    spec = _plugins.spec_of(encoding.name, tried)
    if spec is None:
        return None
    if _disk.sha256(tiktoken.dumps(spec)) != encoding.file.sha256:
        tried.append(f"{spec.source}: what it gives for {encoding.name} is not the published content")
        return None
    return spec.model.tokens, str(spec.source)


def _downloaded(encoding: Encoding, tried: list[str]) -> tuple[TokenTable, str]:
    from . import _download

    file = encoding.file
    if _download.is_forbidden():
        tried.append(f"{file.url}: not asked, CTOK_OFFLINE is set")
    else:
        try:
            return _places.rank_table(_download.fetch(file, _places.cache_dir()), file.url), file.url
        except OSError as error:
            tried.append(f"{file.url}: {error}")
    cure = (
        f"Get {file.url} (sha256 {file.sha256}) where there is a network, put it as {file.name}.tiktoken into a folder, and set "
        "CTOK_VOCAB_DIR to this folder."
    )
    raise _not_found(encoding.name, tried, cure)


def _not_found(name: str, tried: list[str], cure: str) -> VocabularyNotFoundError:
    from ._models import look_up

    if os.path.splitext(name)[1] in (".json", ".model", ".tiktoken", ".txt", ".bin"):
        tried.insert(0, f"{os.path.abspath(name)}: no such file")
    places = "".join(f"\n  {place}" for place in tried)
    encoding = look_up(name).encoding
    if encoding is not None and encoding != name:
        cure = f"It is the name of a model, which uses {encoding!r}: use ctok.for_model for it. {cure}"
    return VocabularyNotFoundError(f"there is no vocabulary {name!r} here. {cure}\nTried:{places}", name=name, tried=tried)


def _whereabouts(encoding: Encoding) -> str:
    stems = _places.stems_of(encoding)
    for path in _places.named_files(_places.vocab_dir(), stems):
        if os.path.exists(path):
            return path
    if encoding.file.name == "o200k_base":
        return "built in"
    return next((path for path in _cached_files(encoding) if os.path.exists(path)), "download")
