#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* mmap */
#endif

#include "ctok_mapping.h"

#ifdef _WIN32
const uint8_t *ctok_mapping_open(int file, size_t bytes) {
    (void)file;
    (void)bytes;
    return NULL;
}

void ctok_mapping_close(const uint8_t *p, size_t bytes) {
    (void)p;
    (void)bytes;
}
#else
#include <sys/mman.h>

const uint8_t *ctok_mapping_open(int file, size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    return p == MAP_FAILED ? NULL : p;
}

void ctok_mapping_close(const uint8_t *p, size_t bytes) {
    if (p != NULL) munmap((void *)(uintptr_t)p, bytes);
}
#endif
