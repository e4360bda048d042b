"""MCP Inspector's command line as the client: a process for each call, and every argument a string."""

import json
import subprocess

from checks import Checks, expect
from workspace import (
    AFTER,
    BEFORE,
    BEFORE_TAGGED,
    NAME,
    OPERATIONS,
    TEMPLATES,
    TOOLS,
    Served,
    Workspace,
    file_hash,
    tagged_lines,
)


def inspect(installed, workspace, *options, refused=False):
    """One call of the Inspector; the JSON that it printed. It exits with an error where the tool refuses."""
    node, program = installed / "node" / "bin" / "node", installed / "inspector" / "node_modules" / ".bin" / "mcp-inspector"
    if isinstance(workspace, Served):
        target = [workspace.url, "--header", f"Authorization: Bearer {workspace.token}"]
    else:
        target = [workspace.command, *workspace.arguments]
    command = [node, program, "--cli", *target, *options]
    done = subprocess.run(
        command, env=workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
    )
    expect((done.returncode != 0) == refused, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout)


def call(installed, workspace, tool, refused=False, **arguments):
    """The text of a tool's answer, or of its refusal."""
    pairs = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    options = ["--method", "tools/call", "--tool-name", tool, *pairs]
    result = inspect(installed, workspace, *options, refused=refused)
    expect(result.get("isError", False) == refused, result)
    return result["content"][0]["text"]


def run(installed, binary):
    """`installed` is where tests/install/mcp_clients.sh put things. Returns one Checks for each transport."""
    return [check(installed, binary, kind, name) for kind, name in ((Workspace, "stdio"), (Served, "http"))]


def check(installed, binary, kind, name):
    checks = Checks(f"inspector {name}")
    with kind(binary) as workspace:
        with checks.case("lists the tools"):
            tools = {tool["name"] for tool in inspect(installed, workspace, "--method", "tools/list")["tools"]}
            expect(TOOLS <= tools, f"not listed: {TOOLS - tools}")
        with checks.case("lists the templates, and reads a folder"):
            listed = inspect(installed, workspace, "--method", "resources/templates/list")["resourceTemplates"]
            templates = {template["uriTemplate"] for template in listed}
            expect(TEMPLATES <= templates, f"not listed: {TEMPLATES - templates}")
            read = inspect(installed, workspace, "--method", "resources/read", "--uri", "list://")
            names = json.loads(read["contents"][0]["text"])
            expect({"name": NAME, "type": "file"} in names, names)
        with checks.case("reads tagged lines"):
            text = call(installed, workspace, "read_text_file", path=NAME)
            expect(f"file_hash {file_hash(BEFORE)}" in text.split("\n")[0], text)
            expect(tagged_lines(text) == BEFORE_TAGGED, text)
        with checks.case("takes numbers that come as strings"):
            text = call(installed, workspace, "read_text_file", path=NAME, start_line="2", end_line="3")
            expect(tagged_lines(text) == BEFORE_TAGGED[1:3], text)
        with checks.case("edits, with operations that come as a string"):
            operations = json.dumps(OPERATIONS)
            given = {"path": NAME, "file_hash": file_hash(BEFORE), "operations": operations}
            text = call(installed, workspace, "edit_text_file", **given)
            expect(workspace.content == AFTER, f"the file holds {workspace.content!r}")
            expect(file_hash(AFTER) in text, text)
        # Each call is a connection of its own, which has made no edit.
        with checks.case("waits for nothing"):
            text = call(installed, workspace, "await_review", timeout_s="0")
            expect("no pending edits" in text, text)
        with checks.case("withdraws nothing that another connection made"):
            text = call(installed, workspace, "withdraw_edit", refused=True, edit_id="0a1b2c3d")
            expect("0a1b2c3d" in text and "list_edits" in text, text)
            expect(workspace.content == AFTER, f"the file holds {workspace.content!r}")
    return checks
