//! A terminal that a program believes in, and somebody who types into it.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs a program on a pseudo terminal of 80 columns, made by `script`, and types lines into it. Its folder and what is set for it in its
/// environment hold; colours are as the terminal has them, unless that says otherwise.
pub fn typed_into(program: &Command, lines: &[&str]) -> Output {
    let quoted = |text: &OsStr| format!("'{}'", text.to_str().unwrap().replace('\'', "'\\''"));
    let words: Vec<String> =
        std::iter::once(program.get_program()).chain(program.get_args()).map(quoted).collect();
    let mut command = Command::new("script");
    command.args(["-qec", &format!("stty cols 80 -echo; {}", words.join(" ")), "/dev/null"]);
    command.env("TERM", "xterm").env("SHELL", "/bin/sh");
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "HASHLINE_LOG"] {
        command.env_remove(name);
    }
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        stdin.write_all(line.as_bytes()).unwrap();
    }
    // The terminal stays as long as somebody is at it.
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{program:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(stdin);
    child.wait_with_output().unwrap()
}
