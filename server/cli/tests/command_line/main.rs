//! The binary as a shell and an agent start it: exit codes, what goes to which stream, and how it ends.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod http;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashline_link::{
    Call, CancellationToken, Decide, DecideOutcome, Handler, Held, Listener, Raw, RemoteError, Sidecar,
    SidecarId, SidecarStatus, StateDir, announce, serve,
};

fn hashline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
    command.args(arguments).env_remove("HASHLINE_LOG").stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = hashline(arguments).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// `hashline mcp`, with a handshake behind it.
struct Agent {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Agent {
    fn start(root: &Path, state: &Path, more: &[&str]) -> Self {
        let mut command = hashline(&["mcp", "--root", root.to_str().unwrap()]);
        command.args(more);
        Self::greet(command, state)
    }

    /// Starts it in a folder, without --root.
    fn start_in(folder: &str, state: &Path) -> Self {
        let mut command = hashline(&["mcp"]);
        command.current_dir(folder);
        Self::greet(command, state)
    }

    fn greet(mut command: Command, state: &Path) -> Self {
        command.arg("--state-dir").arg(state);
        Self::greet_as_it_is(command)
    }

    fn greet_as_it_is(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut agent = Self { child, lines };
        agent.say(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        );
        assert!(agent.hears().contains("\"hashline\""));
        agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        agent
    }

    fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hears(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
    }

    /// The exit code; the process must end by itself soon.
    fn ends(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.child.stdin.take());
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), self.lines.map(Result::unwrap).collect());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child.kill().unwrap();
        panic!("it does not end");
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

#[test]
fn the_help_teaches() {
    let (code, out, _) = run(&["--help"]);
    assert_eq!(code, 0);
    for word in ["lsp", "mcp", "status", "Examples:", "Exit codes", "HASHLINE_LOG"] {
        assert!(out.contains(word), "{word} is not in {out}");
    }
    for command in ["mcp", "status", "lsp", "serve", "token"] {
        let (code, out, _) = run(&[command, "--help"]);
        assert!(code == 0 && out.contains("Examples:") && out.contains("--state-dir"), "{out}");
    }
}

#[test]
fn wrong_usage_is_2_and_says_what_is_wrong() {
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().to_str().unwrap();
    for (arguments, word) in [
        (&["mcp", "--root", "/nowhere/at/all", "--state-dir", state][..], "/nowhere/at/all"),
        (&["mcp", "--toolset", "everything"][..], "everything"),
        (&["mcp", "--mode", "maybe"][..], "maybe"),
        (&["mcp", "--hold", "a["][..], "a["),
        (&["serve", "--root", ".", "--hold", "a["][..], "a["),
        (&["mcp", "--log-file", "/nowhere/at/all/log", "--state-dir", state][..], "/nowhere/at/all/log"),
        (&["serve-everything"][..], "serve-everything"),
        (&["serve", "--state-dir", state][..], "--root"),
        (&["serve", "--root", "/nowhere/at/all", "--state-dir", state][..], "/nowhere/at/all"),
        (&["token", "--state-dir", state][..], "--scope"),
        (&["token", "--scope", "/src", "--state-dir", state][..], "begins with read: or write:"),
        (&["token", "--scope", "read:/../x", "--state-dir", state][..], "above"),
        (&["token", "--scope", "read:/", "--expires", "soon", "--state-dir", state][..], "soon"),
        (&[][..], "Usage"),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(out.is_empty() && err.contains(word), "{arguments:?}: {out}{err}");
    }
}

#[test]
fn status_without_an_editor_is_1() {
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().to_str().unwrap();
    let (code, out, err) = run(&["status", "--state-dir", state]);
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(out.contains("No editor"), "{out}");
    let (code, out, _) = run(&["status", "--json", "--state-dir", state]);
    assert_eq!(code, 1);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&out).unwrap(),
        serde_json::json!({ "sidecars": [] })
    );
}

#[test]
fn a_hook_that_fails_says_nothing_and_status_tells_of_it() {
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().to_str().unwrap();
    let named = r#"{"hook_event_name":"BeforeTool","session_id":"1","transcript_path":"/t/chats/1","tool_name":"replace"}"#;
    for told in [r#"{"hook_event_name":"Before"#, "[]", named] {
        assert_eq!(hook("gemini", state, told), (Some(0), String::new()), "{told}");
    }
    let (_, out, _) = run(&["status", "--state-dir", state]);
    assert!(out.contains("No editor") && out.contains("  gemini-cli  "), "{out}");
    assert!(out.contains(" s ago, 3 times in all: "), "{out}");
    let (_, out, _) = run(&["status", "--json", "--state-dir", state]);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["hook_failures"][0]["count"], 3, "{told}");
}

/// Runs `hashline hook` with what a program tells.
fn hook(program: &str, state: &str, told: &str) -> (Option<i32>, String) {
    let mut command = hashline(&["hook", program, "--state-dir", state]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
}

#[test]
fn the_top_of_the_disk_is_served_only_if_told_to() {
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().join("state");
    std::fs::write(temp.path().join("a.txt"), "a\n").unwrap();
    let read = format!(r#"{{"path":"{}"}}"#, temp.path().join("a.txt").display());
    let mut agent = Agent::start_in("/", &state);
    agent.call(1, "read_text_file", &read);
    let told = agent.hears();
    assert!(told.contains("\"isError\":true") && told.contains("give --root DIR"), "{told}");
    assert_eq!(agent.ends().0, Some(0));

    let mut agent = Agent::start(Path::new("/"), &state, &[]);
    agent.call(1, "read_text_file", &read);
    assert!(agent.hears().contains("|a"));
    let mut agent = Agent::start_in(temp.path().to_str().unwrap(), &state);
    agent.call(1, "read_text_file", &read);
    assert!(agent.hears().contains("|a"));
}

#[test]
fn it_ends_with_its_input_and_answers_what_was_asked_before() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("a.txt"), "a\n").unwrap();
    let mut agent = Agent::start(temp.path(), &temp.path().join("state"), &[]);
    agent.call(1, "read_text_file", r#"{"path":"a.txt"}"#);
    let (code, heard) = agent.ends();
    assert_eq!(code, Some(0));
    assert!(heard.iter().any(|line| line.contains("\"id\":1") && line.contains("|a")), "{heard:?}");
}

/// A sidecar in which nobody ever decides.
struct Undecided {
    asked: std::sync::mpsc::Sender<()>,
}

impl Handler for Undecided {
    async fn call(&self, _: Call, _: CancellationToken) -> Result<Raw, RemoteError> {
        self.asked.send(()).unwrap();
        std::future::pending().await
    }
    async fn holds(&self, _: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        std::future::pending().await
    }
    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        std::future::pending().await
    }
    async fn decide(&self, _: Decide) -> Result<DecideOutcome, RemoteError> {
        std::future::pending().await
    }
}

#[test]
fn a_wait_does_not_keep_it_when_the_input_ends() {
    let temp = tempfile::tempdir().unwrap();
    let state = temp.path().join("state");
    let (asked, heard) = std::sync::mpsc::channel();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let entered = runtime.enter();
    let found_in = StateDir::new(Some(&state)).unwrap();
    let id = SidecarId::random();
    let listener = Listener::bind(&found_in, &id).unwrap();
    let sidecar = Sidecar::new(id, &listener, "editor", vec![temp.path().to_owned()]);
    runtime.spawn(serve(listener, Arc::new(Undecided { asked }), CancellationToken::new()));
    drop(entered);
    let _announced = announce(&found_in, sidecar).unwrap();

    let mut agent = Agent::start(temp.path(), &state, &[]);
    agent.call(1, "await_review", r#"{"timeout_s":40}"#);
    heard.recv_timeout(Duration::from_secs(20)).expect("the sidecar is asked");
    let begun = Instant::now();
    assert_eq!(agent.ends().0, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn the_demo_plays_every_act() {
    let (code, out, err) = run(&["demo"]);
    assert_eq!(code, 0, "{out}{err}");
    for line in [
        "1. A person has greet.js open",
        "2. The agent changes three places",
        "3. The editor offers the hunks",
        "4. … and rejects another",
        "5. The agent still has its first read",
        "6. An edit of a line that has changed since is refused",
        "7. The text in the editor",
        "✓ the agent sees the unsaved lines",
        "✓ the edit is held",
        "✓ the accepted hunk is in the text",
        "✓ the rejected hunk is not in the text",
        "✓ the stale edit is carried",
        "✓ the edit of the changed line is refused",
        "✓ every key of the person is in the text",
        "✓ the disk is untouched",
    ] {
        assert!(out.contains(line), "{line:?} is not in:\n{out}");
    }
    assert!(!out.contains('✗'), "{out}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_threads_that_serve_agents_give_way_to_the_editors() {
    let state = tempfile::tempdir().unwrap();
    let mut sidecar = hashline(&["lsp", "--state-dir", state.path().to_str().unwrap()]);
    let mut sidecar =
        sidecar.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let tasks = PathBuf::from(format!("/proc/{}/task", sidecar.id()));
    let niceness = |task: &Path| -> Option<i32> {
        // Field 19; the second is a name in parentheses.
        let stat = std::fs::read_to_string(task.join("stat")).ok()?;
        stat.rsplit(") ").next()?.split(' ').nth(16)?.parse().ok()
    };
    let of_first = niceness(&tasks.join(sidecar.id().to_string())).unwrap();
    let nicer_by = |by: i32| {
        let tasks = std::fs::read_dir(&tasks).unwrap();
        let nicest = 19;
        let nice = Some((of_first + by).min(nicest));
        tasks.filter(|task| niceness(&task.as_ref().unwrap().path()) == nice).count()
    };
    let each = std::thread::available_parallelism().unwrap().get();
    let deadline = Instant::now() + Duration::from_secs(10);
    while nicer_by(5) < each && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(nicer_by(5) >= each, "those for agents");
    assert!(nicer_by(0) > each, "those for the editor, and the first");
    drop(sidecar.stdin.take());
    sidecar.wait().unwrap();
}

#[test]
fn signals_end_it_in_good_order() {
    for name in ["-INT", "-TERM"] {
        let temp = tempfile::tempdir().unwrap();
        let mut agent = Agent::start(temp.path(), &temp.path().join("state"), &[]);
        agent.call(1, "list_documents", "{}");
        agent.hears();
        agent.signal(name);
        let begun = Instant::now();
        loop {
            if let Some(status) = agent.child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0), "{name}");
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "{name} is not heard");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn the_log_goes_where_it_is_told_and_never_to_the_protocol() {
    let temp = tempfile::tempdir().unwrap();
    let log = temp.path().join("log");
    // Where nothing is served, there is something to log.
    let mut command = hashline(&["mcp", "--state-dir"]);
    command.current_dir("/").arg(temp.path().join("state")).args(["--log-file", log.to_str().unwrap()]);
    let output = command.env("HASHLINE_LOG", "trace").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "no input at all is no failure");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let logged = std::fs::read_to_string(log).unwrap();
    assert!(logged.contains("WARN") && logged.contains("give --root"), "{logged:?}");
}
