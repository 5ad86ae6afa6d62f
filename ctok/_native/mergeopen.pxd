from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_vocab cimport ctok_id, ctok_range, ctok_status
from ctok._native.mergelist cimport ListScratch, Merges

# A place of the held text from which some token may still be in the making.
cdef struct OpenWalk:
    uint32_t start
    ctok_range range

# A pretoken that arrives.
cdef struct MergesOpen:
    const Merges *model
    ListScratch *scratch
    ctok_bytes text             # what is held, from `base` on: characters that are tokens; all as it came where `raw`
    size_t base
    bint raw                    # nothing of it has been looked at: the model does not stream, or all of it may still be one token
    ctok_range range            # then: the tokens that begin with it
    uint8_t part[4]             # an unfinished character
    uint32_t n_part
    bint waiting                # an unknown token is to leave before the next character that is a token
    size_t patience             # bytes of text before a jump is tried (again),
    size_t retry                # and before alive prefixes are compared again
    # The path tree over text[base ...]: for each prefix the last token of its encoding.
    size_t known                # bytes of it that are in the tree
    size_t room
    uint32_t *last_len          # [i]: bytes of the last token of the prefix of i + 1 bytes; 0 inside a character
    ctok_id *last_id
    OpenWalk *walks             # ascending start
    size_t n_walks
    size_t walk_room
    ctok_ids work

# The open form of csrc/ctok_model.h.
cdef void *merges_open_new(const void *model) noexcept nogil
cdef ctok_status merges_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil
cdef ctok_status merges_open_end(void *state, ctok_ids *ids) noexcept nogil
cdef void *merges_open_copy(const void *state) noexcept nogil
cdef void merges_open_free(void *state) noexcept nogil
cdef ctok_status merges_open_save(const void *state, ctok_bytes *out) noexcept nogil
cdef ctok_status merges_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil
cdef bint merges_open_waits(const void *model, const uint8_t *p, size_t n) noexcept nogil
