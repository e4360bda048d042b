"""Agents at work with the tools that they have of their own, on a file that somebody has open in Neovim, led by a stand-in for
their model. What `hashline setup` installs in the agent's program has such edits held like those that hashline's tools make.
"""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

from agents import ended, write_settings
from checks import Checks, expect
from led import AGENTS, alone
from model import Model
from neovim_scene import NeovimScene
from script import END, Edit, Read, Script, Shell, Write

# Those in which setup installs hooks.
HOOKED = ("claude-code", "codex", "gemini", "opencode")

# With these words in the names of cases only those run.
ONLY = os.environ.get("HASHLINE_ONLY", "")

TASK = "Do what the script says."
LINES = ["def one():", "    return 1", "", "def two():", "    return 2"]
ONE, TWO = LINES[1], LINES[4]
SAVED = "".join(f"{line}\n" for line in LINES)

# What is said to an agent besides, to let it write, and to have it go on where it was.
WRITING = {
    "claude-code": ["--permission-mode", "acceptEdits"],
    "codex": ["-c", "sandbox_mode=workspace-write", "-c", "model=gpt-5.5", "--dangerously-bypass-hook-trust"],
    "gemini": [],
    "opencode": [],
}
AGAIN = {
    "claude-code": ["--continue"],
    "codex": ["resume", "--last"],
    "gemini": ["--resume", "latest"],
    "opencode": ["--continue"],
}

# What a model reads of an edit that it made with a tool of its agent's, held or not, and of a file.
MADE = {
    "claude-code": "has been updated successfully",
    "codex": "Success. Updated the following files",
    "gemini": "Successfully modified file|was changed as you asked",
    "opencode": "Edit applied successfully|Wrote file successfully",
}
CREATED = {
    "claude-code": "File created successfully",
    "codex": "Success. Updated the following files",
    "gemini": "Successfully created and wrote to new file",
    "opencode": "Wrote file successfully",
}

# Some of hashline's tools, to which a model may be sent.
OURS = ("edit_text_file", "edit_file_diff")


class Scene(NeovimScene):
    """A person with a Neovim on a folder, and an agent that has been set up there."""

    def __init__(self, programs, binary, neovim, agent):
        super().__init__("hooks", SAVED)
        self.agent = agent
        self.scope = ["--user"]
        self.writing = WRITING[agent]
        self.named = {}
        self._program = programs / agent
        self._binary = binary
        self.command = self.keeping_to_state(binary)
        self.starts(neovim, self.command)
        self._is_set_up = False

    def set_up(self, agent, environment):
        """Once for each run, as the model is elsewhere then."""
        self._is_set_up = True
        write_settings(self.agent, self.home, self.root, agent.settings)
        if self.agent == "codex":
            # The person trusts the project.
            with (self.home / ".codex" / "config.toml").open("a") as file:
                file.write(f'[projects."{self.root}"]\ntrust_level = "trusted"\n')
        code, told = ended([self._binary, "setup", self.agent, *self.scope, "--yes"], environment, self.root)
        expect(code == 0, told)
        named = str(self._binary).encode()
        for file in [*self.home.rglob("*"), *self.root.rglob("*")]:
            if file.is_file() and named in file.read_bytes():
                file.write_bytes(file.read_bytes().replace(named, str(self.command).encode()))

    def work(self, *steps):
        """Has the agent do this, in the conversation that it had before, if there was one."""
        script = Script(self.agent, steps)
        with Model(script) as model:
            agent = AGENTS[self.agent](model.url, TASK, **self.named)
            environment = alone(agent, self.home, model)
            environment["PATH"] = f"{self._program.parent}{os.pathsep}{environment['PATH']}"
            more = self.writing + (AGAIN[self.agent] if self._is_set_up else [])
            self.set_up(agent, environment)
            # Behind the name of a command, if there is one, and before all else.
            at = 0 if agent.words[0].startswith("-") else 1
            code, told = ended([self._program, *agent.words[:at], *more, *agent.words[at:]], environment, self.root)
            expect(code == 0 and script.is_done and END in told, f"exit {code}\n{told}\n{self.log()}")
            expect(not model.elsewhere, f"asked for elsewhere: {model.elsewhere}")
        return script

    def log(self):
        """The end of what the agent's program has noted of its work, where it does."""
        notes = sorted(self.home.glob(".local/share/opencode/log/*.log"))
        return notes[-1].read_text()[-4000:] if notes else ""

    def edits(self):
        """The ids of the edits that have undecided hunks, as far as agents are shown them."""
        return [name[:8] for name in self.neovim.held()]

    def history(self, *words):
        """What `hashline diff` says of the folder's history."""
        code, told = ended([self.command, "diff", *words, "--workspace", self.root], None, self.root)
        expect(code == 0, told)
        return told

    def saved(self):
        return self.file.read_text()

    def left(self):
        """What lies about that neither the person nor the agent made, nor belongs to hashline for long."""
        own = ("sidecars", "secrets")
        kept = [file for file in self.state.rglob("*") if file.relative_to(self.state).parts[0] not in own]
        made = [file for file in (self.root / ".mcp").rglob("*") if "edit_history" not in file.parts]
        return [file for file in kept + made if file.is_file() and file.name != ".gitignore"]


def is_made(scene, told):
    return re.search(MADE[scene.agent], told)


def is_held(scene, told):
    """The one edit is held, and the model knows that it is, and by which name."""
    scene.neovim.shows(1)
    (edit,) = scene.edits()
    expect(edit in told and "held" in told, f"it is not told that {edit} is held:\n{told}")
    expect(scene.saved() == SAVED, f"the disk has {scene.saved()!r}")


def has(scene, one, two, what):
    lines = scene.neovim.lines()
    expect(lines == [LINES[0], one, *LINES[2:4], two], f"{what}: {lines}")


# The cases, each with a scene of its own.


def a_read_shows_unsaved_work(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(2, 2, "    return 10")
    script = scene.work(Read(scene.file))
    expect("return 10" in script.told(0), script.told(0))


def a_second_read_shows_what_was_typed_since(scene):
    scene.neovim.open(scene.file)

    def typed():
        scene.neovim.put(2, 2, "    return 10")
        return Read(scene.file)

    script = scene.work(Read(scene.file), typed)
    expect("return 10" not in script.told(0), script.told(0))
    expect("return 10" in script.told(1), script.told(1))


def an_edit_is_held_and_accepted(scene):
    scene.neovim.open(scene.file)
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    is_held(scene, script.told(1))
    expect(is_made(scene, script.told(1)), script.told(1))
    has(scene, ONE, TWO, "before it is accepted")
    scene.neovim.accept()
    has(scene, "    return 11", TWO, "accepted")
    expect(scene.saved() == SAVED, "nobody saved it")
    scene.neovim.save()
    expect(scene.saved() == SAVED.replace("1\n", "11\n"), f"the disk has {scene.saved()!r}")


def an_edit_beside_unsaved_work_is_held(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(5, 5, "    return 22")
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    is_held(scene, script.told(1))
    expect(is_made(scene, script.told(1)), script.told(1))
    has(scene, ONE, "    return 22", "before it is accepted")
    scene.neovim.accept()
    has(scene, "    return 11", "    return 22", "accepted")
    expect(not scene.neovim.is_saved(), "it is not saved")


def an_edit_is_held_that_the_agent_would_ask_about(scene):
    """In the mode that Claude Code starts in. Nobody is there whom it could ask; the person is asked by what is held."""
    scene.writing = []
    scene.neovim.open(scene.file)
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    is_held(scene, script.told(1))


def an_edit_is_held_in_a_project_that_is_set_up(scene):
    scene.scope = ["--root", str(scene.root)]
    scene.neovim.open(scene.file)
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    is_held(scene, script.told(1))


def an_edit_by_a_patch_is_held(scene):
    """OpenCode gives the models of one company another tool."""
    scene.named = {"model": "gpt-5"}
    scene.neovim.open(scene.file)
    scene.neovim.put(2, 2, "    return 10")
    script = scene.work(Read(scene.file), Edit(scene.file, "    return 10", "    return 100"))
    is_held(scene, script.told(1))
    expect("Success. Updated the following files" in script.told(1), script.told(1))
    scene.neovim.accept()
    has(scene, "    return 100", TWO, "accepted")


def edits_at_once_are_held(scene):
    scene.neovim.open(scene.file)
    script = scene.work(Read(scene.file), [Edit(scene.file, ONE, "    return 11"), Edit(scene.file, TWO, "    return 22")])
    scene.neovim.shows(2)
    expect(all(edit in script.told(1) for edit in scene.edits()), script.told(1))
    expect(scene.saved() == SAVED, f"the disk has {scene.saved()!r}")
    scene.neovim.accept()
    has(scene, "    return 11", "    return 22", "accepted")


def an_edit_of_what_is_nowhere_is_refused(scene):
    scene.neovim.open(scene.file)
    script = scene.work(Read(scene.file), Edit(scene.file, "    return 3", "    return 33"))
    expect(not is_made(scene, script.told(1)), script.told(1))
    expect(scene.saved() == SAVED and not scene.edits(), "all is as it was")
    has(scene, ONE, TWO, "refused")


def an_edit_of_unsaved_work_is_held(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(2, 2, "    return 10")
    script = scene.work(Read(scene.file), Edit(scene.file, "    return 10", "    return 100"))
    is_held(scene, script.told(1))
    has(scene, "    return 10", TWO, "before it is accepted")
    scene.neovim.accept()
    has(scene, "    return 100", TWO, "accepted")


def two_edits_of_one_line_are_held(scene):
    scene.neovim.open(scene.file)
    second = Edit(scene.file, "    return 11", "    return 111")
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"), second)
    told = script.told(2)
    named = re.search(r"\b[0-9a-f]{8}\b", told)
    expect(named or any(tool in told for tool in OURS), f"the model is stuck:\n{told}")
    scene.neovim.until(scene.edits, "an edit is held")
    expect(scene.saved() == SAVED, f"the disk has {scene.saved()!r}")
    scene.neovim.accept()
    has(scene, "    return 111" if named else "    return 11", TWO, "accepted")


def edits_of_two_lines_are_held(scene):
    scene.neovim.open(scene.file)
    scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"), Edit(scene.file, TWO, "    return 22"))
    scene.neovim.shows(2)
    expect(scene.saved() == SAVED, f"the disk has {scene.saved()!r}")
    scene.neovim.accept()
    has(scene, "    return 11", "    return 22", "accepted")


def a_read_shows_what_is_held(scene):
    scene.neovim.open(scene.file)
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"), Read(scene.file))
    expect("return 11" in script.told(2), script.told(2))


def a_whole_text_is_held_line_by_line(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(5, 5, "    return 22")
    text = SAVED.replace("return 1", "return 11").replace("return 2", "return 22")
    script = scene.work(Read(scene.file), Write(scene.file, text))
    is_held(scene, script.told(1))
    expect(is_made(scene, script.told(1)), script.told(1))
    scene.neovim.accept()
    has(scene, "    return 11", "    return 22", "accepted")


def a_file_that_is_only_in_the_editor_is_held(scene):
    new = scene.root / "new.py"
    scene.neovim.open(new)
    scene.neovim.put(1, 1, "first")
    script = scene.work(Write(new, "first\nsecond\n"))
    scene.neovim.shows(1)
    (edit,) = scene.edits()
    expect(edit in script.told(0) and not new.exists(), script.told(0))
    scene.neovim.accept()
    expect(scene.neovim.lines() == ["first", "second"] and not new.exists(), f"{scene.neovim.lines()}")


def a_new_file_is_made_and_taken_back(scene):
    scene.neovim.open(scene.file)
    new = scene.root / "new.py"
    script = scene.work(Write(new, "first\n"), Edit(new, "first", "second"))
    expect(CREATED[scene.agent] in script.told(0), script.told(0))
    expect(new.read_text() == "second\n", f"it has {new.read_text()!r}")
    expect(scene.saved() == SAVED and not scene.edits(), "the other file is as it was")
    # One turn, as a whole.
    edits = json.loads(scene.history("status", "--json"))["edits"]
    turns = {edit["conversation_id"] for edit in edits}
    expect(len(edits) == 2 and len(turns) == 1, f"{edits}")
    scene.history("reject", "--conv", *turns)
    expect(not new.exists(), f"it has {new.read_text() if new.exists() else None!r}")


def an_edit_of_a_file_that_is_not_open_is_made_and_taken_back(scene):
    scene.neovim.open(scene.file)
    other = scene.root / "other.py"
    other.write_text("naïve\nend\n")
    script = scene.work(Read(other), Edit(other, "end", "the end"))
    expect(is_made(scene, script.told(1)), script.told(1))
    expect(other.read_text() == "naïve\nthe end\n", f"it has {other.read_text()!r}")
    scene.neovim.open(other)
    scene.neovim.shows(1)
    scene.neovim.reject("keep it short")
    expect(scene.neovim.lines() == ["naïve", "end"], f"{scene.neovim.lines()}")
    told = scene.work().told_first()
    expect(told.count("keep it short") == 1, told)


def an_edit_of_a_file_that_was_closed_is_made(scene):
    scene.neovim.open(scene.file)
    scene.neovim.close()
    scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    expect(scene.saved() == SAVED.replace("1\n", "11\n"), f"the disk has {scene.saved()!r}")


def a_rejection_is_told_with_the_next_prompt(scene):
    scene.neovim.open(scene.file)
    scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    scene.neovim.shows(1)
    (edit,) = scene.edits()
    scene.neovim.reject("use the helper")
    has(scene, ONE, TWO, "rejected")
    for turn in ("told", "told once"):
        told = scene.work().told_first()
        expect(told.count("use the helper") == 1 and edit in told, f"{turn}:\n{told}")


def another_edit_is_made_after_what_was_decided(scene):
    scene.neovim.open(scene.file)
    scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    scene.neovim.shows(1)
    scene.neovim.accept()
    scene.neovim.save()
    script = scene.work(Read(scene.file), Edit(scene.file, "    return 11", "    return 111"))
    scene.neovim.shows(1)
    (edit,) = scene.edits()
    expect(edit in script.told(1), script.told(1))
    has(scene, "    return 11", TWO, "before it is accepted")


def what_the_shell_writes_below_unsaved_work_is_held_on_it(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(5, 5, "    return 22")
    # By its name alone: Claude Code takes some letters of a path, as a temporary folder may have, for sed's commands to write
    # and execute, and asks the person.
    script = scene.work(Shell(f"sed -i 's/return 1/return 11/' {scene.file.name}"))
    has(scene, ONE, "    return 22", "the editor's text")
    scene.neovim.shows(1)
    scene.neovim.accept()
    has(scene, "    return 11", "    return 22", "accepted")
    expect(scene.saved() == SAVED.replace("1\n", "11\n"), f"the disk has {scene.saved()!r}; the shell said: {script.told(0)}")


def without_the_program_an_edit_is_made(scene):
    scene.neovim.open(scene.file)
    scene.command.unlink()
    lands(scene)


def without_an_answer_an_edit_is_made(scene):
    scene.neovim.open(scene.file)
    scene.command.write_text("#!/bin/sh\nexec sleep 5\n")
    lands(scene)


def without_an_end_an_edit_is_made(scene):
    """As above, and what the program has started keeps its output open after the program is ended."""
    scene.neovim.open(scene.file)
    scene.command.write_text("#!/bin/sh\n[ $1 != hook ] || sleep 20\n")
    lands(scene)


def lands(scene):
    """An edit goes to the disk, as if there were no hooks."""
    script = scene.work(Read(scene.file), Edit(scene.file, ONE, "    return 11"))
    expect(is_made(scene, script.told(1)) and "held" not in script.told(1), script.told(1))
    expect(scene.saved() == SAVED.replace("1\n", "11\n"), f"the disk has {scene.saved()!r}")


CASES = [
    a_read_shows_unsaved_work,
    a_second_read_shows_what_was_typed_since,
    an_edit_is_held_and_accepted,
    an_edit_beside_unsaved_work_is_held,
    an_edit_is_held_that_the_agent_would_ask_about,
    an_edit_is_held_in_a_project_that_is_set_up,
    an_edit_of_unsaved_work_is_held,
    an_edit_of_what_is_nowhere_is_refused,
    two_edits_of_one_line_are_held,
    edits_of_two_lines_are_held,
    edits_at_once_are_held,
    an_edit_by_a_patch_is_held,
    a_read_shows_what_is_held,
    a_whole_text_is_held_line_by_line,
    a_file_that_is_only_in_the_editor_is_held,
    a_new_file_is_made_and_taken_back,
    an_edit_of_a_file_that_is_not_open_is_made_and_taken_back,
    an_edit_of_a_file_that_was_closed_is_made,
    a_rejection_is_told_with_the_next_prompt,
    another_edit_is_made_after_what_was_decided,
    what_the_shell_writes_below_unsaved_work_is_held_on_it,
    without_the_program_an_edit_is_made,
    without_an_answer_an_edit_is_made,
    without_an_end_an_edit_is_made,
]


# What is tried with every agent. With HASHLINE_AGENTS=all that is everything.
FEW = [
    a_read_shows_unsaved_work,
    an_edit_is_held_and_accepted,
    an_edit_is_held_in_a_project_that_is_set_up,
    an_edit_of_unsaved_work_is_held,
    an_edit_by_a_patch_is_held,
    a_rejection_is_told_with_the_next_prompt,
    without_an_end_an_edit_is_made,
]
WITH_ALL = ("claude-code",) if os.environ.get("HASHLINE_AGENTS") != "all" else HOOKED

# Codex reads files with the shell, which has what is on the disk, and asks in no mode that it has without a terminal.
NOT_IN = {
    "codex": [
        a_read_shows_unsaved_work,
        a_second_read_shows_what_was_typed_since,
        a_read_shows_what_is_held,
        an_edit_is_held_that_the_agent_would_ask_about,
    ]
}

# What only one of them does: OpenCode has patches, and a plugin of ours, which starts the program itself.
ONLY_IN = {an_edit_by_a_patch_is_held: "opencode", without_an_end_an_edit_is_made: "opencode"}

# How many cases run at the same time: programs start, and wait, more than they work.
TOGETHER = 3


def run(programs, binary, neovim):
    """`programs` is the folder that has a command for each agent. Returns one Checks for each agent."""
    checks = {agent: Checks(f"hooks of {agent}") for agent in HOOKED}

    def check(agent, case):
        with checks[agent].case(case.__name__.replace("_", " ")), Scene(programs, binary, neovim, agent) as scene:
            case(scene)
            expect(not scene.left(), f"left behind: {scene.left()}")

    with ThreadPoolExecutor(TOGETHER) as pool:
        for agent in HOOKED:
            cases = CASES if agent in WITH_ALL else FEW
            for case in cases:
                if agent == ONLY_IN.get(case, agent) and ONLY in case.__name__.replace("_", " ") and case not in NOT_IN.get(agent, []):
                    pool.submit(check, agent, case)
    return list(checks.values())
