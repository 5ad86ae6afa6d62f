from libc.stdint cimport uint8_t

from ctok._native.c_utf8 cimport ctok_on_surrogate
from ctok._native.c_vocab cimport ctok_status
from ctok._native.engine cimport Context, Engine
from ctok._native.flowstate cimport FlowState

# Append to c.ids what is certain now; with `final` everything, and the state is as begun. After an error the state must be replaced by a
# copy made before the call; after CTOK_ERR_STOPPED and CTOK_ERR_BYTE the trouble starts c.bad bytes and c.bad_chars characters before the
# end of what was fed.
cdef ctok_status flow_feed(Context *c, const Engine *e, FlowState *s, const uint8_t *p, size_t n, bint final) noexcept nogil
cdef ctok_status flow_utf8(Context *c, const Engine *e, const uint8_t *buf, size_t n) noexcept nogil
cdef ctok_status flow_wide(Context *c, const Engine *e, int kind, const void *src, size_t n, ctok_on_surrogate how) noexcept nogil
