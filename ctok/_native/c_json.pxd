from libc.stdint cimport uint8_t, uint32_t
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_json.h" nogil:
    const unsigned int CTOK_JSON_DEPTH
    ctypedef enum ctok_json_fault:
        CTOK_JSON_OK
        CTOK_JSON_END
        CTOK_JSON_VALUE
    ctypedef struct ctok_json:
        const uint8_t *buf
        size_t at
        size_t end
        ctok_json_fault fault
        size_t where
    ctypedef struct ctok_json_string:
        size_t begin
        size_t len
        bint plain
    void ctok_json_init(ctok_json *j, const uint8_t *buf, size_t n)
    int ctok_json_peek(ctok_json *j)
    bint ctok_json_enter(ctok_json *j, int close)
    bint ctok_json_more(ctok_json *j, int close)
    bint ctok_json_key(ctok_json *j, ctok_json_string *s)
    bint ctok_json_string_at(ctok_json *j, ctok_json_fault fault, ctok_json_string *s)
    size_t ctok_json_unescape(const ctok_json *j, const ctok_json_string *s, uint8_t *to)
    bint ctok_json_number_at(ctok_json *j, size_t *begin)
    bint ctok_json_end(ctok_json *j)
    bint ctok_json_is(const ctok_json *j, const ctok_json_string *s, const char *text)
    bint ctok_json_skip(ctok_json *j)
    size_t ctok_json_line(const uint8_t *buf, size_t at)

cdef extern from "ctok_texttable.h" nogil:
    const uint32_t CTOK_TEXT_NONE
    ctypedef struct ctok_bytestring:
        uint32_t begin
        uint32_t len
    ctypedef struct ctok_text_entry:
        ctok_bytestring text
        uint32_t id
    ctypedef struct ctok_texttable:
        uint8_t *bytes
        ctok_text_entry *entries
        uint32_t n
    ctypedef struct ctok_text_key:
        pass
    ctok_text_key ctok_text_key_of(const uint8_t *p, size_t n, size_t readable)
    uint32_t ctok_texttable_find(const ctok_texttable *t, const uint8_t *p, size_t n, const ctok_text_key *key)
    size_t ctok_texttable_size(const ctok_texttable *t)
    void ctok_texttable_free(ctok_texttable *t)
    ctok_status ctok_texttable_write(const ctok_texttable *t, uint8_t *data, uint8_t *ends, uint8_t *ids)

cdef extern from "ctok_mergeids.h" nogil:
    ctypedef struct ctok_mergeids:
        uint32_t n
        uint32_t bad
    ctok_status ctok_mergeids_check(ctok_mergeids *m, const ctok_texttable *t, size_t prefix)
    ctypedef struct ctok_mergeids_given:
        uint8_t *pairs
        uint8_t *joined
        size_t n_pairs
        size_t n_joined
    ctok_mergeids_given ctok_mergeids_give(ctok_mergeids *m, const ctok_texttable *t)

cdef extern from "ctok_jsonvocab.h" nogil:
    enum:
        CTOK_JV_PART
        CTOK_JV_RESULT
    ctypedef struct ctok_jv_error:
        int fault
        size_t where
        uint32_t entry
        int side
    ctypedef struct ctok_jv_span:
        size_t begin
        size_t end
    ctypedef struct ctok_jsonvocab:
        ctok_texttable table
        ctok_mergeids merges
        double *scores
        uint32_t *score_at
        int vocab_kind
        int merges_kind
        uint32_t headers
        ctok_jv_span vocab
        ctok_jv_span merges_span
    ctok_status ctok_jsonvocab_read(ctok_jsonvocab *f, const uint8_t *buf, size_t n, bint bare, ctok_jv_error *error)
    void ctok_jsonvocab_free(ctok_jsonvocab *f)

cdef extern from "ctok_tekken.h" nogil:
    ctok_status ctok_tekken_read(ctok_texttable *t, const uint8_t *buf, size_t n, uint32_t wanted)
