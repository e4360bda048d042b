"""MCP Inspector's command line as the client: a process for each call, and every argument a string."""

import json
import subprocess

from checks import BEFORE, BEFORE_TAGGED, NAME, TOOLS, Checks, Workspace, expect, file_hash, tagged_lines


def inspect(inspector, workspace, *options):
    """One call of the Inspector; the JSON that it printed."""
    node, program = inspector / "node", inspector / "mcp-inspector"
    command = [node, program, "--cli", workspace.command, *workspace.arguments, *options]
    done = subprocess.run(
        command, env=workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
    )
    expect(done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout)


def call(inspector, workspace, tool, **arguments):
    pairs = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    return inspect(inspector, workspace, "--method", "tools/call", "--tool-name", tool, *pairs)


def run(inspector, binary):
    """`inspector` is the folder that holds both node and mcp-inspector."""
    checks = Checks("inspector")
    with Workspace(binary) as workspace:
        with checks.case("lists the tools"):
            tools = {tool["name"] for tool in inspect(inspector, workspace, "--method", "tools/list")["tools"]}
            expect(TOOLS <= tools, f"not listed: {TOOLS - tools}")
        with checks.case("reads tagged lines"):
            result = call(inspector, workspace, "read_text_file", path=NAME)
            text = result["content"][0]["text"]
            expect(f"file_hash {file_hash(BEFORE)}" in text.split("\n")[0], text)
            expect(tagged_lines(text) == BEFORE_TAGGED, text)
        with checks.case("takes numbers that come as strings"):
            result = call(inspector, workspace, "read_text_file", path=NAME, start_line="2", end_line="3")
            expect(tagged_lines(result["content"][0]["text"]) == BEFORE_TAGGED[1:3], result)
    return [checks]
