"""The commands with vocabularies of every format, and `ctok convert`."""

import base64
import json

import pytest

import spm_files
from ctok import formats, load
from ctok.formats import vocab_txt
from test_cli_commands import ctok  # noqa: F401 - a fixture
from test_conversion import O200K_PATTERN, TEXTS, VOCAB, toy

tokenizers = pytest.importorskip("tokenizers")

TEXT = "Hello wörld,  it's 世界 \U0001f600\n"


def files(folder):
    """One vocabulary file of each format, and a directory."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram([("<unk>", 0.0), *((c, -2.0) for c in "▁Helowrd,its"), ("▁it", -1.0)], 0))
    tokenizer.normalizer = tokenizers.normalizers.NFKC()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", pair="$A $B", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    tokenizer.enable_truncation(512)
    tokenizer.save(str(folder / "tokenizer.json"))
    letters = [chr(c) for c in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]
    (folder / "gpt2").mkdir()
    (folder / "gpt2" / "vocab.json").write_text(json.dumps({letter: n for n, letter in enumerate([*letters, "he", "el", "<|endoftext|>"])}))
    (folder / "gpt2" / "merges.txt").write_text("#version: 0.2\nh e\ne l\n")
    (folder / "vocab.txt").write_bytes(VOCAB + b"hello\nworld\n,\nit\n")
    vocab = [{"rank": n, "token_bytes": base64.b64encode(bytes([n])).decode(), "token_str": None} for n in range(256)]
    config = {"pattern": r"\w+|\W", "num_vocab_tokens": 256, "default_vocab_size": 260, "default_num_special_tokens": 4, "version": "v3"}
    (folder / "tekken.json").write_text(json.dumps({"config": config, "vocab": vocab}))
    formats.dump(toy(O200K_PATTERN), folder / "toy.bin")
    names = ("tokenizer.json", "gpt2", "gpt2/vocab.json", "gpt2/merges.txt", "vocab.txt", "tekken.json", "toy.bin")
    return [folder / name for name in names]


@pytest.fixture(scope="module", params=range(7))
def file(request, tmp_path_factory):
    return files(tmp_path_factory.mktemp("formats"))[request.param]


def test_every_command_takes_every_format(ctok, file):  # noqa: F811
    tok = load(file)
    ids = tok.encode(TEXT)
    line = " ".join(map(str, ids)).encode()
    assert ctok("count", "-T", file, stdin=TEXT)[1].split()[0] == str(len(ids)).encode()
    assert ctok("encode", "-T", file, stdin=TEXT)[:2] == (0, line + b"\n")
    assert ctok("stream", "-T", file, stdin=TEXT)[1].split() == line.split()
    for command in (["decode"], ["stream", "--decode"]):
        assert ctok(*command, "-T", file, stdin=line)[:2] == (0, tok.decode(ids).encode())
    assert ctok("truncate", "-n", 5, "-T", file, stdin=TEXT)[1].decode() == tok.truncate(TEXT, 5)
    pieces = [json.loads(piece) for piece in ctok("split", "-n", 9, "-T", file, stdin=TEXT)[1].splitlines()]
    assert pieces == tok.split(TEXT, 9)
    plain = " ".join(map(str, tok.encode(TEXT, add_special_tokens=False))).encode()
    for command in ("encode", "stream"):
        assert ctok(command, "--no-template", "-T", file, stdin=TEXT)[1].split() == plain.split()
    facts = json.loads(ctok("info", file, "--json")[1])
    assert (facts["vocab_size"], facts["roles"]) == (tok.vocab_size, dict(tok.spec.roles))


def test_tokens_have_their_places_in_the_text(ctok, file):  # noqa: F811
    found = load(file).encoding(TEXT)
    lines = [json.loads(line) for line in ctok("tokens", "--jsonl", "-T", file, stdin=TEXT)[1].splitlines()]
    assert [line["id"] for line in lines] == found.ids
    assert [(line["start"], line["end"]) for line in lines] == found.spans
    assert b"\t" in ctok("tokens", "--offsets", "byte", "--ids", "-T", file, stdin=TEXT)[1]


def test_info_tells_stages_roles_and_limits(ctok, tmp_path):  # noqa: F811
    told = ctok("info", files(tmp_path)[0])[1].decode()
    for line in (
        "roles           unk <unk>",
        "normalizer      NFKC()",
        "pre tokenizer   Metaspace(replacement='▁', prepend_scheme='always', split=True)",
        "model           Unigram(unk_id=0)",
        "truncation      Truncation(max_length=512, strategy='longest_first', stride=0, direction='right')",
    ):
        assert line in told.splitlines()
    assert "padding" not in told


def test_cache_keeps_every_format(ctok, file, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("CTOK_CACHE_DIR", str(tmp_path))
    name = f"mine-{file.name}"  # a name is loaded once
    status, out, err = ctok("cache", "add", file, "--name", name)
    assert (status, err) == (0, "")
    assert formats.load(out.decode().strip()) == load(file).spec.replace(name=name)
    assert ctok("encode", "-T", name, stdin=TEXT)[1] == ctok("encode", "-T", file, stdin=TEXT)[1]


def test_vocab_lists_tokens_by_id(ctok, file):  # noqa: F811
    spec = load(file).spec
    lines = [json.loads(line) for line in ctok("vocab", file, "--jsonl")[1].splitlines()]
    found = {line["id"]: bytes.fromhex(line["hex"]) for line in lines}
    assert list(found) == sorted(found)
    added = {token.id: token.content.encode() for token in spec.added_tokens}
    assert found == {number: token for token, number in spec.model.tokens} | added
    plain = ctok("vocab", file)[1].decode().splitlines()
    assert [line.split("\t")[0] for line in plain] == [str(number) for number in found]


def test_vocab_of_a_model_tells_scores_and_types(ctok, tmp_path):  # noqa: F811
    (tmp_path / "x.model").write_bytes(spm_files.file([*spm_files.SMALL, (b"\xff", -0.1, spm_files.UNUSED)]))
    lines = ctok("vocab", tmp_path / "x.model")[1].decode().splitlines()
    assert lines == ["0\t<unk>\t0\tunknown", "1\t<s>\t0\tcontrol", "2\t</s>\t0\tcontrol", "3\t\u2581\t-1", "4\ta\t-2", "5\tb\t-3",
                     "6\tab\t-1.5", "7\t\\xff\t-0.100000001\tunused"]  # fmt: skip
    assert json.loads(ctok("vocab", tmp_path / "x.model", "--jsonl")[1].splitlines()[-1]) == {
        "id": 7, "text": None, "hex": "ff", "score": pytest.approx(-0.1), "kind": "unused",
    }  # fmt: skip


def test_info_and_convert_of_a_model(ctok, tmp_path):  # noqa: F811
    pieces = [piece for piece in spm_files.SMALL if piece[0] != "ab"]
    (tmp_path / "x.model").write_bytes(spm_files.file(pieces, "char"))
    told = ctok("info", tmp_path / "x.model")[1].decode()
    assert "pieces          normal 3, unknown 1, control 2" in told.splitlines()
    assert "model           Pieces(kind='char'" in told
    status, out, err = ctok("convert", tmp_path / "x.model", tmp_path / "x.json")
    assert (status, out) == (0, f"{tmp_path / 'x.json'}\n".encode())
    assert "plain text" in err
    assert load(tmp_path / "x.json").encode("ab a") == load(tmp_path / "x.model").encode("ab a") == [3, 4, 5, 3, 4]
    assert ctok("convert", tmp_path / "x.json", tmp_path / "y.model", "-q")[0] == 0
    assert load(tmp_path / "y.model").encode("ab a") == [3, 4, 5, 3, 4]
    assert ctok("convert", tmp_path / "x.json", tmp_path, "--to", "model", "-q", "-f")[0] == 0


def test_encode_writes_other_ways_to_cut(ctok, tmp_path):  # noqa: F811
    path = files(tmp_path)[0]
    tok, text = load(path), "lower it"
    lines = [f"{score:.9g}\t{' '.join(map(str, ids))}" for ids, score in tok.nbest(text, 2)]
    assert ctok("encode", "--nbest", 2, "-T", path, stdin=text)[1].decode().splitlines() == lines
    told = ctok("encode", "--nbest", 2, "--json", "--lines", "-T", path, stdin="it\nlow\n")[1].splitlines()
    assert [json.loads(line)["ids"] for line in told] == [ids for line in ("it", "low") for ids, _ in tok.nbest(line, 2)]
    argv = ("encode", "--sample=20", "--alpha", "0.3", "--seed", 5, "-T", path)
    drawn = ctok(*argv, stdin=text)[1]
    assert drawn == ctok(*argv, stdin=text)[1]
    assert len(drawn.splitlines()) == 20
    assert set(drawn.decode().splitlines()) == {line.split("\t")[1] for line in lines}
    one = ctok("encode", "--sample", "--nbest", 1, "-T", path, stdin=text)[1].split()
    assert [int(word) for word in one] == tok.encode(text)
    assert ctok("encode", "--alpha", "0.3", "-T", path)[0] == 64
    status, _, err = ctok("encode", "--nbest", 2, stdin="a")
    assert (status, "knows one way" in err) == (1, True)


# ---- convert ----


def test_convert_goes_from_ranks_to_json_and_back(ctok, tmp_path):  # noqa: F811
    formats.dump(toy(O200K_PATTERN), tmp_path / "toy.bin")
    target = tmp_path / "tokenizer.json"
    assert ctok("convert", tmp_path / "toy.bin", target) == (0, f"{target}\n".encode(), "")
    live = tokenizers.Tokenizer.from_file(str(target))
    assert [live.encode(text).ids for text in TEXTS] == load(tmp_path / "toy.bin").encode_batch(TEXTS, allowed_special="all")
    back = tmp_path / "back.tiktoken"
    status, out, err = ctok("convert", target, back)
    assert (status, out) == (0, f"{back}\n".encode())
    assert err.splitlines() == [
        f"ctok: note: {back} does not say the split pattern: {O200K_PATTERN}",
        f"ctok: note: {back} does not say the added tokens: <|end|>=900 <|x|>=1200",
    ]
    again = load(back, pattern=O200K_PATTERN, special_tokens={"<|end|>": 900, "<|x|>": 1200})
    assert again.encode_batch(TEXTS) == load(target).encode_batch(TEXTS)
    assert ctok("convert", target, back, "-f", "-q")[2] == ""


def test_convert_writes_into_directories_and_by_format(ctok, tmp_path):  # noqa: F811
    formats.dump(toy(r" ?\w|\s", added=()), tmp_path / "toy.bin")
    (tmp_path / "out").mkdir()
    assert ctok("convert", tmp_path / "toy.bin", tmp_path / "out", "--to", "bin")[1].decode().strip().endswith("out/toy.bin")
    formats.dump(vocab_txt.loads(VOCAB), tmp_path / "bert.json")
    assert ctok("convert", tmp_path / "bert.json", tmp_path / "out", "--to", "vocab.txt")[0] == 0
    assert (tmp_path / "out" / "vocab.txt").read_bytes() == VOCAB
    files(tmp_path)
    status, out, _ = ctok("convert", tmp_path / "gpt2", tmp_path / "out" / "vocab.json")
    assert (status, len(out.splitlines())) == (0, 2)
    assert load(tmp_path / "out" / "vocab.json").encode(TEXT) == load(tmp_path / "gpt2").encode(TEXT)
    assert formats.sniff((tmp_path / "out" / "vocab.json").read_bytes()) == "vocab_json"


def test_convert_refuses_by_name_and_writes_nothing(ctok, tmp_path):  # noqa: F811
    spec = formats.load(files(tmp_path)[1])
    from ctok.stagespecs.normalizers import NFKC

    formats.dump(spec.replace(normalizer=NFKC()), tmp_path / "n.json")
    target = tmp_path / "n.tiktoken"
    status, out, err = ctok("convert", tmp_path / "n.json", target)
    assert (status, out, target.exists()) == (1, b"", False)
    assert err == "ctok: a rank file cannot say all of 'n': the normalizer NFKC(); use --drop to leave that out\n"
    status, out, err = ctok("convert", tmp_path / "n.json", target, "--drop", "-q")
    assert (status, err) == (0, f"ctok: note: {target} does not say the normalizer NFKC()\n")
    status, _, err = ctok("convert", tmp_path / "n.json", target, "--drop")
    assert (status, err) == (1, f"ctok: {target}: it exists; use -f to write over it\n")
    assert "Unigram" in ctok("convert", tmp_path / "tokenizer.json", target, "-f")[2]


@pytest.mark.parametrize(
    ("argv", "status", "says"),
    [
        (["o200k_base"], 64, "required: B"),
        (["o200k_base", "x"], 64, "does not say a format"),
        (["o200k_base", "x.bin", "--pattern", "x"], 64, "for files"),
        (["nothing.json", "x.bin"], 1, "there is no vocabulary 'nothing.json' here"),
        (["./nothing.json", "x.bin"], 1, "there is no such file"),
        (["o200k_base", "nowhere/x.bin"], 1, "nowhere/x.bin: "),
        (["o200k_base", "nowhere/"], 1, "no such directory"),
        (["model:claude-3", "x.bin"], 1, "not known"),
        (["hf:a/b", "x.bin"], 64, "no scheme yet"),
    ],
)
def test_convert_that_makes_no_sense_is_refused(ctok, argv, status, says, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CTOK_OFFLINE", "1")
    found, out, err = ctok("convert", *argv)
    assert (found, out) == (status, b"")
    assert err.startswith("ctok: ")
    assert says in err


def test_convert_takes_names_and_models(ctok, tmp_path):  # noqa: F811
    for source in ("o200k_base", "model:gpt-4o"):
        assert ctok("convert", source, tmp_path / "o.bin", "-f")[0] == 0
        assert formats.load(tmp_path / "o.bin") == load("o200k_base").spec
