//! What all parts of the benchmark share: where things are, and how they are started.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hashline_link::{Sidecar, StateDir, discover};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::{Direct, Stdio};
use crate::editor::Editor;
use crate::program::beside;
use crate::tool::{Hashline, Peer};

/// What all parts share.
pub struct Bench {
    /// The binary that is measured.
    pub hashline: PathBuf,
    /// Where the other tools are.
    pub installed: PathBuf,
    /// Whether this is a short run.
    pub quick: bool,
    temp: TempDir,
    folders: AtomicUsize,
}

/// A project folder with one document, and a state folder of its own, so that nothing else is found.
pub struct Place {
    /// The project.
    pub root: PathBuf,
    /// The document.
    pub path: PathBuf,
    /// Its text at first.
    pub text: String,
    state: PathBuf,
    log: PathBuf,
}

/// A place with an editor over it.
pub struct Desk {
    /// The editor.
    pub editor: Editor,
    /// Its sidecar.
    pub sidecar: Sidecar,
}

impl Place {
    /// The state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }
}

impl Bench {
    /// Looks for everything that is needed.
    pub fn new(hashline: &Path, installed: &Path, quick: bool) -> Result<Self> {
        let found = hashline.canonicalize();
        let hashline = found.with_context(|| format!("no hashline at {}", hashline.display()))?;
        let installed = std::path::absolute(installed)?;
        let temp = tempfile::tempdir().context("no temporary folder")?;
        Ok(Self { hashline, installed, quick, temp, folders: AtomicUsize::new(0) })
    }

    /// What the binary calls itself.
    pub fn version(&self) -> String {
        let said = Command::new(&self.hashline).arg("--version").output();
        let said =
            said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        said.lines().next().unwrap_or("hashline of unknown version").to_owned()
    }

    /// As many, or fewer in a short run.
    pub fn times(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// A fresh place whose document has so many lines.
    pub fn place(&self, lines: usize) -> Result<Place> {
        let number = self.folders.fetch_add(1, Ordering::Relaxed);
        let temp = self.temp.path().canonicalize()?;
        let folder = temp.join(number.to_string());
        let root = folder.join("project");
        std::fs::create_dir_all(&root)?;
        let path = root.join("document.rs");
        let text = crate::document::text(lines);
        std::fs::write(&path, &text)?;
        Ok(Place { root, path, text, state: folder.join("state"), log: folder })
    }

    /// An editor over a place, with hashline as its language server, and the document open.
    pub fn desk(&self, place: &Place, mode: &str) -> Result<Desk> {
        let mut desk = self.empty_desk(place, mode)?;
        desk.editor.open(&place.path, &place.text)?;
        desk.editor.fence(0)?;
        Ok(desk)
    }

    /// An editor with nothing open.
    pub fn empty_desk(&self, place: &Place, mode: &str) -> Result<Desk> {
        self.desk_with(place, &settings(mode))
    }

    /// An editor with the document open, whose sidecar serves agents over HTTP at an address.
    pub fn desk_over_http(&self, place: &Place, listen: &str) -> Result<Desk> {
        let mut desk =
            self.desk_with(place, &json!({"mode": {"open": "propose"}, "http": {"listen": listen}}))?;
        desk.editor.open(&place.path, &place.text)?;
        desk.editor.fence(0)?;
        Ok(desk)
    }

    /// A token that gives everything in a place.
    pub fn token(&self, place: &Place, subject: &str) -> Result<String> {
        let mut command = Command::new(&self.hashline);
        command.args(["token", "--scope", "write:/", "--subject", subject, "--state-dir"]).arg(&place.state);
        let output = command.output()?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    fn desk_with(&self, place: &Place, settings: &Value) -> Result<Desk> {
        let mut command = Command::new(&self.hashline);
        command.args(["lsp", "--editor", "bench", "--state-dir"]).arg(&place.state);
        let editor = Editor::start(&mut command, &place.root, &place.log.join("lsp.log"), settings)?;
        let state = StateDir::new(Some(&place.state))?;
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(sidecar) = discover(&state).into_iter().next() {
                return Ok(Desk { editor, sidecar });
            }
            if Instant::now() > deadline {
                bail!("hashline lsp did not announce itself in 10 s: {}", editor.program().complaint());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// An editor with the LSP floor, and the document open.
    pub fn floor_desk(&self, place: &Place) -> Result<Editor> {
        let mut command = Command::new(beside("floor-lsp")?);
        let mut editor =
            Editor::start(&mut command, &place.root, &place.log.join("floor.log"), &settings("propose"))?;
        editor.open(&place.path, &place.text)?;
        editor.fence(0)?;
        Ok(editor)
    }

    /// `hashline mcp` over a place: the router if there is a desk, and else the server of the disk.
    pub fn stdio(&self, place: &Place) -> Result<Hashline<Stdio>> {
        Ok(Hashline::new(self.stdio_agent(place)?, &place.path))
    }

    /// The same, called by what its tools are named.
    pub fn stdio_agent(&self, place: &Place) -> Result<Stdio> {
        let mut command = Command::new(&self.hashline);
        command.arg("mcp").arg("--root").arg(&place.root).arg("--state-dir").arg(&place.state);
        Stdio::start(&mut command, &place.root, &place.log.join("mcp.log"))
    }

    /// An agent straight at a desk's sidecar.
    pub fn direct(&self, place: &Place, desk: &Desk) -> Result<Hashline<Direct>> {
        Ok(Hashline::new(Direct::connect(&desk.sidecar, "direct", &place.root)?, &place.path))
    }

    /// A floor over stdio; it may write to the file that it is given.
    pub fn floor(&self, name: &str, place: &Place) -> Result<Stdio> {
        let mut command = Command::new(beside(name)?);
        command.arg(place.log.join("record"));
        Stdio::start(&mut command, &place.root, &place.log.join("floor.log"))
    }

    /// The other tools that could be installed.
    pub fn peers(&self) -> Vec<Peer> {
        Peer::ALL.into_iter().filter(|peer| peer.program(&self.installed).is_file()).collect()
    }
}

/// hashline's settings, with this mode for open documents.
fn settings(mode: &str) -> Value {
    json!({"mode": {"open": mode}})
}

impl Place {
    /// A log file here.
    pub fn log(&self, name: &str) -> PathBuf {
        self.log.join(format!("{name}.log"))
    }

    /// Waits until nothing more is recorded: an acceptance shows in the text before all of it is on the disk, and the work
    /// that follows is not to pay for it.
    pub fn rest(&self) {
        let record = self.root.join(".mcp/edit_history/decisions.log");
        let length = || std::fs::metadata(&record).map_or(0, |found| found.len());
        let (mut seen, mut since) = (length(), Instant::now());
        while since.elapsed() < Duration::from_millis(6) {
            std::thread::sleep(Duration::from_millis(1));
            if length() != seen {
                (seen, since) = (length(), Instant::now());
            }
        }
    }
}

/// Waits until files and folders are old enough for what is in them to be remembered by their times.
pub fn settle() {
    std::thread::sleep(Duration::from_millis(2_200));
}
