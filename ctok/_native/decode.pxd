"""The decoding kernels by the name that the pipeline knows; they live in `detokenize`."""

from ctok._native.detokenize cimport (
    DecodeFault, DecodeHow, Ids, append_tokens, check_decoded, decode_bytes, decode_spans, decode_str, decode_text, free_ids, parse_how,
    read_ids, str_of)
