"""A chat server: replies stream as server-sent events, drafts are counted over a WebSocket while they are typed.

    pip install starlette uvicorn websockets
    python examples/chat_server.py            # http://127.0.0.1:8000, until Ctrl-C

The "model" is canned: it yields the ids of a fixed reply, one by one, as an inference engine would. `chat_client.py` talks to it.
"""

import contextlib
import json
import socket
import sys

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route, WebSocketRoute

import ctok

LIMIT = 8192
REPLY = "Gerne! Hier sind drei Wörter: 😀 Übermut, naïveté, 你好.</s> This is never shown."


class EventStream(StreamingResponse):
    """The events of one reply. However the response ends, by the client's leaving, too, the model's stream is closed."""

    def __init__(self, deltas):
        super().__init__(self.events(deltas), media_type="text/event-stream")
        self.deltas = deltas

    async def stream_response(self, send):
        async with self.deltas:
            await super().stream_response(send)

    async def events(self, deltas):
        async for delta in deltas:
            yield f"data: {json.dumps({'text': delta.text, 'ids': list(delta.ids)})}\n\n"
        yield f"data: {json.dumps({'finish': deltas.finish_reason})}\n\n"


class Model:
    """Stands in for an engine. `open_replies` is how many replies are being generated."""

    def __init__(self, tok, pause=0.001):
        self.tok = tok
        self.pause = pause
        self.open_replies = 0

    async def generate(self, prompt_ids):
        self.open_replies += 1
        try:
            for token_id in self.tok.encode(REPLY):
                await anyio.sleep(self.pause)
                yield token_id
        finally:
            self.open_replies -= 1


def make_app(tok, model):
    async def chat(request):
        prompt = (await request.json())["prompt"]
        prompt_ids = await ctok.streams.encode_text(prompt, tok)
        return EventStream(ctok.streams.decode_deltas(model.generate(prompt_ids), tok, stop=["</s>"]))

    async def draft(socket):
        await socket.accept()
        counter = tok.counter(limit=LIMIT, rewind=True)
        async for edit in socket.iter_json():
            # An edit says where the text changed and what stands there now, up to the end.
            counter.truncate(edit["at"])
            counter.feed(edit["text"])
            await socket.send_json({"count": counter.count, "stable": counter.stable, "left": counter.left})

    return Starlette(routes=[Route("/chat", chat, methods=["POST"]), WebSocketRoute("/draft", draft)])


@contextlib.asynccontextmanager
async def running(app, port=0):
    """Run `app` on the loopback interface inside this event loop; gives the port, and shuts down in order."""
    config = uvicorn.Config(app, ws="websockets-sansio", log_level="warning", lifespan="off", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listener])
            while not server.started:
                await anyio.sleep(0.005)
            try:
                yield listener.getsockname()[1]
            finally:
                server.should_exit = True


async def main(port):
    tok = ctok.load("o200k_base")
    async with running(make_app(tok, Model(tok, pause=0.05)), port) as bound:
        print(f"http://127.0.0.1:{bound}")
        await anyio.sleep_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
