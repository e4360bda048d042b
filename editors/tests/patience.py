"""Waiting for what a test wants to see, never for time to pass."""

import time

PATIENCE = 30  # seconds, far more than anything here takes on a machine that has nothing else to do


def until(condition, what):
    """Returns what `condition` gives as soon as that is true. `what` says what was waited for, when it never is."""
    limit = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > limit:
            raise AssertionError(f"waited {PATIENCE} s in vain until {what() if callable(what) else what}")
        time.sleep(0.02)
