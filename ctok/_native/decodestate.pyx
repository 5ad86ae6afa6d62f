"""The state of an `IncrementalDecoder` as bytes, and back; what comes from outside is checked before it is used."""

from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes_append
from ctok._native.c_decoder cimport (
    CTOK_START_MACHINE, ctok_decoder_held, ctok_decoder_hold, ctok_decoder_machine, ctok_decoder_push, ctok_decoder_queue, ctok_pending)
from ctok._native.c_machine cimport ctok_machine, ctok_machine_check, ctok_op_state
from ctok._native.c_text cimport CTOK_PER_RUN
from ctok._native.c_utf8 cimport CTOK_UTF8_OPEN, ctok_utf8_step
from ctok._native.c_vocab cimport CTOK_OK, CTOK_TOKEN_KNOWN, ctok_mem_fail_after
from ctok._native.decode cimport IncrementalDecoder

from hashlib import blake2b
from struct import Struct, pack, unpack_from

from ..errors import StateError

_HEAD = b"ctok decoder 2\n"
_DECODER = Struct("<QQIIIIBBB")
_OP = Struct("<IIIIBBB6s")


cdef bytes _state_head(IncrementalDecoder self):
    """What must be equal on both sides: the form's version, the vocabulary, the options."""
    options = (self.d.errors, self.d.policy, self.d.skip_special, self.d.include_stop, self.stops.texts if self.stops else ())
    digest = blake2b(repr(options).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return _HEAD + self.vocab.fingerprint + digest


cdef list _saved_ops(ctok_machine *m):
    cdef uint32_t k
    cdef ctok_op_state *s
    cdef list parts = []
    for k in range(m.first, m.to):
        s = &m.now[k]
        parts.append(_OP.pack(s.marks, s.a, s.b, s.n, s.later, s.phase, s.n_few, (<char *>s.few)[:6]))
        parts.append(pack("<I", m.hold[k].n))
        if m.hold[k].n:
            parts.append((<char *>m.hold[k].at)[:m.hold[k].n])
    return parts


def saved(IncrementalDecoder self):
    """Return what `IncrementalDecoder.getstate` promises."""
    cdef uint32_t i
    cdef ctok_pending *queue = ctok_decoder_queue(&self.d)
    parts = [_state_head(self), _DECODER.pack(self.d.n_ids, self.d.n_bytes, self.d.state, self.d.n_held, self.d.n_pending, self.d.n_open,
                                              self.d.finished, self.d.start, self.d.lead)]
    if self.d.n_held:
        parts.append((<char *>ctok_decoder_held(&self.d))[:self.d.n_held])
    for i in range(self.d.n_pending):        # places are counted back from the end of the text, so a state does not tell how it was reached
        parts.append(pack("<II", queue[i].id, self.d.n_text - queue[i].end if i + self.d.n_open < self.d.n_pending else 0))
    if self.d.start & CTOK_START_MACHINE:
        parts += _saved_ops(ctok_decoder_machine(&self.d))
    return b"".join(parts)


cdef bint _is_held(IncrementalDecoder self, const uint8_t *p, size_t n) noexcept:
    """Can these bytes be held? A run can be anything; else they begin one character."""
    cdef uint32_t c = 0
    if n == 0:
        return True
    if self.d.start & CTOK_START_MACHINE:
        return False
    return self.d.policy == CTOK_PER_RUN or (n <= 3 and ctok_utf8_step(p, n, &c) == n and c == CTOK_UTF8_OPEN)


cdef size_t _restore_ops(ctok_machine *m, bytes raw, size_t at, uint32_t n_open) except 0:
    """Fill the machine from raw[at:]; returns where that ends."""
    cdef uint32_t k, i, n
    cdef ctok_op_state *s
    cdef bytes few, held
    for k in range(m.first, m.to):
        s = &m.now[k]
        if len(raw) < <Py_ssize_t>at + _OP.size + 4:
            raise StateError("the state is cut short")
        s.marks, s.a, s.b, s.n, s.later, s.phase, s.n_few, few = _OP.unpack_from(raw, at)
        for i in range(6):
            s.few[i] = few[i]
        s.begin = 0
        at += <size_t>_OP.size + 4
        n = unpack_from("<I", raw, at - 4)[0]
        held = raw[at:at + n]
        at += n
        m.hold[k].n = 0
        if len(held) != <Py_ssize_t>n:
            raise StateError("the state is cut short")
        if ctok_bytes_append(&m.hold[k], held, n) != CTOK_OK:
            raise MemoryError("no memory for the state")
    if not ctok_machine_check(m, n_open):
        raise StateError("the state is damaged")
    return at


def restore(IncrementalDecoder self, state):
    """Put a decoder that was just reset into a saved state; after an error it is good for nothing."""
    cdef bytes raw = bytes(memoryview(state)), head = _state_head(self)
    cdef uint8_t start = self.d.start, lead = self.d.lead
    at = len(head) + _DECODER.size
    if raw[:len(_HEAD)] != _HEAD:
        raise StateError("these bytes are no state of a decoder of this version")
    if raw[:len(head)] != head:
        raise StateError("the state is of another tokenizer, or of a decoder with other options")
    if len(raw) < at:
        raise StateError("the state is cut short")
    (self.d.n_ids, self.d.n_bytes, self.d.state, n_held, n_pending, self.d.n_open, self.d.finished, self.d.start,
     self.d.lead) = _DECODER.unpack_from(raw, len(head))
    held = raw[at:at + n_held]
    n_states = self.d.stops.n_states if self.d.stops != NULL else 1
    self.d.start = self.d.start & start | start & CTOK_START_MACHINE      # whatever the state says: only as the chain has it
    if (len(raw) < at + n_held + 8 * n_pending or self.d.n_open > n_pending
            or (self.d.n_open and not n_held and not start & CTOK_START_MACHINE)
            or self.d.finished > (self.d.stops != NULL) or self.d.state >= n_states or n_pending > self.d.n_ids
            or self.d.lead > lead or not _is_held(self, held, n_held)):
        raise StateError("the state is damaged")
    self.d.n_held = self.d.n_pending = 0
    if ctok_decoder_hold(&self.d, held, n_held) != CTOK_OK:
        raise MemoryError("no memory for the state")
    at += n_held
    _restore_queue(self, raw, at, n_pending)
    at += 8 * n_pending
    if start & CTOK_START_MACHINE:
        at = _restore_ops(ctok_decoder_machine(&self.d), raw, at, self.d.n_open)
    if len(raw) != at:
        raise StateError("the state is damaged")


cdef int _restore_queue(IncrementalDecoder self, bytes raw, size_t at, uint32_t n_pending) except -1:
    cdef uint32_t id, back
    for k in range(n_pending):
        id, back = unpack_from("<II", raw, at + 8 * k)
        if (id >= self.vocab.v.n_ids or not self.vocab.v.by_id[id].flags & CTOK_TOKEN_KNOWN) and not self.d.skip_unknown:
            raise StateError("the state is damaged")
        if ctok_decoder_push(&self.d, id, self.d.n_text - back) != CTOK_OK:
            raise MemoryError("no memory for the state")
    return 0


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
