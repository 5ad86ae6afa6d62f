"""The value of a Python int that is an id, without a call: ids are read by the million."""

from libc.stdint cimport uint32_t

cdef extern from *:
    """
    /* The value of an int (o passed PyLong_Check), or UINT32_MAX when it is negative or larger. Never raises. */
    static inline uint32_t ctok_pylong_u32(PyObject *o) {
    #if defined(CYTHON_COMPILING_IN_CPYTHON) && CYTHON_COMPILING_IN_CPYTHON && !defined(Py_LIMITED_API)
    #if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact((PyLongObject *)o)) {
            Py_ssize_t small = PyUnstable_Long_CompactValue((PyLongObject *)o);
            return small < 0 ? UINT32_MAX : (uint32_t)small;
        }
    #else
        if (Py_SIZE(o) == 1) return (uint32_t)((PyLongObject *)o)->ob_digit[0];
    #endif
    #endif
        int overflow = 0;
        long long wide = PyLong_AsLongLongAndOverflow(o, &overflow);
        return overflow || wide < 0 || wide > (long long)UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
    }
    """
    uint32_t ctok_pylong_u32(void *o) nogil
