"""The rooms of the general line as objects: the stages of a tokenizer, and which added tokens a call looks for."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.added cimport AddedTokens
from ctok._native.mergemodel cimport MergeModel


@cython.no_gc_clear     # what it points into is freed after it
cdef class Flow:
    """The stages of a tokenizer, built.

    Parameters
    ----------
    model
        A `Model`.
    normalizer, cutter
        A `Normalizer` and a `Cutter`, or None.
    added
        Tuples ``(content, id, flags, sought)`` in declaration order: flags as `AddedTokens` takes them; `sought` is the content as the
        normalizer leaves it, for a token that is searched in the normalised text, else None.
    signature
        Called without arguments when it is first needed: gives a str that says what the stages do, for telling saved states of
        different tokenizers apart.
    safe
        The `SafeCut` of a list of merges whose pretokens may be very long.
    shown_unk
        The id of what has no token, if encodings call that what it is instead of by the name of the unknown token.
    """

    def __cinit__(self, Model model not None, Normalizer normalizer, Cutter cutter, added=(), signature=str, SafeCut safe=None,
                  shown_unk=None):
        self._signature = signature
        self.model = model
        self.normalizer = normalizer
        self.cutter = cutter
        self.added = tuple(added)
        self.raw = [token[:3] for token in self.added if token[3] is None]
        self.normed = [token for token in self.added if token[3] is not None]
        self.streams = (normalizer is None or normalizer.streams) and (cutter is None or cutter.streams)
        self.stages.ops = &model.ops
        self.stages.model = model.model
        self.stages.merges = &(<MergeModel>model).m if isinstance(model, MergeModel) else NULL
        self.safe = safe
        self.shown_unk = shown_unk
        self.stages.safe = &safe.c if safe is not None else NULL
        self.stages.normal = &normalizer.n if normalizer is not None else NULL
        self.stages.cutter = &cutter.c if cutter is not None else NULL

    @property
    def signature(self):
        """What the stages do, as a str."""
        if not isinstance(self._signature, str):
            self._signature = self._signature()
        return self._signature

    cdef AddedTokens automaton(self, bint normed):
        if normed:
            if self.normed_automaton is None:
                self.normed_automaton = AddedTokens(self.normed)
            return self.normed_automaton
        if self.raw_automaton is None:
            self.raw_automaton = AddedTokens(self.raw)
        return self.raw_automaton

    def policy(self, matched, forbidden):
        """Return the `FlowPolicy` that matches the added tokens of the collection `matched`, and refuses any of the texts `forbidden`."""
        return FlowPolicy(self, matched, forbidden)


@cython.no_gc_clear     # what it points into is freed after it
cdef class FlowPolicy:
    def __cinit__(self, Flow flow not None, matched, forbidden):
        known = {token[0] for token in flow.added}
        unknown = [(text, 0, 0) for text in forbidden if text not in known]
        raw = flow.raw + unknown
        self.names = tuple([token[0] for token in raw + flow.normed])
        self.kept = []
        refused = frozenset(forbidden)
        if unknown or sought(flow.raw, matched, refused):
            self.side(&self.sought.raw, raw, AddedTokens(raw) if unknown else flow.automaton(False), matched, refused)
        if sought(flow.normed, matched, refused):
            self.side(&self.sought.normal, flow.normed, flow.automaton(True), matched, refused)
        self.sought.normal.base = <uint32_t>len(raw)

    cdef side(self, Side *side, list tokens, AddedTokens automaton, matched, refused):
        """Fill in one side."""
        cdef bytes skip = bytes([token[0] not in matched and token[0] not in refused for token in tokens])
        cdef bytes forbid = bytes([token[0] in refused for token in tokens])
        side.added = &automaton.a
        side.skip = <const uint8_t *><const char *>skip if any(skip) else NULL
        side.forbidden = <const uint8_t *><const char *>forbid if refused else NULL
        self.kept += (automaton, skip, forbid)


cdef bint sought(list tokens, matched, refused):
    """Is any of the tokens looked for?"""
    return any([token[0] in matched or token[0] in refused for token in tokens])
