# cython: freethreading_compatible=False
"""Many texts, or many lists of ids, on several threads with the GIL released."""

from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from ctok._native.c_text cimport ctok_text, ctok_text_free, ctok_text_init
from ctok._native.c_utf8 cimport CTOK_SURROGATE_REPLACE, CTOK_SURROGATE_STRICT, ctok_on_surrogate
from ctok._native.c_vocab cimport CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status, ctok_vocab
from ctok._native.detokenize cimport (
    DecodeFault, DecodeHow, Ids, check_decoded, decode_text, free_ids, parse_how, pieces_for, read_ids, str_of)
from ctok._native.engine cimport Context, Engine
from ctok._native.ids cimport ids_to_list
from ctok._native.pipeline cimport Job, Literals, Pipeline, encode_job, raise_for
from ctok._native.vocab cimport Vocab

import os

from ..errors import CtokError

cdef extern from "ctok_pool.h" nogil:
    const size_t CTOK_POOL_MAX
    void ctok_pool_run(size_t n, void (*work)(void *, size_t) noexcept nogil, void *arg)
    size_t ctok_pool_ticket(size_t *counter)

cdef enum:
    ALONE = 4096                # characters or ids from which the GIL is released
    SHARED = 1 << 16            # characters or ids from which a batch is worth threads

cdef struct Batch:
    Job *jobs
    size_t n_jobs
    size_t ticket
    Engine engine
    Context **contexts
    ctok_on_surrogate how


cdef void work_off(void *arg, size_t worker) noexcept nogil:
    """One worker of a batch: take texts one by one until none is left."""
    cdef Batch *b = <Batch *>arg
    cdef Context *c = b.contexts[worker]
    cdef size_t i = ctok_pool_ticket(&b.ticket)
    cdef Job *job
    while i < b.n_jobs:
        job = &b.jobs[i]
        job.worker = worker
        job.begin = c.ids.n
        c.counted = 0
        job.status = encode_job(c, &b.engine, job, b.how)
        job.bad = c.bad
        job.number = c.counted
        if job.status != CTOK_OK:
            c.ids.n = job.begin
        job.count = c.counted + (c.ids.n - job.begin)
        i = ctok_pool_ticket(&b.ticket)

cdef Py_ssize_t workers_for(num_threads, Py_ssize_t n_jobs, size_t total) except -1:
    if num_threads is not None and not isinstance(num_threads, int):
        raise TypeError(f"num_threads must be an int or None, not {type(num_threads).__name__}")
    if num_threads is not None and num_threads < 1:
        raise ValueError(f"num_threads must be at least 1, not {num_threads}")
    if n_jobs < 2 or total < SHARED:
        return 1
    return min(num_threads or os.cpu_count() or 1, n_jobs, <Py_ssize_t>CTOK_POOL_MAX)


cdef Py_ssize_t hire(Pipeline tokenizer, Batch *b, Py_ssize_t wanted, bint counting) except -1:
    """Give the batch a context for each worker; returns how many there are."""
    cdef Py_ssize_t i
    for i in range(wanted):
        try:
            b.contexts[i] = tokenizer.acquire()
        except MemoryError:
            if i == 0:
                raise
            return i
        b.contexts[i].counting = counting
    return wanted


cdef list collect(Batch *b, list texts, Literals literals, bint counting):
    """The results of a batch as Python objects; raises for the first text that failed."""
    cdef Py_ssize_t i
    cdef Job *job
    out = []
    for i in range(<Py_ssize_t>b.n_jobs):
        job = &b.jobs[i]
        if job.status != CTOK_OK:
            raise_for(job.status, job.bad, job.number, texts[i], literals, f"text {i}: ")
        out.append(job.count if counting else ids_to_list(b.contexts[job.worker].ids.at + job.begin, job.count))
    return out


cdef list encode_one_by_one(Pipeline tokenizer, list texts, Literals literals, bint add_special, errors, bint counting):
    """For a split rule that only Python can run."""
    cdef Context *c
    out = []
    for i, text in enumerate(texts):
        c = tokenizer.acquire()
        try:
            tokenizer.run(c, text, literals, add_special, errors)
            out.append(c.ids.n if counting else ids_to_list(c.ids.at, c.ids.n))
        except CtokError as error:
            error.args = (f"text {i}: {error}",)
            raise
        finally:
            tokenizer.release(c)
    return out


def encode_batch(Pipeline tokenizer, texts, num_threads, allowed, disallowed, bint add_special, errors, bint counting):
    """Encode (or count) each text; the contract is `Tokenizer.encode_batch`."""
    cdef Batch b
    cdef Py_ssize_t i, n, n_workers = 0
    cdef size_t total = 0
    cdef Literals literals = tokenizer.policy(allowed, disallowed)
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts must be an iterable of texts, not one {type(texts).__name__}; write [text] for one")
    cdef list kept = list(texts)
    n = len(kept)
    b.jobs = <Job *>ctok_mem_alloc(n, sizeof(Job))
    b.contexts = <Context **>ctok_mem_zeroed(CTOK_POOL_MAX, sizeof(Context *))
    try:
        if b.jobs == NULL or b.contexts == NULL:
            raise MemoryError(f"no memory for a batch of {n} texts")
        for i in range(n):
            kept[i] = tokenizer.prepare(kept[i], errors, &b.jobs[i], f"text {i}: ")
            total += b.jobs[i].n
        if tokenizer.splitter is None and tokenizer.flow is None:
            return encode_one_by_one(tokenizer, kept, literals, add_special, errors, counting)
        n_workers = hire(tokenizer, &b, workers_for(num_threads, n, total), counting)
        b.n_jobs = n
        b.ticket = 0
        b.how = CTOK_SURROGATE_STRICT if errors == "strict" else CTOK_SURROGATE_REPLACE
        tokenizer.engine(literals, add_special, &b.engine)
        if total < ALONE:
            work_off(&b, 0)
        else:
            with nogil:
                ctok_pool_run(n_workers, work_off, &b)
        return collect(&b, kept, literals, counting)
    finally:
        for i in range(n_workers):
            tokenizer.release(b.contexts[i])
        ctok_mem_free(b.contexts)
        ctok_mem_free(b.jobs)


# ---- decoding ----

cdef struct DecodeJob:
    Ids ids
    ctok_text text
    bint ascii
    ctok_status status
    DecodeFault fault

cdef struct DecodeBatch:
    DecodeJob *jobs
    size_t n_jobs
    size_t ticket
    const ctok_vocab *vocab
    DecodeHow how


cdef void decode_off(void *arg, size_t worker) noexcept nogil:
    cdef DecodeBatch *b = <DecodeBatch *>arg
    cdef size_t i = ctok_pool_ticket(&b.ticket)
    cdef DecodeJob *job
    while i < b.n_jobs:
        job = &b.jobs[i]
        job.status = decode_text(b.vocab, job.ids.p, job.ids.n, &b.how, &job.text, &job.ascii, &job.fault)
        i = ctok_pool_ticket(&b.ticket)


def decode_batch(Pipeline tokenizer, batch, num_threads, bint skip_special, errors, policy):
    """Decode each sequence of ids; the contract is `Tokenizer.decode_batch`."""
    cdef DecodeBatch b
    cdef Py_ssize_t i, n, n_workers
    cdef size_t total = 0
    cdef list kept = list(batch), looked_up = [], out = []
    cdef uint32_t none[1]
    n = len(kept)
    cdef Vocab vocab = tokenizer.decode_vocab()
    parse_how(&b.how, vocab, skip_special, errors, policy)
    b.vocab = &vocab.v
    b.ticket = 0
    b.n_jobs = n
    b.jobs = <DecodeJob *>ctok_mem_zeroed(n, sizeof(DecodeJob))
    if b.jobs == NULL:
        raise MemoryError(f"no memory for a batch of {n} sequences")
    try:
        for i in range(n):
            ctok_text_init(&b.jobs[i].text, NULL, 0)
            looked_up.append(read_ids(kept[i], &b.jobs[i].ids, none, 1))
            if b.jobs[i].ids.p == none:                     # one id fits the caller's room, which the next would overwrite
                own_ids(&b.jobs[i].ids)
            total += b.jobs[i].ids.n
        b.how.pieces = pieces_for(vocab, total)
        n_workers = workers_for(num_threads, n, total)
        if total < ALONE:
            decode_off(&b, 0)
        else:
            with nogil:
                ctok_pool_run(n_workers, decode_off, &b)
        for i in range(n):
            try:
                check_decoded(b.jobs[i].status, &b.jobs[i].fault, looked_up[i])
            except CtokError as error:
                error.args = (f"sequence {i}: {error}",)
                raise
            out.append(str_of(b.jobs[i].text.p, b.jobs[i].text.n, b.jobs[i].ascii))
        return out
    finally:
        for i in range(n):
            free_ids(&b.jobs[i].ids)
            ctok_text_free(&b.jobs[i].text)
        ctok_mem_free(b.jobs)


cdef int own_ids(Ids *ids) except -1:
    cdef uint32_t *copy = <uint32_t *>ctok_mem_alloc(ids.n, sizeof(uint32_t))
    if copy == NULL:
        raise MemoryError("no memory for ids")
    memcpy(copy, ids.p, ids.n * sizeof(uint32_t))
    ids.p = copy
    ids.owned = True
    return 0


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
