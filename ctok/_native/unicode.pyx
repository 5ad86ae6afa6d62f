"""Properties of code points, Unicode 16.0, as the kernels see them."""

from ctok._native.c_unicode cimport CTOK_UNICODE_CATEGORY_MASK, CTOK_UNICODE_SPACE, ctok_unicode_get

UNICODE_VERSION = "16.0.0"

cdef tuple _NAMES = tuple("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split())


cdef unsigned int _code(value) except? 0xFFFFFFFF:
    cdef long long code = value
    if not 0 <= code <= 0x10FFFF:
        raise ValueError(f"not a code point: {value}")
    return <unsigned int>code


def category(code):
    """Return the two-letter general category of a code point (an int)."""
    return _NAMES[ctok_unicode_get(_code(code)) & CTOK_UNICODE_CATEGORY_MASK]


def is_space(code):
    """Return whether a code point (an int) has White_Space, the ``\\s`` of split patterns."""
    return (ctok_unicode_get(_code(code)) & CTOK_UNICODE_SPACE) != 0
