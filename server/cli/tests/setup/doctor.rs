//! `hashline doctor`: what is there, what is missing, and the command that mends it, which does.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::person::Person;

/// A person with programs of these names on the path, and nothing else there.
fn with_programs(programs: &[&str]) -> Person {
    let person = Person::new();
    let folder = person.temp.path().join("programs");
    fs::create_dir(&folder).unwrap();
    for program in programs {
        let file = folder.join(program);
        fs::write(&file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    person
}

/// What it says there, and the code.
fn doctor(person: &Person) -> (i32, String) {
    let mut command = person.command(&["doctor"]);
    let done = command.env("PATH", person.temp.path().join("programs")).output().unwrap();
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    (done.status.code().unwrap(), String::from_utf8(done.stdout).unwrap())
}

/// Carries out the first command that it names.
fn mend(person: &Person, told: &str) {
    let command = told.lines().find_map(|line| line.trim().strip_prefix("hashline setup ")).unwrap();
    let words: Vec<&str> =
        command.split([' ', ',']).take_while(|word| *word != "or" && !word.is_empty()).collect();
    let (code, said) = person.setup(&[&words[..], &["--yes"]].concat());
    assert_eq!(code, 0, "{command}: {said}");
}

#[test]
fn it_says_what_is_missing_until_that_is_mended() {
    let person = with_programs(&["claude", "gemini", "code"]);
    let (code, told) = doctor(&person);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains(" answers agents and hooks ("), "{told}");
    assert_eq!(told.matches("· not set up").count(), 3, "{told}");
    assert!(told.contains("✗ no agent has these tools"), "{told}");
    assert!(told.contains("No editor has "), "{told}");
    assert!(told.ends_with("Not on your path, and not set up: Codex, OpenCode, Cursor, Zed.\n"), "{told}");
    assert_eq!(person.files(), [""; 0], "it changes nothing");

    for agent in ["Claude Code", "Gemini CLI", "VS Code"] {
        let (_, told) = doctor(&person);
        let (_, of_agent) = told.split_once(&format!("{agent}\n")).unwrap();
        mend(&person, of_agent);
    }
    let (code, told) = doctor(&person);
    assert_eq!(code, 0, "{told}");
    assert_eq!((told.matches("✓ tools in ").count(), told.matches("✓ hooks in ").count()), (3, 2), "{told}");
    assert!(!told.contains('✗'), "{told}");
}

#[test]
fn hooks_that_are_missing_old_untrusted_or_there_twice_are_told() {
    let person = with_programs(&["codex", "gemini"]);
    person.setup(&["gemini", "--yes", "--no-hooks"]);
    person.setup(&["codex", "--yes", "--user"]);
    let (code, told) = doctor(&person);
    assert_eq!(code, 1);
    assert!(told.contains("✗ no hooks: "), "{told}");
    assert!(
        told.contains("which Codex was not told to trust\n    Start codex and trust them in /hooks."),
        "{told}"
    );

    // As Codex writes it.
    let configuration = person.home().join(".codex/config.toml");
    let hooks = person.home().join(".codex/hooks.json");
    let trusted =
        format!("\n[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n", hooks.display());
    fs::write(&configuration, fs::read_to_string(&configuration).unwrap() + &trusted).unwrap();
    mend(&person, told.split_once("Gemini CLI\n").unwrap().1);
    let (code, told) = doctor(&person);
    assert_eq!(code, 0, "{told}");

    person.setup(&["gemini", "--yes", "--user"]);
    let (_, told) = doctor(&person);
    assert!(told.contains("✗ hooks in both files"), "{told}");
    mend(&person, told.split_once("Gemini CLI\n").unwrap().1);
    assert_eq!(doctor(&person).0, 0);

    // By another program of that name, as it was moved.
    let settings = person.home().join(".gemini/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    let own = env!("CARGO_BIN_EXE_hashline");
    fs::write(&settings, text.replace(own, "/elsewhere/hashline")).unwrap();
    let (code, told) = doctor(&person);
    assert!(code == 1 && told.contains("which are not those of this hashline"), "{told}");
    mend(&person, told.split_once("Gemini CLI\n").unwrap().1);
    assert_eq!(doctor(&person).0, 0);

    fs::write(&settings, "{").unwrap();
    let (code, told) = doctor(&person);
    assert!(code == 1 && told.contains(" cannot be told: ") && told.contains("Mend the file"), "{told}");
}
