"""The examples run, with a real server, a real client and real files."""

import sys
from array import array
from pathlib import Path

import anyio
import pytest

import ctok

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def tok():
    return ctok.load("o200k_base")


@pytest.fixture
def example(monkeypatch):
    """Import an example by name; skip when it needs a package that is not here."""

    def load(name, *needs):
        for package in needs:
            pytest.importorskip(package, reason=f"examples/{name}.py needs {package}")
        monkeypatch.syspath_prepend(str(EXAMPLES))
        module = __import__(name)
        for other in ("chat_server", "chat_client", "budget", "encode_file"):
            monkeypatch.delitem(sys.modules, other, raising=False)
        return module

    return load


# The chat server runs on uvicorn, which is for asyncio.


@pytest.fixture
def chat(example):
    return example("chat_client", "starlette", "uvicorn", "websockets", "httpx")


@pytest.mark.asyncio
async def test_chat_reply_arrives_as_events_up_to_the_stop(chat, tok):
    server = chat.chat_server
    model = server.Model(tok)
    async with server.running(server.make_app(tok, model)) as port:
        events = await chat.ask(port, "Drei Wörter, bitte.")
    shown = server.REPLY.partition("</s>")[0]
    assert "".join(event.get("text", "") for event in events) == shown
    assert events[-1] == {"finish": "stop"}
    ids = [token_id for event in events for token_id in event.get("ids", ())]
    assert ids == tok.encode(server.REPLY)[: len(ids)]
    assert len(events) > 10
    assert model.open_replies == 0


@pytest.mark.asyncio
async def test_chat_client_that_hangs_up_ends_the_generation(chat, tok):
    server = chat.chat_server
    model = server.Model(tok, pause=0.01)
    async with server.running(server.make_app(tok, model)) as port:
        assert len(await chat.ask(port, "Drei Wörter, bitte.", limit=1)) == 1
        with anyio.fail_after(10):
            while model.open_replies:
                await anyio.sleep(0.005)


@pytest.mark.asyncio
async def test_chat_draft_is_counted_exactly_while_it_is_typed(chat, tok):
    server = chat.chat_server
    text = "Ich hätte gern drei Wörter: 😀 don't  \n"
    edits = [(place, character) for place, character in enumerate(text)]
    edits += [(4, "möchte"), (10, " noch "), (0, "")]
    async with server.running(server.make_app(tok, server.Model(tok))) as port:
        counts = await chat.type_draft(port, edits)
    draft = ""
    for (at, new), answer in zip(edits, counts, strict=True):
        draft = draft[:at] + new
        assert answer["count"] == tok.count(draft)
        assert answer["stable"] <= answer["count"]
        assert answer["left"] == server.LIMIT - answer["count"]


@pytest.mark.asyncio
async def test_chat_serves_many_clients_at_once(chat, tok):
    server = chat.chat_server
    lengths = []
    async with server.running(server.make_app(tok, server.Model(tok))) as port, anyio.create_task_group() as group:

        async def one():
            lengths.append(len(await chat.ask(port, "Hallo")))

        for _ in range(10):
            group.start_soon(one)
    assert len(lengths) == 10
    assert len(set(lengths)) == 1


@pytest.mark.asyncio
async def test_chat_client_script_runs(chat, capsys):
    await chat.main()
    lines = capsys.readouterr().out.splitlines()
    assert "{'finish': 'stop'}" in lines
    assert sum("'stable'" in line for line in lines) == 4


@pytest.mark.anyio
async def test_budget_stops_reading_within_the_limit(example, tok):
    budget = example("budget")
    reply = budget.ReplyStream(budget.REPLY)
    text, used = await budget.read_within(reply, tok, 12)
    assert used == tok.count(text) <= 12
    assert budget.REPLY.startswith(text)
    assert tok.count(budget.REPLY[: len(text) + 1]) > 12 or used == 12
    assert reply.is_closed
    assert reply.taken < len(reply.parts)


@pytest.mark.anyio
async def test_budget_keeps_a_short_reply_whole(example, tok):
    budget = example("budget")
    reply = budget.ReplyStream("Short.")
    assert await budget.read_within(reply, tok, 12) == ("Short.", tok.count("Short."))


@pytest.mark.anyio
async def test_budget_script_runs(example, capsys):
    await example("budget").main()
    assert "of them certain" in capsys.readouterr().out


@pytest.mark.anyio
async def test_encode_file_gives_the_ids_of_the_whole(example, tok, tmp_path):
    text = "Größe: 你好 😀 don't\r\n\r\n  " * 8000
    source, target = tmp_path / "text.txt", tmp_path / "ids.bin"
    source.write_bytes(text.encode())
    total = await example("encode_file").encode_file(source, target, tok)
    ids = array("I", target.read_bytes())
    if sys.byteorder == "big":
        ids.byteswap()
    assert ids.tolist() == tok.encode(text)
    assert total == len(ids)


def test_examples_are_all_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"chat_server", "chat_client", "budget", "encode_file"}
