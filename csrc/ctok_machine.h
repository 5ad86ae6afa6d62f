/* ctok_machine.h - a chain of decoders at work on one stream.
 *
 * Tokens go in, text comes out through a callback as soon as nothing that follows can change it. Between the tokens stand *marks*: a mark
 * comes out when all text of the tokens before it has, so that whoever feeds the machine knows which text is whose.
 *
 * What the ops hold back is in small structs, and long pieces in buffers that are only appended to within a call: so a call can be undone.
 */
#ifndef CTOK_MACHINE_H
#define CTOK_MACHINE_H

#include "ctok_chain.h"

typedef struct ctok_op_state {
    uint32_t marks;      /* that wait behind what is held */
    uint32_t a, b;       /* REPLACE, BEGIN, LAST: bytes of find matched. STRIP: dropped, waiting. DEDUP: bytes of the new token */
    uint32_t begin, n;   /* what is held, in the op's buffer */
    uint8_t later;       /* the first token is over */
    uint8_t phase;
    uint8_t n_few;
    uint8_t few[6];
} ctok_op_state;

typedef struct ctok_machine {
    const ctok_chain *chain;
    uint32_t from, to;          /* the ops that run */
    uint8_t errors, policy;     /* ctok_on_error, ctok_per */
    uint8_t literal;            /* RAW leaves tokens as they are */
    ctok_op_state *now;         /* chain->n_ops, then as many for the state before a call, then for that of a new stream */
    ctok_bytes *hold;           /* chain->n_ops. Within a call only appended to, so that the state before it can come back */
    void *sink;                 /* where the text goes: */
    ctok_status (*text)(void *sink, const uint8_t *p, size_t n); /* CTOK_OK, CTOK_ERR_MEMORY, CTOK_ERR_STOPPED */
    void (*mark)(void *sink);
} ctok_machine;

/* ctok_machine_init - a machine for ops from..to-1 at the start of a stream. CTOK_OK or CTOK_ERR_MEMORY (it then owns nothing). */
ctok_status ctok_machine_init(ctok_machine *m, const ctok_chain *c, uint32_t from, uint32_t to);
void ctok_machine_free(ctok_machine *m);

/* ctok_machine_copy - `to` becomes an independent copy. On error it owns nothing. */
ctok_status ctok_machine_copy(ctok_machine *to, const ctok_machine *from);

/* ctok_machine_token - a whole token. ctok_machine_mark - a mark, which leaves behind the text of all tokens before it.
 * ctok_machine_finish - the end of the stream; then only reset. CTOK_OK, CTOK_ERR_MEMORY, CTOK_ERR_STOPPED (from the sink) or
 * CTOK_ERR_UTF8 (errors = STRICT). After an error, ctok_machine_rollback or free. */
ctok_status ctok_machine_token(ctok_machine *m, const uint8_t *p, size_t n);
ctok_status ctok_machine_mark(ctok_machine *m);
ctok_status ctok_machine_finish(ctok_machine *m);

/* ctok_machine_begin - remember the state; _rollback - return to it; _commit - forget it; _reset - a new stream;
 * _set_start - the state now is the one every new stream has. */
void ctok_machine_begin(ctok_machine *m);
void ctok_machine_rollback(ctok_machine *m);
void ctok_machine_commit(ctok_machine *m);
void ctok_machine_reset(ctok_machine *m);
ctok_status ctok_machine_set_start(ctok_machine *m);

/* ctok_machine_check - can this be the state of the machine after a call, with n_marks marks waiting? For states from outside. */
int ctok_machine_check(const ctok_machine *m, uint32_t n_marks);

#endif
