"""A client of `chat_server.py`: asks for a reply and types a draft.

    pip install httpx websockets starlette uvicorn
    python examples/chat_client.py            # starts the server in the same process, talks to it and stops it
"""

import json

import anyio
import chat_server
import httpx
from websockets.asyncio.client import connect

import ctok


async def ask(port, prompt, limit=None):
    """Return the events of a reply; after `limit` of them the client hangs up."""
    events = []
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        client.stream("POST", f"http://127.0.0.1:{port}/chat", json={"prompt": prompt}, timeout=30) as response,
    ):
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line[6:]))
                if len(events) == limit:
                    break
    return events


async def type_draft(port, edits):
    """Send the edits ``(place, text from there on)``; return what the server counts after each."""
    counts = []
    async with connect(f"ws://127.0.0.1:{port}/draft", proxy=None) as socket:
        for at, text in edits:
            await socket.send(json.dumps({"at": at, "text": text}))
            counts.append(json.loads(await socket.recv()))
    return counts


async def main():
    tok = ctok.load("o200k_base")
    async with chat_server.running(chat_server.make_app(tok, chat_server.Model(tok))) as port:
        for event in await ask(port, "Drei Wörter, bitte."):
            print(event)
        for count in await type_draft(port, [(0, "Drei"), (4, " Wör"), (8, "ter"), (5, "Worte, bitte.")]):
            print(count)


if __name__ == "__main__":
    anyio.run(main)
