//! `mcpdiff status`: the edits of a history in a table, newest first.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use hashline_history::path::{from_text, quoted, to_text};
use hashline_history::{
    ConversationId, Damage, EditId, Glance, Listing, LogEntry, Operation, Status as EditStatus, Store,
};
use hashline_terminal::{Failure, Ink, Screen, columns, end_of, inert, padded, tell};
use serde_json::json;

use super::arguments::Status;
use super::edit_details::{Edits, relative};
use super::local_time::{Clock, ago};
use super::messages;
use super::resolve_id::{Book, Kind, conversation_of, may_name, short_conversation};

/// Lists edits.
pub fn run(store: &Store, options: &Status, screen: Screen) -> Result<ExitCode, Failure> {
    let listing = list(store, options)?;
    let record = damage(store)?;
    let code = if listing.entries.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS };
    if options.json {
        screen.print_json(&json!({
            "folder": to_text(store.folder()),
            "edits": listing.entries,
            "matching": listing.matching,
            "total": listing.total,
            "damaged": listing.damaged.iter().map(|(file, line)| (file.as_str(), *line))
                .chain(record.iter().map(|damage| ("decisions.log", damage.line)))
                .map(|(file, line)| json!({ "file": file, "line": line })).collect::<Vec<_>>(),
        }))?;
        return Ok(code);
    }
    let marks = marks(store, &listing);
    screen.print(&table(store, &listing, &marks, &Clock::of_this_machine(), screen))?;
    if !listing.damaged.is_empty() {
        tell(&format!("mcpdiff: {}", messages::damaged(&listing.damaged)));
    }
    if let Some(words) = messages::record_damaged(&record) {
        tell(&format!("mcpdiff: {words}"));
    }
    Ok(code)
}

/// The damaged lines of the record, if it can be looked through while somebody waits.
fn damage(store: &Store) -> Result<Vec<Damage>, Failure> {
    match store.glance() {
        Some(glance) if glance.is_quickly_read() => store.damage().map_err(Failure::broken),
        _ => Ok(Vec::new()),
    }
}

/// The undecided edits of a listing that are held, or in conflict, if that can be found out while somebody waits.
fn marks(store: &Store, listing: &Listing) -> HashMap<EditId, &'static str> {
    let mut marks = HashMap::new();
    if !store.glance().is_some_and(Glance::is_quickly_read) {
        return marks;
    }
    let pending = listing.entries.iter().filter(|entry| entry.status == EditStatus::Pending);
    let wanted: HashSet<EditId> = pending.map(|entry| EditId::from(&*entry.edit_id)).collect();
    // What cannot be read is told of in another place.
    let Ok(book) = Book::open(store) else { return marks };
    let mut edits = Edits::new(store);
    for found in book.pending().into_iter().filter(|found| wanted.contains(&found.edit)) {
        let Ok(edit) = edits.read(found) else { continue };
        let undecided = edit.undecided();
        let standing = edits.stands(&edit).into_iter().filter(|one| undecided.contains(&one.number));
        // Of several the conflict: it is the one that waits for something.
        if let Some(mark) = standing.filter_map(|one| one.mark()).min() {
            marks.insert(found.edit.clone(), mark);
        }
    }
    marks
}

fn list(store: &Store, options: &Status) -> Result<Listing, Failure> {
    let since = options.time.map(ago);
    let sought = options.file.as_deref().map(Sought::new);
    let statuses: Vec<EditStatus> = options.status.iter().map(|name| (*name).into()).collect();
    let operations: Vec<Operation> = options.op.iter().map(|name| (*name).into()).collect();
    let wanted = |entry: &LogEntry<'_>| {
        let has = |path: &str| sought.as_ref().is_none_or(|sought| sought.is_in(path, store.folder()));
        since.as_deref().is_none_or(|since| &*entry.timestamp >= since)
            && (statuses.is_empty() || statuses.contains(&entry.status))
            && (operations.is_empty() || operations.contains(&entry.operation))
            && (has(&entry.file_path) || entry.source_path.as_deref().is_some_and(has))
    };
    let conversation = options.conversation.as_deref().map(|name| conversation(store, name)).transpose()?;
    store.list(conversation.as_ref(), options.limit, wanted).map_err(Failure::broken)
}

/// A part of a path.
struct Sought<'a>(&'a [u8]);

impl<'a> Sought<'a> {
    fn new(given: &'a OsStr) -> Self {
        let given = given.as_encoded_bytes();
        Self(given.strip_prefix(b"./").unwrap_or(given))
    }

    /// Whether a path of a log has it, in its own bytes or as it is shown.
    fn is_in(&self, text: &str, folder: &Path) -> bool {
        let Some(path) = from_text(text) else { return false };
        // What all paths begin with tells none from another, unless it is asked for as a whole.
        let inside =
            |folder: &Path| path.strip_prefix(folder).is_ok_and(|inside| self.is_in_name(inside.as_os_str()));
        inside(folder)
            || (self.0.starts_with(b"/") && self.is_in_name(path.as_os_str()))
            || (self.0.starts_with(b"file:") && contains(text.as_bytes(), self.0))
    }

    fn is_in_name(&self, name: &OsStr) -> bool {
        contains(name.as_encoded_bytes(), self.0)
            || (name.to_str().is_none() && contains(quoted(name).as_bytes(), self.0))
    }
}

fn contains(whole: &[u8], part: &[u8]) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|here| here == part)
}

/// The conversation that is meant. Read from the logs, as the table is.
fn conversation(store: &Store, name: &str) -> Result<ConversationId, Failure> {
    let name = name.trim().trim_matches('…');
    let found: Mutex<BTreeMap<ConversationId, usize>> = Mutex::default();
    let collect = |entry: &LogEntry<'_>| {
        let id = &*entry.conversation_id;
        if may_name(name, id) {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            *found.entry(ConversationId::from(id)).or_default() += 1;
        }
        false
    };
    let listing = store.list(None, 1, collect).map_err(Failure::broken)?;
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let folder = store.folder();
    conversation_of(name, &found).map_err(|why| why.in_words(Kind::Conversation, name, listing.total, folder))
}

const HEADINGS: [&str; 6] = ["TIME", "EDIT", "CONV", "OP", "STATUS", "FILE"];

/// The least room that a path is given.
const LEAST: usize = 16;

fn table(
    store: &Store,
    listing: &Listing,
    marks: &HashMap<EditId, &'static str>,
    clock: &Clock,
    screen: Screen,
) -> String {
    if listing.total == 0 {
        return screen.sentences(&messages::none_recorded(store.folder())) + "\n";
    }
    if listing.entries.is_empty() {
        return screen.sentences(&messages::none_match(listing.total)) + "\n";
    }
    let row = |entry: &LogEntry<'_>| {
        let time = match screen.width {
            Some(_) => clock.short(&entry.timestamp),
            None => clock.long(&entry.timestamp),
        };
        let id = EditId::from(&*entry.edit_id);
        let status = match marks.get(&id) {
            Some(mark) => format!("{}, {mark}", entry.status),
            None => entry.status.to_string(),
        };
        let edit = inert(id.short());
        let conversation = short_conversation(&entry.conversation_id);
        [time, edit, conversation, entry.operation.as_str().to_owned(), status]
    };
    let rows: Vec<[String; 5]> = listing.entries.iter().map(row).collect();
    let width =
        |at: usize| rows.iter().map(|row| columns(&row[at])).chain([HEADINGS[at].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let before: usize = widths.iter().map(|width| width + 2).sum();
    let room = screen.width.map(|width| width.saturating_sub(before).max(LEAST));
    let mut out = String::new();
    let mut head: String =
        HEADINGS[..5].iter().zip(&widths).map(|(text, width)| padded(text, width + 2)).collect();
    head.push_str(HEADINGS[5]);
    out.push_str(&screen.paint(Ink::Heading, &head));
    out.push('\n');
    for (entry, row) in listing.entries.iter().zip(&rows) {
        for (at, text) in row.iter().enumerate() {
            let text = padded(text, widths[at] + 2);
            out.push_str(&match at {
                0 | 2 => screen.paint(Ink::Faint, &text),
                4 => screen.paint(ink(entry.status), &text),
                _ => text,
            });
        }
        out.push_str(&file(entry, store, room));
        out.push('\n');
    }
    if listing.entries.len() < listing.matching {
        out.push_str(&screen.paint(Ink::Faint, &messages::showing(listing.entries.len(), listing.matching)));
        out.push('\n');
    }
    out
}

/// The colour of a status.
pub fn ink(status: EditStatus) -> Ink {
    match status {
        EditStatus::Pending => Ink::Pending,
        EditStatus::Accepted => Ink::Accepted,
        EditStatus::Rejected => Ink::Rejected,
    }
}

const ARROW: &str = " -> ";

/// The path of an entry, or both of a move.
fn file(entry: &LogEntry<'_>, store: &Store, room: Option<usize>) -> String {
    let shown = |text: &str| relative(&from_text(text).unwrap_or(Path::new(text).into()), store.folder());
    let to = shown(&entry.file_path);
    let Some(from) = entry.source_path.as_deref().map(shown) else {
        return room.map_or_else(|| to.clone(), |room| end_of(&to, room));
    };
    let Some(room) = room else { return format!("{from}{ARROW}{to}") };
    let both = room.saturating_sub(ARROW.len());
    // A short one leaves its room to the other.
    let half = both / 2;
    let first = columns(&from).min(both - columns(&to).min(both - half));
    format!("{}{ARROW}{}", end_of(&from, first), end_of(&to, both - columns(&from).min(first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn entry(from: Option<&str>, to: &str) -> LogEntry<'static> {
        LogEntry {
            edit_id: "3f2a9c1b-0000".into(),
            conversation_id: "conv_1700000000000_9c1b0d7e".into(),
            tool_call_index: 0,
            timestamp: "2026-11-21T20:15:03.000000Z".into(),
            operation: if from.is_some() { Operation::Move } else { Operation::Edit },
            file_path: format!("/p/{to}").into(),
            source_path: from.map(|from| Cow::Owned(format!("/p/{from}"))),
            tool_name: "move_file".into(),
            status: EditStatus::Pending,
            diff_file: None,
            checkpoint_file: None,
            hash_before: None,
            hash_after: None,
        }
    }

    #[test]
    fn both_names_of_a_move_share_the_room() {
        let store = Store::new("/p", "test");
        for (from, to, room, expected) in [
            (Some("a.txt"), "b.txt", None, "a.txt -> b.txt"),
            (Some("a.txt"), "b.txt", Some(14), "a.txt -> b.txt"),
            (Some("src/long/a.txt"), "b.txt", Some(20), "…/a.txt -> b.txt"),
            (Some("a.txt"), "src/long/b.txt", Some(20), "a.txt -> …/b.txt"),
            (Some("src/long/a.txt"), "src/long/b.txt", Some(20), "…/a.txt -> …/b.txt"),
            (Some("src/long/a.txt"), "src/long/b.txt", Some(30), "…/long/a.txt -> …/long/b.txt"),
            (None, "src/long/b.txt", Some(8), "…/b.txt"),
        ] {
            assert_eq!(file(&entry(from, to), &store, room), expected, "{from:?} {to} {room:?}");
        }
    }

    #[test]
    fn a_table_fits_eighty_columns() {
        let store = Store::new("/p", "test");
        let entries =
            vec![entry(None, "src/some/where/deep/in/the/project/file.rs"), entry(Some("a\x1b[31m"), "b")];
        let listing = Listing { entries, matching: 3, total: 9, damaged: Vec::new() };
        let clock = Clock::at("2026-12-24T20:15:03Z");
        let screen = Screen { width: Some(80), ..Screen::default() };
        let marks = HashMap::new();
        let shown = table(&store, &listing, &marks, &clock, screen);
        assert_eq!(
            shown,
            "TIME          EDIT      CONV      OP    STATUS   FILE\n\
             Nov 21 20:15  3f2a9c1b  9c1b0d7e  edit  pending  …/deep/in/the/project/file.rs\n\
             Nov 21 20:15  3f2a9c1b  9c1b0d7e  move  pending  a\\x1b[31m -> b\n\
             The newest 2 of 3 edits. -n 0 shows all.\n"
        );
        assert!(shown.lines().all(|line| columns(line) <= 80), "{shown}");
        let marks = HashMap::from([(EditId::from("3f2a9c1b-0000"), "held")]);
        let piped = table(&store, &listing, &marks, &clock, Screen::default());
        assert!(piped.contains("pending, held  src/some"), "{piped}");
        assert!(
            piped.contains("2026-11-21 20:15:03")
                && piped.contains("src/some/where/deep/in/the/project/file.rs")
        );
    }
}
