"""Memory of a call, for tests."""

import tracemalloc


def peak_of(call, limit):
    """Bytes that a call has at most beside those from before; what other threads of the process take counts too.

    So a call above `limit` is repeated, at most twice, and the least counts: what it takes itself, it takes each time.
    """
    peaks = []
    while len(peaks) < 3 and (not peaks or min(peaks) > limit):
        tracemalloc.start()
        try:
            call()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)
