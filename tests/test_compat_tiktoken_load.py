"""`ctok.compat.tiktoken`'s files and plug-ins: rank files and merge lists, the cache, the namespace package `tiktoken_ext`."""

import hashlib
import http.server
import json
import sys
import threading
from types import SimpleNamespace

import pytest

import ctok.compat.tiktoken
from ctok.compat.tiktoken import load, registry
from tiktoken_pair import LIBRARIES, PATTERN, RANKS, SPECIAL

THEIRS = LIBRARIES["tiktoken"]
RANK_FILE = b"YQ== 0\nYg== 1\n"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No network, and an empty cache of the test's own."""
    monkeypatch.setenv("CTOK_OFFLINE", "1")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def web(monkeypatch):
    """A server on this machine that gives out `files`, and counts; the network is allowed."""
    monkeypatch.delenv("CTOK_OFFLINE")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    files, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200 if self.path in files else 404)
            self.end_headers()
            self.wfile.write(files.get(self.path, b""))

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", files=files, asked=asked)
        server.shutdown()
        thread.join()


# ---- rank files ----


def test_ranks_written_are_read_by_both_libraries(tmp_path):
    path = str(tmp_path / "toy.tiktoken")
    load.dump_tiktoken_bpe(RANKS, path)
    found = load.load_tiktoken_bpe(path)
    assert found == THEIRS.load.load_tiktoken_bpe(path) == RANKS
    assert list(found.values()) == sorted(RANKS.values())
    data = (tmp_path / "toy.tiktoken").read_bytes()
    assert load.load_tiktoken_bpe(path, sha256(data)) == RANKS
    assert load.load_tiktoken_bpe(path, expected_hash=sha256(data)) == RANKS


@pytest.mark.parametrize(
    "data", [b"YQ==\n", b"!!!! 0\n", b"YQ== x\n", b"<!DOCTYPE html>\n", b"YQ== 0\nYg== 0\n", b"YQ== 0\nYQ== 1\n", b"", b"YQ== -1\n"]
)
def test_ranks_malformed_are_a_value_error_that_names_the_file(tmp_path, data):
    (tmp_path / "bad.tiktoken").write_bytes(data)
    with pytest.raises(ValueError, match=r"bad\.tiktoken"):
        load.load_tiktoken_bpe(str(tmp_path / "bad.tiktoken"))


@pytest.mark.parametrize("data", [b"YQ== 0\r\nYg== 1\r\n", b"YQ== 0\n\nYg== 1"])
def test_ranks_with_other_line_ends_are_read(tmp_path, data):
    (tmp_path / "ok.tiktoken").write_bytes(data)
    assert load.load_tiktoken_bpe(str(tmp_path / "ok.tiktoken")) == {b"a": 0, b"b": 1}


CASES = [("K6-26", "crlf"), ("K6-27", "blank"), ("K6-28", "bad64"), ("K6-29", "norank"), ("K6-31", "html")]
CASES += [("K6-32", "duprank"), ("K6-33", "duptoken"), ("K6-34", "neg"), ("K6-34", "empty")]


@pytest.mark.parametrize(("number", "name"), CASES)
def test_ranks_of_the_collected_cases(shared, number, name):
    path = str(shared / "cases" / "fixtures" / f"tik_{name}.tiktoken")
    if number in ("K6-26", "K6-27"):
        assert load.load_tiktoken_bpe(path) == {b"a": 0, b"b": 1}
    else:
        with pytest.raises(ValueError, match=f"tik_{name}"):
            load.load_tiktoken_bpe(path)


def test_ranks_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load.load_tiktoken_bpe(str(tmp_path / "no.tiktoken"))


# ---- the cache ----


def test_cache_keeps_a_file_under_the_hash_of_its_address(tmp_path, web):
    web.files["/toy.tiktoken"] = RANK_FILE
    url = web.url + "/toy.tiktoken"
    assert load.load_tiktoken_bpe(url, sha256(RANK_FILE)) == {b"a": 0, b"b": 1}
    kept = tmp_path / "cache" / hashlib.sha1(url.encode()).hexdigest()
    assert kept.read_bytes() == RANK_FILE
    assert load.read_file_cached(url) == load.read_file_cached(url, sha256(RANK_FILE)) == RANK_FILE
    assert THEIRS.load.read_file_cached(url) == RANK_FILE
    assert web.asked == ["/toy.tiktoken"]


def test_cache_k6_35_a_damaged_file_is_kept_until_a_whole_one_comes(tmp_path, web):
    url = web.url + "/toy.tiktoken"
    kept = tmp_path / "cache" / hashlib.sha1(url.encode()).hexdigest()
    kept.parent.mkdir()
    kept.write_bytes(b"half")
    web.files["/toy.tiktoken"] = b"a login page"
    with pytest.raises(ValueError, match="Hash mismatch for data downloaded from") as caught:
        load.read_file_cached(url, sha256(RANK_FILE))
    assert sha256(RANK_FILE) in str(caught.value)
    assert sha256(b"a login page") in str(caught.value)
    assert kept.read_bytes() == b"half"
    web.files["/toy.tiktoken"] = RANK_FILE
    assert load.read_file_cached(url, sha256(RANK_FILE)) == kept.read_bytes() == RANK_FILE


def test_cache_places_are_tiktokens(tmp_path, web, monkeypatch):
    web.files["/x"] = b"x"
    name = hashlib.sha1(f"{web.url}/x".encode()).hexdigest()
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "second"))
    load.read_file_cached(f"{web.url}/x")
    assert (tmp_path / "cache" / name).exists()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    load.read_file_cached(f"{web.url}/x")
    assert (tmp_path / "second" / name).exists()
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load.read_file_cached(f"{web.url}/x")
    assert (tmp_path / "data-gym-cache" / name).exists()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    load.read_file_cached(f"{web.url}/x")
    load.read_file_cached(f"{web.url}/x")
    assert len(web.asked) == 5


def test_cache_that_cannot_be_written_matters_only_when_the_user_chose_it(tmp_path, web, monkeypatch):
    web.files["/x"] = b"x"
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(OSError):
        load.read_file_cached(f"{web.url}/x")
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    assert load.read_file_cached(f"{web.url}/x") == b"x"


def test_network_is_not_asked_offline():
    for url in ("http://127.0.0.1:9/x", "az://place/x"):
        with pytest.raises(OSError, match="CTOK_OFFLINE"):
            load.read_file(url)


def test_other_addresses_need_blobfile(monkeypatch, tmp_path):
    monkeypatch.delenv("CTOK_OFFLINE")
    monkeypatch.setitem(sys.modules, "blobfile", None)
    with pytest.raises(ImportError, match="blobfile"):
        load.read_file("az://place/x")
    with pytest.raises(ImportError, match="blobfile"):
        load.dump_tiktoken_bpe({b"a": 0}, "az://place/x")
    blobs = {"az://place/x": b"data"}
    stand_in = SimpleNamespace(read_bytes=blobs.__getitem__, BlobFile=lambda _, mode: open(tmp_path / "blob", mode))
    monkeypatch.setitem(sys.modules, "blobfile", stand_in)
    assert load.read_file("az://place/x") == b"data"
    load.dump_tiktoken_bpe({b"b": 1, b"a": 0}, "az://place/y")
    assert (tmp_path / "blob").read_bytes() == RANK_FILE


def test_check_hash():
    assert load.check_hash(b"x", sha256(b"x"))
    assert not load.check_hash(b"x", sha256(b"y"))


# ---- merge lists ----


def merge_files(folder, change=None):
    """A merge list and its JSON file, of a vocabulary whose single bytes are numbered as GPT-2's."""
    merges = ["h e", "Ġ w", "he Ċ", "Ã ©"]
    (folder / "vocab.bpe").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    order = [b for b in range(256) if chr(b).isprintable() and chr(b) != " "]
    order += [b for b in range(256) if b not in order]
    chars = [chr(b) if chr(b).isprintable() and chr(b) != " " else None for b in order]
    hidden = iter(range(256, 512))
    ids = {char if char is not None else chr(next(hidden)): n for n, char in enumerate(chars)}
    ids |= {merge.replace(" ", ""): 256 + n for n, merge in enumerate(merges)} | {"<|endoftext|>": 260}
    ids.update(change or {})
    (folder / "encoder.json").write_text(json.dumps(ids), encoding="utf-8")
    return str(folder / "vocab.bpe"), str(folder / "encoder.json")


def test_merge_list_gives_tiktokens_ranks(tmp_path):
    paths = merge_files(tmp_path)
    ranks = load.data_gym_to_mergeable_bpe_ranks(*paths)
    assert ranks == THEIRS.load.data_gym_to_mergeable_bpe_ranks(*paths)
    assert ranks[b"he\n"] == 258
    assert ranks["é".encode()] == 259
    assert len(ranks) == 260


def test_merge_list_may_take_single_bytes_from_the_json_file(tmp_path):
    paths = merge_files(tmp_path, {"!": 1, '"': 0})
    with pytest.raises(AssertionError):
        load.data_gym_to_mergeable_bpe_ranks(*paths)
    ranks = load.data_gym_to_mergeable_bpe_ranks(*paths, clobber_one_byte_tokens=True)
    assert ranks == THEIRS.load.data_gym_to_mergeable_bpe_ranks(*paths, clobber_one_byte_tokens=True)
    assert ranks[b"!"] == 1


def test_merge_list_is_verified(tmp_path):
    merges, ids = merge_files(tmp_path)
    with pytest.raises(ValueError, match="Hash mismatch"):
        load.data_gym_to_mergeable_bpe_ranks(merges, ids, vocab_bpe_hash=sha256(b""))
    with pytest.raises(ValueError, match="Hash mismatch"):
        load.data_gym_to_mergeable_bpe_ranks(merges, ids, encoder_json_hash=sha256(b""))


# ---- plug-ins ----


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Put a module into the namespace package `tiktoken_ext`, of which both libraries then know nothing else new."""
    import tiktoken_ext

    folder = tmp_path / "plugins" / "tiktoken_ext"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(tiktoken_ext, "__path__", [*tiktoken_ext.__path__, str(folder)])
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", None)

    def put(name, text):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, f"tiktoken_ext.{name}", raising=False)

    yield put
    for name in ("toy_plugged", "other_plugged"):
        registry.ENCODINGS.pop(name, None)
    for name in [name for name in sys.modules if name.startswith("tiktoken_ext.plug")]:
        del sys.modules[name]


FIELDS = (
    f"dict(name='toy_plugged', pat_str={PATTERN!r}, mergeable_ranks={{bytes([b]): b for b in range(256)}}, special_tokens={{'<|x|>': 300}})"
)


def test_plug_in_encoding_is_found(plug_in):
    plug_in("plug_one", f"ENCODING_CONSTRUCTORS = {{'toy_plugged': lambda: {FIELDS}}}\n")
    assert ctok.compat.tiktoken.list_encoding_names()[-1] == "toy_plugged"
    enc = ctok.compat.tiktoken.get_encoding("toy_plugged")
    assert enc is ctok.compat.tiktoken.get_encoding("toy_plugged")
    assert enc.encode("a<|x|>", allowed_special="all") == [97, 300]
    with pytest.raises(ValueError, match=r"tiktoken_ext\.plug_one"):
        ctok.compat.tiktoken.get_encoding("nothing")


def test_plug_in_without_constructors_is_a_value_error(plug_in):
    plug_in("plug_two", "")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"tiktoken plugin tiktoken_ext\.plug_two does not define ENCODING_CONSTRUCTORS"):
            ctok.compat.tiktoken.list_encoding_names()


def test_plug_in_with_a_name_that_is_taken_is_a_value_error(plug_in):
    plug_in("plug_three", f"ENCODING_CONSTRUCTORS = {{'o200k_base': lambda: {FIELDS}}}\n")
    with pytest.raises(ValueError, match=r"Duplicate encoding name o200k_base in tiktoken plugin tiktoken_ext\.plug_three"):
        ctok.compat.tiktoken.get_encoding("o200k_base_of_mine")


def test_constructors_of_public_encodings_give_the_fields():
    fields = registry._find_constructors()["o200k_base"]()
    assert set(fields) == {"name", "pat_str", "mergeable_ranks", "special_tokens"}
    assert len(fields["mergeable_ranks"]) == 199998


def test_encoding_in_ctoks_own_folder_is_found(tmp_path, monkeypatch):
    from ctok.formats import binary

    enc = ctok.compat.tiktoken.Encoding("own_toy", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens=SPECIAL)
    monkeypatch.setenv("CTOK_VOCAB_DIR", str(tmp_path))
    binary.dump(enc.tokenizer.spec, tmp_path / "own_toy.bin")
    try:
        assert ctok.compat.tiktoken.get_encoding("own_toy").encode("hello") == enc.encode("hello")
    finally:
        registry.ENCODINGS.pop("own_toy", None)
        ctok.registry._tokenizers.pop("own_toy", None)
