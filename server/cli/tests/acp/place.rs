//! A folder, and an agent that says what the test has it say.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Returns when it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never comes that {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn signal(process: &str, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), process]).status().unwrap();
    assert!(sent.success());
}

/// A folder, and where editors and agents find each other.
pub struct Place {
    pub temp: tempfile::TempDir,
    pub root: PathBuf,
    pub state: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("w");
        fs::create_dir(&root).unwrap();
        let state = temp.path().canonicalize().unwrap().join("state");
        Self { temp, root, state }
    }

    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A command of hashline in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
        command.args(arguments).arg("--state-dir").arg(&self.state).current_dir(&self.root);
        command.env_remove("HASHLINE_LOG").stdin(Stdio::null());
        command
    }

    /// What such a command prints.
    pub fn run(&self, arguments: &[&str]) -> String {
        let done = self.command(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// The file that has all that an agent has heard.
    pub fn heard(&self) -> PathBuf {
        self.temp.path().join("heard")
    }

    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.temp.path().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

/// What is open for both, so that nobody waits for the other side.
fn opened(pipe: &PathBuf) -> File {
    File::options().read(true).write(true).open(pipe).unwrap()
}

/// `hashline acp`, with a client on one side and an agent on the other.
pub struct Agent {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    client_heard: Arc<Mutex<Vec<u8>>>,
    hearing: std::thread::JoinHandle<()>,
    told: std::thread::JoinHandle<String>,
    says: Option<File>,
    /// Has the agent listen from then on that nobody has this open.
    deaf: Option<File>,
    heard: PathBuf,
}

/// How it ended, what the client has heard of it, and what it told on standard error.
pub struct Ended {
    pub code: Option<i32>,
    pub heard: Vec<u8>,
    pub told: String,
}

impl Agent {
    /// Any command.
    pub fn of(place: &Place, command: &[&str]) -> Self {
        let mut started = place.command(&["acp"]);
        started.arg("--").args(command);
        started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = started.spawn().unwrap();
        let client_heard = Arc::new(Mutex::new(Vec::new()));
        let (mut output, hears) = (child.stdout.take().unwrap(), client_heard.clone());
        let hearing = std::thread::spawn(move || {
            let mut read = [0; 1 << 16];
            while let Ok(count @ 1..) = output.read(&mut read) {
                hears.lock().unwrap().extend_from_slice(&read[..count]);
            }
        });
        let mut errors = child.stderr.take().unwrap();
        let told = std::thread::spawn(move || {
            let mut told = String::new();
            errors.read_to_string(&mut told).unwrap();
            told
        });
        let input = Arc::new(Mutex::new(child.stdin.take()));
        Self { child, input, client_heard, hearing, told, says: None, deaf: None, heard: place.heard() }
    }

    /// One that says what it is told to, writes down what it hears, and does these things first and last.
    pub fn puppet(place: &Place, first: &str, last: &str) -> Self {
        let says = place.pipe("says");
        let (waits, heard) = (place.temp.path().join("waits"), place.heard());
        let [says_to, waits, heard] = [&says, &waits, &heard].map(|path| path.display());
        let script = format!(
            ": > '{heard}'; {first}\n\
             cat '{says_to}' &\n\
             if [ -p '{waits}' ]; then cat '{waits}'; fi\n\
             cat > '{heard}'; wait; {last}"
        );
        let opened = opened(&says);
        let mut agent = Self::of(place, &["sh", "-c", &script]);
        agent.says = Some(opened);
        agent
    }

    /// The same, but it hears nothing until it is told to listen.
    pub fn deaf(place: &Place) -> Self {
        let waits = opened(&place.pipe("waits"));
        let mut agent = Self::puppet(place, "", "");
        agent.deaf = Some(waits);
        agent
    }

    pub fn client_says(&mut self, bytes: &[u8]) {
        self.input.lock().unwrap().as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The same for what nobody may read for long.
    pub fn client_says_meanwhile(&self, bytes: Vec<u8>) {
        let input = self.input.clone();
        std::thread::spawn(move || input.lock().unwrap().as_mut().unwrap().write_all(&bytes).unwrap());
    }

    pub fn agent_says(&mut self, bytes: &[u8]) {
        self.says.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub fn listen(&mut self) {
        self.deaf = None;
    }

    pub fn client_heard(&self) -> Vec<u8> {
        self.client_heard.lock().unwrap().clone()
    }

    fn agent_hears(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut found = None;
        until(what, || {
            let heard = fs::read_to_string(&self.heard).unwrap_or_default();
            let messages = heard.lines().filter_map(|line| serde_json::from_str(line).ok());
            found = messages.into_iter().find(&is_it);
            found.is_some()
        });
        found.unwrap()
    }

    pub fn agent_hears_of(&self, method: &str) -> Value {
        self.agent_hears(method, |message| message["method"] == method)
    }

    pub fn agent_is_answered(&self, id: &str) -> Value {
        self.agent_hears(id, |message| message["id"] == id && message.get("method").is_none())
    }

    pub fn signal(&self, name: &str) {
        signal(&self.child.id().to_string(), name);
    }

    /// The client goes.
    pub fn ends(mut self) -> Ended {
        self.input.lock().unwrap().take();
        self.says.take();
        self.ended()
    }

    /// The agent goes.
    pub fn ended(mut self) -> Ended {
        let mut status = None;
        until("it ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.hearing.join().unwrap();
        let heard = std::mem::take(&mut *self.client_heard.lock().unwrap());
        Ended { code: status.unwrap().code(), heard, told: self.told.join().unwrap() }
    }
}
