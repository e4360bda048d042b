//! `hashline setup` as a shell starts it: which files it writes, what it asks, and that all of it can be taken out again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod doctor;
mod person;
#[path = "../../../terminal/tests/pty/mod.rs"]
mod pty;

use std::fs;

use person::Person;

const AGENTS: [&str; 7] = ["claude-code", "codex", "gemini", "opencode", "vscode", "cursor", "zed"];

#[test]
fn each_agent_is_set_up_where_it_looks_once_and_taken_out_again() {
    let expected = [
        ("claude-code", "project/.mcp.json", "project/CLAUDE.md"),
        ("codex", "project/.codex/config.toml", "project/AGENTS.md"),
        ("gemini", "project/.gemini/settings.json", "project/GEMINI.md"),
        ("opencode", "project/opencode.json", "project/AGENTS.md"),
        ("vscode", "project/.vscode/mcp.json", "project/AGENTS.md"),
        ("cursor", "project/.cursor/mcp.json", "project/AGENTS.md"),
        ("zed", "project/.zed/settings.json", "project/AGENTS.md"),
    ];
    for (agent, configuration, advice) in expected {
        let person = Person::new();
        let (code, told) = person.setup(&[agent, "--yes"]);
        assert_eq!(code, 0, "{agent}: {told}");
        let hooked = ["claude-code", "codex", "gemini", "opencode"].contains(&agent);
        let mut files = vec![configuration, advice];
        files.extend(hooks_of(agent));
        files.sort_unstable();
        assert_eq!(person.files(), files, "{agent}");
        let written = fs::read_to_string(person.temp.path().join(configuration)).unwrap();
        assert!(written.contains("hashline") && written.contains("mcp"), "{agent}: {written}");
        for line in written.lines() {
            assert!(told.contains(&format!("+{line}")), "{agent}: {line} is not shown in {told}");
        }
        let (code, told) = person.setup(&[agent, "--yes"]);
        assert!(
            code == 0 && told.matches("there already").count() == if hooked { 3 } else { 2 },
            "{agent}: {told}"
        );
        let (code, told) = person.setup(&[agent, "--yes", "--remove"]);
        assert_eq!(code, 0, "{agent}: {told}");
        assert_eq!(person.files(), [""; 0], "{agent}");
    }
}

/// The file of its hooks, if they have one of their own.
fn hooks_of(agent: &str) -> Option<&'static str> {
    match agent {
        "claude-code" => Some("project/.claude/settings.json"),
        "codex" => Some("project/.codex/hooks.json"),
        "opencode" => Some("project/.opencode/plugins/hashline.js"),
        _ => None,
    }
}

#[test]
fn what_was_there_before_is_given_back_byte_for_byte() {
    let files = [
        (".mcp.json", "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}"),
        (
            ".claude/settings.json",
            "{ \"hooks\":{\"PreToolUse\":[ {\"matcher\":\"Bash\",\"hooks\":[]}]},\n\n\"model\": 1 }",
        ),
        ("CLAUDE.md", "# Mine\n\nno final newline"),
        (".gemini/settings.json", "{\r\n\t\"theme\": \"x\"}\r\n\r\n"),
        ("GEMINI.md", "Mine.\n\n\n"),
        ("opencode.json", "{\"mcp\":{}}"),
        ("AGENTS.md", ""),
        (".codex/config.toml", "# mine\nmodel='x'\n\n\n[mcp_servers.other]\ncommand='y'"),
    ];
    let person = Person::new();
    for (name, text) in files {
        let file = person.project().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let before = person.files();
    for agent in ["claude-code", "codex", "gemini", "opencode"] {
        assert_eq!(person.setup(&[agent, "--yes"]).0, 0, "{agent}");
        assert_eq!(person.setup(&[agent, "--yes"]).0, 0, "{agent}, again");
        let (code, told) = person.setup(&[agent, "--remove", "--yes"]);
        assert_eq!(code, 0, "{agent}: {told}");
        for (name, text) in files {
            assert_eq!(fs::read_to_string(person.project().join(name)).unwrap(), text, "{agent}: {name}");
        }
        assert_eq!(person.files(), before, "{agent}");
    }
}

#[test]
fn nothing_of_an_older_setup_comes_back() {
    let person = Person::new();
    let server = "{\"mcpServers\": {\"hashline\": {\"command\": \"hashline\", \"args\": [\"mcp\"]}}, \"theme\": \"x\"}";
    fs::create_dir(person.project().join(".gemini")).unwrap();
    let file = person.project().join(".gemini/settings.json");
    fs::write(&file, server).unwrap();
    assert_eq!(person.setup(&["gemini", "--yes"]).0, 0);
    assert_eq!(person.setup(&["gemini", "--yes", "--remove"]).0, 0);
    let left = fs::read_to_string(&file).unwrap();
    assert!(left.contains("theme") && !left.contains("hashline"), "{left}");
}

#[test]
fn a_person_s_own_settings_are_in_the_home_folder() {
    let expected = [
        ("claude-code", vec!["home/.claude.json", "home/.claude/CLAUDE.md", "home/.claude/settings.json"]),
        ("codex", vec!["home/.codex/AGENTS.md", "home/.codex/config.toml", "home/.codex/hooks.json"]),
        ("gemini", vec!["home/.gemini/GEMINI.md", "home/.gemini/settings.json"]),
        ("cursor", vec!["home/.cursor/mcp.json"]),
    ];
    for (agent, files) in expected {
        let person = Person::new();
        assert_eq!(person.setup(&[agent, "--user", "--yes"]).0, 0, "{agent}");
        assert_eq!(person.files(), files, "{agent}");
        // A program that was started from a menu has another path.
        let (_, told) = person.setup(&[agent, "--user", "--print"]);
        assert!(told.contains(env!("CARGO_BIN_EXE_hashline")), "{agent}: {told}");
    }
}

#[test]
fn nothing_is_written_that_nobody_agreed_to() {
    for agent in AGENTS {
        let person = Person::new();
        let (code, told) = person.setup(&[agent]);
        assert!(code == 1 && told.contains("give --yes") && told.contains("+++"), "{agent}: {told}");
        let (code, told) = person.setup(&[agent, "--print"]);
        assert!(code == 0 && told.contains("read_text_file") && told.contains("mcp"), "{agent}: {told}");
        assert_eq!(person.files(), [""; 0], "{agent}");
    }
    let person = Person::new();
    assert_eq!(person.setup(&["claude-code", "--yes", "--no-advice", "--no-hooks"]).0, 0);
    assert_eq!(person.files(), ["project/.mcp.json"]);
    assert_eq!(person.setup(&["claude-code", "--root", "gone"]).0, 2);
    assert_eq!(person.setup(&["nobody"]).0, 2);
}

#[test]
fn in_a_terminal_only_a_yes_writes() {
    for (answers, written) in [
        (["y\n", "y\n"], vec!["project/.mcp.json", "project/CLAUDE.md"]),
        (["YES\n", "no\n"], vec!["project/.mcp.json"]),
        (["n\n", " y \n"], vec!["project/CLAUDE.md"]),
        // Whoever presses return has not agreed, nor has one who ends the input.
        (["\n", "yep\n"], vec![]),
        (["\u{4}", "\u{4}"], vec![]),
    ] {
        let person = Person::new();
        let done = pty::typed_into(&person.command(&["setup", "claude-code", "--no-hooks"]), &answers);
        let told = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(0), "{answers:?}: {told}");
        assert_eq!(person.files(), written, "{answers:?}: {told}");
        assert_eq!(told.matches("[y/N]").count(), 2, "{answers:?}: {told}");
        assert_eq!(told.matches("Not written.").count(), 2 - written.len(), "{answers:?}: {told}");
        // The change is shown before it is asked about.
        let (shown, asked) = (told.find("+++").unwrap(), told.find("[y/N]").unwrap());
        assert!(shown < asked, "{told}");
    }
}

#[test]
fn what_cannot_be_read_is_left_and_told_what_belongs_in_it() {
    let person = Person::new();
    let file = person.project().join(".mcp.json");
    fs::write(&file, "{ \"mcpServers\": ").unwrap();
    let (code, told) = person.setup(&["claude-code", "--yes"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("left as it is") && told.contains("\"hashline\": {"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"mcpServers\": ");
    assert!(person.project().join("CLAUDE.md").exists(), "the rest is done");
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_mode_bits_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let person = Person::new();
    let (real, link) = (person.project().join("dotfiles.json"), person.project().join(".mcp.json"));
    fs::write(&real, "{\n  // mine\n  \"other\": 1\n}\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&real, &link).unwrap();
    assert_eq!(person.setup(&["claude-code", "--yes", "--no-advice"]).0, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.contains("// mine") && text.contains("\"other\": 1") && text.contains("hashline"), "{text}");
    assert_eq!(person.setup(&["claude-code", "--yes", "--remove"]).0, 0);
    assert!(fs::read_to_string(&real).unwrap().contains("// mine"));

    // A link leads to a file afterwards, also where nothing but this was in it.
    for (agent, name, empty) in [
        ("cursor", ".cursor/mcp.json", "{}\n"),
        ("codex", ".codex/config.toml", ""),
        ("gemini", "GEMINI.md", ""),
    ] {
        let (real, link) = (person.project().join("its own"), person.project().join(name));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::write(&real, empty).unwrap();
        symlink(&real, &link).unwrap();
        assert_eq!(person.setup(&[agent, "--yes"]).0, 0, "{agent}");
        assert!(fs::read_to_string(&link).unwrap().contains("hashline"), "{agent}");
        let (code, told) = person.setup(&[agent, "--yes", "--remove"]);
        assert_eq!(code, 0, "{agent}: {told}");
        assert_eq!(fs::read_to_string(&link).unwrap(), empty, "{agent}: {told}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{agent}");
    }

    let dangling = person.project().join("AGENTS.md");
    symlink(person.home().join("gone"), &dangling).unwrap();
    let (code, told) = person.setup(&["codex", "--yes"]);
    assert!(code == 1 && told.contains("link to nothing"), "{told}");
}

/// A project may bring links to its person's own files.
#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_left_alone() {
    use std::os::unix::fs::symlink;
    let person = Person::new();
    let mine = person.home().join("mine.json");
    fs::write(&mine, "{}\n").unwrap();
    symlink(&mine, person.project().join(".mcp.json")).unwrap();
    symlink(person.home(), person.project().join(".claude")).unwrap();
    let (code, told) = person.setup(&["claude-code", "--yes", "--no-advice"]);
    assert_eq!(code, 1);
    assert_eq!(told.matches("outside of the project. Put this in by hand:").count(), 2, "{told}");
    assert!(told.contains(mine.to_str().unwrap()), "{told}");
    assert_eq!(
        person.files().iter().filter(|file| file.starts_with("home/")).count(),
        1,
        "{:?}",
        person.files()
    );
    assert_eq!(fs::read_to_string(&mine).unwrap(), "{}\n");
}
