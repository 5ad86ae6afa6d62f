# Nothing here is called from Python: the merge is for other kernels, by cimport.
