"""The rooms of the general line as objects: the stages of a tokenizer, and which added tokens a call looks for."""

from libc.stdint cimport uint8_t, uint32_t

from ctok._native.added cimport AddedTokens
from ctok._native.mergemodel cimport MergeList


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
        Says what the stages do, for telling saved states of different tokenizers apart.
    safe
        The `SafeCut` of a list of merges whose pretokens may be very long.
    """

    def __cinit__(self, Model model not None, Normalizer normalizer, Cutter cutter, added=(), str signature="", SafeCut safe=None):
        self.signature = signature
        self.model = model
        self.normalizer = normalizer
        self.cutter = cutter
        self.added = tuple(added)
        self.streams = (normalizer is None or normalizer.streams) and (cutter is None or cutter.streams)
        self.stages.ops = &model.ops
        self.stages.model = model.model
        self.stages.merges = &(<MergeList>model).m if isinstance(model, MergeList) else NULL
        self.safe = safe
        self.stages.safe = &safe.c if safe is not None else NULL
        self.stages.normal = &normalizer.n if normalizer is not None else NULL
        self.stages.cutter = &cutter.c if cutter is not None else NULL

    def policy(self, matched, forbidden):
        """Return the `FlowPolicy` that matches the added tokens of the collection `matched`, and refuses any of the texts `forbidden`."""
        return FlowPolicy(self, matched, forbidden)


cdef class FlowPolicy:
    def __cinit__(self, Flow flow not None, matched, forbidden):
        known = {token[0] for token in flow.added}
        raw = [token[:3] for token in flow.added if token[3] is None]
        raw += [(text, 0, 0) for text in forbidden if text not in known]
        normed = [token for token in flow.added if token[3] is not None]
        self.names = tuple([token[0] for token in raw + normed])
        self.kept = (*self.side(&self.sought.raw, raw, matched, forbidden), *self.side(&self.sought.normal, normed, matched, forbidden))
        self.sought.normal.base = <uint32_t>len(raw)

    cdef tuple side(self, Side *side, list tokens, matched, forbidden):
        """Fill in one side; returns what must be kept alive for it."""
        cdef AddedTokens added
        cdef bytes skip, forbid
        refused = frozenset(forbidden)
        skip = bytes([token[0] not in matched and token[0] not in refused for token in tokens])
        if all(skip):
            return ()
        added = AddedTokens(tokens)
        forbid = bytes([token[0] in refused for token in tokens])
        side.added = &added.a
        side.skip = <const uint8_t *><const char *>skip if any(skip) else NULL
        side.forbidden = <const uint8_t *><const char *>forbid if refused else NULL
        return added, skip, forbid
