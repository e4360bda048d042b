"""What Zed's settings start. Zed itself cannot be installed here; it starts a server by these words, as any client does."""

import json
import subprocess
from contextlib import closing
from threading import Timer

from desk import CONFIGURATIONS, Desk
from patience import PATIENCE

INITIALIZE = {"processId": None, "rootUri": None, "capabilities": {"textDocument": {}}, "clientInfo": {"name": "Zed"}}


def _message(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _answer(stream, number):
    """The answer to a request, of all that is said."""
    while True:
        length = None
        for line in iter(stream.readline, b"\r\n"):
            if not line:
                raise AssertionError("the server has ended without an answer")
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message = json.loads(stream.read(length))
        if message.get("id") == number and "method" not in message:
            return message


def check_settings(binary):
    """starts hashline beside the server that the settings name"""
    settings = json.loads((CONFIGURATIONS / "zed" / "settings.json").read_text())
    for name, server in settings["lsp"].items():
        command = [server["binary"]["path"], *server["binary"]["arguments"]]
        with closing(Desk(binary)) as desk, (desk.base / "complaints").open("w+") as complaints:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": complaints}
            started = subprocess.Popen(command, cwd=desk.root, env=desk.environment(), **pipes)
            limit = Timer(PATIENCE, started.kill)
            limit.start()
            try:
                started.stdin.write(_message({"id": 1, "method": "initialize", "params": INITIALIZE}))
                started.stdin.flush()
                result = _answer(started.stdout, 1)["result"]
            except BaseException:
                complaints.seek(0)
                print(complaints.read())
                raise
            finally:
                limit.cancel()
                started.terminate()
                started.wait(timeout=20)
        commands = result["capabilities"]["executeCommandProvider"]["commands"]
        for needed in ("hashline.accept", f"{name}.applyAutofix"):
            if needed not in commands:
                raise AssertionError(f"{command} offers {commands}, and not {needed}")
