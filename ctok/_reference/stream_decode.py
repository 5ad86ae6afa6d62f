"""Decoding while ids arrive, slowly: after each id everything is computed anew from all ids so far.

The oracle of `_native/decode.IncrementalDecoder`. A *segment* is a piece of text and the number of ids that end with it.
"""

from .decode import REPLACEMENT, _decodes, cells, token_list


def first_stop(text, stops):
    """Return (start, end) of the stop that is complete first in `text`, the longest of several; None if there is none."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return end - max(map(len, found)), end
    return None


def held_by_stops(text, stops):
    """Return how many characters at the end of `text` could still become part of a stop."""
    alive = [stop for stop in stops if first_stop(stop, stops) == (0, len(stop))]
    return max((k for stop in alive for k in range(len(stop)) if text.endswith(stop[:k])), default=0)


class StreamDecoder:
    """Same options and answers as the compiled decoder; ids as in `decode.decode`. Errors: KeyError, UnicodeDecodeError."""

    def __init__(
        self, tokens, special, *, stop=(), include_stop=False, prefix_ids=(), skip_special_tokens=False, errors="replace", utf8_policy=None
    ):
        self.tokens, self.special = tokens, special
        self.stops = (stop,) if isinstance(stop, str) else tuple(stop)
        self.include_stop, self.skip, self.errors = include_stop, skip_special_tokens, errors
        self.policy = None if errors == "strict" else utf8_policy
        before = b"".join(token_list(tokens, special, prefix_ids, skip_special_tokens))
        self.prefix = b"".join(before[cell.start : cell.stop] for cell in cells(before) if cell.state == "open")
        self.reset()

    def reset(self):
        self.ids, self.n_text, self.n_ids, self.finish = [], 0, 0, None

    def decode(self, ids, final=False):
        return self.decode_delta(ids, final)[0]

    def decode_delta(self, ids, final=False):
        """Return (text, ids, start, finish) and set `consumed`."""
        ids = [ids] if isinstance(ids, int) else list(ids)
        saved = self.ids, self.n_text, self.n_ids, self.finish
        try:
            return self._decode_delta(ids, final)
        except BaseException:
            self.ids, self.n_text, self.n_ids, self.finish = saved
            raise

    def _decode_delta(self, ids, final):
        text, used = "", 0
        start = self.n_ids
        while used < len(ids) and self.finish is None:
            self.ids = [*self.ids, ids[used]]
            used += 1
            text += self._advance(False)
        if final and self.finish is None:
            text += self._advance(True)
        result = text, tuple(self.ids[start : self.n_ids]), start, self.finish
        if final:
            self.reset()
        self.consumed = used
        return result

    def _advance(self, final):
        """Take in what the ids so far, and the end, allow; return the text that is new."""
        segments = self._segments(final)
        text = "".join(piece for piece, _ in segments)
        before, stop = self.n_text, first_stop(text, self.stops)
        if stop:
            self.finish, self.n_ids = "stop", len(self.ids)
            self.n_text = stop[1] if self.include_stop else stop[0]
            return text[before : self.n_text]
        self.n_text = len(text) - (0 if final else held_by_stops(text, self.stops))
        self.n_ids, at = 0, 0
        for piece, n_ids in segments:
            at += len(piece)
            if at <= self.n_text:
                self.n_ids += n_ids
        return text[before : self.n_text]

    def _segments(self, final):
        parts = token_list(self.tokens, self.special, self.ids, self.skip)
        return self._runs(parts, final) if self.policy == "hf_run" else self._characters(parts, final)

    def _characters(self, parts, final):
        data = self.prefix + b"".join(parts)
        if self.errors == "strict":
            cells_before_bad(data, final).decode()
        segments, at, ends = [("", 0)], 0, []
        for part in parts:
            at += len(part)
            ends.append(len(self.prefix) + at)
        for cell in cells(data, errors=self.errors):
            if cell.state == "open" and not final:
                return [*segments, ("", sum(end <= cell.start for end in ends) - sum(n for _, n in segments))]
            times = cell.stop - cell.start if self.policy == "per_byte" and cell.state != "good" else 1
            ended = sum(end <= cell.start for end in ends) - sum(n for _, n in segments)
            segments.append(("", ended))
            segments.append((cell.text * times, sum(cell.start < end <= cell.stop for end in ends)))
        return [*segments, ("", len(ends) - sum(n for _, n in segments))]

    def _runs(self, parts, final):
        segments, run, n_ids = [], self.prefix, 0
        for part in [*parts, None]:
            if part is None and not final:
                return segments
            if part is None or (part and _decodes(part)):
                bad = "" if self.errors == "ignore" else REPLACEMENT * len(run)
                segments.append((run.decode() if not run or _decodes(run) else bad, n_ids))
                segments.append((part.decode() if part else "", 0 if part is None else 1))
                run, n_ids = b"", 0
            elif not run and not part:
                segments.append(("", 1))
            else:
                run, n_ids = run + part, n_ids + 1
        return segments


def cells_before_bad(data, final):
    """Return `data` without an unfinished character at its end, unless `final`: what a strict codec must accept."""
    last = cells(data)[-1:]
    return data[: last[0].start] if last and last[0].state == "open" and not final else data
