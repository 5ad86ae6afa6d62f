/* ctok_suffix.c - induced sorting (Nong, Zhang, Chan 2009) and common prefixes in the order of the text (Kasai et al. 2001). */
#include "ctok_suffix.h"

#include <string.h>

#include "ctok_mem.h"

#define NONE UINT32_MAX

/* One text to sort, that of the caller or one of names. A suffix is *small* if it is less than the one that starts behind its first symbol. */
typedef struct sorter {
    const uint32_t *text;
    uint32_t n;
    uint32_t n_symbols;
    uint32_t *starts;
    uint8_t *small;  /* a bit a suffix */
    uint32_t *large; /* where in `starts` the large suffixes of a symbol begin, n_symbols + 1 */
    uint32_t *tail;  /* and its small ones, which come behind them */
    uint32_t *next;  /* where the next one of a symbol goes */
} sorter;

static int is_small(const sorter *s, uint32_t i) {
    return s->small[i >> 3] >> (i & 7) & 1;
}

/* Does a run of small suffixes begin here? Such suffixes are sorted first; the order of all others follows. */
static int is_first_small(const sorter *s, uint32_t i) {
    return i > 0 && is_small(s, i) && !is_small(s, i - 1);
}

static void classify(sorter *s) {
    for (uint32_t i = s->n - 1; i-- > 0;) {
        const uint32_t a = s->text[i], b = s->text[i + 1];
        if (a < b || (a == b && is_small(s, i + 1))) s->small[i >> 3] |= (uint8_t)(1u << (i & 7));
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (is_small(s, i)) s->tail[s->text[i]]++;
        else s->large[s->text[i]]++;
    }
    uint32_t at = 0;
    for (uint32_t c = 0; c < s->n_symbols; c++) {
        const uint32_t n_large = s->large[c], n_small = s->tail[c];
        s->large[c] = at;
        s->tail[c] = at + n_large;
        at += n_large + n_small;
    }
    s->large[s->n_symbols] = at;
}

/* Given the suffixes where small runs begin, put all into `starts`. If those given are in order, so is the result; else it is in order
 * of what stands before the next such place. */
static void induce(sorter *s, const uint32_t *first, uint32_t n_first) {
    const uint32_t *text = s->text;
    uint32_t *starts = s->starts;
    memset(starts, 0xFF, (size_t)s->n * sizeof *starts);
    memcpy(s->next, s->tail, (size_t)s->n_symbols * sizeof *s->next);
    for (uint32_t i = 0; i < n_first; i++) starts[s->next[text[first[i]]]++] = first[i];
    memcpy(s->next, s->large, (size_t)s->n_symbols * sizeof *s->next);
    starts[s->next[text[s->n - 1]]++] = s->n - 1;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t v = starts[i];
        if (v != NONE && v > 0 && !is_small(s, v - 1)) starts[s->next[text[v - 1]]++] = v - 1;
    }
    memcpy(s->next, s->large + 1, (size_t)s->n_symbols * sizeof *s->next);
    for (uint32_t i = s->n; i-- > 0;) {
        const uint32_t v = starts[i];
        if (v != NONE && v > 0 && is_small(s, v - 1)) starts[--s->next[text[v - 1]]] = v - 1;
    }
}

/* Are the stretches from two such places to the next one each (it included) the same? */
static int same_stretch(const sorter *s, uint32_t a, uint32_t b) {
    for (uint32_t k = 0;; k++) {
        if (a + k == s->n || b + k == s->n || s->text[a + k] != s->text[b + k]) return 0;
        if (k == 0) continue;
        const int ends = is_first_small(s, a + k);
        if (ends != is_first_small(s, b + k)) return 0;
        if (ends) return 1;
    }
}

static ctok_status sort(const uint32_t *text, uint32_t n, uint32_t n_symbols, uint32_t *starts);

/* Sort the places `first` (n_first of them, ascending), after a first induction: name the stretches, sort the text of the names. */
static ctok_status sort_first(sorter *s, uint32_t *first, uint32_t n_first) {
    uint32_t *names = (uint32_t *)ctok_mem_alloc(n_first, 2 * sizeof *names);
    /* No two such places are neighbours: half of a place tells them apart. */
    uint32_t *name_of = (uint32_t *)ctok_mem_alloc((size_t)s->n / 2 + 1, sizeof *name_of);
    ctok_status status = names == NULL || name_of == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
    if (status == CTOK_OK) {
        uint32_t *order = names + n_first, n_names = 0, before = NONE;
        for (uint32_t i = 0; i < s->n; i++) {
            const uint32_t v = s->starts[i];
            if (!is_first_small(s, v)) continue;
            if (before == NONE || !same_stretch(s, before, v)) n_names++;
            name_of[v >> 1] = n_names - 1;
            before = v;
        }
        for (uint32_t i = 0; i < n_first; i++) names[i] = name_of[first[i] >> 1];
        status = sort(names, n_first, n_names, order);
        for (uint32_t i = 0; status == CTOK_OK && i < n_first; i++) names[i] = first[order[i]];
        if (status == CTOK_OK) memcpy(first, names, (size_t)n_first * sizeof *first);
    }
    ctok_mem_free(name_of);
    ctok_mem_free(names);
    return status;
}

static ctok_status sort_with(sorter *s) {
    classify(s);
    uint32_t n_first = 0;
    for (uint32_t i = 1; i < s->n; i++) n_first += (uint32_t)is_first_small(s, i);
    uint32_t *first = (uint32_t *)ctok_mem_alloc(n_first, sizeof *first);
    if (first == NULL) return CTOK_ERR_MEMORY;
    uint32_t at = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        if (is_first_small(s, i)) first[at++] = i;
    }
    ctok_status status = CTOK_OK;
    induce(s, first, n_first);
    if (n_first > 1) {
        status = sort_first(s, first, n_first);
        if (status == CTOK_OK) induce(s, first, n_first);
    }
    ctok_mem_free(first);
    return status;
}

static ctok_status sort(const uint32_t *text, uint32_t n, uint32_t n_symbols, uint32_t *starts) {
    if (n == 0) return CTOK_OK;
    sorter s = {text, n, n_symbols, starts, NULL, NULL, NULL, NULL};
    ctok_status status = CTOK_ERR_MEMORY;
    s.small = (uint8_t *)ctok_mem_zeroed((size_t)n / 8 + 1, 1);
    s.large = (uint32_t *)ctok_mem_zeroed((size_t)n_symbols + 1, sizeof *s.large);
    s.tail = (uint32_t *)ctok_mem_zeroed((size_t)n_symbols + 1, sizeof *s.tail);
    s.next = (uint32_t *)ctok_mem_alloc((size_t)n_symbols + 1, sizeof *s.next);
    if (s.small != NULL && s.large != NULL && s.tail != NULL && s.next != NULL) status = sort_with(&s);
    ctok_mem_free(s.small);
    ctok_mem_free(s.large);
    ctok_mem_free(s.tail);
    ctok_mem_free(s.next);
    return status;
}

ctok_status ctok_suffix_sort(const uint32_t *text, size_t n, uint32_t n_symbols, uint32_t *starts) {
    if (n > CTOK_SUFFIX_MAX) return CTOK_ERR_MEMORY;
    return sort(text, (uint32_t)n, n_symbols, starts);
}

ctok_status ctok_suffix_common(const uint32_t *text, size_t n, const uint32_t *starts, uint32_t *common) {
    uint32_t *room = (uint32_t *)ctok_mem_alloc(n, sizeof *room);
    if (room == NULL) return CTOK_ERR_MEMORY;
    /* First the suffix before each one, by where it starts; then, in its place, what they have in common. */
    if (n) room[starts[0]] = NONE;
    for (size_t i = 1; i < n; i++) room[starts[i]] = starts[i - 1];
    size_t h = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t j = room[i];
        if (j == NONE) {
            room[i] = 0;
            h = 0;
            continue;
        }
        while (i + h < n && j + h < n && text[i + h] == text[j + h] && text[i + h] != 0) h++;
        room[i] = (uint32_t)h;
        if (h) h--;
    }
    for (size_t i = 0; i < n; i++) common[i] = room[starts[i]];
    ctok_mem_free(room);
    return CTOK_OK;
}
