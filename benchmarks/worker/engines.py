"""The tokenizers that are compared, behind one face. Runs in each engine's own environment: standard library only.

`make(name, encoding, folder)` returns an `Engine` loaded from local files of `folder`: ENCODING.tiktoken, or ENCODING.json where a library
reads only that. What an engine cannot do is None, and is then reported as missing, not as slow.
"""

import codecs
import os


class Engine:
    """`encode` str -> list of int, special tokens being text; the others as their names say."""

    def __init__(self, encode, decode=None, count=None, ids=None, decoder=None, step=None, stream_encoder=None):
        self.encode = encode
        self.decode = decode
        self.count = count
        self.ids = ids                          # str -> the library's own buffer of ids, no list made
        self.decoder = decoder                  # () -> a new stream decoder
        self.step = step                        # stream decoder -> callable(id) -> str or None
        self.stream_encoder = stream_encoder    # () -> (callable(chunk) -> ids, callable() -> last ids)


BUILT_IN = ("o200k_base", "o200k_harmony")     # with these ctok comes, and a file of theirs in CTOK_VOCAB_DIR would be read instead


def _ctok(encoding, folder):
    if encoding not in BUILT_IN:
        os.environ.setdefault("CTOK_VOCAB_DIR", folder)
    os.environ["CTOK_OFFLINE"] = "1"
    import ctok

    tok = ctok.load(encoding)

    def stream_encoder():
        encode = tok.encoder().encode
        return encode, lambda: encode("", True)

    return Engine(tok.encode, tok.decode, tok.count, tok.encode_ids, tok.decoder, lambda decoder: decoder.decode, stream_encoder)


def _tiktoken(encoding, folder):
    import tiktoken
    import tiktoken_ext.openai_public as public

    real = public.load_tiktoken_bpe
    # Its own definition of the encoding, pattern and all; only the download is replaced by the local file.
    public.load_tiktoken_bpe = lambda url, **_: real(os.path.join(folder, os.path.basename(url)))
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    enc = tiktoken.get_encoding(encoding)
    token_bytes = enc.decode_single_token_bytes

    def decoder():
        return codecs.getincrementaldecoder("utf-8")("replace")

    def step(decoder):
        decode = decoder.decode
        return lambda i: decode(token_bytes(i))

    return Engine(enc.encode_ordinary, enc.decode, decoder=decoder, step=step)


def _tokenizers(encoding, folder):
    from tokenizers import Tokenizer
    from tokenizers.decoders import DecodeStream

    tok = Tokenizer.from_file(os.path.join(folder, encoding + ".json"))

    def step(decoder):
        advance = decoder.step
        return lambda i: advance(tok, i)

    return Engine(
        lambda text: tok.encode(text, add_special_tokens=False).ids,
        lambda ids: tok.decode(ids, skip_special_tokens=False),
        decoder=lambda: DecodeStream(skip_special_tokens=False),
        step=step,
    )


def _fastokens(encoding, folder):
    from fastokens._native import DecodeStream, Tokenizer

    tok = Tokenizer.from_tiktoken(os.path.join(folder, encoding + ".tiktoken"), encoding=encoding)

    def step(decoder):
        advance = decoder.step
        return lambda i: advance(tok, i)

    return Engine(
        lambda text: tok.encode_ordinary(text).ids,
        tok.decode,
        ids=lambda text: tok.encode_batch_flat([text]),
        decoder=lambda: DecodeStream(skip_special_tokens=False),
        step=step,
    )


def _gigatoken(encoding, folder):
    import gigatoken

    tok = gigatoken.Tokenizer.from_tiktoken(os.path.join(folder, encoding + ".tiktoken"))
    encode = tok.encode

    def decode(ids):
        text = tok.decode(ids)
        return text if isinstance(text, str) else bytes(text).decode("utf-8", "replace")

    return Engine(lambda text: encode(text).tolist(), decode, ids=encode)


def _toktok(encoding, folder):
    import toktok

    tok = toktok._encoding(encoding)
    return Engine(tok.encode_ordinary, tok.decode, tok.count)


def _splintr(encoding, folder):
    import splintr

    tok = splintr.Tokenizer.from_pretrained(encoding)
    return Engine(
        tok.encode_ordinary, tok.decode_lossy, ids=tok.encode_flat, decoder=tok.streaming_decoder, step=lambda decoder: decoder.add_token
    )


def _quicktok(encoding, folder):
    import quicktok

    tok = quicktok.get_encoding(encoding)
    return Engine(tok.encode_ordinary, tok.decode, tok.count, ids=lambda text: tok.encode_batch([text], threads=1))


def _iree(encoding, folder):
    from iree.runtime import Tokenizer

    with open(os.path.join(folder, encoding + ".tiktoken"), encoding="ascii") as file:
        tok = Tokenizer.from_tiktoken(file.read(), encoding)

    def stream_encoder():
        stream = tok.encode_stream(no_special_token_matching=True)
        return stream.feed, stream.finalize

    return Engine(
        lambda text: tok.encode(text, no_special_token_matching=True),
        tok.decode,
        decoder=tok.decode_stream,
        step=lambda decoder: decoder.feed_one,
        stream_encoder=stream_encoder,
    )


def _tuetoken(encoding, folder):
    from tuetoken import Tokenizer

    tok = Tokenizer(os.path.join(folder, encoding + ".json"))
    return Engine(tok.encode_ordinary, tok.decode, tok.count_tokens, ids=tok.encode_to_bytes)


# engine -> (how it is loaded, the distribution whose version is named)
ENGINES = {
    "ctok": (_ctok, "ctok-stream"),
    "tiktoken": (_tiktoken, "tiktoken"),
    "tokenizers": (_tokenizers, "tokenizers"),
    "fastokens": (_fastokens, "fastokens"),
    "gigatoken": (_gigatoken, "gigatoken"),
    "toktok": (_toktok, "toktok-rs"),
    "splintr": (_splintr, "splintr-rs"),
    "quicktok": (_quicktok, "quicktok-v1"),
    "iree": (_iree, "iree-base-runtime"),
    "tuetoken": (_tuetoken, "tuetoken"),
}


def make(name, encoding, folder):
    return ENGINES[name][0](encoding, folder)


def version(name):
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(ENGINES[name][1])
    except PackageNotFoundError:
        module = __import__(name)       # a source tree
        return getattr(module, "__version__", "unknown")
