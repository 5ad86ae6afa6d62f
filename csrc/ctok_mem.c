#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#endif

#include "ctok_mem.h"

#include <stdlib.h>
#include <string.h>

/* Test builds take blocks from malloc, whose borders sanitizers watch. */
#if defined(__linux__) && !defined(CTOK_TEST_ALLOC)
#include <sys/mman.h>
#ifdef MADV_HUGEPAGE
#define CTOK_LARGE_PAGES
#endif
#endif

#ifdef CTOK_TEST_ALLOC
static long left = -1;

static int fails(void) {
    if (left < 0) return 0;
    return left-- == 0;
}

long ctok_mem_fail_after(long n) {
    long before = left;
    left = n;
    return before;
}
#else
#define fails() 0

long ctok_mem_fail_after(long n) {
    (void)n;
    return -1;
}
#endif

static int overflows(size_t n, size_t size) {
    return size != 0 && n > PTRDIFF_MAX / size;
}

void *ctok_mem_alloc(size_t n, size_t size) {
    if (overflows(n, size) || fails()) return NULL;
    return malloc(n != 0 && size != 0 ? n * size : 1);
}

void *ctok_mem_zeroed(size_t n, size_t size) {
    if (overflows(n, size) || fails()) return NULL;
    return calloc(n ? n : 1, size ? size : 1);
}

void *ctok_mem_resize(void *p, size_t n, size_t size) {
    if (overflows(n, size) || fails()) return NULL;
    p = realloc(p, n != 0 && size != 0 ? n * size : 1);
    ctok_mem_will_fill(p, n * size);
    return p;
}

void ctok_mem_free(void *p) {
    free(p);
}

/* An aligned place inside what malloc gives, with the pointer to the whole in front of it. */
static void *small_block(size_t bytes) {
    uint8_t *room, *p;
    if (bytes > PTRDIFF_MAX - 128) return NULL;
    room = ctok_mem_zeroed(bytes + 128, 1);
    if (room == NULL) return NULL;
    p = room + 64 + (64 - (uintptr_t)room % 64) % 64;
    memcpy(p - sizeof room, &room, sizeof room);
    return p;
}

static void free_small_block(void *p) {
    uint8_t *room;
    memcpy(&room, (uint8_t *)p - sizeof room, sizeof room);
    free(room);
}

#ifdef CTOK_LARGE_PAGES
#define LARGE_PAGE ((size_t)2 << 20)
#define SMALL_BLOCK ((size_t)1 << 20) /* below, a large page would be mostly empty */
#define SMALL_ROOM ((size_t)1 << 19)  /* below, page by page costs less */

static size_t whole_pages(size_t bytes) {
    return (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

void *ctok_mem_block(size_t bytes) {
    if (bytes < SMALL_BLOCK) return small_block(bytes);
    if (bytes > PTRDIFF_MAX - 2 * LARGE_PAGE) return NULL;
    /* Map one page more than needed and give back what lies before and behind the aligned part. */
    const size_t size = whole_pages(bytes);
    uint8_t *all = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    const size_t before = (LARGE_PAGE - (uintptr_t)all % LARGE_PAGE) % LARGE_PAGE;
    if (before) munmap(all, before);
    munmap(all + before + size, LARGE_PAGE - before);
    madvise(all + before, size, MADV_HUGEPAGE); /* a wish; without it the block is there all the same */
    return all + before;
}

void ctok_mem_unblock(void *p, size_t bytes) {
    if (p == NULL) return;
    if (bytes < SMALL_BLOCK) free_small_block(p);
    else munmap(p, whole_pages(bytes));
}

void ctok_mem_will_fill(void *p, size_t bytes) {
    if (p == NULL || bytes < 2 * LARGE_PAGE) return;
    const size_t before = (LARGE_PAGE - (uintptr_t)p % LARGE_PAGE) % LARGE_PAGE;
    madvise((uint8_t *)p + before, (bytes - before) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
}

static size_t of_room(size_t bytes) {
    return bytes < SMALL_ROOM || bytes >= SMALL_BLOCK ? bytes : SMALL_BLOCK;
}

#define GROWN SMALL_ROOM /* bytes from which a growing array is a block */

static void *grow_block(void *p, size_t had, size_t bytes) {
    p = mremap(p, had, bytes, MREMAP_MAYMOVE);
    if (p == MAP_FAILED) return NULL;
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}
#else
void *ctok_mem_block(size_t bytes) {
    return small_block(bytes);
}

void ctok_mem_unblock(void *p, size_t bytes) {
    (void)bytes;
    if (p != NULL) free_small_block(p);
}

void ctok_mem_will_fill(void *p, size_t bytes) {
    (void)p;
    (void)bytes;
}

static size_t of_room(size_t bytes) {
    return bytes;
}

#ifdef CTOK_TEST_ALLOC
#define GROWN ((size_t)1 << 16) /* so that sanitizers see it when a grown array is given back as anything else */
#else
#define GROWN SIZE_MAX
#endif

static size_t whole_pages(size_t bytes) {
    return bytes;
}

static void *grow_block(void *p, size_t had, size_t bytes) {
    void *more = ctok_mem_block(bytes);
    if (more == NULL) return NULL;
    memcpy(more, p, had);
    ctok_mem_unblock(p, had);
    return more;
}
#endif

void *ctok_mem_grow(void *p, size_t n, size_t size, size_t *cap) {
    const size_t had = *cap * size;
    if (overflows(n, size)) return NULL;
    size_t bytes = n * size;
    void *more;
    if (bytes < GROWN) {
        more = ctok_mem_resize(p, n, size);
    } else if (had >= GROWN) {
        bytes = whole_pages(bytes);
        more = grow_block(p, whole_pages(had), bytes);
    } else {
        bytes = whole_pages(bytes);
        more = ctok_mem_block(bytes);
        if (more != NULL && had) memcpy(more, p, had);
        if (more != NULL) free(p);
    }
    if (more != NULL) *cap = bytes / size;
    return more;
}

void ctok_mem_ungrow(void *p, size_t cap, size_t size) {
    if (cap * size < GROWN) free(p);
    else ctok_mem_unblock(p, cap * size);
}

void *ctok_mem_room(size_t bytes) {
    return ctok_mem_block(of_room(bytes));
}

void ctok_mem_unroom(void *p, size_t bytes) {
    ctok_mem_unblock(p, of_room(bytes));
}
