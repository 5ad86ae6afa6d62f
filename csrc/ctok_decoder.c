#include "ctok_decoder.h"

#include <string.h>

#include "ctok_mem.h"

#define FEW (sizeof(((ctok_decoder *)0)->few) / sizeof(ctok_pending))

/* ---- memory ---- */

static ctok_status need_more(ctok_decoder *d) {
    if (d->more == NULL) d->more = ctok_mem_zeroed(1, sizeof *d->more);
    return d->more == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
}

void ctok_decoder_free(ctok_decoder *d) {
    if (d->more != NULL) {
        ctok_mem_free(d->more->queue);
        ctok_mem_free(d->more->run);
        ctok_machine_free(&d->more->machine);
        ctok_mem_free(d->more);
    }
    d->more = NULL;
}

static ctok_status grow_queue(ctok_decoder *d) {
    if (need_more(d) != CTOK_OK || d->n_pending > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
    ctok_decoder_more *m = d->more;
    const uint32_t cap = m->queue_cap ? 2 * m->queue_cap : 16;
    ctok_pending *queue = ctok_mem_resize(m->queue, cap, sizeof *queue);
    if (queue == NULL) return CTOK_ERR_MEMORY;
    if (m->queue_cap == 0) memcpy(queue, d->few, sizeof d->few);
    m->queue = queue;
    m->queue_cap = cap;
    return CTOK_OK;
}

ctok_status ctok_decoder_push(ctok_decoder *d, ctok_id id, uint32_t end) {
    const uint32_t cap = d->more != NULL && d->more->queue_cap ? d->more->queue_cap : (uint32_t)FEW;
    if (d->n_pending == cap && grow_queue(d) != CTOK_OK) return CTOK_ERR_MEMORY;
    ctok_pending *p = ctok_decoder_queue(d) + d->n_pending++;
    p->id = id;
    p->end = end;
    return CTOK_OK;
}

/* Room in `run` for n more bytes behind the first `used`. */
static ctok_status grow_run(ctok_decoder *d, size_t used, size_t n) {
    if (need_more(d) != CTOK_OK || n > UINT32_MAX / 4 - used) return CTOK_ERR_MEMORY;
    ctok_decoder_more *m = d->more;
    if (used + n <= m->run_cap) return CTOK_OK;
    const uint32_t cap = 2 * (uint32_t)(used + n) + 16;
    uint8_t *run = ctok_mem_resize(m->run, cap, 1);
    if (run == NULL) return CTOK_ERR_MEMORY;
    m->run = run;
    m->run_cap = cap;
    return CTOK_OK;
}

/* Hold n more bytes; those held already start at `begin` (always 0 for the three bytes of an unfinished character). */
static ctok_status hold_from(ctok_decoder *d, uint32_t begin, const uint8_t *p, size_t n) {
    uint8_t *to = d->held + d->n_held;
    if (n == 0) return CTOK_OK;
    if (d->policy == CTOK_PER_RUN) {
        if (grow_run(d, begin + d->n_held, n) != CTOK_OK) return CTOK_ERR_MEMORY;
        to = d->more->run + begin + d->n_held;
    }
    memcpy(to, p, n);
    d->n_held += (uint32_t)n;
    return CTOK_OK;
}

ctok_status ctok_decoder_hold(ctok_decoder *d, const uint8_t *p, size_t n) {
    return hold_from(d, 0, p, n);
}

static ctok_status copy_queue(ctok_decoder *to, const ctok_decoder *from) {
    const uint32_t cap = from->more->queue_cap;
    if (cap == 0) return CTOK_OK;
    to->more->queue = ctok_mem_alloc(cap, sizeof(ctok_pending));
    if (to->more->queue == NULL) return CTOK_ERR_MEMORY;
    memcpy(to->more->queue, from->more->queue, from->n_pending * sizeof(ctok_pending));
    to->more->queue_cap = cap;
    return CTOK_OK;
}

static ctok_status copy_run(ctok_decoder *to, const ctok_decoder *from) {
    if (from->policy != CTOK_PER_RUN || from->more->run == NULL) return CTOK_OK;
    if (grow_run(to, 0, from->n_held + 3) != CTOK_OK) return CTOK_ERR_MEMORY; /* a prefix always has room */
    memcpy(to->more->run, from->more->run, from->n_held);
    return CTOK_OK;
}

static ctok_status copy_machine(ctok_decoder *to, const ctok_decoder *from) {
    return from->start & CTOK_START_MACHINE ? ctok_machine_copy(&to->more->machine, &from->more->machine) : CTOK_OK;
}

ctok_status ctok_decoder_copy_heap(ctok_decoder *to, const ctok_decoder *from) {
    to->more = NULL;
    if (from->more == NULL) return CTOK_OK;
    if (need_more(to) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (copy_queue(to, from) == CTOK_OK && copy_run(to, from) == CTOK_OK && copy_machine(to, from) == CTOK_OK) return CTOK_OK;
    ctok_decoder_free(to);
    return CTOK_ERR_MEMORY;
}

/* ---- streams and calls ---- */

void ctok_decoder_reset(ctok_decoder *d) {
    d->n_ids = d->n_bytes = 0;
    d->n_pending = d->n_open = d->n_text = d->state = 0;
    d->finished = 0;
    d->start = d->new_start;
    d->lead = d->new_lead;
    if (d->start & CTOK_START_MACHINE) ctok_machine_reset(&d->more->machine);
    d->n_held = d->prefix[3];
    if (d->n_held > 0 && d->policy == CTOK_PER_RUN) {
        memcpy(d->more->run, d->prefix, d->n_held); /* room since ctok_decoder_set_prefix, where it was held */
    } else {
        memcpy(d->held, d->prefix, 3);
    }
}

void ctok_decoder_rollback(ctok_decoder *d, const ctok_decoder *saved) {
    ctok_decoder_more *more = d->more; /* may be new or larger; what the old state needs of it is untouched */
    *d = *saved;
    d->more = more;
    if (d->start & CTOK_START_MACHINE) ctok_machine_rollback(&d->more->machine);
}

void ctok_decoder_commit(ctok_decoder *d, const ctok_decoder_call *call, int final) {
    if (final) {
        ctok_decoder_reset(d);
        return;
    }
    if (d->start & CTOK_START_MACHINE) ctok_machine_commit(&d->more->machine);
    ctok_pending *queue = ctok_decoder_queue(d);
    d->n_pending -= call->released;
    if (call->released) memmove(queue, queue + call->released, d->n_pending * sizeof *queue);
    if (call->run_begin && d->n_held) memmove(d->more->run, d->more->run + call->run_begin, d->n_held);
}

/* ---- one id ---- */

/* The ids that waited for the end of the held bytes end here. */
static void close_open(ctok_decoder *d) {
    ctok_pending *queue = ctok_decoder_queue(d);
    for (uint32_t i = d->n_pending - d->n_open; i < d->n_pending; i++) queue[i].end = d->n_text;
    d->n_open = 0;
}

/* The text of the stream begins in out at `from`, or goes on there with nothing but dropped characters before it. */
static void drop_lead(ctok_decoder *d, const ctok_chain *chain, ctok_text *out, size_t from) {
    const size_t n = chain->n_lead_char;
    size_t gone = 0;
    while (d->lead > 0 && out->n - from - gone >= n && memcmp(out->p + from + gone, chain->lead_char, n) == 0) {
        gone += n;
        d->lead--;
    }
    if (out->n - from > gone) d->lead = 0;
    if (gone) memmove(out->p + from, out->p + from + gone, out->n - from - gone);
    out->n -= gone;
}

/* Text was appended to out from `from` on: count it and look for a stop. */
static void take_text(ctok_decoder *d, ctok_decoder_call *call, size_t from) {
    ctok_text *out = call->out;
    size_t hit = 0;
    if (d->lead > 0) drop_lead(d, call->view->chain, out, from);
    if (d->stops != NULL && !d->finished) {
        const size_t seen = ctok_stops_scan(d->stops, &d->state, out->p + from, out->n - from, &hit);
        if (hit) {
            out->n = from + seen - (d->include_stop ? 0 : hit);
            d->finished = 1;
            d->state = 0;
            return;
        }
    }
    d->n_text += (uint32_t)(out->n - from);
}

/* Bytes that are text as far as they can be: append them as well-formed text. `place` is their first byte in the stream. */
static ctok_status emit(ctok_decoder *d, ctok_decoder_call *call, const uint8_t *p, size_t n, uint64_t place) {
    const size_t from = call->out->n;
    size_t bad = 0;
    const ctok_status status = ctok_text_mend(call->out, p, n, (ctok_on_error)d->errors, d->policy != CTOK_PER_SUBPART, &bad);
    if (status == CTOK_ERR_UTF8) call->bad_byte = place + bad;
    if (status == CTOK_OK) take_text(d, call, from);
    return status;
}

/* Finish or refuse the held character with the first bytes of a token. *used: bytes of p that belong to it. */
static ctok_status join_held(ctok_decoder *d, ctok_decoder_call *call, const uint8_t *p, size_t n, size_t *used) {
    uint8_t both[6];
    uint32_t c = 0;
    const size_t some = n < 3 ? n : 3;
    memcpy(both, d->held, d->n_held);
    memcpy(both + d->n_held, p, some);
    const size_t taken = ctok_utf8_step(both, d->n_held + some, &c);
    *used = taken - d->n_held; /* the held bytes can begin a character, so none of them is given back */
    if (c == CTOK_UTF8_OPEN) return ctok_decoder_hold(d, p, some);
    const uint64_t place = d->n_bytes > d->n_held ? d->n_bytes - d->n_held : 0;
    const ctok_status status = emit(d, call, both, taken, place);
    if (status == CTOK_ERR_UTF8) call->bad_id = d->n_open ? d->n_ids - d->n_open : d->n_ids;
    if (status == CTOK_OK) {
        close_open(d);
        d->n_held = 0;
    }
    return status;
}

/* A token that is text by itself, with nothing held before it. */
static ctok_status feed_whole(ctok_decoder *d, ctok_decoder_call *call, const uint8_t *p, size_t n) {
    const size_t from = call->out->n;
    const ctok_status status = ctok_text_append(call->out, p, n);
    if (status == CTOK_OK) take_text(d, call, from);
    return status;
}

/* Nothing joins the held bytes any more. */
static ctok_status give_up_held(ctok_decoder *d, ctok_decoder_call *call) {
    const ctok_status status = emit(d, call, d->held, d->n_held, d->n_bytes > d->n_held ? d->n_bytes - d->n_held : 0);
    if (status == CTOK_ERR_UTF8) call->bad_id = d->n_ids - d->n_open;
    if (status == CTOK_OK) {
        close_open(d);
        d->n_held = 0;
    }
    return status;
}

/* A token's bytes by the character policies; sets *open when the id ends inside held bytes. `whole`: it is text by itself. */
static ctok_status feed_bytes(ctok_decoder *d, ctok_decoder_call *call, const uint8_t *p, size_t n, int whole, int *open) {
    size_t used = 0;
    if (whole && n == 0 && call->view != NULL && call->view->pieces != NULL) return give_up_held(d, call);
    if (d->n_held > 0 && n > 0) {
        const ctok_status status = join_held(d, call, p, n, &used);
        if (status != CTOK_OK) return status;
        if (d->finished) return CTOK_OK;
    }
    if (d->n_held > 0) {
        *open = 1;
        return CTOK_OK;
    }
    const size_t tail = ctok_utf8_tail(p + used, n - used);
    const ctok_status status = emit(d, call, p + used, n - used - tail, d->n_bytes + used);
    if (status == CTOK_ERR_UTF8) call->bad_id = d->n_ids;
    if (status != CTOK_OK || d->finished) return status;
    *open = tail > 0;
    return ctok_decoder_hold(d, p + n - tail, tail);
}

/* The run ends: it is text as a whole, or each of its bytes stands for itself. */
static ctok_status close_run(ctok_decoder *d, ctok_decoder_call *call) {
    size_t bad = 0;
    if (d->n_held > 0) {
        const uint8_t *run = d->more->run + call->run_begin;
        const int good = ctok_utf8_validate(run, d->n_held, &bad) == CTOK_OK;
        for (uint32_t i = 0; i < (good ? 1 : d->n_held) && !d->finished; i++) {
            const ctok_status status = good ? emit(d, call, run, d->n_held, 0) : emit(d, call, (const uint8_t *)"\xFF", 1, 0);
            if (status != CTOK_OK) return status;
        }
    }
    close_open(d);
    d->n_held = 0;
    call->run_begin = call->old_held; /* the old state still needs what stands before */
    return CTOK_OK;
}

static ctok_status feed_run(ctok_decoder *d, ctok_decoder_call *call, const uint8_t *p, size_t n, int whole, int *open) {
    if (whole) {
        const ctok_status status = close_run(d, call);
        return status != CTOK_OK || d->finished ? status : feed_whole(d, call, p, n);
    }
    const ctok_status status = hold_from(d, call->run_begin, p, n);
    *open = d->n_held > 0;
    return status;
}

/* ---- a chain's machine ---- */

typedef struct target {
    ctok_decoder *d;
    ctok_decoder_call *call;
} target;

static ctok_status machine_text(void *sink, const uint8_t *p, size_t n) {
    const target *to = sink;
    const ctok_status status = feed_whole(to->d, to->call, p, n);
    return status == CTOK_OK && to->d->finished ? CTOK_ERR_STOPPED : status;
}

/* The text of the oldest open id is out. */
static void machine_mark(void *sink) {
    ctok_decoder *d = ((const target *)sink)->d;
    ctok_decoder_queue(d)[d->n_pending - d->n_open].end = d->n_text;
    d->n_open--;
}

/* What a call of the machine said, as the decoder says it. */
static ctok_status machine_done(ctok_decoder *d, ctok_decoder_call *call, ctok_status status) {
    if (status == CTOK_ERR_STOPPED) {
        d->n_open = 0;
        return CTOK_OK;
    }
    if (status == CTOK_ERR_UTF8) {
        call->bad_byte = d->n_bytes;
        call->bad_id = d->n_ids - (d->n_open > 0 ? d->n_open - 1 : 0);
    }
    return status;
}

static ctok_status feed_machine(ctok_decoder *d, ctok_decoder_call *call, ctok_id id, const uint8_t *p, size_t n, int skipped) {
    target to = {d, call};
    ctok_machine *m = &d->more->machine;
    m->sink = &to;
    ctok_status status = ctok_decoder_push(d, id, d->n_text);
    if (status != CTOK_OK) return status;
    m = &d->more->machine;
    d->n_open++;
    if (!skipped) status = ctok_machine_token(m, p, n);
    if (status == CTOK_OK) status = ctok_machine_mark(m);
    status = machine_done(d, call, status);
    if (status == CTOK_OK) d->n_ids++;
    return status;
}

static ctok_status finish_machine(ctok_decoder *d, ctok_decoder_call *call) {
    target to = {d, call};
    ctok_machine *m = &d->more->machine;
    m->sink = &to;
    return machine_done(d, call, ctok_machine_finish(m));
}

static ctok_status start_machine(ctok_decoder *d, const ctok_chain *chain) {
    if (need_more(d) != CTOK_OK) return CTOK_ERR_MEMORY;
    ctok_machine *m = &d->more->machine;
    if (ctok_machine_init(m, chain, chain->n_head, chain->n_ops) != CTOK_OK) return CTOK_ERR_MEMORY;
    m->errors = d->errors;
    m->policy = d->policy;
    m->text = machine_text;
    m->mark = machine_mark;
    return CTOK_OK;
}

ctok_status ctok_decoder_set_chain(ctok_decoder *d, const ctok_view *view) {
    const ctok_chain *chain = view->chain;
    if (!chain->plain && start_machine(d, chain) != CTOK_OK) return CTOK_ERR_MEMORY;
    d->new_start = (uint8_t)((chain->first_differs ? CTOK_START_FIRST : 0) | (chain->plain ? 0 : CTOK_START_MACHINE));
    d->new_lead = chain->lead;
    ctok_decoder_reset(d);
    return CTOK_OK;
}

/* Feed ids one by one, whose text nobody wants; up to the first after which the start of a text is behind, or all of them. */
static ctok_status feed_prompt(ctok_decoder *d, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n, int all,
                               size_t *used) {
    uint8_t first[256];
    ctok_text out;
    ctok_decoder_call call = {.view = view, .out = &out};
    ctok_status status = CTOK_OK;
    ctok_text_init(&out, first, sizeof first);
    for (*used = 0; *used < n && status == CTOK_OK && (all || d->start || d->lead); ++*used) {
        out.n = 0;
        status = ctok_decoder_feed(d, v, &ids[*used], 1, 0, &call);
        if (status == CTOK_OK) ctok_decoder_commit(d, &call, 0);
    }
    ctok_text_free(&out);
    return status;
}

/* How many of the last ids can have to do with what is held after them: none before a token that is text by itself, or before three
 * bytes. */
static size_t last_ids(const ctok_decoder *d, const ctok_vocab *v, const ctok_id *ids, size_t n) {
    size_t k = 0;
    for (uint32_t bytes = 0; k < n && bytes < 3; k++) {
        const ctok_token t = v->by_id[ids[n - 1 - k]];
        if (d->skip_special && t.flags & CTOK_TOKEN_SPECIAL) continue;
        if (t.len > 0 && t.flags & CTOK_TOKEN_UTF8) break;
        bytes += t.len;
    }
    return k;
}

/* What is held now, as far as it is an unfinished character, stands before every stream. */
static void keep_unfinished(ctok_decoder *d) {
    const uint8_t *held = ctok_decoder_held(d);
    const size_t n = ctok_utf8_tail(held, d->n_held);
    memset(d->prefix, 0, sizeof d->prefix);
    if (n > 0) memcpy(d->prefix, held + d->n_held - n, n);
    d->prefix[3] = (uint8_t)n;
}

ctok_status ctok_decoder_set_prefix(ctok_decoder *d, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n) {
    const ctok_stops *stops = d->stops;
    const uint8_t errors = d->errors;
    ctok_machine *m = ctok_decoder_machine(d);
    size_t used = 0;
    d->stops = NULL;
    d->errors = CTOK_ERRORS_REPLACE; /* what the prompt holds is not this stream's fault */
    if (m != NULL) m->errors = d->errors;
    ctok_status status = feed_prompt(d, v, view, ids, n, 0, &used);
    d->new_start = d->start;
    d->new_lead = d->lead;
    if (m == NULL && status == CTOK_OK) {
        const size_t last = last_ids(d, v, ids + used, n - used);
        if (last < n - used) ctok_decoder_reset(d); /* whatever was held ends before those */
        status = feed_prompt(d, v, view, ids + n - last, last, 1, &used);
        if (status == CTOK_OK) keep_unfinished(d);
    }
    if (m != NULL && status == CTOK_OK) status = ctok_machine_set_start(m);
    if (m != NULL) m->errors = errors;
    d->errors = errors;
    d->stops = stops;
    if (status == CTOK_OK) ctok_decoder_reset(d);
    return status;
}

/* ---- any id ---- */

/* A token by the plain way; `whole`: it is text by itself. */
static ctok_status feed_plain(ctok_decoder *d, ctok_decoder_call *call, ctok_id id, const uint8_t *p, size_t n, int whole) {
    int open = 0;
    const ctok_status status = d->policy == CTOK_PER_RUN     ? feed_run(d, call, p, n, whole, &open)
                               : whole && d->n_held == 0 ? feed_whole(d, call, p, n)
                                                         : feed_bytes(d, call, p, n, whole, &open);
    if (status != CTOK_OK) return status;
    if (ctok_decoder_push(d, id, d->n_text) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (open) d->n_open++;
    d->n_ids++;
    return CTOK_OK;
}

static ctok_status feed_token(ctok_decoder *d, ctok_decoder_call *call, ctok_id id, const uint8_t *p, size_t n, uint32_t flags) {
    const int skipped = d->skip_special && (flags & CTOK_TOKEN_SPECIAL);
    if (skipped) n = 0;
    const ctok_status status = d->start & CTOK_START_MACHINE ? feed_machine(d, call, id, p, n, skipped)
                                                             : feed_plain(d, call, id, p, n, !skipped && flags & CTOK_TOKEN_UTF8);
    if (status == CTOK_OK && d->errors == CTOK_ERRORS_STRICT) d->n_bytes += n;
    return status;
}

/* The first token, where that makes a difference. */
static ctok_status feed_first(ctok_decoder *d, ctok_id id, ctok_decoder_call *call) {
    uint8_t first[256];
    uint32_t flags = 0;
    ctok_text out;
    ctok_text_init(&out, first, sizeof first);
    ctok_status status = ctok_view_token(call->view, id, 1, &out, &flags);
    if (status == CTOK_OK) {
        if (!(flags & CTOK_TOKEN_BEFORE_FIRST)) d->start &= (uint8_t)~CTOK_START_FIRST;
        status = feed_token(d, call, id, out.p, out.n, flags);
    }
    ctok_text_free(&out);
    return status;
}

static ctok_status feed_id(ctok_decoder *d, const ctok_vocab *v, ctok_id id, ctok_decoder_call *call) {
    if (id >= v->n_ids || !(v->by_id[id].flags & CTOK_TOKEN_KNOWN)) {
        if (!d->skip_unknown) return CTOK_ERR_ID;
        return d->start & CTOK_START_MACHINE ? feed_machine(d, call, id, NULL, 0, 1) : feed_plain(d, call, id, NULL, 0, 0);
    }
    const ctok_token t = v->by_id[id];
    if (d->start & CTOK_START_FIRST && !(d->skip_special && t.flags & CTOK_TOKEN_SPECIAL)) return feed_first(d, id, call);
    return feed_token(d, call, id, v->bytes + t.begin, t.len, t.flags);
}

/* ---- a call ---- */

/* Count the ids at the front of the queue whose text is released; drop those that nobody will ask for. */
static void release(ctok_decoder *d, ctok_decoder_call *call) {
    ctok_pending *queue = ctok_decoder_queue(d);
    const uint32_t upto = d->n_text - ctok_decoder_depth(d);
    const uint32_t settled = d->finished ? d->n_pending : d->n_pending - d->n_open;
    while (call->released < settled && (d->finished || upto - queue[call->released].end < UINT32_C(1) << 31)) call->released++;
    if (call->keep || call->released <= call->old_pending) return;
    const uint32_t spare = call->released - call->old_pending, rest = d->n_pending - call->released;
    if (rest <= spare) { /* so that moving costs no more than feeding did */
        memmove(queue + call->old_pending, queue + call->released, rest * sizeof *queue);
        d->n_pending -= spare;
        call->released -= spare;
    }
}

static ctok_status end_stream(ctok_decoder *d, ctok_decoder_call *call) {
    ctok_status status = CTOK_OK;
    if (d->start & CTOK_START_MACHINE) {
        status = finish_machine(d, call);
    } else if (d->policy == CTOK_PER_RUN) {
        status = close_run(d, call);
    } else if (d->n_held > 0) {
        status = give_up_held(d, call);
    }
    d->state = 0; /* nothing can match any more */
    return status;
}

static ctok_status begin_call(ctok_decoder *d, ctok_decoder_call *call) {
    call->released = 0;
    call->consumed = 0;
    call->old_pending = d->n_pending;
    call->old_held = d->policy == CTOK_PER_RUN ? d->n_held : 0;
    call->run_begin = 0;
    if (d->start & CTOK_START_MACHINE) ctok_machine_begin(&d->more->machine);
    const uint32_t depth = ctok_decoder_depth(d);
    return depth ? ctok_text_append(call->out, d->stops->bytes + d->stops->begin[d->state], depth) : CTOK_OK;
}

ctok_status ctok_decoder_feed(ctok_decoder *d, const ctok_vocab *v, const ctok_id *ids, size_t n, int final, ctok_decoder_call *call) {
    ctok_status status = begin_call(d, call);
    if (d->finished || status != CTOK_OK) return status;
    while (call->consumed < n && !d->finished) {
        status = feed_id(d, v, ids[call->consumed], call);
        if (status != CTOK_OK) return status;
        call->consumed++;
        release(d, call);
    }
    if (final && !d->finished) {
        status = end_stream(d, call);
        if (status != CTOK_OK) return status;
    }
    release(d, call);
    if (!d->finished) call->out->n -= ctok_decoder_depth(d);
    return CTOK_OK;
}

ctok_status ctok_decoder_whole(const ctok_decoder *options, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n,
                               ctok_text *out, uint32_t *ends, size_t *bad_id, size_t *bad_byte) {
    ctok_decoder d;
    ctok_text text;
    ctok_decoder_call call = {.view = view, .out = &text, .keep = ends != NULL};
    memset(&d, 0, sizeof d);
    d.errors = options->errors;
    d.policy = options->policy;
    d.skip_special = options->skip_special;
    d.skip_unknown = options->skip_unknown;
    ctok_text_init(&text, NULL, 0);
    ctok_status status = view != NULL ? ctok_decoder_set_chain(&d, view) : CTOK_OK;
    if (status == CTOK_OK) status = ctok_decoder_feed(&d, v, ids, n, 1, &call);
    if (status == CTOK_OK) status = ctok_text_append(out, text.p, text.n);
    if (status == CTOK_OK && ends != NULL && n > 0) {
        for (size_t i = 0; i < n; i++) ends[i] = ctok_decoder_queue(&d)[i].end;
        ends[n - 1] = (uint32_t)text.n; /* also what the end of a fused text adds */
    }
    *bad_id = status == CTOK_ERR_UTF8 ? (size_t)call.bad_id : call.consumed;
    *bad_byte = (size_t)call.bad_byte;
    ctok_text_free(&text);
    ctok_decoder_free(&d);
    return status;
}
