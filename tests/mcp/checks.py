"""A count of what passed, by the face of hashline, or the editor, that was tried."""

import contextlib
import threading
import traceback


def expect(condition, message):
    """Unlike assert, this stays when Python optimises."""
    if not condition:
        raise AssertionError(message)


class Checks:
    """Counts cases, also such as run at the same time; one that fails is told with its traceback, and the next one runs."""

    def __init__(self, face):
        self.face = face
        self._lock = threading.Lock()
        self.passed = 0
        self.failed = 0

    @contextlib.contextmanager
    def case(self, name):
        try:
            yield
        except Exception:
            self._tell(False, f"FAILED {self.face}: {name}\n{traceback.format_exc()}")
        else:
            self._tell(True, f"ok {self.face}: {name}")

    def _tell(self, passed, words):
        with self._lock:
            if passed:
                self.passed += 1
            else:
                self.failed += 1
            print(words, flush=True)
