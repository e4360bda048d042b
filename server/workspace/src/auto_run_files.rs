//! Files that a program obeys without the person having asked it to. What an agent writes there acts by itself, so edits of them wait for
//! the person in every mode.
//!
//! The line: on this machine, some program runs what the file says, or lets an agent do what it says, when a folder is opened or entered,
//! when a shell, an editor, an agent or another tool starts, or when git does something. What runs because the person builds or tests
//! (`Makefile`, `package.json`, the code itself), and what runs elsewhere after a push, is on the other side of it; `mode.hold` in the
//! settings puts more files on this one.
//!
//! # Limitations
//! A file with a name of its own that such a name is a link to is held where an agent names it by the link, and not by its own name.

use std::fmt;
use std::path::{Component, Path};

use crate::disk::folded;

/// Who obeys a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obeyed {
    /// When they open its folder, or a file in it.
    Editors,
    /// When they start, or enter its folder.
    Shells,
    /// With most of what it does.
    Git,
    /// It says what they may do and what they are to do.
    Agents,
    /// Each time they run.
    Tools,
    /// The settings name it, and who obeys it is not known.
    Settings,
}

use Obeyed::{Agents, Editors, Git, Shells, Tools};

/// Which files, in small letters. With `/` at its end it is a folder, with all that is in it; a name may have one `*`.
const OBEYED: &[(&str, Obeyed)] = &[
    // Tasks that run when the folder is opened, programs that are started as language servers or formatters, the rights of agents.
    (".vscode/", Editors),
    ("*.code-workspace", Editors),
    (".devcontainer/", Editors),
    (".devcontainer.json", Editors),
    (".idea/", Editors),
    (".fleet/", Editors),
    (".vs/", Editors),
    (".theia/", Editors),
    (".vscode-server/", Editors),
    (".cursor-server/", Editors),
    (".zed/", Editors),
    (".helix/", Editors),
    ("*.sublime-project", Editors),
    // Scripts that editors run from the folder they are started in (`exrc`), or from home.
    (".nvim.lua", Editors),
    (".nvimrc", Editors),
    (".exrc", Editors),
    ("_exrc", Editors),
    (".vimrc", Editors),
    ("_vimrc", Editors),
    (".gvimrc", Editors),
    (".lvimrc", Editors),
    (".lazy.lua", Editors),
    (".vim/", Editors),
    (".config/nvim/", Editors),
    (".config/helix/", Editors),
    (".config/zed/", Editors),
    (".config/code/", Editors),
    (".config/cursor/", Editors),
    (".config/vscodium/", Editors),
    (".vimrc.local", Editors),
    (".spacemacs", Editors),
    (".doom.d/", Editors),
    (".config/emacs/", Editors),
    (".config/doom/", Editors),
    (".dir-locals.el", Editors),
    (".dir-locals-2.el", Editors),
    (".emacs", Editors),
    (".emacs.el", Editors),
    (".emacs.d/", Editors),
    // Run, or taken into the environment, where a shell enters the folder.
    (".envrc", Shells),
    (".direnv/", Shells),
    (".env", Shells),
    (".envrc.local", Shells),
    (".env.local", Shells),
    (".autoenv.zsh", Shells),
    ("mise.toml", Shells),
    (".mise.toml", Shells),
    ("mise.local.toml", Shells),
    (".mise.local.toml", Shells),
    ("mise.*.toml", Shells),
    (".mise.*.toml", Shells),
    ("mise/config.toml", Shells),
    (".mise/", Shells),
    (".config/mise/", Shells),
    (".config/mise.toml", Shells),
    (".tool-versions", Shells),
    // Run where a shell starts or ends, or somebody logs in.
    (".profile", Shells),
    (".bashrc", Shells),
    (".bash_profile", Shells),
    (".bash_login", Shells),
    (".bash_logout", Shells),
    (".bash_aliases", Shells),
    (".zshrc", Shells),
    (".zshenv", Shells),
    (".zprofile", Shells),
    (".zlogin", Shells),
    (".zlogout", Shells),
    (".zsh_aliases", Shells),
    (".xonshrc", Shells),
    (".pam_environment", Shells),
    (".screenrc", Shells),
    (".kshrc", Shells),
    (".cshrc", Shells),
    (".tcshrc", Shells),
    (".login", Shells),
    (".inputrc", Shells),
    (".xprofile", Shells),
    (".xinitrc", Shells),
    (".xsession", Shells),
    (".xsessionrc", Shells),
    (".config/fish/", Shells),
    (".config/nushell/", Shells),
    (".config/powershell/", Shells),
    (".config/xonsh/", Shells),
    (".config/autostart/", Shells),
    (".config/systemd/", Shells),
    (".config/environment.d/", Shells),
    (".local/share/systemd/", Shells),
    ("library/launchagents/", Shells),
    (".local/bin/", Shells),
    // Hooks, and what hooks run.
    (".husky/", Git),
    (".githooks/", Git),
    (".git-hooks/", Git),
    (".huskyrc", Git),
    (".huskyrc.*", Git),
    (".lintstagedrc", Git),
    (".lintstagedrc.*", Git),
    ("lint-staged.config.*", Git),
    (".overcommit.yml", Git),
    ("captainhook.json", Git),
    (".hg/", Git),
    (".hgrc", Git),
    (".jj/", Git),
    (".pre-commit-config.yaml", Git),
    (".pre-commit-config.yml", Git),
    ("prek.toml", Git),
    ("lefthook.*", Git),
    (".lefthook.*", Git),
    ("lefthook-local.*", Git),
    (".lefthook-local.*", Git),
    (".lefthook/", Git),
    // Filters, drivers and addresses that git runs and fetches from.
    (".gitattributes", Git),
    (".gitmodules", Git),
    (".gitconfig", Git),
    (".lfsconfig", Git),
    (".config/git/", Git),
    // What agents may do: their rights, their hooks, the servers that they start.
    (".mcp.json", Agents),
    (".claude/", Agents),
    (".claude.json", Agents),
    (".claude-plugin/", Agents),
    (".config/claude/", Agents),
    (".copilot/", Agents),
    (".trae/", Agents),
    (".factory/", Agents),
    (".augment/", Agents),
    (".amp/", Agents),
    (".config/amp/", Agents),
    (".config/goose/", Agents),
    (".cline/", Agents),
    (".codeium/", Agents),
    (".codex/", Agents),
    (".gemini/", Agents),
    (".qwen/", Agents),
    (".cursor/", Agents),
    (".opencode/", Agents),
    ("opencode.json", Agents),
    ("opencode.jsonc", Agents),
    (".opencode.json", Agents),
    (".config/opencode/", Agents),
    (".windsurf/", Agents),
    (".clinerules/", Agents),
    (".roo/", Agents),
    (".roomodes", Agents),
    (".kilocode/", Agents),
    (".kiro/", Agents),
    (".junie/", Agents),
    (".amazonq/", Agents),
    (".continue/", Agents),
    (".crush.json", Agents),
    ("crush.json", Agents),
    (".aider.conf.yml", Agents),
    (".agents/", Agents),
    (".agent/", Agents),
    (".github/agents/", Agents),
    (".github/hooks/", Agents),
    // What agents may not read.
    (".cursorignore", Agents),
    (".geminiignore", Agents),
    (".aiexclude", Agents),
    (".codeiumignore", Agents),
    (".clineignore", Agents),
    (".rooignore", Agents),
    (".aiderignore", Agents),
    // What agents are told to do before the person has said a word.
    ("agents.md", Agents),
    ("agents.override.md", Agents),
    ("agent.md", Agents),
    ("claude.md", Agents),
    ("claude.local.md", Agents),
    ("gemini.md", Agents),
    ("qwen.md", Agents),
    ("crush.md", Agents),
    (".cursorrules", Agents),
    (".windsurfrules", Agents),
    (".rules", Agents),
    (".goosehints", Agents),
    (".github/copilot-instructions.md", Agents),
    (".github/instructions/", Agents),
    (".github/prompts/", Agents),
    (".github/chatmodes/", Agents),
    (".github/skills/", Agents),
    // Programs and plugins that stand for the one that is called, or are loaded into it, and where packages come from.
    (".npmrc", Tools),
    (".yarnrc", Tools),
    (".yarnrc.yml", Tools),
    (".yarn/", Tools),
    (".pnpmfile.cjs", Tools),
    (".pnpmfile.mjs", Tools),
    ("bunfig.toml", Tools),
    (".cargo/config", Tools),
    (".cargo/config.toml", Tools),
    ("rust-toolchain", Tools),
    ("rust-toolchain.toml", Tools),
    (".mvn/", Tools),
    (".bazelrc", Tools),
    (".bazeliskrc", Tools),
    (".bundle/config", Tools),
    ("pip.conf", Tools),
    ("sitecustomize.py", Tools),
    ("usercustomize.py", Tools),
    (".gdbinit", Tools),
    (".lldbinit", Tools),
    (".rprofile", Tools),
    (".renviron", Tools),
    (".irbrc", Tools),
    (".pryrc", Tools),
    (".tmux.conf", Tools),
    (".config/tmux/", Tools),
    (".docker/config.json", Tools),
    (".kube/config", Tools),
    (".aws/config", Tools),
    (".gradle/init.gradle", Tools),
    (".gradle/init.d/", Tools),
    (".pdbrc", Tools),
    (".ipython/", Tools),
    (".ssh/", Tools),
];

/// A folder in that of an agent where it keeps working trees: what lies in them is a project as any other.
const WORKING_TREES: &str = "worktrees";

/// Who obeys the file of this name, if somebody does. Its names are compared as the file systems do that tell the fewest apart.
pub(crate) fn obeyed(path: &Path) -> Option<Obeyed> {
    let names: Vec<String> = path.components().filter_map(name_of).collect();
    (0..names.len()).find_map(|from| {
        let below = &names[from..];
        let fits = |(entry, _): &&(&str, Obeyed)| fits(entry, below);
        OBEYED.iter().find(fits).map(|(_, by)| *by)
    })
}

fn name_of(component: Component<'_>) -> Option<String> {
    match component {
        Component::Normal(name) => Some(folded(&name.to_string_lossy())),
        _ => None,
    }
}

/// Whether an entry is about what these names lead to, from the first of them on.
fn fits(entry: &str, names: &[String]) -> bool {
    let (wanted, is_folder) = match entry.strip_suffix('/') {
        Some(folder) => (folder, true),
        None => (entry, false),
    };
    let mut names = names.iter();
    let begins = wanted.split('/').all(|wanted| names.next().is_some_and(|name| is_called(name, wanted)));
    let rest = names.as_slice();
    let in_working_tree = rest.first().is_some_and(|name| name == WORKING_TREES) && rest.len() > 1;
    begins && if is_folder { !in_working_tree } else { rest.is_empty() }
}

fn is_called(name: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        Some((beginning, end)) => name.strip_prefix(beginning).is_some_and(|rest| rest.ends_with(end)),
        None => name == wanted,
    }
}

/// Why it is held, as a clause.
impl fmt::Display for Obeyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obeyed::Editors => "editors do what such a file says as soon as its folder is open",
            Obeyed::Shells => "shells do what such a file says when they start or enter its folder",
            Obeyed::Git => "git does what such a file says without being asked",
            Obeyed::Agents => "such a file says what agents may do or are to do",
            Obeyed::Tools => "tools do what such a file says whenever they run",
            Obeyed::Settings => "the person's settings say so of this file (mode.hold)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_by_itself_is_told_by_its_names_in_any_folder_and_any_case() {
        for (path, by) in [
            ("/p/.vscode/tasks.json", Editors),
            ("/p/.vscode", Editors),
            ("/p/sub/.VSCode/Tasks.json", Editors),
            ("/p/.v\u{17f}code/tasks.json", Editors),
            ("/p/.vs\u{200b}code/tasks.json", Editors),
            ("/p/a.code-workspace", Editors),
            ("/p/.nvim.lua", Editors),
            ("/p/.envrc", Shells),
            ("/p/.ENVRC. ", Shells),
            ("/p/.envrc::$DATA", Shells),
            ("/p/.husky/_/pre-commit", Git),
            ("/p/lefthook.yml", Git),
            ("/p/lefthook-local.toml", Git),
            ("/p/.mcp.json", Agents),
            ("/p/.claude/settings.json", Agents),
            ("/p/.claude/skills/a/b/c.py", Agents),
            ("/p/.cursor/rules/x.mdc", Agents),
            ("/p/docs/Claude.md", Agents),
            ("/p/.GitHub/Copilot-Instructions.md", Agents),
            ("/p/.cargo/config.toml", Tools),
            ("/home/me/.config/fish/config.fish", Shells),
            ("/p/mise.production.toml", Shells),
            ("/home/me/.config/Code/User/settings.json", Editors),
            ("/home/me/Library/LaunchAgents/x.plist", Shells),
            ("/p/.hg/hgrc", Git),
            // What is a project of its own below these.
            ("/p/.claude/worktrees/one/.envrc", Shells),
            ("/p/.claude/worktrees", Agents),
        ] {
            assert_eq!(obeyed(Path::new(path)), Some(by), "{path}");
        }
        for path in [
            "/p/src/main.rs",
            "/p/vscode/tasks.json",
            "/p/.vscode2/x",
            "/p/tasks.json",
            "/p/.envrc.example",
            "/p/.env.example",
            "/p/.envrc/x",
            "/p/lefthook.nvim/x.lua",
            "/p/lefthook",
            "/p/.github/workflows/ci.yml",
            "/p/.config/nextest.toml",
            "/p/.cargo/x.rs",
            "/p/.gitignore",
            "/p/.claude/worktrees/one/src/main.rs",
            "/home/me/.cursor/worktrees/p/x/src/main.rs",
            "/",
            "",
        ] {
            assert_eq!(obeyed(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn entries_are_as_names_are_compared_and_none_is_there_twice() {
        for (at, (entry, by)) in OBEYED.iter().enumerate() {
            for name in entry.trim_end_matches('/').split('/') {
                assert_eq!(folded(name), *name, "{entry}");
                assert_eq!(name.matches('*').count(), usize::from(name.contains('*')), "{entry}");
            }
            assert_ne!(*by, Obeyed::Settings, "{entry}");
            assert!(OBEYED[..at].iter().all(|(other, _)| other != entry), "{entry} is there twice");
        }
    }
}
