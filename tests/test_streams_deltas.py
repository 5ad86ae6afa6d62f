"""Text inside the events of model replies, by shape."""

from types import SimpleNamespace

import anyio
import pytest

from ctok import streams
from ctok.streams import delta_text
from streams_standin import Script, ToyTokenizer


def objects(value):
    """The same event as nested objects, as client libraries give it."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: objects(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return [objects(entry) for entry in value]
    return value


def chat(delta, index=0):
    return {"choices": [{"index": index, "delta": delta, "finish_reason": None}]}


EVENTS = [
    ("chat_role", chat({"role": "assistant", "content": ""}), "text", ""),
    ("chat_content", chat({"content": "Hi"}), "text", "Hi"),
    ("chat_content_null", chat({"content": None}), "text", ""),
    ("chat_usage", {"choices": [], "usage": {"total_tokens": 3}}, "text", ""),
    ("chat_refusal", chat({"refusal": "no"}), "refusal", "no"),
    ("chat_reasoning", chat({"reasoning_content": "hm"}), "reasoning", "hm"),
    ("chat_reasoning_under_two_names", chat({"reasoning_content": "hm", "reasoning": "hm"}), "reasoning", "hm"),
    ("chat_arguments", chat({"tool_calls": [{"function": {"arguments": '{"a'}}]}), "arguments", '{"a'),
    ("completion", {"choices": [{"index": 0, "text": "Hi"}]}, "text", "Hi"),
    ("response_text", {"type": "response.output_text.delta", "delta": "Hi"}, "text", "Hi"),
    ("response_refusal", {"type": "response.refusal.delta", "delta": "no"}, "refusal", "no"),
    ("response_reasoning", {"type": "response.reasoning_text.delta", "delta": "hm"}, "reasoning", "hm"),
    ("response_summary", {"type": "response.reasoning_summary_text.delta", "delta": "hm"}, "reasoning", "hm"),
    ("response_arguments", {"type": "response.function_call_arguments.delta", "delta": "{"}, "arguments", "{"),
    ("response_audio", {"type": "response.audio.delta", "delta": "UklGRg=="}, "text", ""),
    ("response_done", {"type": "response.output_text.done", "text": "Hi"}, "text", ""),
    ("response_completed", {"type": "response.completed", "response": {}}, "text", ""),
    ("message_start", {"type": "message_start", "message": {}}, "text", ""),
    ("message_block", {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}, "text", ""),
    ("message_text", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}}, "text", "Hi"),
    ("message_thinking", {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}, "reasoning", "hm"),
    ("message_json", {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{"}}, "arguments", "{"),
    ("message_signature", {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "x"}}, "text", ""),
    ("message_usage", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, "text", ""),
    ("ping", {"type": "ping"}, "text", ""),
]


@pytest.mark.parametrize("event, kind, text", [pytest.param(*row[1:], id=row[0]) for row in EVENTS])
def test_delta_text_finds_each_kind_in_each_shape(event, kind, text):
    assert delta_text(event, kinds=[kind]) == text
    assert delta_text(objects(event), kinds=[kind]) == text
    others = [other for other in ("text", "reasoning", "refusal", "arguments") if other != kind]
    assert delta_text(event, kinds=others) == ""


def test_delta_text_follows_one_choice():
    event = {"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]}
    assert delta_text(event) == "a"
    assert delta_text(event, choice=1) == "b"


def test_delta_text_takes_text_and_none_as_they_are():
    assert delta_text("abc") == "abc"
    assert delta_text(None) == ""


def test_delta_text_of_an_unknown_shape_is_refused():
    for item in (7, {"content": "Hi"}, SimpleNamespace(text="Hi")):
        with pytest.raises(TypeError, match="neither choices nor a type"):
            delta_text(item)


def test_text_deltas_refuses_unknown_kinds():
    with pytest.raises(ValueError, match="there are text, reasoning"):
        streams.text_deltas([], kinds=["txt"])
    with pytest.raises(TypeError, match="not a str"):
        streams.text_deltas([], kinds="text")


@pytest.mark.anyio
async def test_text_deltas_streams_text_only_and_closes_the_source():
    source = Script([row[1] for row in EVENTS])
    async with streams.text_deltas(source) as stream:
        assert [text async for text in stream] == ["Hi"] * 4
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
    assert source.closed == 1


@pytest.mark.anyio
async def test_text_deltas_goes_on_after_an_unknown_event():
    stream = streams.text_deltas(Script([7, chat({"content": "Hi"})]))
    with pytest.raises(TypeError):
        await stream.receive()
    assert await stream.receive() == "Hi"


@pytest.mark.anyio
async def test_count_of_deltas_is_the_count_of_the_text_not_of_the_events():
    tok = ToyTokenizer()
    source = Script([chat({"content": part}) for part in ("Hel", "lo", " world")])
    counts = [count async for count in streams.count(streams.text_deltas(source), tok)]
    assert counts[-1] == tok.count("Hello world") == 4
