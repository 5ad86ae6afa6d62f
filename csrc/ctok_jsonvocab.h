/* ctok_jsonvocab.h - the two large tables of a tokenizer.json, model.vocab and model.merges, and where in the file they are; or a vocab.json, which
 * is such a vocabulary alone.
 *
 * The whole document is checked to be JSON on the way. What else it holds is the caller's business: with the two spans cut out, little is left.
 * A vocabulary is an object from text to id, or a list of [text, score]. Merges are "left right" texts or [left, right] pairs.
 *
 * Scores become what the reference's reader makes of them: its arithmetic rounds twice, so a score can differ in the last bit from the
 * double that is nearest to the number in the file. `steps` says by how much, so that the file can be written again as it was.
 */
#ifndef CTOK_JSONVOCAB_H
#define CTOK_JSONVOCAB_H

#include "ctok_base.h"
#include "ctok_json.h"
#include "ctok_mergeids.h"
#include "ctok_texttable.h"

/* Beside ctok_json_fault, and disjoint from it. */
typedef enum ctok_jv_fault {
    CTOK_JV_BIG = 32,         /* 4 GiB or more */
    CTOK_JV_TWICE = 33,       /* a key that must be there once is there twice */
    CTOK_JV_ID = 34,          /* an id that is no integer */
    CTOK_JV_ID_RANGE = 35,    /* an id below 0, or 2^31 or more */
    CTOK_JV_LONG = 36,        /* a text above CTOK_TEXT_MAX bytes */
    CTOK_JV_PIECE = 37,       /* an entry of a list that is not [text, score] */
    CTOK_JV_SCORE = 38,       /* a score that no double can hold */
    CTOK_JV_MERGE = 39,       /* a merge that is neither a text nor a pair of texts */
    CTOK_JV_MIXED = 40,       /* texts and pairs in one list */
    CTOK_JV_BLANK = 41,       /* a merge's text without exactly one blank */
    CTOK_JV_PART = 42,        /* a merge's text is not in the vocabulary: `side` says which */
    CTOK_JV_RESULT = 43,      /* what a merge gives is not in the vocabulary */
    CTOK_JV_CROWDED = 44      /* texts chosen to slow the reader down */
} ctok_jv_fault;

typedef struct ctok_jv_error {
    int fault;
    size_t where;   /* offset in the file; for PART and RESULT nothing: see `entry` */
    uint32_t entry; /* index of the vocabulary's entry or of the merge, counted as the file does */
    int side;
} ctok_jv_error;

typedef enum ctok_jv_kind {
    CTOK_JV_NONE = 0,
    CTOK_JV_IDS = 1,    /* vocab: an object from text to id */
    CTOK_JV_PIECES = 2, /* vocab: a list of [text, score] */
    CTOK_JV_TEXTS = 1,  /* merges: "left right" */
    CTOK_JV_PAIRS = 2   /* merges: [left, right] */
} ctok_jv_kind;

typedef struct ctok_jv_span {
    size_t begin, end; /* both 0: not there */
} ctok_jv_span;

typedef struct ctok_jsonvocab {
    ctok_texttable table;
    ctok_mergeids merges;
    double *scores;        /* of PIECES, by id */
    uint32_t *score_at;    /* of PIECES: where the number is when the score may not be the nearest double, else 0 */
    uint32_t cap_scores;
    int vocab_kind, merges_kind;
    uint32_t headers;      /* "#version" lines among the merges, which are no merges */
    int has_model;         /* there was an object "model" */
    ctok_jv_span vocab, merges_span;
} ctok_jsonvocab;

/* ctok_jsonvocab_read - read a whole document.
 *
 * f      uninitialised; on success owned by the caller and given back with ctok_jsonvocab_free.
 * buf    n readable bytes; must stay until ctok_jsonvocab_free.
 * bare   true: the document is the vocabulary alone.
 * error  on CTOK_ERR_FORMAT: what is wrong first.
 *
 * What merges give is not checked yet: see ctok_mergeids_check, which needs to know more of the document.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY or CTOK_ERR_FORMAT; f then owns nothing.
 */
ctok_status ctok_jsonvocab_read(ctok_jsonvocab *f, const uint8_t *buf, size_t n, int bare, ctok_jv_error *error);

/* ctok_jsonvocab_free - give everything back. */
void ctok_jsonvocab_free(ctok_jsonvocab *f);

/* ctok_json_score - the number at p, checked to be JSON, as the reference's reader reads it.
 *
 * exact   set to whether that is certainly the nearest double.
 *
 * Returns it; HUGE_VAL or -HUGE_VAL when it is out of range.
 */
double ctok_json_score(const uint8_t *p, const uint8_t *end, int *exact);

#endif
