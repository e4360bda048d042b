//! `mcpdiff adopt`: shows what is in a history that is not the person's own, and takes it over or sets it aside.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use hashline_history::{ConversationId, Found, Status, Store, StoreError};
use hashline_terminal::{Failure, Ink, Screen, inert};

use super::arguments::Adopt;
use super::edit_details::{Edits, relative};
use super::messages;

/// Adopts a history, or sets it aside.
pub fn run(store: &Store, options: &Adopt, screen: Screen) -> Result<ExitCode, Failure> {
    match store.check_owner() {
        Ok(()) => return Err(Failure::broken(messages::own_history(store.folder()))),
        Err(StoreError::Foreign { .. }) => {}
        Err(error) => return Err(Failure::broken(error)),
    }
    if options.set_aside {
        let aside = store.set_aside().map_err(Failure::broken)?;
        screen.print(&format!("{}\n", screen.sentences(&messages::set_aside(&aside))))?;
        return Ok(ExitCode::SUCCESS);
    }
    let theirs = store.unbelieved();
    let shown = theirs.glance();
    screen.print(&contents(&theirs, screen)?)?;
    if !options.yes && !agrees(screen)? {
        return Err(Failure::broken(messages::not_adopted()));
    }
    store.adopt(shown).map_err(Failure::broken)?;
    screen.print(&format!("{}\n", screen.sentences(&messages::adopted(store.folder()))))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the person says yes.
fn agrees(screen: Screen) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::usage(messages::adopt_asks()));
    }
    screen.print(&format!("{} ", screen.paint(Ink::Heading, messages::ADOPT_QUESTION)))?;
    let mut answer = Vec::new();
    // Whoever cannot answer has not said yes.
    let _ = stdin.lock().read_until(b'\n', &mut answer);
    Ok(matches!(answer.trim_ascii(), b"y" | b"Y" | b"yes"))
}

/// What a person decides about: whose conversations these say they are, and what would be undecided in which files.
fn contents(theirs: &Store, screen: Screen) -> Result<String, Failure> {
    let edits = theirs.find("").map_err(Failure::broken)?;
    let mut out = format!("{}\n", screen.sentences(&messages::foreign(theirs.folder(), edits.len())));
    let mut conversations: BTreeMap<&ConversationId, Vec<&Found>> = BTreeMap::new();
    for edit in &edits {
        conversations.entry(&edit.conversation).or_default().push(edit);
    }
    let heading = |out: &mut String, words: &str| {
        out.push_str(&format!("\n{}\n", screen.paint(Ink::Heading, words)));
    };
    if !conversations.is_empty() {
        heading(&mut out, "Conversations:");
    }
    let mut reader = Edits::new(theirs);
    for (id, edits) in conversations {
        let first = edits.first().map(|edit| reader.read(edit)).transpose()?;
        let agent = first
            .and_then(|edit| edit.state.ok())
            .map(|state| state.made.agent.to_string())
            .unwrap_or_default();
        let pending = edits.iter().filter(|edit| edit.status == Status::Pending).count();
        let counts = messages::edits_and_undecided(edits.len(), pending);
        out.push_str(&format!("{}  {}  {counts}\n", inert(id.as_str()), inert(&agent)));
    }
    let documents = theirs.documents().map_err(Failure::broken)?;
    let path = |name: &hashline_history::DocumentName| relative(name.as_path(), theirs.folder());
    let pending: Vec<_> = documents.iter().filter(|document| document.pending > 0).collect();
    if !pending.is_empty() {
        heading(
            &mut out,
            "Undecided; once you adopt the history, agents read these edits as part of the files:",
        );
    }
    for document in pending {
        out.push_str(&format!("{}  {}\n", path(&document.name), messages::count(document.pending, "edit")));
    }
    let unfinished: Vec<_> =
        documents.iter().filter(|one| theirs.is_unfinished(&one.name).unwrap_or(true)).collect();
    if !unfinished.is_empty() {
        heading(&mut out, "Unfinished; adopting the history would write or remove these files to finish it:");
    }
    for document in unfinished {
        out.push_str(&format!("{}\n", path(&document.name)));
    }
    if let Some(words) = messages::record_damaged(&theirs.damage().map_err(Failure::broken)?) {
        out.push_str(&format!("\n{}\n", screen.sentences(&inert(&words))));
    }
    out.push('\n');
    Ok(out)
}
