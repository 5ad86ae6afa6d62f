"""Time and memory of this process."""

import gc
import time
from itertools import repeat


def resident(field="VmRSS"):
    """Bytes of memory in use (or, with VmHWM, in use at most so far); None where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def clocks():
    return time.perf_counter_ns(), time.process_time_ns()


def since(started):
    """Nanoseconds since `started = clocks()`: of the wall clock, and of this process on any processor."""
    ended = clocks()
    return {"wall": ended[0] - started[0], "cpu": ended[1] - started[1]}


def timed(function, argument, times):
    """Call `times` times; return the last of the results and the time of them all."""
    gc.collect()
    gc.disable()
    started = clocks()
    for _ in repeat(None, times):
        result = function(argument)
    taken = since(started)
    gc.enable()
    return result, taken
