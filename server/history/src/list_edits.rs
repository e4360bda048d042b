//! The edits in the logs, newest first: fast, without the lock, and with no more of a look at a long record than whose it is. What a short
//! record says of them counts, as logs are written after it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use crate::derive::Render;
use crate::error::StoreError;
use crate::folder::Folder;
use crate::id::{ConversationId, EditId};
use crate::layout;
use crate::log_entry::LogEntry;
use crate::record::Status;
use crate::store::{Glance, Reading, Store};

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
    /// is left out, and so is an edit that the record does not know, as far as that is read here.
    ///
    /// # Errors
    ///
    /// The logs or the record cannot be read.
    pub fn list(
        &self,
        conversation: Option<&ConversationId>,
        limit: usize,
        wanted: impl Fn(&LogEntry<'_>) -> bool + Sync,
    ) -> Result<Listing, StoreError> {
        let recorded = self.recorded()?;
        let in_scope = |one: &&Recorded| conversation.is_none_or(|wanted| one.conversation == *wanted);
        let of_scope =
            recorded.iter().flat_map(HashMap::values).filter(in_scope).filter(|one| one.status.is_some());
        // The recorded edits that no log has had so far.
        let missing: Mutex<HashSet<&EditId>> = Mutex::new(of_scope.map(|one| &one.edit).collect());
        let seen = |entry: &mut LogEntry<'_>| -> Option<bool> {
            if let Some(recorded) = &recorded {
                let one = recorded.get(&*entry.edit_id)?;
                if one.conversation.as_str() != entry.conversation_id {
                    return None;
                }
                let is_first = missing.lock().unwrap_or_else(PoisonError::into_inner).remove(&one.edit);
                if one.status.is_some() && !is_first {
                    return None;
                }
                entry.status = one.status.unwrap_or(entry.status);
            }
            Some(wanted(entry))
        };
        let mut whole = self.logged(conversation, limit, &seen)?;
        for entry in self.render(&missing.into_inner().unwrap_or_else(PoisonError::into_inner))? {
            let is_wanted = wanted(&entry);
            whole.add(entry, is_wanted, limit);
        }
        Ok(whole.finish())
    }

    /// What stands in the logs.
    fn logged(
        &self,
        conversation: Option<&ConversationId>,
        limit: usize,
        wanted: &(impl Fn(&mut LogEntry<'_>) -> Option<bool> + Sync),
    ) -> Result<Part, StoreError> {
        let logs = self.own_folder()?.map(|folder| folder.folder(layout::LOGS)).transpose()?.flatten();
        let Some(logs) = logs else { return Ok(Part::default()) };
        let names = match conversation {
            Some(id) if ConversationId::is_safe(id.as_str()) => vec![format!("{id}.log")],
            Some(_) => Vec::new(),
            None => logs.names("")?,
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let share = names.len().div_ceil(threads).max(1);
        let parts: Vec<Result<Part, StoreError>> = std::thread::scope(|scope| {
            let read = |names| Part::read(&logs, names, limit, wanted);
            let threads: Vec<_> = names.chunks(share).map(|names| scope.spawn(move || read(names))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let mut whole = Part::default();
        for part in parts {
            whole.join(part?, limit);
        }
        Ok(whole)
    }

    /// The entries of edits that are recorded and in no log: a process is just writing them, or has ended before it could.
    fn render(&self, edits: &HashSet<&EditId>) -> Result<Vec<LogEntry<'static>>, StoreError> {
        if edits.is_empty() {
            return Ok(Vec::new());
        }
        let Some((mut reading, folder)) = self.look()? else { return Ok(Vec::new()) };
        let Reading { known, log } = &mut reading;
        let mut render = Render { folder: &folder, log, ledger: &known.ledger };
        // What cannot be read of the record is told by whoever has to read it.
        let lines: Vec<Vec<u8>> = edits.iter().filter_map(|edit| render.log_line(edit).ok()).collect();
        let entry = |line: &Vec<u8>| serde_json::from_slice(line).ok().map(LogEntry::into_owned);
        Ok(lines.iter().filter_map(entry).collect())
    }

    /// The edits that logs may speak of, by their ids; none for all, where nobody vouches for the record, where it takes long to read, and
    /// where it is damaged: then a line of a log may be all that is left of an edit.
    fn recorded(&self) -> Result<Option<HashMap<String, Recorded>>, StoreError> {
        if self.signer().is_none() || !self.glance().is_some_and(Glance::is_quickly_read) {
            return Ok(None);
        }
        let Some((reading, _)) = self.look()? else { return Ok(Some(HashMap::new())) };
        let ledger = &reading.known.ledger;
        let recorded = ledger.edits.iter().map(|(edit, known)| {
            let is_known = ledger.files.get(&known.file).is_some_and(|tracked| tracked.intent.is_none());
            let status = is_known.then(|| known.status());
            let conversation = known.conversation.clone();
            (edit.to_string(), Recorded { edit: edit.clone(), conversation, status })
        });
        Ok(ledger.damage.is_empty().then(|| recorded.collect()))
    }
}

/// What the record says of an edit.
struct Recorded {
    edit: EditId,
    conversation: ConversationId,
    /// None while it is not known what became of a change of its file: then the logs say how it was before.
    status: Option<Status>,
}

/// Parsing is what takes the time. More threads than this gain nothing.
const THREADS: usize = 4;

/// A log of more bytes than this is parsed by several threads.
const LARGE: usize = 1 << 20;

/// Bytes in pieces of about one length, the first apart. Each but the last ends with a line.
fn pieces(bytes: &[u8], count: usize) -> (&[u8], Vec<&[u8]>) {
    let each = bytes.len() / count;
    let line_from = |at: usize| memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1);
    let mut bounds: Vec<usize> = (1..count).map(|piece| line_from(piece * each)).collect();
    bounds.push(bytes.len());
    let others = bounds.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
    (&bytes[..bounds[0]], others)
}

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
        wanted: &(impl Fn(&mut LogEntry<'_>) -> Option<bool> + Sync),
    ) -> Result<Self, StoreError> {
        let mut part = Self::default();
        for name in names {
            let Some(id) = name.strip_suffix(".log") else { continue };
            let bytes = logs.read(name)?.unwrap_or_default();
            // What one thread has read, others help it with if it is much.
            let (first, others) = pieces(&bytes, (bytes.len() / LARGE).clamp(1, THREADS));
            let parts: Vec<(Self, usize)> = std::thread::scope(|scope| {
                let parse = |piece| Self::parse(piece, name, id, limit, wanted);
                let others: Vec<_> =
                    others.into_iter().map(|piece| scope.spawn(move || parse(piece))).collect();
                let first = parse(first);
                let others = others.into_iter().filter_map(|thread| thread.join().ok());
                std::iter::once(first).chain(others).collect()
            });
            let (known, mut before) = (part.listing.damaged.len(), 0);
            for (mut found, lines) in parts {
                found.listing.damaged.iter_mut().for_each(|(_, line)| *line += before);
                before += lines;
                part.join(found, limit);
            }
            let damaged = part.listing.damaged.split_off(known);
            if damaged.is_empty() {
                continue;
            }
            // A status is changed where it stands, and may have been half read.
            let bytes = logs.read(name)?.unwrap_or_default();
            let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            for (log, number) in damaged {
                match lines.get(number - 1).and_then(|line| entry_in(line, id)) {
                    Some(mut entry) => {
                        if let Some(wanted) = wanted(&mut entry) {
                            part.add(entry, wanted, limit);
                        }
                    }
                    None => part.listing.damaged.push((log, number)),
                }
            }
        }
        Ok(part)
    }

    /// What stands in a piece of a log, and how many lines it has.
    fn parse(
        piece: &[u8],
        name: &str,
        id: &str,
        limit: usize,
        wanted: &(impl Fn(&mut LogEntry<'_>) -> Option<bool> + Sync),
    ) -> (Self, usize) {
        let mut part = Self::default();
        let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', piece).collect();
        let count = ends.len();
        // The last line is the newest: all before it that is not to be kept need not be copied.
        while let Some(end) = ends.pop() {
            let line = &piece[ends.last().map_or(0, |before| before + 1)..end];
            let Some(mut entry) = entry_in(line, id) else {
                part.listing.damaged.push((format!("{}/{name}", layout::LOGS), ends.len() + 1));
                continue;
            };
            let Some(wanted) = wanted(&mut entry) else { continue };
            part.add(entry, wanted, limit);
        }
        part.listing.damaged.reverse();
        (part, count)
    }

    /// Counts an entry, and keeps it if it is wanted and among the newest.
    fn add(&mut self, entry: LogEntry<'_>, wanted: bool, limit: usize) {
        self.listing.total += 1;
        if wanted {
            self.listing.matching += 1;
            if self.has_room_for(&entry, limit) {
                self.newest.push(Reverse(Newest(entry.into_owned())));
            }
        }
    }

    /// Whether an entry is among the newest. If it takes the place of the oldest of them, that goes.
    fn has_room_for(&mut self, entry: &LogEntry<'_>, limit: usize) -> bool {
        if limit == 0 || self.newest.len() < limit {
            return true;
        }
        let newer = self.newest.peek().is_none_or(|Reverse(oldest)| key(&oldest.0) < key(entry));
        if newer {
            self.newest.pop();
        }
        newer
    }

    fn join(&mut self, other: Self, limit: usize) {
        self.listing.matching += other.listing.matching;
        self.listing.total += other.listing.total;
        self.listing.damaged.extend(other.listing.damaged);
        for Reverse(entry) in other.newest {
            if self.has_room_for(&entry.0, limit) {
                self.newest.push(Reverse(entry));
            }
        }
    }

    fn finish(mut self) -> Listing {
        let mut entries: Vec<Newest> = self.newest.into_iter().map(|Reverse(entry)| entry).collect();
        entries.sort_by(|one, other| other.cmp(one));
        self.listing.entries = entries.into_iter().map(|Newest(entry)| entry).collect();
        self.listing
    }
}

/// What a line says, if it is an entry of this conversation.
fn entry_in<'a>(line: &'a [u8], conversation: &str) -> Option<LogEntry<'a>> {
    let entry: LogEntry<'a> = serde_json::from_str(std::str::from_utf8(line).ok()?).ok()?;
    (entry.conversation_id == conversation).then_some(entry)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FilesNow;

    struct NoFiles;

    impl FilesNow for NoFiles {
        fn hash(&self, _: &std::path::Path) -> std::io::Result<Option<hashline_text::FileHash>> {
            Ok(None)
        }
    }

    #[test]
    fn a_large_log_is_listed_as_a_small_one_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), "a process");
        assert_eq!(store.session(&NoFiles).unwrap().finish(), [""; 0]);
        let logs = folder.path().join(".mcp/edit_history/logs");
        std::fs::create_dir_all(&logs).unwrap();
        let line = |at: usize| {
            format!(
                r#"{{"edit_id":"e{at}","conversation_id":"conv","tool_call_index":{at},"timestamp":"2026-11-22T00:00:00Z","operation":"edit","file_path":"/{}","source_path":null,"tool_name":"t","status":"pending","diff_file":null,"checkpoint_file":null,"hash_before":null,"hash_after":null}}"#,
                "long/".repeat(60)
            )
        };
        let damaged = [0, 1_234, 5_000, 9_999];
        let lines: Vec<String> =
            (0..10_000).map(|at| if damaged.contains(&at) { "{".to_owned() } else { line(at) }).collect();
        std::fs::write(logs.join("conv.log"), lines.join("\n") + "\n" + &line(10_000)).unwrap();

        let listing = store.list(None, 3, |entry| entry.tool_call_index % 2 == 0).unwrap();
        let newest: Vec<u64> = listing.entries.iter().map(|entry| entry.tool_call_index).collect();
        assert_eq!(newest, [9_998, 9_996, 9_994], "a line that is being written is left out");
        assert_eq!((listing.matching, listing.total), (4_997, 9_996));
        let expected = damaged.map(|at| ("logs/conv.log".to_owned(), at + 1));
        assert_eq!(listing.damaged, expected);
    }

    #[test]
    fn pieces_are_whole_lines_in_order() {
        for (text, count) in [("", 3), ("a\n", 4), ("a\nb\nc\nd\n", 2), ("a\nlong long long\nb\nc", 4)] {
            let (first, others) = pieces(text.as_bytes(), count);
            let all: Vec<&[u8]> = std::iter::once(first).chain(others).collect();
            assert_eq!(all.len(), count);
            assert_eq!(all.concat(), text.as_bytes());
            let whole = |piece: &&[u8]| piece.is_empty() || piece.ends_with(b"\n");
            assert!(all[..count - 1].iter().all(whole), "{text:?}");
        }
    }
}
