from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_model cimport ctok_model_ops
from ctok._native.model cimport Model

cdef struct VisibleModel:
    const ctok_model_ops *ops   # of the model that reads the spelling
    const void *model

cdef struct VisibleScratch:
    const VisibleModel *outer
    void *inner
    ctok_bytes text

cdef struct VisibleOpen:
    const VisibleModel *outer
    void *inner

cdef class Visible(Model):
    cdef VisibleModel m
    cdef readonly Model inner
