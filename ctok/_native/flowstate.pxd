from libc.stdint cimport uint8_t

from ctok._native.c_added cimport ctok_added_state
from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_cut cimport ctok_cut_state
from ctok._native.c_normal cimport ctok_normal_state
from ctok._native.c_vocab cimport ctok_status
from ctok._native.rooms cimport Policy, Stages

# The search for added tokens on one side, and the text that it still needs.
cdef struct Search:
    ctok_bytes window
    ctok_added_state at

# A text on its way. Zeroed and begun = the start of a text. Belongs to one task.
cdef struct FlowState:
    Search raw
    ctok_normal_state normal
    Search normed
    ctok_cut_state cut
    void *open                  # the pretoken in the making (csrc/ctok_model.h); NULL until there is one
    bint is_open                # some of it has been fed
    ctok_bytes tail             # its last bytes, or all as long as the model would give nothing: see advance_open,
    size_t fed                  # how many at the start of them have been fed,
    size_t seen                 # and from where on to look for a place to cut
    bint is_whole               # the text comes in one call
    bint in_segment             # text between two added tokens has been fed to the normaliser,
    bint in_part                # and to the pre-tokenizer
    bint is_later               # something of the text came before
    ctok_bytes head             # its first bytes, held until it is certain where the normalised text starts, if the pre-tokenizer asks
    bint has_start              # it is: of the normalised text
    size_t zero                 # so many bytes stem from place 0

cdef ctok_status flow_begin(const Stages *f, FlowState *s) noexcept nogil
cdef void flow_free(const Stages *f, FlowState *s) noexcept nogil
cdef ctok_status flow_copy(const Stages *f, FlowState *to, const FlowState *source) noexcept nogil      # `to` is begun

# Before a text is normalised: *p and *n become what is to be normalised now, which is nothing as long as its start is uncertain, and then
# s.head; `end`: with these bytes the stretch ends.
cdef ctok_status flow_start(const Stages *f, FlowState *s, const uint8_t **p, size_t *n, bint end) noexcept nogil

# How many bytes of the normalised text stem from place 0, as far as its first n bytes tell; *certain: more of them would not change that.
cdef ctok_status bytes_of_start(const Stages *f, const uint8_t *p, size_t n, size_t *zero, bint *certain) noexcept nogil

cdef bytes flow_window(const FlowState *s)
cdef bytes flow_save(const Stages *f, const Policy *policy, const FlowState *s)
cdef object flow_load(const Stages *f, const Policy *policy, FlowState *s, bytes saved)

# Where the last character of a text begins.
cdef inline size_t last_character(const ctok_bytes *text) noexcept nogil:
    cdef size_t at = text.n
    while at > 0:
        at -= 1
        if (text.at[at] & 0xC0) != 0x80:
            break
    return at
