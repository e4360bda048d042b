//! The agents that can be set up: where each keeps its configuration and its instructions, and what an entry looks like there.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::hooks::{self, Hook};
use super::plugin;

/// An agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
    /// VS Code's agents
    #[value(name = "vscode")]
    VsCode,
    /// Cursor
    Cursor,
    /// Zed's agent
    Zed,
}

/// Whose configuration is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// That of the project in this folder, which everybody shares who works on it.
    Project(PathBuf),
    /// The person's own, for all projects.
    User,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, where comments and commas at the end are kept if there are any.
    Json,
    /// TOML.
    Toml,
}

/// Where the servers of an agent stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub file: PathBuf,
    pub format: Format,
    /// The way to the object that has one field for each server.
    pub keys: &'static [&'static str],
}

/// How an agent's program is told what its hooks are.
#[derive(Clone, Debug, PartialEq)]
pub enum Hooks {
    /// In a file of JSON, beside others.
    Listed(Vec<Hook>),
    /// By a program in a file of its own.
    Plugin(String),
}

/// The folders in which people's own configuration lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The home folder.
    pub folder: PathBuf,
    /// Where programs of this system keep what people set.
    pub settings: PathBuf,
    /// Where programs do that are the same on every system.
    pub config: PathBuf,
    /// Where Claude Code was told to keep it.
    pub claude: Option<PathBuf>,
    /// Where Codex was told to keep it.
    pub codex: Option<PathBuf>,
}

impl Home {
    /// Found as the agents find it: by the environment first.
    pub fn find() -> Option<Self> {
        let folder = dirs::home_dir()?;
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Some(Self {
            settings: dirs::config_dir()?,
            config: named("XDG_CONFIG_HOME").unwrap_or_else(|| folder.join(".config")),
            claude: named("CLAUDE_CONFIG_DIR"),
            codex: named("CODEX_HOME"),
            folder,
        })
    }

    fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.folder.join(".codex"))
    }

    fn zed(&self) -> PathBuf {
        if cfg!(windows) { self.settings.join("Zed") } else { self.config.join("zed") }
    }
}

impl Agent {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Gemini => "Gemini CLI",
            Agent::OpenCode => "OpenCode",
            Agent::VsCode => "VS Code",
            Agent::Cursor => "Cursor",
            Agent::Zed => "Zed",
        }
    }

    /// What `hashline setup` calls it.
    pub fn command_name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The command that starts it.
    pub fn program(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::OpenCode => "opencode",
            Agent::VsCode => "code",
            Agent::Cursor => "cursor",
            Agent::Zed => "zed",
        }
    }

    /// Where it keeps which hooks its person has looked at and trusts; none where hooks need no trust.
    pub fn trust(self, home: &Home) -> Option<PathBuf> {
        (self == Agent::Codex).then(|| home.codex().join("config.toml"))
    }

    /// Where its servers are configured.
    pub fn configuration(self, scope: &Scope, home: &Home) -> Configuration {
        let json = |file: PathBuf, keys| Configuration { file, format: Format::Json, keys };
        let toml = |file: PathBuf, keys| Configuration { file, format: Format::Toml, keys };
        match (self, scope) {
            (Agent::ClaudeCode, Scope::Project(root)) => json(root.join(".mcp.json"), &["mcpServers"]),
            (Agent::ClaudeCode, Scope::User) => {
                json(home.claude.as_ref().unwrap_or(&home.folder).join(".claude.json"), &["mcpServers"])
            }
            (Agent::Codex, Scope::Project(root)) => toml(root.join(".codex/config.toml"), &["mcp_servers"]),
            (Agent::Codex, Scope::User) => toml(home.codex().join("config.toml"), &["mcp_servers"]),
            (Agent::Gemini, Scope::Project(root)) => {
                json(root.join(".gemini/settings.json"), &["mcpServers"])
            }
            (Agent::Gemini, Scope::User) => json(home.folder.join(".gemini/settings.json"), &["mcpServers"]),
            (Agent::OpenCode, Scope::Project(root)) => json(opencode(root), &["mcp"]),
            (Agent::OpenCode, Scope::User) => json(opencode(&home.config.join("opencode")), &["mcp"]),
            (Agent::VsCode, Scope::Project(root)) => json(root.join(".vscode/mcp.json"), &["servers"]),
            (Agent::VsCode, Scope::User) => json(home.settings.join("Code/User/mcp.json"), &["servers"]),
            (Agent::Cursor, Scope::Project(root)) => json(root.join(".cursor/mcp.json"), &["mcpServers"]),
            (Agent::Cursor, Scope::User) => json(home.folder.join(".cursor/mcp.json"), &["mcpServers"]),
            (Agent::Zed, Scope::Project(root)) => json(root.join(".zed/settings.json"), &["context_servers"]),
            (Agent::Zed, Scope::User) => json(home.zed().join("settings.json"), &["context_servers"]),
        }
    }

    /// The entry of the server.
    pub fn entry(self, command: &str) -> Value {
        match self {
            Agent::ClaudeCode | Agent::VsCode => {
                json!({ "type": "stdio", "command": command, "args": ["mcp"] })
            }
            Agent::OpenCode => json!({ "type": "local", "command": [command, "mcp"], "enabled": true }),
            Agent::Codex | Agent::Gemini | Agent::Cursor | Agent::Zed => {
                json!({ "command": command, "args": ["mcp"] })
            }
        }
    }

    /// The file of its hooks, and what belongs into it; none where it has none that are known here.
    pub fn hooks(self, scope: &Scope, home: &Home, command: &str) -> Option<(PathBuf, Hooks)> {
        Some(match (self, scope) {
            (Agent::ClaudeCode, Scope::Project(root)) => {
                (root.join(".claude/settings.json"), Hooks::Listed(hooks::claude_code()))
            }
            (Agent::ClaudeCode, Scope::User) => {
                let folder = home.claude.clone().unwrap_or_else(|| home.folder.join(".claude"));
                (folder.join("settings.json"), Hooks::Listed(hooks::claude_code()))
            }
            (Agent::Codex, Scope::Project(root)) => {
                (root.join(".codex/hooks.json"), Hooks::Listed(hooks::codex()))
            }
            (Agent::Codex, Scope::User) => (home.codex().join("hooks.json"), Hooks::Listed(hooks::codex())),
            (Agent::Gemini, _) => {
                (self.configuration(scope, home).file, Hooks::Listed(hooks::gemini(command)))
            }
            (Agent::OpenCode, Scope::Project(root)) => {
                (root.join(".opencode/plugins/hashline.js"), Hooks::Plugin(plugin::opencode(command)))
            }
            (Agent::OpenCode, Scope::User) => {
                let folder = home.config.join("opencode/plugins");
                (folder.join("hashline.js"), Hooks::Plugin(plugin::opencode(command)))
            }
            (Agent::VsCode | Agent::Cursor | Agent::Zed, _) => return None,
        })
    }

    /// The file of instructions that it reads; none where people give them in another way.
    pub fn instructions(self, scope: &Scope, home: &Home) -> Option<PathBuf> {
        Some(match (self, scope) {
            (Agent::ClaudeCode, Scope::Project(root)) => {
                first_of(root, &["CLAUDE.md", ".claude/CLAUDE.md"], "CLAUDE.md")
            }
            (Agent::ClaudeCode, Scope::User) => {
                home.claude.clone().unwrap_or_else(|| home.folder.join(".claude")).join("CLAUDE.md")
            }
            (Agent::Gemini, Scope::Project(root)) => root.join("GEMINI.md"),
            (Agent::Gemini, Scope::User) => home.folder.join(".gemini/GEMINI.md"),
            (Agent::VsCode, Scope::Project(root)) => {
                first_of(root, &["AGENTS.md", ".github/copilot-instructions.md"], "AGENTS.md")
            }
            // Zed reads the first of these that there is, and no other.
            (Agent::Zed, Scope::Project(root)) => first_of(root, &ZED_READS, "AGENTS.md"),
            (Agent::Zed, Scope::User) => home.zed().join("AGENTS.md"),
            (Agent::Codex | Agent::OpenCode | Agent::Cursor, Scope::Project(root)) => root.join("AGENTS.md"),
            (Agent::Codex, Scope::User) => home.codex().join("AGENTS.md"),
            (Agent::OpenCode, Scope::User) => home.config.join("opencode/AGENTS.md"),
            (Agent::VsCode | Agent::Cursor, Scope::User) => return None,
        })
    }

    /// What the person does next.
    pub fn next(self, scope: &Scope, command: &str) -> String {
        let project = matches!(scope, Scope::Project(_));
        let next = match self {
            Agent::ClaudeCode if project => {
                "Start claude in the project: it asks once whether the server of .mcp.json may be used. `claude mcp list` shows it."
            }
            Agent::ClaudeCode => "The next claude has it; `claude mcp list` shows it.",
            Agent::Codex if project => {
                "Codex reads .codex in projects that it trusts, and runs hooks that you have looked at: start codex there, trust the project, and \
                 trust the hooks in /hooks. `codex mcp list` shows the server."
            }
            Agent::Codex => {
                "The next codex has it; `codex mcp list` shows it. Codex runs hooks that you have looked at: trust them in /hooks."
            }
            Agent::Gemini if project => {
                "Gemini CLI reads a project's settings in folders that it trusts. `gemini mcp list` shows the server."
            }
            Agent::Gemini => "The next gemini has it; `gemini mcp list` shows it.",
            Agent::OpenCode => "The next opencode has it; `opencode mcp list` shows it.",
            Agent::VsCode => "VS Code asks whether the server may be started; MCP: List Servers shows it.",
            Agent::Cursor => "Cursor may ask to switch it on: Customize, MCPs.",
            Agent::Zed => "Zed starts it at once, in projects that it trusts; its agent's settings show it.",
        };
        if project && Path::new(command).is_absolute() {
            return format!(
                "{next}\nhashline is not on your path, so the file names it as {command}: others who share the file have it elsewhere."
            );
        }
        next.to_owned()
    }
}

/// In its order.
const ZED_READS: [&str; 9] = [
    ".rules",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
    "AGENT.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
];

fn first_of(root: &Path, names: &[&str], usual: &str) -> PathBuf {
    let there = names.iter().find(|name| root.join(name).is_file());
    root.join(there.unwrap_or(&usual))
}

/// OpenCode reads both; the one that is there is gone on with.
fn opencode(folder: &Path) -> PathBuf {
    first_of(folder, &["opencode.json", "opencode.jsonc"], "opencode.json")
}

/// How an agent starts this program: in a project by its name, which is the same for all who share the file, if the path leads to
/// this very one; else by where it is. A program that was started from a menu has another path, so in a person's own settings it
/// is named by where it is.
pub fn command(scope: &Scope) -> String {
    let Ok(own) = std::env::current_exe() else { return super::NAME.to_owned() };
    let real = own.canonicalize().unwrap_or_else(|_| own.clone());
    let name = format!("{}{}", super::NAME, std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file());
    let is_own = found.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == real);
    if is_own && matches!(scope, Scope::Project(_)) {
        return super::NAME.to_owned();
    }
    own.to_string_lossy().into_owned()
}
