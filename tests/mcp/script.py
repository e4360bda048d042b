"""A model that follows a script: one step after another, each with a tool that the agent has of its own."""

from dialects import Call

END = "That was all."


class Read:
    def __init__(self, path):
        self.path = str(path)


class Edit:
    """Puts `new` in the place of `old`; both are whole lines, without the last line's end."""

    def __init__(self, path, old, new):
        self.path = str(path)
        self.old = old
        self.new = new


class Write:
    def __init__(self, path, text):
        self.path = str(path)
        self.text = text


class Shell:
    def __init__(self, command):
        self.command = command


def claude_code(step):
    match step:
        case Read():
            return "Read", {"file_path": step.path}
        case Edit():
            return "Edit", {"file_path": step.path, "old_string": step.old, "new_string": step.new}
        case Write():
            return "Write", {"file_path": step.path, "content": step.text}
        case Shell():
            return "Bash", {"command": step.command}


def codex(step):
    match step:
        case Read():
            return "exec_command", {"cmd": f"cat '{step.path}'"}
        case Edit():
            return "apply_patch", patch_of(step)
        case Write():
            return "apply_patch", patch(f"*** Add File: {step.path}", *(f"+{line}" for line in step.text.splitlines()))
        case Shell():
            return "exec_command", {"cmd": step.command}


def patch_of(edit):
    lines = [f"-{line}" for line in edit.old.split("\n")] + [f"+{line}" for line in edit.new.split("\n")]
    return patch(f"*** Update File: {edit.path}", "@@", *lines)


def patch(*lines):
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))


def gemini(step):
    match step:
        case Read():
            return "read_file", {"file_path": step.path}
        case Edit():
            words = {"old_string": step.old, "new_string": step.new, "instruction": "Change it."}
            return "replace", {"file_path": step.path, **words}
        case Write():
            return "write_file", {"file_path": step.path, "content": step.text}
        case Shell():
            return "run_shell_command", {"command": step.command}


def opencode(step):
    match step:
        case Read():
            return "read", {"filePath": step.path}
        case Edit():
            return "edit", {"filePath": step.path, "oldString": step.old, "newString": step.new}
        case Write():
            return "write", {"filePath": step.path, "content": step.text}
        case Shell():
            return "bash", {"command": step.command, "description": "Runs it."}


TOOLS = {"claude-code": claude_code, "codex": codex, "gemini": gemini, "opencode": opencode}


class Script:
    """Leads an agent through `steps`, in this run: what it did in earlier ones stands in the same conversation. A list among them
    is of steps that the model asks for at once. A function is called when its turn comes, and returns the step."""

    def __init__(self, agent, steps):
        self._named = TOOLS[agent]
        self._steps = list(steps)
        self._before = None
        self._turns = {}

    def __call__(self, turn):
        if not turn.tools:
            return "A file is edited"  # the title that some want beside the work
        if self._before is None:
            self._before = len(turn.results)
        answered, done = len(turn.results) - self._before, 0
        while answered > 0:
            answered -= len(self._steps[done]) if isinstance(self._steps[done], list) else 1
            done += 1
        self._turns[done] = turn
        if done >= len(self._steps):
            return END
        if callable(self._steps[done]):
            self._steps[done] = self._steps[done]()
        step = self._steps[done]
        return [self._call(turn, one) for one in step] if isinstance(step, list) else self._call(turn, step)

    def _call(self, turn, step):
        name, arguments = self._named(step)
        if name == "apply_patch" and name not in turn.tools:
            # A model that Codex does not know has no such tool, and is told to call it as a program.
            name, arguments = "exec_command", {"cmd": f"apply_patch <<'EOF'\n{arguments}EOF\n"}
        if name == "edit" and name not in turn.tools:
            # Some models OpenCode gives another tool.
            name, arguments = "apply_patch", {"patchText": patch_of(step)}
        if name not in turn.tools:
            raise LookupError(f"no {name} among {list(turn.tools)}")
        return Call(turn.tools[name], arguments)

    @property
    def is_done(self):
        return len(self._steps) in self._turns

    def told_first(self):
        """What the model was told before its first step."""
        return "\n".join(self._turns[0].told)

    def told(self, step):
        """What the model was told upon a step: the tool's answer and what stands around it."""
        known, new = list(self._turns[step].told), []
        for text in self._turns[step + 1].told:
            if text in known:
                known.remove(text)
            else:
                new.append(text)
        return "\n".join(new)
