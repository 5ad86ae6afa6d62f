/* ctok_normal_rooms.h - what the rooms of a chain share; for ctok_normal*.c only.
 *
 * A room's run looks at in[0..n), which is what it held before and what came since. It appends what is certain to out and sets *used: the
 * rest is held for it and comes again in front of the next text. With `final` all is used.
 */
#ifndef CTOK_NORMAL_ROOMS_H
#define CTOK_NORMAL_ROOMS_H

#include "ctok_bytelevel.h"
#include "ctok_normal.h"
#include "ctok_normal_ops.h"

typedef ctok_status (*ctok_room_run)(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                                     size_t *used);

ctok_status ctok_room_chars(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                            size_t *used);
ctok_status ctok_room_bytes(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                            size_t *used);
ctok_status ctok_room_strip(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                            size_t *used);
ctok_status ctok_room_prepend(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                              size_t *used);
ctok_status ctok_room_literal(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                              size_t *used);
ctok_status ctok_room_runs(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                           size_t *used);
ctok_status ctok_room_pattern(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                              size_t *used);
ctok_status ctok_room_hook(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                           size_t *used);
ctok_status ctok_room_charsmap(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                               size_t *used);
ctok_status ctok_room_spn(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                          size_t *used);

/* The parts of seal that need more than a line. */
ctok_status ctok_room_fuse(ctok_normal_room *r);
void ctok_room_find_starts(ctok_normal_room *r);
ctok_status ctok_room_charsmap_lane(ctok_normal_room *r);

/* ctok_room_matches - all matches of a LITERAL, RUN, PATTERN or HOOK room in a whole text, as a hook gives them. */
ctok_status ctok_room_matches(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_ids *matches);

/* ctok_normal_spn_map - ctok_normal_map of a chain that is an SPN room. */
ctok_status ctok_normal_spn_map(const ctok_normal *c, const uint8_t *in, size_t n, ctok_bytes *out, ctok_align **map);

/* ctok_room_spn_is_sound - could flags and blanks of a state be like that? */
int ctok_room_spn_is_sound(const ctok_normal_room *r, const ctok_room_state *s);

/* ctok_room_cluster - the first grapheme cluster of in[0..n): its bytes, and its characters. n >= 1. */
size_t ctok_room_cluster(const uint8_t *in, size_t n, size_t *n_chars);

/* How many characters of a cluster the table is asked about together: clusters of fewer bytes. */
#define CTOK_CLUSTER_BYTES 6

#endif
