/* ctok_model.h - what every model offers: the ids of one pretoken, whole or while it is still arriving.
 *
 * `model` is read-only and shared by all threads. A scratch belongs to one call at a time and carries nothing from one pretoken to the next
 * that could change an answer. An open pretoken belongs to one stream.
 */
#ifndef CTOK_MODEL_H
#define CTOK_MODEL_H

#include "ctok_bytes.h"
#include "ctok_ids.h"

typedef struct ctok_model_ops {
    /* Append the ids of the pretoken p[0..n), valid UTF-8. `ends` is NULL, or receives for each id the byte where its token ends; ids with
     * equal ends share what lies before it (a character given as bytes). The same bytes always give the same ids.
     * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_BYTE: something in it has no token and there is no unknown token. After an error ids
     * and ends are as they were. */
    ctok_status (*encode)(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends);
    void *(*scratch_new)(const void *model); /* NULL: no memory */
    void (*scratch_free)(void *scratch);     /* NULL is allowed */

    /* A pretoken that arrives piece by piece. Ids leave as soon as nothing that may follow can change them, and all of them together are what
     * `encode` gives for the whole. Bytes may come in any cut, also inside a character. */
    void *(*open_new)(const void *model);                                                 /* NULL: no memory */
    ctok_status (*open_feed)(void *open, const uint8_t *p, size_t n, ctok_ids *ids);      /* after an error only open_free, open_load and open_catch_up may follow */
    ctok_status (*open_end)(void *open, ctok_ids *ids);                                   /* the pretoken ends; the state is as new */
    void *(*open_copy)(const void *open);                                                 /* NULL: no memory */
    /* Make `open`, which may have been a copy of `source` before, a copy of it now: what they still have in common is not copied again.
     * After an error only open_free and open_catch_up may follow. May be NULL; then open_copy does it. */
    ctok_status (*open_catch_up)(void *open, const void *source);
    void (*open_free)(void *open);                                                        /* NULL is allowed */
    ctok_status (*open_save)(const void *open, ctok_bytes *out);                          /* appends */
    ctok_status (*open_load)(void *open, const uint8_t *p, size_t n);                     /* CTOK_ERR_FORMAT: not from open_save of this model; the state is as new */

    /* Would an open pretoken that was fed p[0..n), whole characters, n >= 1, have given no id yet? Where that is so, the bytes alone can be
     * kept instead, and `encode` given the whole in the end. May be NULL; the answer 0 is always allowed. */
    int (*open_waits)(const void *model, const uint8_t *p, size_t n);
} ctok_model_ops;

#endif
