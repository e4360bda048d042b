"""Agent programs that people use: each reads the configuration that `hashline setup` writes, and connects where it can say so; those that
can also connect to `hashline serve` over HTTP, with its token."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

from checks import Checks, expect
from workspace import Served

# What an agent prints of a server that it has connected to. Codex lists servers and connects to none; Claude Code asks the person
# before it uses the server of a project.
LISTED = {
    ("claude-code", "--user"): r"hashline: .* Connected",
    ("claude-code", "--root"): r"hashline: .* Pending approval",
    ("codex", "--user"): r"hashline +\S+ +mcp .* enabled",
    ("codex", "--root"): r"hashline +\S+ +mcp .* enabled",
    ("gemini", "--user"): r"hashline: .* Connected",
    ("gemini", "--root"): r"hashline: .* Connected",
    ("opencode", "--user"): r"hashline.*connected",
    ("opencode", "--root"): r"hashline.*connected",
}

# The same over HTTP. Codex is not among them, as it connects to none.
LISTED_HTTP = {
    "claude-code": r"hashline: .* Connected",
    "gemini": r"hashline: .* Connected",
    "opencode": r"hashline.*(?<!not )connected",
}


def run(programs, binary):
    """`programs` is the folder that has a command for each agent."""
    checks = Checks("agents")
    for (agent, scope), line in LISTED.items():
        with checks.case(f"{agent} {scope} lists what setup wrote"), tempfile.TemporaryDirectory() as folder:
            check(programs / agent, agent, scope, line, binary, Path(folder).resolve())
    for agent, line in LISTED_HTTP.items():
        with checks.case(f"{agent} connects over HTTP"), Served(binary) as served, tempfile.TemporaryDirectory() as folder:
            check_http(programs / agent, agent, line, served, Path(folder).resolve())
    return [checks]


def environment_of(home):
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CLAUDE", "CODEX", "GEMINI"))},
        "HOME": str(home),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def listed_by(program, project, environment):
    _, told = ended([program, "mcp", "list"], environment, project)
    return re.sub(r"\x1b\[[0-9;]*m", "", told)


def ended(command, environment, folder):
    """How a program ended, and what it told. One that does not end is ended with all that it has started."""
    program = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with program:
        try:
            told, _ = program.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            told, _ = program.communicate()
    return program.returncode, told


def check_http(program, agent, line, served, folder):
    """Connects with the token, and with another one does not."""
    bearer = f"Bearer {served.token}"
    for number, (header, connects) in enumerate(((bearer, True), (bearer[:-4] + "AAAA", False))):
        home, project = folder / f"home{number}", folder / f"project{number}"
        for made in (home, project):
            made.mkdir()
        write_settings(agent, home, project, configured(agent, served.url, header))
        text = listed_by(program, project, environment_of(home))
        expect("hashline" in text and bool(re.search(line, text)) == connects, text)


def configured(agent, url, header):
    """What has to stand in an agent's settings for a server over HTTP."""
    headers = {"Authorization": header}
    if agent == "claude-code":
        return {"mcpServers": {"hashline": {"type": "http", "url": url, "headers": headers}}}
    if agent == "codex":
        return {"mcp_servers": {"hashline": {"url": url, "http_headers": headers}}}
    if agent == "gemini":
        return {"mcpServers": {"hashline": {"httpUrl": url, "headers": headers}}}
    server = {"type": "remote", "url": url, "headers": headers, "oauth": False, "enabled": True}
    return {"mcp": {"hashline": server}}


def write_settings(agent, home, project, content):
    """Writes them where the agent looks for them."""
    files = {
        "claude-code": home / ".claude.json",
        "codex": home / ".codex" / "config.toml",
        "gemini": home / ".gemini" / "settings.json",
        "opencode": project / "opencode.json",
    }
    file = files[agent]
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(toml(content)) if file.suffix == ".toml" else json.dumps(content))


def toml(content, *keys):
    """One line for each value. Texts and truths are spelled as in JSON."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from toml(value, *keys, key)
        else:
            yield f"{'.'.join((*keys, key))} = {json.dumps(value)}\n"


def check(program, agent, scope, line, binary, folder):
    home, project = folder / "home", folder / "project"
    for made in (home, project):
        made.mkdir()
    environment = environment_of(home)
    given = ["--root", project] if scope == "--root" else ["--user"]

    def setup(*options):
        command = [binary, "setup", agent, *given, *options]
        return subprocess.run(
            command, env=environment, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
        )

    def listed():
        return listed_by(program, project, environment)

    done = setup("--yes")
    expect(done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    if (agent, scope) == ("codex", "--root"):
        # The person trusts the project.
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(f'[projects."{project}"]\ntrust_level = "trusted"\n')
    text = listed()
    expect(re.search(line, text), text)
    again = setup("--yes")
    expect("there already" in again.stdout and "+++" not in again.stdout, again.stdout)
    done = setup("--remove", "--yes")
    expect(done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    text = listed()
    expect("hashline" not in text.replace(str(folder), ""), text)
