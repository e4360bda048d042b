//! What can be asked of the program, and its help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use hashline_mcp::{DEFAULT_LISTEN, NameStyle, Scope, Toolset};
use hashline_workspace::disk::HardLinks;
use hashline_workspace::document::Mode;
use hashline_workspace::{Hold, Settings};

use crate::diff::Diff;
use crate::duration::duration;
use crate::setup::Agent;

const AFTER_HELP: &str = "\
How it fits together:
  An editor starts `hashline lsp` and keeps it in step with its text. An agent
  starts `hashline mcp`, which finds the editor that has a file open and works
  on its text, unsaved changes included; without one it works on the disk. What
  an agent changes in an open file is held until you accept it in the editor.
  Both start it by its name: `cargo install --path server/cli` puts it on the
  path, or give them the absolute path.

Examples:
  hashline demo                             see what it does
  hashline setup claude-code                give Claude Code the tools
  hashline acp -- gemini --acp              be an editor's agent, with the tools
  hashline mcp --root ~/src/project         serve one folder, and no other
  hashline serve --root ~/src/project       the same over HTTP, with tokens
  hashline status                           see editors and undecided edits
  hashline diff review                      decide about edits in the terminal
  hashline package publish                  publish a server with its hashes

Environment:
  HASHLINE_LOG   what is logged, such as debug or hashline_link=trace
                 [default: warn]

Exit codes: 0 done, 1 failed or nothing found, 2 wrong usage.";

/// Agents edit the text that is in your editor, unsaved work included; you decide about each edit.
#[derive(Debug, Parser)]
#[command(name = "hashline", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an editor's agent (Agent Client Protocol) and give it these tools
    Acp(Acp),
    /// Play the whole loop in a temporary folder: an editor, an agent, and a person who types
    Demo(Demo),
    /// List, show and decide about the edits in a folder's history; the same as the command mcpdiff
    Diff(Diff),
    /// Check what agents are set up with, and that it answers
    Doctor(Doctor),
    /// Answer a hook of an agent's program, which `hashline setup` has it start
    #[command(hide = true)]
    Hook(Hook),
    /// Serve one editor: LSP over standard input and output
    Lsp(Lsp),
    /// Serve one agent: MCP over standard input and output
    Mcp(Mcp),
    /// Publish MCP servers with the hashes of their files; starts mcp-publisher
    #[command(disable_help_flag = true)]
    Package(Passed),
    /// Serve a registry of MCP servers; starts mcp-publisher registry
    #[command(disable_help_flag = true)]
    Registry(Passed),
    /// Serve agents over HTTP, each within what its token gives
    Serve(Serve),
    /// Write an agent's configuration, and the advice that makes it use these tools
    Setup(Setup),
    /// Show the running editors, their open documents and undecided edits
    Status(Status),
    /// Make a token for an agent that comes over HTTP
    Token(Token),
}

const ACP_HELP: &str = "\
An editor starts this instead of the agent, with the agent's command after --.
Messages between the two pass through unchanged, with two exceptions. Each
session gets the MCP server `hashline mcp` for its folders, unless it has one of
that name already. If an editor with hashline has a file open, the agent's reads
and writes through its own editor use the text there, and writes are held until
you decide.

Examples:
  hashline acp -- gemini --acp
  hashline acp -- npx -y @agentclientprotocol/claude-agent-acp
  HASHLINE_LOG=debug hashline acp --log-file /tmp/acp.log -- opencode acp

It ends when the agent does, and passes signals on to it.
Exit codes: the agent's, or 128 and the number of the signal that ended it;
1 the agent could not be started, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = ACP_HELP)]
pub struct Acp {
    /// The agent's command and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub common: Common,
}

const DEMO_HELP: &str = "\
Examples:
  hashline demo                  plays and prints everything, in some seconds
  hashline demo --editor nvim    opens the same scene in Neovim, and you decide

Exit codes: 0 all came out as it should, 1 it did not, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP)]
pub struct Demo {
    /// Play it in a real editor
    #[arg(long, value_name = "EDITOR")]
    pub editor: Option<DemoEditor>,
    /// The Neovim to start [default: nvim from the path, else the one that the tests install]
    #[arg(long, value_name = "FILE", requires = "editor")]
    pub nvim: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DemoEditor {
    /// Neovim with the plugin of this repository
    Nvim,
}

const LSP_HELP: &str = "\
Editors start it for the files of a project, as any language server; people
rarely do. The plugin for Neovim does it by itself. Folders, settings and
everything else come from the editor.

Examples:
  hashline lsp --editor Helix  what agents and `hashline status` call the editor
  HASHLINE_LOG=debug hashline lsp --log-file /tmp/hashline.log

It ends when the editor does, or at SIGINT or SIGTERM.
Exit codes: 0 ended in good order, 1 failed, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = LSP_HELP)]
pub struct Lsp {
    /// What to call the editor [default: what it says of itself]
    #[arg(long, value_name = "NAME")]
    pub editor: Option<String>,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub common: Common,
}

const MCP_HELP: &str = "\
It serves the folders of --root; else the roots that the agent's client names;
else the working directory. If that is / or your home folder, it refuses every
call until you give --root or the client names a root. With --root, the client's
roots can only narrow what is served.

Examples:
  hashline mcp                             as agents start it, in the project
  hashline mcp --root . --root ../shared   two folders and nothing else
  hashline mcp --toolset hashline          only reading and editing
  hashline mcp --toolset text              lines by number, files by their hash
  HASHLINE_LOG=debug hashline mcp --log-file /tmp/hashline.log

It ends when its input does, or at SIGINT or SIGTERM.
Exit codes: 0 ended in good order, 1 failed, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = MCP_HELP)]
pub struct Mcp {
    /// A folder to serve; may be given several times
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    #[command(flatten)]
    pub tools: Tools,
    #[command(flatten)]
    pub edits: Edits,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub common: Common,
}

const SERVE_HELP: &str = "\
Agents connect to http://ADDRESS/mcp (Streamable HTTP); the address is printed
at the start. Each agent needs a token from `hashline token`, which limits what
it may read and change. /health needs no token. There is no TLS: beyond this
machine, put a proxy in front that provides TLS.

Examples:
  hashline serve --root ~/src/project
  hashline serve --root . --root ../shared --listen 127.0.0.1:0
  hashline serve --root . --listen 0.0.0.0:8437 --host build.example

It ends at SIGINT or SIGTERM, when the calls that are running are answered.
Exit codes: 0 ended in good order, 1 failed, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct Serve {
    /// A folder to serve; may be given several times
    #[arg(long, value_name = "DIR", required = true)]
    pub root: Vec<PathBuf>,
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_LISTEN)]
    pub listen: String,
    /// Another name under which clients reach this machine; may be given several times
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    #[command(flatten)]
    pub tools: Tools,
    #[command(flatten)]
    pub edits: Edits,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub common: Common,
}

const TOKEN_HELP: &str = "\
A scope is read:PATH or write:PATH, and write implies read. PATH is within the
served folder; if several are served, PATH begins with the folder's name. /src
is a folder and everything below it, /src/* is a folder and what lies directly
in it, / is everything. Case matters, and a link never widens a scope. Write a
space as %20.

A token works with every server of yours. Its scopes apply to the folders served
there. With --root it works only where exactly these folders are served, in this
order.

Examples:
  hashline token --scope read:/ --scope write:/src --expires 8h
  hashline token --scope write:/ --root ~/src/project
  claude mcp add --transport http hashline http://127.0.0.1:8437/mcp \\
    --header \"Authorization: Bearer $(hashline token --scope write:/)\"

Tokens are signed with the file secrets/http of the state folder, which only
you can read. To revoke all tokens, remove that file and restart `hashline
serve`.
Exit codes: 0 done, 1 failed, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = TOKEN_HELP)]
pub struct Token {
    /// What the agent may do, and where; may be given several times
    #[arg(long, value_name = "SCOPE", required = true)]
    pub scope: Vec<Scope>,
    /// A folder of the only server that takes it; all of them as `hashline serve` has them
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// How long the token is good for, such as 30min, 8h or 30days
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = lasting)]
    pub expires: Duration,
    /// The subject of the token; tokens with the same subject share their edits [default: a new subject for each token]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub subject: Option<String>,
    /// Where the secret is [default: ~/.hashline]; the same as of `hashline serve`
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

/// The longest that a token lasts.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

fn lasting(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time > LONGEST {
        return Err("a token lasts 100 years at most; give less".to_owned());
    }
    Ok(time)
}

const SETUP_HELP: &str = "\
It shows each change as a diff and asks before it writes. Everything else in
those files stays as it is, comments too; a file that cannot be read is left
alone, and what belongs in it is printed. Run again, it changes what is out of
date and nothing else.

Examples:
  hashline setup claude-code             for the project in this folder
  hashline setup codex --user            for all your projects
  hashline setup vscode --print          only show what belongs where
  hashline setup gemini --remove         take all of it out again

Exit codes: 0 done or nothing to do, 1 something is left to do by hand,
2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = SETUP_HELP)]
pub struct Setup {
    /// Which agent
    pub agent: Agent,
    /// Write your own settings, for all projects, instead of the project's
    #[arg(long, conflicts_with = "root")]
    pub user: bool,
    /// The project's folder [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print what belongs into which file, and write nothing
    #[arg(long, conflicts_with_all = ["yes", "remove"])]
    pub print: bool,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Take out what setup has put in
    #[arg(long)]
    pub remove: bool,
    /// Leave the agent's hooks alone: what it writes with its own tools goes to the disk
    #[arg(long)]
    pub no_hooks: bool,
    /// Leave the file with the agent's instructions alone
    #[arg(long)]
    pub no_advice: bool,
    /// Where copies of the original files are kept [default: ~/.hashline]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

const DOCTOR_HELP: &str = "\
Checks what `hashline setup` wrote, for you and for the project, for each agent
that is on your path or already set up. Starts hashline as agents do. Says how
to fix what is missing. It changes nothing.

Examples:
  hashline doctor                in the project
  hashline doctor --root DIR     the same of another one

Exit codes: 0 nothing is missing, 1 something is, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_HELP)]
pub struct Doctor {
    /// The project's folder [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

const STATUS_HELP: &str = "\
Examples:
  hashline status                one block for each editor
  hashline status --json         the same for programs

Exit codes: 0 an editor was found, 1 none was.";

#[derive(Debug, Args)]
#[command(after_help = STATUS_HELP)]
pub struct Status {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub common: Common,
}

/// What a hook is started with.
#[derive(Debug, Args)]
pub struct Hook {
    /// Whose hook it is
    pub program: crate::hook::Program,
    #[command(flatten)]
    pub common: Common,
}

/// What another program is started with.
#[derive(Debug, Args)]
pub struct Passed {
    /// As mcp-publisher takes them; --help lists them
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Tools {
    /// Tools to list, by group: hashline, files, review, search, text [default: all but text]
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    toolset: Vec<Toolset>,
    /// How the names of the tools in text are listed; calls may use either
    #[arg(long, value_name = "STYLE", default_value = "plain")]
    tool_names: ToolNames,
}

impl Tools {
    /// The groups that are listed.
    pub fn sets(&self) -> Vec<Toolset> {
        if self.toolset.is_empty() { Toolset::DEFAULT.into() } else { self.toolset.clone() }
    }

    /// How names are listed.
    pub fn names(&self) -> NameStyle {
        match self.tool_names {
            ToolNames::Plain => NameStyle::Plain,
            ToolNames::Dotted => NameStyle::Dotted,
        }
    }
}

#[derive(Debug, Args)]
pub struct Edits {
    /// What becomes of edits while no editor is running for the folder
    #[arg(long, value_name = "MODE", default_value = "apply")]
    mode: EditMode,
    /// While no editor is running, also hold edits of these files in every mode, besides files that programs act on by themselves; may be given several times
    #[arg(long, value_name = "GLOB", value_parser = Hold::new)]
    hold: Vec<Hold>,
}

impl Edits {
    /// What these come to, for these files.
    pub fn settings(&self, files: &Files) -> Settings {
        Settings { disk: self.mode.into(), hold: self.hold.clone(), ..files.settings() }
    }
}

#[derive(Debug, Args)]
pub struct Files {
    /// Refuse agents files with more than one name (hard links), since another name may lie outside the folders; Unix only
    #[arg(long)]
    no_hard_links: bool,
}

impl Files {
    /// What this comes to.
    pub fn settings(&self) -> Settings {
        Settings { hard_links: HardLinks::refused_if(self.no_hard_links), ..Settings::default() }
    }
}

#[derive(Debug, Args)]
pub struct Common {
    /// Where editors and agents find each other [default: ~/.hashline]; the same on both sides
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Write the log to this file instead of standard error
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ToolNames {
    /// read_text_file
    Plain,
    /// with a dot where the interface documents have one
    Dotted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EditMode {
    /// Hold edits; the person decides with mcpdiff, or in an editor later
    Propose,
    /// Write edits to the disk at once
    Apply,
}

impl From<EditMode> for Mode {
    fn from(mode: EditMode) -> Self {
        match mode {
            EditMode::Propose => Mode::Propose,
            EditMode::Apply => Mode::Apply,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_lasts_as_long_as_can_be_said() {
        assert_eq!(lasting("8h"), Ok(Duration::from_secs(8 * 60 * 60)));
        assert!(lasting("100years").is_ok());
        assert!(lasting("101years").is_err_and(|why| why.contains("100 years at most")));
        assert!(lasting("long").is_err());
    }

    #[test]
    fn the_help_fits_eighty_columns() {
        for text in [
            ACP_HELP,
            AFTER_HELP,
            DEMO_HELP,
            LSP_HELP,
            MCP_HELP,
            SERVE_HELP,
            SETUP_HELP,
            STATUS_HELP,
            TOKEN_HELP,
        ] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}
