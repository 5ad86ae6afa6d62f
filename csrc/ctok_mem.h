/* ctok_mem.h - the one way csrc and the kernels get memory.
 *
 * Sizes are multiplied with an overflow check. In builds with CTOK_TEST_ALLOC the n-th allocation from now can be made to
 * fail, so that a test can walk every failure path of a constructor.
 */
#ifndef CTOK_MEM_H
#define CTOK_MEM_H

#include "ctok_base.h"

/* ctok_mem_alloc - room for n items of size bytes, uninitialised; NULL when there is none or n * size overflows.
 * n == 0 gives a pointer that may be freed. */
void *ctok_mem_alloc(size_t n, size_t size);

/* ctok_mem_zeroed - as ctok_mem_alloc, filled with zero bytes. */
void *ctok_mem_zeroed(size_t n, size_t size);

/* ctok_mem_resize - room for n items, the old content kept as far as it fits. On failure returns NULL and p stays valid. */
void *ctok_mem_resize(void *p, size_t n, size_t size);

/* ctok_mem_free - give back what the functions above returned; NULL is allowed. */
void ctok_mem_free(void *p);

/* ctok_mem_block - room for a large table that lives long: bytes zero bytes, aligned to 64. Give back with ctok_mem_unblock and the same number.
 *
 * Where the system has large pages, the block is put on them: a table is then mapped by a few page faults instead of thousands, which is most
 * of the time it takes to fill one, and its look-ups find their addresses sooner. NULL when there is no memory. */
void *ctok_mem_block(size_t bytes);
void ctok_mem_unblock(void *p, size_t bytes);

/* ctok_mem_room - the same for a table that is soon given back: on large pages from a quarter of one on. Give back with ctok_mem_unroom. */
void *ctok_mem_room(size_t bytes);
void ctok_mem_unroom(void *p, size_t bytes);

/* ctok_mem_grow - as ctok_mem_resize, for an array that grows with its text: n items of size bytes instead of *cap, on large pages from a
 * quarter of one on, and then as many as fill them: *cap is how many there are. Give back with ctok_mem_ungrow. */
void *ctok_mem_grow(void *p, size_t n, size_t size, size_t *cap);
void ctok_mem_ungrow(void *p, size_t cap, size_t size);

/* ctok_mem_will_fill - p[0..bytes), fresh from any allocator, will be filled: where it is large, on large pages if the system likes to. */
void ctok_mem_will_fill(void *p, size_t bytes);

/* ctok_mem_fail_after - in test builds: let n more allocations of this module succeed, then fail one and go back to normal;
 * n < 0 switches it off. Returns how many allocations were left. In other builds it does nothing and returns -1. */
long ctok_mem_fail_after(long n);

#endif
