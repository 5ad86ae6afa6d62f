"""The stages of a tokenizer as plain values, one immutable record each: what a `Spec` holds beside its model's table.

Names, fields and defaults are those of the Hugging Face `tokenizers` library, whose files say these things. Values that such a file
writes in capitals (``"MergedWithPrevious"``) are written here as that library's Python interface does (``"merged_with_previous"``).

Modules: `normalizers`, `pretokenizers`, `models`, `postprocessors`, `decoders`, `limits` (truncation and padding), `sentencepiece`
(the stages of a .model file, which come together), and `patterns` and
`spelling`, which several of them use. None is imported until a specification needs it.
"""
