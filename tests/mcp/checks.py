"""A count of what passed, by the face of hashline, or the editor, that was tried."""

import contextlib
import traceback


def expect(condition, message):
    """Unlike assert, this stays when Python optimises."""
    if not condition:
        raise AssertionError(message)


class Checks:
    """Counts cases; one that fails is told with its traceback, and the next one runs."""

    def __init__(self, face):
        self.face = face
        self.passed = 0
        self.failed = 0

    @contextlib.contextmanager
    def case(self, name):
        try:
            yield
        except Exception:
            self.failed += 1
            print(f"FAILED {self.face}: {name}")
            traceback.print_exc()
        else:
            self.passed += 1
            print(f"ok {self.face}: {name}")
