"""The processor that is measured on."""

import os


def one_core():
    """Keep this process, and all that it starts, on the last processor it may use: engines that take several are measured on one."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
