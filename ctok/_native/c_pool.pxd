cdef extern from "ctok_pool.h" nogil:
    const size_t CTOK_POOL_MAX
    void ctok_pool_run(size_t n, void (*work)(void *, size_t) noexcept nogil, void *arg)
    size_t ctok_pool_ticket(size_t *counter)
