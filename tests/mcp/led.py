"""Agents at work: each is told by its command to edit a file, as a person tells it, and led by a stand-in for its model.
It has the tools of hashline for that, over stdio as `hashline setup` writes it down, or over HTTP.
"""

import os

from agents import configured, ended, write_settings
from checks import Checks, expect
from model import DONE, Model
from workspace import AFTER, NAME, Served, Workspace, file_hash

TASK = f"Edit {NAME} with the tools of hashline."


class Agent:
    """What an agent is started with to have this model, and to ask nobody else for anything."""

    def __init__(self, words, environment, settings):
        self.words = words
        self.environment = environment
        self.settings = settings


def claude_code(url, task):
    # What hides tools from the model until it searches for them is off.
    switches = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false"}
    environment = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", **switches}
    return Agent(["--print", task, "--allowedTools", "mcp__hashline"], environment, {})


def codex(url, task):
    settings = {
        "model": "stand-in",
        "model_provider": "stand-in",
        "model_providers": {"stand-in": {"name": "stand-in", "base_url": url, "wire_api": "responses"}},
        "analytics": {"enabled": False},
        "check_for_update_on_startup": False,
        "features": {"plugins": False, "apps": False},
        # Its sandbox puts a .git and others in what may be written, and leaves them there when it is ended.
        "sandbox_workspace_write": {"exclude_slash_tmp": True},
    }
    return Agent(["exec", "--skip-git-repo-check", task], {}, settings)


def gemini(url, task):
    words = ["--prompt", task, "--approval-mode", "yolo", "--model", "gemini-2.5-flash"]
    environment = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }
    return Agent(words, environment, settings)


def opencode(url, task, model="model"):
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url, "apiKey": "none"}, "models": {model: {}}}
    # It has a package of plugins installed otherwise, which it works without.
    switches = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "npm_config_offline": "true"}
    return Agent(["run", "--model", f"stand-in/{model}", task], switches, {"provider": {"stand-in": provider}})


AGENTS = {"claude-code": claude_code, "codex": codex, "gemini": gemini, "opencode": opencode}


def run(programs, binary):
    """`programs` is the folder that has a command for each agent. Returns one Checks for each transport."""
    return [check(programs, binary, kind, transport) for kind, transport in ((Workspace, "stdio"), (Served, "http"))]


def check(programs, binary, kind, transport):
    checks = Checks(f"led {transport}")
    for name, agent in AGENTS.items():
        with checks.case(f"{name} reads a file and edits it"), kind(binary) as workspace, Model() as model:
            work(programs / name, name, agent(model.url, TASK), workspace, model)
    return checks


def alone(agent, home, model):
    """An environment with nothing of the person's that an agent knows, and a proxy that leads nowhere for all other addresses."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), model.url)
    return {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "127.0.0.1", **proxies, **agent.environment}


def work(program, name, agent, workspace, model):
    environment = alone(agent, workspace.home, model)
    if isinstance(workspace, Served):
        server = configured(name, workspace.url, f"Bearer {workspace.token}")
        write_settings(name, workspace.home, workspace.root, agent.settings | server)
    else:
        write_settings(name, workspace.home, workspace.root, agent.settings)
        code, told = ended([workspace.command, "setup", name, "--user", "--yes"], environment, workspace.root)
        expect(code == 0, told)
    code, told = ended([program, *agent.words], environment, workspace.root)
    expect(f"{DONE} {file_hash(AFTER)}" in told and code == 0, f"exit {code}\n{told}")
    expect(workspace.content == AFTER, f"the file holds {workspace.content!r}")
    expect(not model.elsewhere, f"asked for elsewhere: {model.elsewhere}")
