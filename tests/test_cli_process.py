"""The command line as a process of its own: pipes that close, text that arrives, terminals, signals, and what a start costs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ctok

HOME = str(Path(ctok.__file__).resolve().parent.parent)
COMMAND = [sys.executable, "-m", "ctok"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="descriptors and signals of POSIX")


@pytest.fixture
def start(tmp_path):
    """Start a process in an empty folder, its streams as pipes; what still runs at the end of the test is killed."""
    running = []

    def begin(*argv, **options):
        env = {**os.environ, "PYTHONPATH": HOME, **options.pop("env", {})}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        running.append(subprocess.Popen([*COMMAND, *map(str, argv)], cwd=tmp_path, env=env, **pipes))
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def run(start, *argv, stdin=b"", **options):
    process = start(*argv, **options)
    out, err = process.communicate(stdin, timeout=60)
    return process.returncode, out, (err or b"").decode()


def test_module_runs_with_its_exit_status(start):
    assert run(start, "count", "-", stdin=b"hello world") == (0, b"2\n", "")
    assert run(start, "count", "--limit", 1, "-q", stdin=b"hello world") == (2, b"2\n", "")
    assert run(start, "count", "none")[0] == 1
    assert run(start, "count", "--none")[0] == 64


def test_output_is_utf8_in_any_locale(start):
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "latin-1"}
    ids = run(start, "encode", stdin="你好 é".encode(), env=env)[1]
    assert run(start, "decode", stdin=ids, env=env) == (0, "你好 é".encode(), "")


def test_help_is_written_in_any_locale(start):
    status, out, err = run(start, "tokens", "--help", env={"PYTHONIOENCODING": "ascii"})
    assert (status, err) == (0, "")
    assert b"A space is shown as ?" in out


# ---- text that arrives ----


def read_some(stream, timeout=20):
    """What can be read now, waiting for the first of it."""
    import select

    ready, _, _ = select.select([stream], [], [], timeout)
    assert ready, "nothing came"
    return os.read(stream.fileno(), 1 << 16)


@posix
def test_stream_writes_ids_before_the_text_ends(start):
    process = start("stream")
    process.stdin.write("Hello wörld, this is".encode())
    process.stdin.flush()
    early = read_some(process.stdout)
    assert early.endswith(b" ")
    first = [int(word) for word in early.split()]
    rest, err = process.communicate(b" the end", timeout=60)
    from ctok.registry import load

    ids = load("o200k_base").encode("Hello wörld, this is the end")
    assert first == ids[: len(first)]
    assert len(first) >= 4
    assert first + [int(word) for word in rest.split()] == ids
    assert (process.returncode, err) == (0, b"")


@posix
def test_stream_decodes_while_ids_arrive(start):
    process = start("stream", "--decode")
    process.stdin.write(b"24912 23")
    process.stdin.flush()
    assert read_some(process.stdout) == b"hello"
    process.stdin.write(b"75 ")
    process.stdin.flush()
    assert read_some(process.stdout) == b" world"
    assert process.communicate(b"", timeout=60) == (b"", b"")


@posix
def test_stream_of_one_process_into_another_hands_on_at_once(start):
    encoder = start("stream")
    decoder = start("stream", "-d", stdin=encoder.stdout)
    encoder.stdin.write(b"one two three")
    encoder.stdin.flush()
    assert read_some(decoder.stdout) == b"one two"


# ---- the reader goes away ----


@posix
@pytest.mark.parametrize("argv", [["encode"], ["tokens"], ["decode", "--errors", "ignore"], ["stream"], ["stream", "-d"], ["--encode"]])
def test_closed_pipe_is_quiet(start, argv, tmp_path):
    (tmp_path / "in").write_bytes(b"1 2 3 4 5 6 7 8 9\n" * 100_000)
    with open(tmp_path / "in", "rb") as text:
        process = start(*argv, stdin=text)
        assert process.stdout.read(20)
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@posix
@pytest.mark.parametrize("argv", [["--help"], ["models"], ["count", "x"], ["info", "--json"], ["hello"]])
def test_closed_pipe_of_little_output_is_quiet(start, argv, tmp_path):
    (tmp_path / "x").write_bytes(b"hello world")
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*argv, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@posix
def test_closed_pipe_of_stderr_is_quiet(start):
    reading, writing = os.pipe()
    os.close(reading)
    process = start("count", "none", stderr=writing)
    os.close(writing)
    assert process.communicate(timeout=60)[0] == b""
    assert process.returncode in (1, 141)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_full_disk_is_an_error_once(start):
    with open("/dev/full", "wb") as full:
        status, _, err = run(start, "count", stdin=b"hello", stdout=full)
    assert status == 1
    assert err.startswith("ctok: cannot write to standard output: ")
    assert err.count("\n") == 1


@posix
@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="Ctrl-C is ignored where these tests run")
def test_interrupt_ends_quietly(start):
    process = start("stream")
    process.stdin.write(b"one two three")
    process.stdin.flush()
    assert read_some(process.stdout)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


@posix
def test_closed_standard_streams_are_errors_with_a_message():
    def shell(line):
        done = subprocess.run(["sh", "-c", line], capture_output=True, env={**os.environ, "PYTHONPATH": HOME}, timeout=60, cwd=HOME)
        return done.returncode, done.stdout, done.stderr.decode()

    command = f"'{sys.executable}' -m ctok"
    assert shell(f"{command} hello >&-") == (1, b"", "ctok: standard output is closed\n")
    status, out, err = shell(f"{command} count <&-")
    assert (status, out, "standard input" in err) == (1, b"", True)
    assert shell(f"{command} count none 2>&-") == (1, b"", "")


# ---- terminals ----


@pytest.fixture
def terminal():
    """A pseudo terminal: (descriptor for the process, function that returns what was written to it)."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()

    def written():
        text = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # the process has closed its end
                return text.decode()
            if not more:
                return text.decode()
            text += more

    yield theirs, written
    os.close(ours)


def test_live_count_on_a_terminal(start, terminal):
    theirs, written = terminal
    process = start("stream", stderr=theirs)
    os.close(theirs)
    out, _ = process.communicate(b"hello world", timeout=60)
    assert out.split() == [b"24912", b"2375"]
    shown = written()
    assert shown.endswith("2 tokens\x1b[K\r\n")
    assert "\r" in shown


@posix
def test_live_count_is_up_to_date_when_the_text_pauses(start):
    process = start("stream", "--count")
    for chunk in (b"one", b" two", b" three", b" four"):
        process.stdin.write(chunk)
        process.stdin.flush()
        time.sleep(0.02)
    shown = b""
    while b"4 tokens, 3 of them certain" not in shown:
        shown += read_some(process.stderr)


def test_live_count_on_the_terminal_of_the_output_comes_last(start, terminal):
    theirs, written = terminal
    process = start("stream", stdout=theirs, stderr=theirs)
    os.close(theirs)
    process.communicate(b"hello world", timeout=60)
    assert written().split() == ["24912", "2375", "2", "tokens"]


@pytest.mark.parametrize("has_rich", [False, True])
def test_progress_on_a_terminal_only_for_long_work(start, terminal, tmp_path, has_rich):
    if has_rich:
        pytest.importorskip("rich")
    else:
        (tmp_path / "rich.py").write_text("raise ImportError('not here')\n")
    theirs, written = terminal
    # The work is as long as its input takes to arrive.
    process = start("count", "-", stderr=theirs, env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{HOME}", "COLUMNS": "120", "TERM": "xterm"})
    os.close(theirs)
    for _ in range(4):
        process.stdin.write(b"hello world " * (1 << 17))
        process.stdin.flush()
        time.sleep(0.4)
    out, _ = process.communicate(b"", timeout=60)
    assert out.strip().isdigit()
    assert "tokens" in written()


def test_bare_command_on_a_terminal_is_the_help(start, terminal):
    theirs, _ = terminal
    process = start(stdin=theirs)
    os.close(theirs)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (64, b"")
    assert b"usage: ctok COMMAND" in err


# ---- what a start costs ----


@pytest.mark.parametrize("argv", [["count", "-"], ["stream"], ["hello"], ["encode"]])
def test_start_imports_nothing_that_is_not_used(run_python, argv):
    program = (
        "import sys, io; bare = set(sys.modules)\n"
        "sys.stdin = io.TextIOWrapper(io.BytesIO(b'hello world'))\n"
        f"from ctok.cli import main\nassert main({argv!r}) == 0\n"
        "print(*sorted(set(sys.modules) - bare), file=sys.stderr)"
    )
    done = run_python(program, check=False)
    assert done.returncode == 0, done.stderr
    heavy = {"anyio", "asyncio", "rich", "numpy", "regex", "json", "csv", "dataclasses", "tiktoken", "pathlib", "typing", "urllib"}
    assert not heavy & {name.partition(".")[0] for name in done.stderr.split()}
