"""A stand-in for the model behind an agent, on loopback. It has the agent read a file and edit it with hashline's tools, and
takes the hash and the anchors that the edit needs out of what the agent was answered; or it is led by somebody else (script.py).
It is the agent's proxy, too, and connects to nothing.
"""

import contextlib
import json
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from dialects import DIALECTS, Call
from workspace import NAME

# The last words of the model, before the hash that the file has then.
DONE = "I have edited it, and its hash is"


def found(pattern, text):
    """What a model reads in a text, in which quotes and letters may have been escaped on their way."""
    match = re.search(pattern, text)
    if not match:
        raise LookupError(f"no {pattern} in {text}")
    return match.group(1)


def next_step(turn):
    """Reads the file, then edits two of its lines, then says what came of it."""

    def call(tool, **arguments):
        for name, named in turn.tools.items():
            if "hashline" in name and name.endswith(tool):
                return Call(named, {"path": NAME, **arguments})
        raise LookupError(f"no {tool} of hashline among {list(turn.tools)}")

    if not turn.tools:
        return "A file is edited"  # the title that some want beside the work
    if not turn.results:
        return call("read_text_file")
    told = turn.results[-1]
    told_hash = found(r"file_hash ([0-9a-f]{12,})", told)
    if len(turn.results) > 1:
        return f"{DONE} {told_hash}."
    operations = [
        {"op": "replace", "anchor": found(r"(\d+:[0-9a-f]{2})\|  return", told), "content": "\t\treturn 1;"},
        {"op": "insert_before", "anchor": found(r"(\d+:[0-9a-f]{2})\|na", told), "content": "b"},
    ]
    return call("edit_text_file", file_hash=told_hash, operations=operations)


def answering(model):
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = urllib.parse.urlsplit(self.path)
            dialect = next((dialect for dialect in DIALECTS if asked.path.endswith(dialect.path)), None)
            if asked.netloc or not dialect:
                return self.do_CONNECT()
            try:
                said = model.lead(dialect.read(json.loads(body)))
            except LookupError as error:
                # The agent prints it. It would try again what fails.
                said = f"I do not know what to do: {error}"
            answer = "".join(dialect.write(*(said if isinstance(said, list) else [said]))).encode()
            self.send_response_only(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_CONNECT(self):
            model.elsewhere.append(f"{self.command} {self.path}")
            self.send_error(502, "the stand-in connects to nothing")

        do_GET = do_HEAD = do_CONNECT

        def handle(self):
            with contextlib.suppress(ConnectionError):
                super().handle()

        def log_message(self, *_):
            pass

    return Answering


class Model:
    """`lead` says what the model says in its turn: a text, a call, or a list of calls. `elsewhere` has what an agent asked for
    that no model answers, of this address or another."""

    def __init__(self, lead=next_step):
        self.lead = lead

    def __enter__(self):
        self.elsewhere = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), answering(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
