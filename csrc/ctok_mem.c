#include "ctok_mem.h"

#include <stdlib.h>

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
    return realloc(p, n != 0 && size != 0 ? n * size : 1);
}

void ctok_mem_free(void *p) {
    free(p);
}
