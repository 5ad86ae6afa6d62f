"""What the compiled rooms were built from and how, so that the front door can tell them from another project's files."""

cdef extern from *:
    """
    #ifndef CTOK_VERSION
    #define CTOK_VERSION "unknown"
    #endif
    #ifndef CTOK_BUILD_MODE
    #define CTOK_BUILD_MODE "unknown"
    #endif
    """
    const char *CTOK_VERSION
    const char *CTOK_BUILD_MODE


version = CTOK_VERSION.decode()
mode = CTOK_BUILD_MODE.decode()      # "release", "quick", "test", "sanitize" or "coverage"
