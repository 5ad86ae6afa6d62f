"""Tokenizers from files and to files, by the names that users of Hugging Face's library know; `ctok.load` is the main door."""

from __future__ import annotations

from ._paths import Paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Buffer, Self

    from ..spec import Spec


class Files(Paths):
    """The part of `Tokenizer` that reads and writes files."""

    __slots__ = ()

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Return the tokenizer that `spec` describes."""
        raise NotImplementedError

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Self:
        """Return the tokenizer of a vocabulary file of any format that ctok reads, or of a directory that holds one.

        As `ctok.load`, but `path` is never taken for a name. Raises what `ctok.formats.load` and `from_spec` do.
        """
        from ..formats import load

        return cls.from_spec(load(path))

    @classmethod
    def from_str(cls, text: str) -> Self:
        """Return the tokenizer of a tokenizer.json's text; raises what `ctok.formats.tokenizer_json.loads` and `from_spec` do."""
        from ..formats.tokenizer_json import loads

        return cls.from_spec(loads(text.encode("utf-8", "surrogatepass")))

    @classmethod
    def from_buffer(cls, data: Buffer) -> Self:
        """Return the tokenizer of a file's bytes: what is one file and says all by itself.

        Those are a tokenizer.json, a tekken file, a binary vocabulary, and the rank files of the public encodings. Raises what
        `ctok.formats.loads` and `from_spec` do.
        """
        from ..formats import loads

        return cls.from_spec(loads(data))

    def save(self, path: str | PathLike[str], *, format: str | None = None) -> None:
        """Write the tokenizer to a file, as a whole or not at all.

        Parameters
        ----------
        path
            Its name says the format: tokenizer.json (``.json``), a rank file (``.tiktoken``), a SentencePiece model (``.model``),
            ``vocab.json`` with ``merges.txt`` beside it, ``vocab.txt``, else ctok's binary form.
        format
            Overrules: ``"tokenizer_json"``, ``"tiktoken"``, ``"sentencepiece"``, ``"merges_txt"``, ``"vocab_txt"`` or ``"binary"``.

        Raises
        ------
        SpecError
            Read again, the file would not give the same ids; the message names what the format cannot say. A rank file never says its
            split pattern and special tokens: that is not refused.
        OSError
            The file cannot be written.
        """
        from ..conversion import convert
        from ..formats import dump, format_of

        kind = format_of(path) if format is None else format
        dump(convert(self.spec, kind).spec, path, format=kind)
