"""The protocol's own conformance checks against `hashline serve`, with the handshake and sessions, which is all they know.

They send no token, so they go through a proxy that adds one. Most of them call tools and read resources of fixed names: a
server that has these beside hashline's own, behind the same HTTP, answers all of them. What hashline does not offer is
named in conformance.yml.
"""

import contextlib
import http.client
import subprocess
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from checks import Checks, expect
from workspace import Served

BASELINE = Path(__file__).resolve().parent / "conformance.yml"

# Said anew on each side of a proxy.
OWN = {"connection", "transfer-encoding", "keep-alive"}


def forward(served):
    """A handler that sends each request on with the token, and each answer back piece by piece."""
    address = urllib.parse.urlsplit(served.url).netloc

    class Forward(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            onward = http.client.HTTPConnection(address, timeout=60)
            with contextlib.closing(onward):
                onward.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in OWN:
                        onward.putheader(name, value)
                onward.putheader("Authorization", f"Bearer {served.token}")
                onward.endheaders(body)
                answer = onward.getresponse()
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in OWN:
                        self.send_header(name, value)
                # The end of the connection is the end of the answer.
                self.send_header("Connection", "close")
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    while piece := answer.read1(65536):
                        self.wfile.write(piece)
                        self.wfile.flush()

        do_GET = do_POST = do_DELETE = do_OPTIONS = handle_any

        def log_message(self, *_):
            pass

    return Forward


@contextlib.contextmanager
def proxy(served):
    with ThreadingHTTPServer(("127.0.0.1", 0), forward(served)) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()


class WithFixtures(Served):
    """The same behind the server that has the fixtures, which ends with its standard input."""

    def serve(self, program):
        self._server = subprocess.Popen(
            [program, self.root, self.state], env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def end(self):
        self._server.stdin.close()


# What asks for nothing but what every server has that offers tools, resources and completion.
GENERIC = [
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "dns-rebinding-protection",
]


def run(installed, binary, fixtures):
    checks = Checks("conformance")
    node = installed / "node" / "bin" / "node"
    program = installed / "conformance" / "node_modules" / ".bin" / "conformance"

    def ask(served, url, *arguments):
        done = subprocess.run(
            [node, program, "server", "--url", url, *arguments], cwd=served.home, env=served.environment(),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
        )
        expect(done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")

    with Served(binary) as served, proxy(served) as url:
        for scenario in GENERIC:
            with checks.case(f"passes {scenario}"):
                ask(served, url, "--scenario", scenario)
    with WithFixtures(binary, fixtures) as served, proxy(served) as url:
        with checks.case("with fixtures passes all that the baseline does not name, and fails all that it names"):
            ask(served, url, "--expected-failures", BASELINE)
    return [checks]
