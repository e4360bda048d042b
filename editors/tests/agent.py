"""An agent: an MCP client that starts `hashline mcp` and talks to it over stdio, as any agent's program does."""

import re
from contextlib import ExitStack

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.types import Implementation
from patience import until

NAME = "claude-code"


class Answer:
    """What a tool said."""

    def __init__(self, result):
        self.text = result.content[0].text
        self.refused = result.is_error

    def _named(self, pattern, what):
        found = re.search(pattern, self.text)
        if not found:
            raise AssertionError(f"no {what} in:\n{self.text}")
        return found[1]

    @property
    def hash(self):
        return self._named(r"file_hash ([0-9a-f]+)", "file hash")

    @property
    def edit(self):
        """The id of the edit, as far as agents are shown it."""
        return self._named(r"· edit ([0-9a-f]+)", "edit")

    @property
    def conversation(self):
        return self._named(r"mcp_conversation_id: (\S+)\.", "conversation")

    @property
    def _tagged(self):
        return re.findall(r"^(\d+:[0-9a-f]{2})\|(.*)$", self.text, re.MULTILINE)

    @property
    def lines(self):
        """The lines that the answer shows, without their tags."""
        return [content for _, content in self._tagged]

    def anchor(self, words):
        """The anchor of the only line that holds these words."""
        found = [anchor for anchor, content in self._tagged if words in content]
        if len(found) != 1:
            raise AssertionError(f"{words!r} stands {len(found)} times in:\n{self.text}")
        return found[0]


class Agent:
    def __init__(self, desk, name=NAME):
        arguments = ["mcp", "--root", str(desk.root), "--state-dir", str(desk.state)]
        server = StdioServerParameters(command=str(desk.binary), args=arguments, cwd=str(desk.root))
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            client = Client(server, client_info=Implementation(name=name, version="1"), read_timeout_seconds=30)
            self._client = stack.enter_context(self._portal.wrap_async_context_manager(client))
            self._stack = stack.pop_all()

    def close(self):
        self._stack.close()

    def attempt(self, tool, **arguments):
        """Calls a tool, which may refuse."""
        return Answer(self._portal.call(self._client.call_tool, tool, arguments))

    def call(self, tool, **arguments):
        """Calls a tool, which must not refuse."""
        answer = self.attempt(tool, **arguments)
        if answer.refused:
            raise AssertionError(f"{tool} is refused: {answer.text}")
        return answer

    def read(self, path, **more):
        return self.call("read_text_file", path=path, **more)

    def edit(self, path, *operations, read=None, **more):
        """Edits by what was read: `operations` are (op, words of the one line that it is about, content)."""
        read = read or self.read(path)
        given = [{"op": op, "anchor": read.anchor(words), "content": content} for op, words, content in operations]
        return self.call("edit_text_file", path=path, file_hash=read.hash, operations=given, **more)

    def sees(self, path, *lines, view="buffer"):
        """Waits until the person's text, with nothing of what is held, has just these lines."""
        seen = []

        def reads():
            seen[:] = self.read(path, view=view).lines
            return seen == list(lines)

        until(reads, lambda: f"the agent reads {list(lines)}, and not {seen}")

    def finds_open(self, path, is_open=True):
        """Waits until the editor has a document open, or has it no more."""
        listed = ""

        def lists():
            nonlocal listed
            listed = self.call("list_documents").text
            return (path in listed) == is_open

        until(lists, lambda: f"{path} is {'open' if is_open else 'closed'}:\n{listed}")

    def hears(self, answer, *words):
        """Waits until the agent hears these words of its edit: it hears of one decision after the other."""
        said = ""

        def heard():
            nonlocal said
            said = self.call("await_review", edit_ids=[answer.edit], timeout_s=1).text
            return all(word in said for word in words)

        until(heard, lambda: f"the agent hears {words}:\n{said}")

    def lists(self, *words):
        """Waits until these words are in the list of what is undecided."""
        said = ""

        def listed():
            nonlocal said
            said = self.call("list_edits").text
            return all(word in said for word in words)

        until(listed, lambda: f"{words} are listed:\n{said}")
