//! `hashline package` and `hashline registry` are the program `mcp-publisher`, which is looked for and started.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with hashline in it, and one on the path.
struct Installed {
    temp: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let installed = Self { temp: tempfile::tempdir().unwrap() };
        for folder in [installed.beside(), installed.on_the_path()] {
            std::fs::create_dir(folder).unwrap();
        }
        put(Path::new(env!("CARGO_BIN_EXE_hashline")), &installed.beside().join("hashline"));
        installed
    }

    fn beside(&self) -> PathBuf {
        self.temp.path().join("beside")
    }

    fn on_the_path(&self) -> PathBuf {
        self.temp.path().join("path")
    }

    /// Puts an mcp-publisher there that does this.
    fn publisher(&self, folder: &Path, script: &str) {
        let written = self.temp.path().join("script");
        std::fs::write(&written, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&written, PermissionsExt::from_mode(0o700)).unwrap();
        put(&written, &folder.join("mcp-publisher"));
    }

    fn hashline(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.beside().join("hashline"));
        command.args(arguments).env("PATH", self.on_the_path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.hashline(arguments).output().unwrap()
    }

    /// What it prints; it ends well.
    fn prints(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(arguments);
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }
}

/// Copies a program. Not by this process: what it has open for writing is open in what other tests start just then, and is not run by
/// anybody until they have closed it.
fn put(program: &Path, to: &Path) {
    assert!(Command::new("cp").arg(program).arg(to).status().unwrap().success());
}

/// Prints each of its arguments in brackets.
const TELLS: &str = r#"for word; do printf '[%s]' "$word"; done"#;

#[test]
fn what_is_typed_behind_the_command_is_handed_on_as_it_is() {
    let installed = Installed::new();
    installed.publisher(&installed.beside(), TELLS);
    for (arguments, told) in [
        (&["package"][..], ""),
        (&["package", "--help"], "[--help]"),
        (&["package", "-V"], "[-V]"),
        (&["package", "help", "publish"], "[help][publish]"),
        (
            &["package", "publish", "a b.json", "--registry", "https://a.example"],
            "[publish][a b.json][--registry][https://a.example]",
        ),
        (
            &["package", "verify", "a", "--run", "--", "--flag", "--", "b"],
            "[verify][a][--run][--][--flag][--][b]",
        ),
        (&["package", "", "*"], "[][*]"),
        (&["registry"], "[registry]"),
        (&["registry", "--help"], "[registry][--help]"),
        (&["registry", "--data-dir", "a"], "[registry][--data-dir][a]"),
    ] {
        assert_eq!(installed.prints(arguments), told, "{arguments:?}");
    }
}

#[test]
fn the_one_beside_hashline_is_started_before_one_on_the_path() {
    let installed = Installed::new();
    installed.publisher(&installed.on_the_path(), "echo on the path");
    assert_eq!(installed.prints(&["package"]), "on the path\n");
    installed.publisher(&installed.beside(), "echo beside");
    assert_eq!(installed.prints(&["package"]), "beside\n");
    assert_eq!(installed.prints(&["registry"]), "beside\n");
    // Whoever calls hashline by a link has installed what lies where the link leads.
    let link = installed.on_the_path().join("hashline");
    std::os::unix::fs::symlink(installed.beside().join("hashline"), &link).unwrap();
    let linked = Command::new(link).arg("package").env("PATH", "/nowhere").output().unwrap();
    assert_eq!(linked.stdout, b"beside\n");
}

#[test]
fn it_is_the_program_from_then_on() {
    let installed = Installed::new();
    installed.publisher(&installed.beside(), "echo $$; echo why >&2; exit 3");
    let child = installed
        .hashline(&["package", "verify"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(3), &b"why\n"[..]));
    assert_eq!(String::from_utf8(ended.stdout).unwrap().trim(), process.to_string());

    installed.publisher(&installed.beside(), "kill -TERM $$");
    assert_eq!(installed.run(&["registry"]).status.signal(), Some(15));
}

/// Editors start hashline as the bytes that were published: nothing else runs before these do.
#[test]
fn hashline_verifies_programs_by_itself() {
    let installed = Installed::new();
    for folder in [installed.beside(), installed.on_the_path()] {
        installed.publisher(&folder, "echo another program");
    }
    installed.publisher(installed.temp.path(), r#"echo "good $*"; exit 7"#);
    let program = installed.temp.path().join("mcp-publisher");
    let hash = hashline_binary::FileHash::of(std::fs::File::open(&program).unwrap()).unwrap().to_string();
    let state = installed.temp.path().join("state");
    let verify = |hash: &str, more: &[&str]| {
        let mut command = installed.hashline(&["package", "verify-binary"]);
        command.arg(&program).args(["--hash", hash, "--state-dir"]).arg(&state).args(more);
        command.output().unwrap()
    };
    let ran = verify(&hash, &["--run", "--", "lsp", "--flag"]);
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(7), &b"good lsp --flag\n"[..]), "{ran:?}");
    std::fs::remove_dir_all(&state).unwrap();
    let refused = verify(&format!("sha256:{}", "0".repeat(64)), &["--run"]);
    assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(1), &b""[..]), "{refused:?}");
    let help = installed.prints(&["package", "verify-binary", "--help"]);
    assert!(help.contains("hashline package verify-binary [OPTIONS] <FILE>"), "{help}");
}

#[test]
fn where_it_is_missing_hashline_says_how_to_get_it() {
    let installed = Installed::new();
    for command in ["package", "registry"] {
        let ended = installed.run(&[command, "--help"]);
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(1), &b""[..]), "{told}");
        assert!(
            told.starts_with("hashline: ") && told.contains("cargo install --path server/publisher"),
            "{told}"
        );
    }
    // A folder of that name is no program, and a file that is none is told.
    std::fs::create_dir(installed.beside().join("mcp-publisher")).unwrap();
    std::fs::write(installed.on_the_path().join("mcp-publisher"), "no program").unwrap();
    let ended = installed.run(&["package"]);
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(1) && told.contains("does not run"), "{told}");
}

#[test]
fn the_help_lists_both() {
    let help = Installed::new().prints(&["--help"]);
    for command in ["package", "registry"] {
        let lines: Vec<&str> = help.lines().filter(|line| line.trim_start().starts_with(command)).collect();
        assert!(matches!(lines[..], [line] if line.contains("mcp-publisher")), "{help}");
    }
}
