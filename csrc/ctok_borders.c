#include "ctok_borders.h"

#include <string.h>

/* Whatever state meets a, does it then find a border before b?
 *
 * A state that stops before a does not see the pair: the machine starts again further left and comes back in another state. So does one
 * that stops before b and falls back to an earlier place. */
static int is_border(const ctok_dfa *d, uint32_t a, uint32_t b) {
    const uint32_t stride = d->n_classes + 1;
    for (uint32_t row = 0; row < d->n_states * stride; row += stride) {
        const ctok_dfa_entry *first = &d->entries[row + a];
        if (first->flags & CTOK_DFA_STOP) continue;
        const uint32_t flags = d->entries[first->next + b].flags;
        if (!(flags & (CTOK_DFA_EMIT | CTOK_DFA_STOP))) return 0;
    }
    return 1;
}

void ctok_borders_find(const ctok_dfa *d, ctok_borders *b) {
    uint8_t seen[256] = {0};
    memset(b, 0, sizeof *b);
    for (uint32_t i = 0; i < 128; i++) seen[d->ascii[i]] = 1;
    for (uint32_t first = 0; first < d->n_classes; first++) {
        for (uint32_t second = 0; second < d->n_classes; second++) {
            if (!seen[first] || !seen[second] || !is_border(d, first, second)) continue;
            for (uint32_t i = 0; i < 128; i++) {
                for (uint32_t j = 0; d->ascii[i] == first && j < 128; j++)
                    if (d->ascii[j] == second) b->after[i][j >> 6] |= UINT64_C(1) << (j & 63);
            }
        }
    }
}

size_t ctok_borders_last(const ctok_borders *b, const uint8_t *buf, size_t n) {
    for (size_t p = n; p-- > 1;) {
        const uint8_t first = buf[p - 1], second = buf[p];
        if ((first | second) < 0x80 && b->after[first][second >> 6] >> (second & 63) & 1) return p;
    }
    return 0;
}
