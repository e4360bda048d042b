//! `hashline status`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use hashline_history::path::{quoted, to_text};
use hashline_history::{Store, StoreError, inert_json};
use hashline_link::{Client, DocumentStatus, Sidecar, SidecarStatus, StateDir, discover};
use hashline_mcp::{HookFailure, hook_failures, signer_of};
use hashline_terminal::{Failure, inert, log};
use serde::Serialize;
use tokio::runtime::Builder;

use crate::arguments::Status;
use crate::threads;

/// How long an editor may take to answer.
const LIMIT: Duration = Duration::from_secs(3);

/// One editor.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    sidecar: Sidecar,
    /// What it is doing, if it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<SidecarStatus>,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Those of its folders whose edit histories are not this user's.
    #[serde(with = "hashline_history::path", skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Report {
    sidecars: Vec<Found>,
    /// The hooks of agents that failed within a day, so that what they did went past the review.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hook_failures: Vec<HookFailure>,
}

/// Prints who is running and what they have open.
pub fn run(options: &Status) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    let runtime = threads::start(&mut Builder::new_current_thread())?;
    let report = runtime.block_on(report(&state));
    let text = if options.json {
        let json = serde_json::to_string_pretty(&report).map_err(Failure::broken)?;
        inert_json(&json).into_owned() + "\n"
    } else {
        plain(&report)
    };
    // Whoever reads may have seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(if report.sidecars.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

async fn report(state: &StateDir) -> Report {
    let mut sidecars = Vec::new();
    for sidecar in discover(state) {
        let asked = async { Client::connect(&sidecar).await?.status().await };
        let (status, problem) = match tokio::time::timeout(LIMIT, asked).await {
            Ok(Ok(status)) => (Some(status), None),
            Ok(Err(error)) => (None, Some(error.to_string())),
            Err(_) => (None, Some("it does not answer in time".to_owned())),
        };
        let foreign = sidecar.roots.iter().filter(|root| is_foreign(root, state)).cloned().collect();
        sidecars.push(Found { sidecar, status, problem, foreign });
    }
    Report { sidecars, hook_failures: hook_failures(state) }
}

fn is_foreign(root: &Path, state: &StateDir) -> bool {
    let store = Store::new(root, "hashline status").signed_by(signer_of(state));
    matches!(store.check_owner(), Err(StoreError::Foreign { .. }))
}

fn plain(report: &Report) -> String {
    let mut blocks: Vec<String> = report.sidecars.iter().map(block).collect();
    if blocks.is_empty() {
        blocks.push("No editor is running hashline. Agents work on the files on disk.\n".to_owned());
    }
    if !report.hook_failures.is_empty() {
        blocks.push(hooks(&report.hook_failures));
    }
    blocks.join("\n")
}

fn hooks(failures: &[HookFailure]) -> String {
    let mut out =
        "Hooks that failed, so that the agent went on without hashline. hashline doctor looks at what is set up.\n".to_owned();
    for failure in failures {
        let times =
            if failure.count == 1 { String::new() } else { format!(", {} times in all", failure.count) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "  {}  {} ago{times}: {}",
            inert(&failure.agent),
            rough(failure.age()),
            inert(&failure.why)
        );
    }
    out
}

/// A time in its largest unit.
fn rough(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn block(found: &Found) -> String {
    let Found { sidecar, status, problem, foreign } = found;
    let mut out =
        format!("{}  hashline {}  process {}\n", inert(&sidecar.editor), sidecar.version, sidecar.pid);
    for root in &sidecar.roots {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  folder  {}", to_text(root));
    }
    for root in foreign {
        let folder = to_text(root);
        let _ = writeln!(out, "  history that is not yours in {folder}: mcpdiff adopt shows what is in it");
    }
    if let Some(url) = &sidecar.http {
        let _ = writeln!(out, "  http    {url}");
    }
    if let Some(problem) = problem {
        let _ = writeln!(out, "  no answer: {}", inert(problem));
    }
    let Some(status) = status else { return out };
    for agent in &status.agents {
        let _ = writeln!(out, "  agent   {}", agent.agent);
    }
    if status.documents.is_empty() {
        out.push_str("  no document is open\n");
    }
    let names: Vec<String> = status.documents.iter().map(|document| name(document, &sidecar.roots)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    for (document, name) in status.documents.iter().zip(&names) {
        let _ = writeln!(out, "  {name:width$}  {:7}  {}", saved(document), undecided(document));
    }
    // Columns that are empty leave blanks at the end.
    out.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn name(document: &DocumentStatus, roots: &[std::path::PathBuf]) -> String {
    let path = hashline_workspace::disk::path_of_file_uri(&document.uri).ok();
    let inside = path.as_ref().and_then(|path| roots.iter().find_map(|root| path.strip_prefix(root).ok()));
    match (inside, &path) {
        (Some(inside), _) => inert(&quoted(inside.as_os_str())),
        (None, Some(path)) => inert(&quoted(path.as_os_str())),
        (None, None) => inert(&document.uri),
    }
}

fn saved(document: &DocumentStatus) -> &'static str {
    match (document.version, document.dirty) {
        (None, _) => "closed",
        (_, true) => "unsaved",
        (_, false) => "saved",
    }
}

fn undecided(document: &DocumentStatus) -> String {
    match (document.pending, document.conflicted) {
        (0, _) => String::new(),
        (pending, 0) => format!("{pending} undecided"),
        (pending, conflicted) => format!("{pending} undecided, {conflicted} conflicted"),
    }
}
