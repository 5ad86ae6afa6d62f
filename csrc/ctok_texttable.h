/* ctok_texttable.h - the vocabulary of a file on its way in: texts and their ids, looked up by text, written in byte order.
 *
 * Use: add all texts, then index once, then look up and write. What the texts are for is the caller's business.
 */
#ifndef CTOK_TEXTTABLE_H
#define CTOK_TEXTTABLE_H

#include <string.h>

#include "ctok_base.h"
#include "ctok_bytesort.h"
#include "ctok_key.h"
#include "ctok_le.h"

#define CTOK_TEXT_NONE UINT32_MAX
#define CTOK_TEXT_MAX 0xFFFFFFu /* bytes of one text: what ctok_token.len holds */
#define CTOK_TEXT_PROBES 4096u   /* a run of slots this long does not happen by chance */

typedef struct ctok_text_entry {
    ctok_bytestring text; /* in ctok_texttable.bytes */
    uint32_t id;
} ctok_text_entry;

/* What a text is looked up by: short ones by nothing else. */
typedef struct ctok_text_key {
    uint64_t words[2]; /* as csrc/ctok_key.h has them */
    uint32_t hash;
} ctok_text_key;

typedef struct ctok_text_slot {
    uint64_t words[2];
    uint32_t hash;
    uint32_t entry; /* index + 1; 0: empty */
    uint64_t unused; /* slots do not cross cache lines */
} ctok_text_slot;

typedef struct ctok_texttable {
    uint8_t *bytes;
    size_t n_bytes, cap_bytes;
    ctok_text_entry *entries; /* in the order in which they were added */
    uint32_t n, cap;
    ctok_text_slot *slots; /* mask + 1; NULL before ctok_texttable_index */
    uint32_t mask;
} ctok_texttable;

/* ctok_text_key_of - the key of a text of n bytes, of which, and of what lies behind it, `readable` >= n bytes may be read. */
static inline ctok_text_key ctok_text_key_of(const uint8_t *p, size_t n, size_t readable) {
    ctok_text_key key;
    uint64_t h;
    if (CTOK_LIKELY(readable > CTOK_KEY_BYTES)) ctok_key_roomy(p, n, key.words);
    else ctok_key_exact(p, n, key.words);
    h = key.words[0] * UINT64_C(0x9FB21C651E98DF25);
    if (CTOK_UNLIKELY(n > CTOK_KEY_BYTES)) {
        for (size_t i = 0; i < n - 8; i += 8) {
            h = (h ^ ctok_le64_get(p + i)) * UINT64_C(0x9FB21C651E98DF25);
            h ^= h >> 29;
        }
        h = (h ^ ctok_le64_get(p + n - 8)) * UINT64_C(0x9FB21C651E98DF25);
    }
    h = (h ^ h >> 29 ^ key.words[1]) * UINT64_C(0xD6E8FEB86659FD93);
    key.hash = (uint32_t)(h >> 32);
    return key;
}

static inline int ctok_text_same(const uint8_t *a, const uint8_t *b, size_t n) {
    if (n >= 8) {
        for (; n > 16; a += 8, b += 8, n -= 8) {
            if (ctok_le64_get(a) != ctok_le64_get(b)) return 0;
        }
        return ctok_le64_get(a) == ctok_le64_get(b) && ctok_le64_get(a + n - 8) == ctok_le64_get(b + n - 8);
    }
    if (n >= 4) return ctok_le32_get(a) == ctok_le32_get(b) && ctok_le32_get(a + n - 4) == ctok_le32_get(b + n - 4);
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

/* ctok_text_is - whether the text of an entry is this one of n bytes with this key. */
static inline int ctok_text_is(const ctok_texttable *t, const ctok_text_slot *slot, const uint8_t *p, size_t n, const ctok_text_key *key) {
    if (slot->words[0] != key->words[0] || slot->words[1] != key->words[1]) return 0;
    if (CTOK_LIKELY(n <= CTOK_KEY_BYTES)) return 1;
    const ctok_text_entry *entry = &t->entries[slot->entry - 1];
    return slot->hash == key->hash && entry->text.len == n && ctok_text_same(t->bytes + entry->text.begin, p, n);
}

/* ctok_texttable_find - the entry of a text, or CTOK_TEXT_NONE. Of a text that was kept twice: the last one. Only after indexing. */
static inline uint32_t ctok_texttable_find(const ctok_texttable *t, const uint8_t *p, size_t n, const ctok_text_key *key) {
    for (uint32_t i = 0; i < CTOK_TEXT_PROBES; i++) {
        const ctok_text_slot *slot = &t->slots[(key->hash + i) & t->mask];
        if (slot->entry == 0) break;
        if (ctok_text_is(t, slot, p, n, key)) return slot->entry - 1;
    }
    return CTOK_TEXT_NONE;
}

/* ctok_texttable_fetch - begin to fetch what ctok_texttable_find will look at first. */
static inline void ctok_texttable_fetch(const ctok_texttable *t, const ctok_text_key *key) {
    CTOK_PREFETCH(&t->slots[key->hash & t->mask]);
}

/* ctok_texttable_room - where the next text, of up to n bytes, may be written; NULL when there is no memory. Valid until the next call. */
uint8_t *ctok_texttable_room(ctok_texttable *t, size_t n);

/* ctok_texttable_push - add the text of n bytes that was written there. n <= CTOK_TEXT_MAX. Returns CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_texttable_push(ctok_texttable *t, size_t n, uint32_t id);

/* ctok_texttable_index - make the texts findable; nothing can be added afterwards.
 *
 * keep_twice   true: a text that was added again stays as well, and the last one is what is found. False: it stays where it was first, with
 *              the id that came last.
 *
 * Returns CTOK_OK or CTOK_ERR_MEMORY. Texts that share a hash on purpose cost no more than a bounded number of comparisons each:
 * *crowded is then set, and the table is not indexed.
 */
ctok_status ctok_texttable_index(ctok_texttable *t, int keep_twice, int *crowded);

/* ctok_texttable_size - how many bytes the texts have in all. */
size_t ctok_texttable_size(const ctok_texttable *t);

/* ctok_texttable_write - the texts in byte order, equal ones in the order of their adding: their bytes, their cumulative ends, their ids (t->n
 * little-endian uint32 each). Returns CTOK_OK or CTOK_ERR_MEMORY. */
ctok_status ctok_texttable_write(const ctok_texttable *t, uint8_t *data, uint8_t *ends, uint8_t *ids);

/* ctok_texttable_free - give everything back; t is then empty. */
void ctok_texttable_free(ctok_texttable *t);

#endif
