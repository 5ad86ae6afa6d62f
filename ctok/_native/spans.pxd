from ctok._native.vocab cimport Vocab

cpdef tuple decode_spans(Vocab vocab, ids, bint skip_special, str errors, policy, str unit)
