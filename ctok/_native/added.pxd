from ctok._native.c_added cimport ctok_added, ctok_added_event, ctok_added_result, ctok_added_state


cdef class AddedTokens:
    cdef ctok_added a                       # read-only: any number of threads
    cdef readonly tuple contents            # the texts as declared, in declaration order


cdef class AddedStream:
    cdef readonly AddedTokens tokens
    cdef ctok_added_state s
    cdef bytearray window
    cdef bytes skip
    cdef ctok_added_result step(self, bint final, ctok_added_event *event)
