"""Started by `run`, which says what it takes. The last line is the count."""

import os
import signal
import sys
from contextlib import ExitStack, closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent / "tests" / "mcp"))  # what counts checks there counts them here

from agent import Agent
from checks import Checks
from desk import Desk
from emacs import Eglot, LspMode
from helix import Helix, check_languages
from kakoune import Kakoune
from scenes import SCENES, applies, windows_endings
from zed import check_settings

AT_ONCE = 2  # each has a desk of its own, and waits more than it works
SLOW = 8  # seconds
LAST_SECONDS = 8  # less than tests/run waits before it kills

EDITORS = {
    "helix-oldest": partial(Helix, "oldest"),
    "helix-newest": partial(Helix, "newest"),
    "eglot": Eglot,
    "lsp-mode": LspMode,
    "kakoune": Kakoune,
}
# Kakoune's language client has to be compiled: it is played where it is named.
EVERY_TIME = ["helix-oldest", "helix-newest", "eglot", "lsp-mode", "zed"]
# What an editor's page says is not for it.
LEFT_OUT = {"kakoune": [windows_endings, applies]}
# What is checked of a configuration without a scene.
OTHER_CHECKS = {"helix-newest": [check_languages], "zed": [check_settings]}


@dataclass
class Played:
    """What became of a scene in an editor, or of a check of its configuration."""

    editor: str
    name: str
    passed: bool
    seconds: float
    said: str


def play_scene(scene, editor, binary):
    kept = os.environ.get("HASHLINE_KEEP")
    with ExitStack() as stack:
        desk = stack.enter_context(closing(Desk(binary)))
        agent = stack.enter_context(closing(Agent(desk)))
        played_in = stack.enter_context(closing(EDITORS[editor](desk)))
        try:
            scene(desk, played_in, agent)
        except BaseException:
            print(played_in.screen)
            raise
        finally:
            if kept:
                (Path(kept) / f"{editor}-{scene.__name__}").write_text(played_in.coloured)


def play(binary, which):
    """In a process of its own: what is printed meanwhile is kept together."""
    editor, case = which
    began, checks = monotonic(), Checks(editor)
    with StringIO() as said, redirect_stdout(said), redirect_stderr(said):
        with checks.case(case.__doc__):
            if case in SCENES:
                play_scene(case, editor, binary)
            else:
                case(binary)
        return Played(editor, case.__doc__, checks.failed == 0, monotonic() - began, said.getvalue())


def end_well():
    """Who ends the run ends the editors that it has started: they are closed on the way out."""

    def end(number, _):
        signal.signal(number, signal.SIG_IGN)  # the way out is gone once,
        signal.alarm(LAST_SECONDS)  # and not for ever
        sys.exit(1)

    signal.signal(signal.SIGTERM, end)


def main():
    binary, editors = Path(sys.argv[1]), sys.argv[2:] or EVERY_TIME
    only = os.environ.get("HASHLINE_ONLY", "")
    wanted = [
        (editor, case)
        for editor in editors
        for case in [*(SCENES if editor in EDITORS else []), *OTHER_CHECKS.get(editor, [])]
        if only in case.__doc__ and case not in LEFT_OUT.get(editor, [])
    ]
    end_well()
    played = []
    with get_context("spawn").Pool(AT_ONCE, end_well) as pool:
        for one in pool.imap(partial(play, binary), wanted):
            print(one.said, end="", flush=True)
            played.append(one)
        pool.close()
        pool.join()  # else each is ended on its way out, and complains
    for one in played:
        if one.seconds > SLOW:
            print(f"slow {one.editor}: {one.name} ({one.seconds:.0f} s)")
    for editor in editors:
        own = [one for one in played if one.editor == editor]
        passed, seconds = sum(one.passed for one in own), sum(one.seconds for one in own)
        print(f"of {editor}: {passed} passed, {len(own) - passed} failed, {seconds:.0f} s")
    passed = sum(one.passed for one in played)
    print(f"{passed} passed, {len(played) - passed} failed, 0 skipped", flush=True)
    return 0 if passed == len(played) else 1


if __name__ == "__main__":
    sys.exit(main())
