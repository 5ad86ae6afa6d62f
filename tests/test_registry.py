"""Named vocabularies: the places in their order, what is verified, what a miss says, downloads, the cache, one load a name."""

import hashlib
import http.server
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import ctok
from ctok import registry
from ctok.errors import SpecError, VocabularyFileError, VocabularyNotFoundError
from ctok.formats import _known, binary, tiktoken
from ctok.registry import _download, _places
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable

PATTERN = r" ?\p{L}+|\s+|."
RANKS = {bytes([b]): b for b in range(256)} | {b"ab": 256, b" ab": 257, b"abab": 258}
TEXT = tiktoken.dumps(Spec("x", BPE(TokenTable.from_dict(RANKS)), Split(PATTERN)))
OTHER = tiktoken.dumps(Spec("x", BPE(TokenTable.from_dict(RANKS | {b"zz": 999})), Split(PATTERN)))
SHA256 = hashlib.sha256(TEXT).hexdigest()
URL = "http://127.0.0.1:9/toy_base.tiktoken"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Empty folders for every place, nothing from this machine, no network, and a public encoding "toy_base" of a few tokens."""
    folders = {name: tmp_path / name for name in ("own", "cache", "theirs")}
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.setenv("CTOK_VOCAB_DIR", str(folders["own"]))
    monkeypatch.setenv("CTOK_CACHE_DIR", str(folders["cache"]))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folders["theirs"]))
    monkeypatch.setenv("CTOK_OFFLINE", "1")
    monkeypatch.setattr(registry, "_tokenizers", {})
    monkeypatch.chdir(tmp_path)
    publish(monkeypatch, URL)
    return folders


def publish(monkeypatch, url, name="toy_base", file="toy_base"):
    encoding = _known.Encoding(name, _known.RankFile(file, url, SHA256), PATTERN, (("<|end|>", 300),))
    monkeypatch.setitem(_known.ENCODINGS, name, encoding)
    return encoding.file


def url_name(url):
    return hashlib.sha1(url.encode()).hexdigest()


TOY = Spec("toy_base", BPE(TokenTable.from_dict(RANKS)), Split(PATTERN), [AddedToken("<|end|>", 300)])


# ---- the places ----


@pytest.mark.parametrize(
    ("folder", "name"),
    [("own", "toy_base.tiktoken"), ("own", "toy_base.bin"), ("cache", "toy_base.bin"), ("cache", "toy_base.tiktoken"),
     ("theirs", url_name(URL)),
     ("theirs", "toy_base.tiktoken")],
)  # fmt: skip
def test_k6_36_name_is_found_in_every_place_without_a_network(places, folder, name):
    path = places[folder] / name
    path.write_bytes(binary.dumps(TOY, sha256=SHA256) if name.endswith(".bin") else TEXT)
    spec = registry.spec_for("toy_base")
    assert spec == TOY
    assert spec.source == str(path)
    assert registry.list_vocabularies()["toy_base"] == str(path)


def test_places_are_asked_in_order(places):
    files = [
        places["own"] / "toy_base.bin",
        places["own"] / "toy_base.tiktoken",
        places["cache"] / "toy_base.bin",
        places["theirs"] / url_name(URL),
    ]
    for path in files:
        path.write_bytes(binary.dumps(TOY, sha256=SHA256) if path.suffix == ".bin" else TEXT)
    for path in files:
        assert registry.spec_for("toy_base").source == str(path)
        path.unlink()
    with pytest.raises(VocabularyNotFoundError):
        registry.spec_for("toy_base")


def test_name_and_file_name_both_count(places, monkeypatch):
    publish(monkeypatch, URL, name="toy_edit")
    for name in ("toy_base.tiktoken", "toy_edit.tiktoken"):
        (places["own"] / name).write_bytes(TEXT)
        spec = registry.spec_for("toy_edit")
        assert (spec.name, Path(spec.source).name) == ("toy_edit", name)


def test_data_gym_cache_dir_counts_when_the_newer_variable_is_not_set(places, monkeypatch):
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(places["theirs"]))
    (places["theirs"] / url_name(URL)).write_bytes(TEXT)
    assert registry.spec_for("toy_base") == TOY
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", "")
    assert _places.tiktoken_cache_dir() is None
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    assert os.path.basename(_places.tiktoken_cache_dir()) == "data-gym-cache"


@pytest.mark.parametrize(("folder", "name"), [("own", "toy_base.tiktoken"), ("cache", "toy_base.bin"), ("theirs", url_name(URL))])
def test_k6_35_file_with_another_sha256_is_named_with_both_hashes_and_kept(places, folder, name):
    path = places[folder] / name
    digest = hashlib.sha256(OTHER).hexdigest()
    path.write_bytes(binary.dumps(TOY, sha256=digest) if name.endswith(".bin") else OTHER)
    with pytest.raises(VocabularyFileError) as caught:
        registry.spec_for("toy_base")
    assert all(word in str(caught.value) for word in (digest, SHA256, str(path), "kept"))
    assert path.exists()


def test_file_with_crlf_line_ends_is_the_published_one(places):
    (places["own"] / "toy_base.tiktoken").write_bytes(TEXT.replace(b"\n", b"\r\n"))
    assert registry.spec_for("toy_base") == TOY


def test_miss_lists_what_was_tried_and_how_to_supply_the_file(places):
    with pytest.raises(VocabularyNotFoundError) as caught:
        registry.spec_for("toy_base")
    error = caught.value
    assert error.name == "toy_base"
    for place in (places["own"] / "toy_base.bin", places["cache"] / "toy_base.tiktoken", places["theirs"] / url_name(URL)):
        assert any(str(place) in line for line in error.tried)
    for word in (URL, SHA256, "CTOK_VOCAB_DIR", "CTOK_OFFLINE"):
        assert word in str(error)
    assert isinstance(error, LookupError)
    assert pickle.loads(pickle.dumps(error)).tried == error.tried


@pytest.mark.parametrize("name", ["nonsense", "", "..", "a\0b", "cl100k_base.tiktoken"])
def test_unknown_name_lists_the_known_ones(places, name):
    with pytest.raises(VocabularyNotFoundError, match="cl100k_base"):
        registry.spec_for(name)


@pytest.mark.parametrize(
    ("platform", "env", "want"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/ctok"), ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/u/.cache/ctok"),
        ("linux", {}, "/home/u/.cache/ctok"),
        ("darwin", {}, "/home/u/Library/Caches/ctok"), ("win32", {"LOCALAPPDATA": "/l"}, "/l/ctok"),
        ("win32", {}, "/home/u/AppData/Local/ctok"),
        ("linux", {"CTOK_CACHE_DIR": "/c"}, "/c"), ("linux", {"CTOK_CACHE_DIR": ""}, None),
    ],
)  # fmt: skip
@pytest.mark.skipif(os.name == "nt", reason="paths of other systems")
def test_cache_folder_is_where_the_system_keeps_caches(monkeypatch, platform, env, want):
    for variable in ("CTOK_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/home/u")
    for variable, value in env.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert _places.cache_dir() == want


# ---- built in ----


def test_built_in_vocabulary_needs_no_folder(places, monkeypatch):
    for variable in ("CTOK_VOCAB_DIR", "CTOK_CACHE_DIR", "TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv(variable, "")
    base, harmony = registry.spec_for("o200k_base"), registry.spec_for("o200k_harmony")
    assert base.source == "built in"
    assert (base.name, harmony.name) == ("o200k_base", "o200k_harmony")
    assert base.model == harmony.model
    assert (len(base.added_tokens), len(harmony.added_tokens)) == (2, 1091)
    assert registry.list_vocabularies()["o200k_harmony"] == "built in"


def test_built_in_vocabulary_writes_the_published_file(places):
    assert hashlib.sha256(tiktoken.dumps(registry.spec_for("o200k_base"))).hexdigest() == _known.O200K.sha256


def test_own_folder_wins_over_the_built_in_vocabulary(places):
    (places["own"] / "o200k_base.tiktoken").write_bytes(TEXT)
    with pytest.raises(VocabularyFileError, match=_known.O200K.sha256):
        registry.spec_for("o200k_base")


def test_gpt2_merge_list_gives_the_ranks_of_the_rank_file(shared, places):
    import lzma

    vocabs = shared / "conformance" / "vocabs"
    merges = lzma.decompress((vocabs / "merges.txt.xz").read_bytes())
    rank_file = lzma.decompress((vocabs / "r50k_base.tiktoken.xz").read_bytes())
    (places["theirs"] / url_name(_places.GPT2_MERGES)).write_bytes(merges)
    spec = registry.spec_for("gpt2")
    assert (spec.name, tiktoken.dumps(spec)) == ("gpt2", rank_file)
    (places["own"] / "r50k_base.tiktoken").write_bytes(rank_file)
    assert registry.spec_for("gpt2") == spec


def test_merge_list_stands_for_ranks_in_its_order():
    ranks = _places.ranks_of_merges("#version\nĠ a\nĠa b\n".encode())
    assert (len(ranks), ranks[b"!"], ranks[b" a"], ranks[b" ab"]) == (258, 0, 256, 257)


# ---- plug-ins ----


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Write a module of the namespace package; returns a function that does."""
    folder = tmp_path / "site" / "tiktoken_ext"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder.parent))
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiktoken_ext"]:
        monkeypatch.delitem(sys.modules, name)

    def write(module, text):
        (folder / f"{module}.py").write_text(text)

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiktoken_ext"]:
        del sys.modules[name]


GIVES = """
def make():
    return {"name": "mine", "pat_str": ".", "mergeable_ranks": {b"a": 0, b"b": 1}, "special_tokens": {"<x>": 2}, "explicit_n_vocab": %s}
ENCODING_CONSTRUCTORS = {"mine": make}
"""


def test_plugin_gives_an_encoding(places, plugin, run_python):
    plugin("ctok_test_mine", GIVES % 3)
    want = Spec("mine", BPE(TokenTable.from_dict({b"a": 0, b"b": 1})), Split("."), [AddedToken("<x>", 2)])
    assert registry.spec_for("mine") == want
    assert registry.list_vocabularies()["mine"] == "tiktoken_ext.ctok_test_mine"


def test_plugin_that_contradicts_itself_is_refused(places, plugin):
    plugin("ctok_test_mine", GIVES % 4)
    with pytest.raises(SpecError, match="4 tokens"):
        registry.spec_for("mine")
    plugin("ctok_test_other", GIVES % 3)
    with pytest.raises(SpecError, match=r"ctok_test_mine and by tiktoken_ext\.ctok_test_other"):
        registry.spec_for("mine")


def test_plugin_that_fails_is_noted_and_passed_over(places, plugin):
    plugin("ctok_test_broken", "1 / 0")
    plugin("ctok_test_empty", "")
    plugin("ctok_test_mine", GIVES % 3)
    assert registry.spec_for("mine").name == "mine"
    with pytest.raises(VocabularyNotFoundError) as caught:
        registry.spec_for("yours")
    tried = "\n".join(caught.value.tried)
    assert all(word in tried for word in ("ctok_test_broken: ZeroDivisionError", "ctok_test_empty: AttributeError", "plug-ins offer mine"))


def test_plugin_counts_for_a_public_encoding_only_with_the_published_content(places, plugin, monkeypatch):
    made = "{{'name': 'toy_base', 'pat_str': 'x', 'mergeable_ranks': {}, 'special_tokens': {{}}}}"
    text = "ENCODING_CONSTRUCTORS = {{'toy_base': lambda: " + made + "}}"
    plugin("ctok_test_toy", text.format(RANKS | {b"zz": 999}))
    with pytest.raises(VocabularyNotFoundError, match="not the published content"):
        registry.spec_for("toy_base")
    plugin("ctok_test_toy", text.format(RANKS) + "\n# another length")
    del sys.modules["tiktoken_ext.ctok_test_toy"]
    assert registry.spec_for("toy_base") == TOY


def test_search_does_not_import_tiktoken(run_python):
    use = "from ctok import registry; registry.list_vocabularies(); registry.spec_for('o200k_base')"
    assert run_python(f"import sys; {use}; print('tiktoken' in sys.modules)").strip() == "False"


# ---- download ----


class Server(http.server.ThreadingHTTPServer):
    """Serves one answer on the loopback and counts the requests."""

    def __init__(self, body, length=None, delay=0.0):
        self.asked = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.server.asked += 1
                time.sleep(delay)
                self.send_response(404 if body is None else 200)
                if length is not None:
                    self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/toy_base.tiktoken"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.shutdown()
        super().__exit__(*exc)


@pytest.fixture
def online(places, monkeypatch):
    monkeypatch.setenv("CTOK_OFFLINE", "0")
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    return places


def cached(places):
    return sorted(path.name for path in places["cache"].iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("length", [None, len(TEXT)])
def test_download_is_verified_and_kept(online, monkeypatch, length):
    with Server(TEXT, length) as server:
        publish(monkeypatch, server.url)
        spec = registry.spec_for("toy_base")
        assert (spec, spec.source) == (TOY, server.url)
        assert cached(online) == ["toy_base.tiktoken"]
        assert registry.spec_for("toy_base").source == str(online["cache"] / "toy_base.tiktoken")
        assert server.asked == 1


@pytest.mark.parametrize("folder", ["", "a file"])
def test_download_without_a_cache_is_used_and_not_kept(online, monkeypatch, tmp_path, folder):
    if folder:
        (tmp_path / folder).touch()
        folder = str(tmp_path / folder / "below")
    monkeypatch.setenv("CTOK_CACHE_DIR", folder)
    with Server(TEXT) as server:
        publish(monkeypatch, server.url)
        assert registry.spec_for("toy_base") == TOY


def test_download_of_another_content_is_refused_and_not_kept(online, monkeypatch):
    with Server(OTHER) as server:
        publish(monkeypatch, server.url)
        with pytest.raises(VocabularyFileError) as caught:
            registry.spec_for("toy_base")
    assert all(word in str(caught.value) for word in (SHA256, hashlib.sha256(OTHER).hexdigest(), server.url))
    assert cached(online) == []


@pytest.mark.parametrize(("body", "length"), [(TEXT[:100], len(TEXT)), (None, None)], ids=["truncated", "not found"])
def test_download_that_breaks_off_is_a_miss(online, monkeypatch, body, length):
    with Server(body, length) as server:
        publish(monkeypatch, server.url)
        with pytest.raises(VocabularyNotFoundError) as caught:
            registry.spec_for("toy_base")
    assert server.url in caught.value.tried[-1]
    assert cached(online) == []


def test_download_of_something_endless_stops(online, monkeypatch):
    monkeypatch.setattr(_download, "LARGEST", 1000)
    with Server(TEXT) as server:
        publish(monkeypatch, server.url)
        with pytest.raises(VocabularyFileError, match="larger than 1000"):
            registry.spec_for("toy_base")


def test_offline_asks_nobody(places, monkeypatch):
    with Server(TEXT) as server:
        publish(monkeypatch, server.url)
        with pytest.raises(VocabularyNotFoundError, match="not asked"):
            registry.spec_for("toy_base")
        assert server.asked == 0


def test_download_time_out_is_a_miss(online, monkeypatch):
    monkeypatch.setattr(_download, "TIMEOUT", 0.05)
    with Server(TEXT, delay=0.3) as server:
        publish(monkeypatch, server.url)
        with pytest.raises(VocabularyNotFoundError, match="timed out"):
            registry.spec_for("toy_base")


def test_two_processes_download_once(online, tmp_path):
    program = (
        "import sys; from ctok.formats._known import RankFile; from ctok.registry import _download;"
        "print(len(_download.fetch(RankFile('toy_base', sys.argv[1], sys.argv[2]), sys.argv[3])))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(ctok.__file__).resolve().parent.parent)}
    with Server(TEXT, delay=0.3) as server:
        command = [sys.executable, "-c", program, server.url, SHA256, str(online["cache"])]
        running = [subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(2)]
        assert [int(process.communicate(timeout=60)[0]) for process in running] == [len(TEXT)] * 2
        assert server.asked == 1
    assert cached(online) == ["toy_base.tiktoken"]


# ---- the cache ----


def test_cache_add_by_name_makes_a_mapped_entry(places):
    (places["own"] / "toy_base.tiktoken").write_bytes(TEXT)
    path = Path(registry.cache_add("toy_base"))
    assert path == places["cache"] / "toy_base.bin"
    (places["own"] / "toy_base.tiktoken").unlink()
    spec = registry.spec_for("toy_base")
    assert (spec, spec.source) == (TOY, str(path))
    assert isinstance(spec.model.tokens.data, memoryview)
    assert registry.cache_list() == [registry.CacheEntry("toy_base", str(path), path.stat().st_size)]
    assert [fault for _, fault in registry.cache_verify()] == [None]


def test_cache_add_of_a_file_makes_a_name(places, tmp_path):
    source = tmp_path / "mine.tiktoken"
    source.write_bytes(OTHER)
    path = registry.cache_add(source, pattern=PATTERN, special_tokens={"<x>": 2000})
    assert Path(path).name == "mine.bin"
    spec = registry.spec_for("mine")
    assert (spec.name, spec.added_tokens) == ("mine", (AddedToken("<x>", 2000),))
    assert registry.list_vocabularies()["mine"] == path
    registry.cache_add(path, name="yours")
    assert registry.spec_for("yours") == spec.replace(name="yours")
    assert [entry.name for entry in registry.cache_list()] == ["mine", "yours"]


@pytest.mark.parametrize("name", ["../x", "a b", "..", "a/b", "toy_base"])
def test_cache_add_under_an_impossible_name_is_refused(places, tmp_path, name):
    (tmp_path / "mine.tiktoken").write_bytes(OTHER)
    with pytest.raises(SpecError):
        registry.cache_add(tmp_path / "mine.tiktoken", pattern=PATTERN, name=name)
    assert registry.cache_list() == []


def test_cache_verify_finds_damage(places):
    (places["own"] / "toy_base.tiktoken").write_bytes(TEXT)
    path = Path(registry.cache_add("toy_base"))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    (places["cache"] / "r50k_base.tiktoken").write_bytes(TEXT)
    faults = {entry.name: fault for entry, fault in registry.cache_verify()}
    assert "checksum" in faults["toy_base"]
    assert _known.R50K.sha256 in faults["r50k_base"]


def test_cache_without_a_folder_is_empty(places, monkeypatch):
    monkeypatch.setenv("CTOK_CACHE_DIR", "")
    assert registry.cache_list() == registry.cache_verify() == []
    with pytest.raises(VocabularyNotFoundError, match="CTOK_CACHE_DIR"):
        registry.cache_add("o200k_base")


# ---- tokenizers ----


@pytest.fixture
def tokenizer(places):
    """The composed tokenizer's class, with "toy_base" in the user's folder."""
    module = pytest.importorskip("ctok.tokenizer")
    (places["own"] / "toy_base.tiktoken").write_bytes(TEXT)
    return module.Tokenizer


def test_load_by_name_gives_one_object(tokenizer):
    tok = registry.load("toy_base")
    assert registry.load("toy_base") is tok
    assert tok.encode("abab ab") == [258, 257]


def test_k8_06_loaded_by_name_pickles_as_the_name_and_by_path_with_its_content(tokenizer, places, tmp_path):
    tok = registry.load("toy_base")
    data = pickle.dumps(tok)
    assert len(data) < 200
    assert pickle.loads(data) is tok
    path = tmp_path / "some.tiktoken"
    path.write_bytes(OTHER)
    data = pickle.dumps(registry.load(path, pattern=PATTERN))
    path.unlink()
    assert pickle.loads(data).encode("zz") == [999]


def test_k8_11_first_load_from_many_threads_loads_once(tokenizer, monkeypatch):
    built = []

    class Counting(tokenizer):
        @classmethod
        def from_spec(cls, spec, **options):
            built.append(spec.name)
            time.sleep(0.05)
            return tokenizer.from_spec(spec, **options)

    monkeypatch.setattr("ctok.tokenizer.Tokenizer", Counting)
    got, start = [], threading.Barrier(8)

    def run():
        start.wait()
        got.append(registry.load("toy_base"))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert built == ["toy_base"]
    assert len(set(map(id, got))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_load_works_in_a_child_that_was_forked_during_a_load(tokenizer):
    with registry._guard:
        child = os.fork()
        if child == 0:
            os._exit(0 if registry.load("toy_base").encode("ab") == [256] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_name_beats_a_path_and_a_separator_makes_a_path(tokenizer, tmp_path):
    (tmp_path / "toy_base").write_bytes(OTHER)
    assert registry.load("toy_base") is registry.load("toy_base")
    for path in (tmp_path / "toy_base", f".{os.sep}toy_base"):
        assert registry.load(path, pattern=PATTERN).encode("zz") == [999]
    (tmp_path / "elsewhere").write_bytes(OTHER)
    assert registry.load("elsewhere", pattern=PATTERN).encode("zz") == [999]


def test_options_with_a_name_overrule_and_are_not_kept(tokenizer):
    tok = registry.load("toy_base", special_tokens={"<y>": 400}, pattern=".")
    assert tok is not registry.load("toy_base")
    assert tok.encode("<y>ab", allowed_special="all") == [400, 97, 98]


def test_load_of_something_else_is_a_type_error(places):
    pytest.importorskip("ctok.tokenizer")
    with pytest.raises(TypeError, match="int"):
        registry.load(5)


def test_for_model_loads_its_encoding(tokenizer):
    assert registry.for_model("gpt-4o") is registry.load("o200k_base")
