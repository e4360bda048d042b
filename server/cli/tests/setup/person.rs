//! The person whose files are written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Somebody with a home folder and a project.
pub struct Person {
    pub temp: tempfile::TempDir,
}

impl Person {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["home", "project"] {
            fs::create_dir(temp.path().join(folder)).unwrap();
        }
        Self { temp }
    }

    pub fn project(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("home")
    }

    /// A command of hashline in the project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
        command.args(arguments).arg("--state-dir").arg(self.temp.path().join("state"));
        command.current_dir(self.project()).stdin(Stdio::null());
        for name in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HASHLINE_LOG"] {
            command.env_remove(name);
        }
        command.env("HOME", self.home()).env("NO_COLOR", "1");
        command
    }

    pub fn setup(&self, arguments: &[&str]) -> (i32, String) {
        self.run(&[&["setup"], arguments].concat())
    }

    /// Runs it: the code that it ends with, and all that it says.
    pub fn run(&self, arguments: &[&str]) -> (i32, String) {
        let done = self.command(arguments).output().unwrap();
        let told = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
        (done.status.code().unwrap(), told)
    }

    /// All files of the person's, and empty folders, by their paths.
    pub fn files(&self) -> Vec<String> {
        fn below(folder: &Path, out: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let is_empty = path.is_dir() && fs::read_dir(&path).unwrap().next().is_none();
                if path.is_dir() && !is_empty { below(&path, out) } else { out.push(path) }
            }
        }
        let top = self.temp.path().canonicalize().unwrap();
        let mut files = Vec::new();
        for folder in ["home", "project"] {
            below(&top.join(folder), &mut files);
        }
        let mut names: Vec<String> =
            files.iter().map(|file| file.strip_prefix(&top).unwrap().display().to_string()).collect();
        names.sort();
        names
    }
}
