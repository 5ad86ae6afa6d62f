/* ctok_decoder.h - ids to text, one by one: what is held back, what is released, and which ids a released text belongs to.
 *
 * Layers, each with a bounded memory of its own:
 *   chain   where a tokenizer has decoders that are more than bytes one behind the other, with what they hold back (ctok_chain.h);
 *   bytes   an unfinished character at the end: at most 3 bytes in `held` (policy "hf_run": the whole run, on the heap);
 *   text    the longest end of the text that begins a stop string: only the automaton's state is kept (ctok_stops.h);
 *   ids     those whose text is not released yet, oldest first, with the place in the text where each one ends.
 *
 * A call works on the decoder in place. Until ctok_decoder_commit nothing that the old state needs is overwritten outside the struct
 * itself, so a copy of the struct made before the call, put back with ctok_decoder_rollback, undoes it.
 */
#ifndef CTOK_DECODER_H
#define CTOK_DECODER_H

#include "ctok_machine.h"
#include "ctok_stops.h"
#include "ctok_text.h"
#include "ctok_vocab.h"

typedef struct ctok_pending {
    ctok_id id;
    uint32_t end; /* where its text ends, counted in bytes of text modulo 2^32 */
} ctok_pending;

typedef struct ctok_decoder_more { /* what few decoders need */
    ctok_pending *queue;
    uint8_t *run;
    ctok_machine machine; /* only if machine.now is not NULL */
    uint32_t queue_cap; /* 0: the queue is still in `few` */
    uint32_t run_cap;
} ctok_decoder_more;

#define CTOK_START_FIRST 1u   /* the next token is the first one, and the chain makes a difference */
#define CTOK_START_MACHINE 2u /* all tokens go through more->machine */

typedef struct ctok_decoder {
    const ctok_stops *stops; /* not owned; NULL: none */
    ctok_decoder_more *more; /* owned; NULL until needed */
    uint64_t n_ids;          /* of this stream so far */
    uint64_t n_bytes;        /* of this stream so far; only counted with errors = STRICT, which reports places */
    ctok_pending few[3];     /* the queue while it is short */
    uint32_t n_pending;
    uint32_t n_open;         /* the last n_open pending ids end inside held bytes */
    uint32_t n_held;
    uint32_t n_text;         /* bytes of text so far, modulo 2^32 */
    uint32_t state;          /* of the stops */
    uint8_t held[4];
    uint8_t prefix[4];       /* `held` of a new stream; the fourth byte is their number */
    uint8_t errors;          /* ctok_on_error */
    uint8_t policy;
    uint8_t skip_special;
    uint8_t include_stop;
    uint8_t finished;        /* a stop was found */
    uint8_t start;           /* CTOK_START_*: why a token's text in the table is not what it adds to the text */
    uint8_t lead;            /* so many of the chain's lead_char may still be dropped */
    uint8_t new_start, new_lead; /* the two in a new stream */
    uint8_t skip_unknown;    /* ids that are not in the vocabulary have no text; they are no error */
} ctok_decoder;

typedef struct ctok_decoder_call {
    const ctok_view *view; /* of a vocabulary with a chain; else NULL */
    ctok_text *out;      /* text released by this call, once it has returned CTOK_OK */
    int keep;            /* the caller wants the released ids: leave them in the queue until the commit */
    uint32_t released;   /* out: ids at the front of the queue whose text is released */
    size_t consumed;     /* out: ids of the call that were used; after CTOK_ERR_ID the index of the bad one */
    uint64_t bad_byte;   /* out, CTOK_ERR_UTF8: first ill-formed byte of the stream */
    uint64_t bad_id;     /* out, CTOK_ERR_UTF8: the id of the stream that holds it */
    uint32_t old_pending, old_held, run_begin; /* private */
} ctok_decoder_call;

/* ctok_decoder_reset - a new stream: nothing held but the prefix, options as they are. */
void ctok_decoder_reset(ctok_decoder *d);

/* ctok_decoder_free - give back what the decoder owns. */
void ctok_decoder_free(ctok_decoder *d);

/* ctok_decoder_set_chain - a new decoder for a vocabulary with this view; its policy and errors are set. CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_decoder_set_chain(ctok_decoder *d, const ctok_view *view);

/* ctok_decoder_set_prefix - ids before every stream: their text is dropped; what they leave of the chain's state, or of an unfinished
 * character, is that of a new stream. Of a plain vocabulary (view NULL) or chain only the first and the last ids are looked at.
 * All ids are known, d is new. CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_decoder_set_prefix(ctok_decoder *d, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n);

/* ctok_decoder_copy_heap - give `to`, which is a byte copy of `from`, heap memory of its own. On error `to` owns nothing. */
ctok_status ctok_decoder_copy_heap(ctok_decoder *to, const ctok_decoder *from);

/* ctok_decoder_feed - n ids, and with `final` the end of the stream.
 *
 * call->out must be empty. Returns CTOK_OK, CTOK_ERR_ID, CTOK_ERR_UTF8 (only errors = STRICT) or CTOK_ERR_MEMORY. After CTOK_OK call
 * ctok_decoder_commit; after an error, or to give the result up, ctok_decoder_rollback.
 */
ctok_status ctok_decoder_feed(ctok_decoder *d, const ctok_vocab *v, const ctok_id *ids, size_t n, int final, ctok_decoder_call *call);

void ctok_decoder_commit(ctok_decoder *d, const ctok_decoder_call *call, int final);
void ctok_decoder_rollback(ctok_decoder *d, const ctok_decoder *saved);

/* ctok_decoder_whole - the text of n ids in one go, appended to out. `options`: a decoder of which only the options count.
 *
 * ends     NULL, or n places for where the text of each id ends, counted from the first byte appended, modulo 2^32.
 * bad_id, bad_byte   set after CTOK_ERR_ID (bad_id only) and CTOK_ERR_UTF8.
 */
ctok_status ctok_decoder_whole(const ctok_decoder *options, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n,
                               ctok_text *out, uint32_t *ends, size_t *bad_id, size_t *bad_byte);

/* ctok_decoder_push - put an id at the end of the queue. For restoring a saved state. CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_decoder_push(ctok_decoder *d, ctok_id id, uint32_t end);

/* ctok_decoder_hold - keep n more bytes. CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_decoder_hold(ctok_decoder *d, const uint8_t *p, size_t n);

static inline ctok_pending *ctok_decoder_queue(ctok_decoder *d) {
    return d->more != NULL && d->more->queue_cap ? d->more->queue : d->few;
}

static inline ctok_machine *ctok_decoder_machine(ctok_decoder *d) {
    return d->start & CTOK_START_MACHINE ? &d->more->machine : NULL;
}

static inline const uint8_t *ctok_decoder_held(const ctok_decoder *d) {
    return d->policy == CTOK_PER_RUN ? (d->more ? d->more->run : NULL) : d->held;
}

/* Bytes of text that are held back because they may begin a stop. */
static inline uint32_t ctok_decoder_depth(const ctok_decoder *d) {
    return d->stops ? d->stops->depth[d->state] : 0;
}

#endif
