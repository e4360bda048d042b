//! The edits in the logs, newest first: fast, without the lock, and without a look at the record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::StoreError;
use crate::folder::Folder;
use crate::id::ConversationId;
use crate::layout;
use crate::log_entry::LogEntry;
use crate::store::Store;

/// What a listing found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries that were wanted, newest first, as many as were asked for.
    pub entries: Vec<LogEntry<'static>>,
    /// How many were wanted.
    pub matching: usize,
    /// How many there are.
    pub total: usize,
    /// Lines that are no entries: the log, and the number of the line from 1. The next check writes those logs anew.
    pub damaged: Vec<(String, usize)>,
}

impl Store {
    /// The entries of the logs that are wanted, newest first, `limit` at most; all if that is 0. A last line that is being written
    /// is left out.
    ///
    /// # Errors
    ///
    /// The logs cannot be read.
    pub fn list(
        &self,
        conversation: Option<&ConversationId>,
        limit: usize,
        wanted: impl Fn(&LogEntry<'_>) -> bool + Sync,
    ) -> Result<Listing, StoreError> {
        let logs = self.open_folder()?.map(|folder| folder.folder(layout::LOGS)).transpose()?.flatten();
        let Some(logs) = logs else { return Ok(Listing::default()) };
        let names = match conversation {
            Some(id) if ConversationId::is_safe(id.as_str()) => vec![format!("{id}.log")],
            Some(_) => Vec::new(),
            None => logs.names("")?,
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let share = names.len().div_ceil(threads).max(1);
        let parts: Vec<Result<Part, StoreError>> = std::thread::scope(|scope| {
            let read = |names| Part::read(&logs, names, limit, &wanted);
            let threads: Vec<_> = names.chunks(share).map(|names| scope.spawn(move || read(names))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let mut whole = Part::default();
        for part in parts {
            whole.join(part?, limit);
        }
        Ok(whole.finish())
    }
}

/// Parsing is what takes the time. More threads than this gain nothing.
const THREADS: usize = 4;

/// What was found in some of the logs.
#[derive(Default)]
struct Part {
    listing: Listing,
    newest: BinaryHeap<Reverse<Newest>>,
}

impl Part {
    fn read(
        logs: &Folder,
        names: &[String],
        limit: usize,
        wanted: &(impl Fn(&LogEntry<'_>) -> bool + Sync),
    ) -> Result<Self, StoreError> {
        let mut part = Self::default();
        for name in names {
            let Some(id) = name.strip_suffix(".log") else { continue };
            let bytes = logs.read(name)?.unwrap_or_default();
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
            for (at, line) in lines.filter(|(_, line)| line.ends_with(b"\n")) {
                let entry = serde_json::from_slice::<LogEntry<'_>>(line).ok();
                let Some(entry) = entry.filter(|entry| entry.conversation_id == id) else {
                    part.listing.damaged.push((format!("{}/{name}", layout::LOGS), at + 1));
                    continue;
                };
                part.listing.total += 1;
                if wanted(&entry) {
                    part.listing.matching += 1;
                    part.keep(&entry, limit);
                }
            }
        }
        Ok(part)
    }

    /// Keeps an entry if it is among the newest.
    fn keep(&mut self, entry: &LogEntry<'_>, limit: usize) {
        let full = limit > 0 && self.newest.len() >= limit;
        if full && self.newest.peek().is_some_and(|Reverse(oldest)| key(&oldest.0) >= key(entry)) {
            return;
        }
        if full {
            self.newest.pop();
        }
        self.newest.push(Reverse(Newest(entry.clone().into_owned())));
    }

    fn join(&mut self, other: Self, limit: usize) {
        self.listing.matching += other.listing.matching;
        self.listing.total += other.listing.total;
        self.listing.damaged.extend(other.listing.damaged);
        other.newest.into_iter().for_each(|Reverse(entry)| self.keep(&entry.0, limit));
    }

    fn finish(mut self) -> Listing {
        let mut entries: Vec<Newest> = self.newest.into_iter().map(|Reverse(entry)| entry).collect();
        entries.sort_by(|one, other| other.cmp(one));
        self.listing.entries = entries.into_iter().map(|Newest(entry)| entry).collect();
        self.listing
    }
}

/// An entry, by its time; within a conversation, by its place in it.
struct Newest(LogEntry<'static>);

fn key<'a>(entry: &'a LogEntry<'_>) -> (&'a str, &'a str, u64) {
    (&entry.timestamp, &entry.conversation_id, entry.tool_call_index)
}

impl PartialEq for Newest {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Newest {}

impl PartialOrd for Newest {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Newest {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        key(&self.0).cmp(&key(&other.0))
    }
}
