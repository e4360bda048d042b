//! Searching texts: what editors have open and what is held in their agent view, everything else as it is on disk.
//!
//! A search goes through files in two steps. The first counts, on several threads; it makes no document and computes no hash.
//! The second reads the first files that have matches, in the order of their names and as an agent would, so that what is shown
//! of them can be edited by that hash. So the answer is the same whichever thread was quicker.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use hashline_history::path::{from_text, to_text};
use hashline_text::Text;
use hashline_weave::View;
use tokio::time::{Instant, timeout_at};

use crate::agent::pattern::{FileGlob, Pattern};
use crate::agent::read::{ReadReply, ReadRequest, blocking};
use crate::closed_documents::check_hard_link;
use crate::disk::{DiskError, Opener, PathRefusal, PathStyle, Roots, identity, is_folder, stamp, walk};
use crate::document_slot::Slot;
use crate::grants::Access;
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Found, Workspace};

/// What an agent looks for, and where.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// What is looked for.
    pub pattern: Pattern,
    /// The file, the folder or the URI of a document to look into; everything that the caller may reach if there is none.
    pub path: Option<String>,
    /// Which files.
    pub glob: Option<FileGlob>,
    /// How much of it is told.
    pub limits: SearchLimits,
}

/// How much a search tells, and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// The most files that lines are told of.
    pub files: usize,
    /// The most lines.
    pub lines: usize,
    /// After this time it is looked no further, and after as long again nothing more is read for the answer.
    pub time: Duration,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct SearchReply {
    /// The first files with matches, by name.
    pub files: Vec<FileMatches>,
    /// The lines with matches in all files.
    pub matches: usize,
    /// How many files have any.
    pub in_files: usize,
    /// Files with matches that are no UTF-8, and not counted above.
    pub not_text: usize,
    /// Files that were not looked into, as they have more than one name and such are refused.
    pub hard_links: usize,
    /// Time was up before everything was looked into.
    pub partial: bool,
}

/// The matches of one file.
#[derive(Clone, Debug)]
pub struct FileMatches {
    /// The document. Say with [`Workspace::shown`] which of its lines the agent really got.
    pub read: ReadReply,
    /// The first lines with a match.
    pub lines: Vec<LineMatch>,
    /// How many there are.
    pub count: usize,
}

/// A line with a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMatch {
    /// The line, counted from 0.
    pub line: usize,
    /// Where the first match stands in its content, in bytes.
    pub place: Range<usize>,
}

/// What is searched.
enum Area {
    /// One document, whatever it is called.
    Document(String),
    /// What lies below some folders.
    Folders(Box<Folders>),
}

struct Folders {
    roots: Roots,
    /// The folders to go through.
    tops: Vec<PathBuf>,
    /// The documents that have another text than the disk, by identity.
    documents: HashMap<String, Arc<Slot>>,
}

impl Workspace {
    /// Searches. Ends when the answer is no longer waited for.
    ///
    /// # Errors
    ///
    /// [`Refusal`]: the path is not served, or there is nothing at it.
    pub async fn search(&self, caller: &Caller, request: &SearchRequest) -> Result<SearchReply, Refusal> {
        self.note_agent(caller);
        let ends = Instant::now() + request.limits.time;
        let (workspace, by, path) = (self.clone(), caller.clone(), request.path.clone());
        let area = blocking(move || workspace.area(&by, path.as_deref())).await?;
        let tally = match area {
            Area::Document(name) => {
                Tally { kept: BTreeMap::from([(PathBuf::from(name), 0)]), ..Tally::default() }
            }
            Area::Folders(folders) => self.hunt(caller, *folders, request, ends).await?,
        };
        self.told_of(caller, request, tally, ends + request.limits.time).await
    }

    /// What a path stands for.
    fn area(&self, caller: &Caller, path: Option<&str>) -> Result<Area, Refusal> {
        let roots = self.roots_of(caller);
        let Some(path) = path else {
            let tops: Vec<PathBuf> = roots.iter().map(|root| root.path().to_owned()).collect();
            let documents = self.searched_documents(caller, |_| true);
            return Ok(Area::Folders(Box::new(Folders { roots, tops, documents })));
        };
        let top = match roots.resolve(path, PathStyle::Any) {
            Ok(place) => {
                let key = crate::workspace::key_of(place.absolute());
                let known = self.inner.slots.get(&key).map(|slot| slot.clone());
                match is_folder(&place) {
                    Ok(true) => place.absolute().to_owned(),
                    Ok(false) => return Ok(Area::Document(place.to_text())),
                    // It may be open and not saved yet, or proposed.
                    Err(DiskError::NotFound { .. } | DiskError::FolderMissing { .. }) if known.is_some() => {
                        return Ok(Area::Document(place.to_text()));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Err(PathRefusal::NotAFile(_)) => return Ok(Area::Document(path.to_owned())),
            // Only what is open there may be reached.
            Err(refusal) => {
                let folder = identity(Path::new(path));
                let documents = self.searched_documents(caller, |document| document.starts_with(&folder));
                return match documents.is_empty() {
                    true => Err(refusal.into()),
                    false => Ok(Area::Folders(Box::new(Folders { roots, tops: Vec::new(), documents }))),
                };
            }
        };
        let documents = self.searched_documents(caller, |document| document.starts_with(&top));
        Ok(Area::Folders(Box::new(Folders { roots, tops: vec![top], documents })))
    }

    /// The documents in an area whose text is not what the disk has, or may not be: those that are open, and those with edits.
    fn searched_documents(
        &self,
        caller: &Caller,
        within: impl Fn(&Path) -> bool,
    ) -> HashMap<String, Arc<Slot>> {
        // Edits that were recorded and not looked at yet.
        self.bring_all_up(&[]);
        let differs = |slot: &Slot| {
            let document = slot.lock();
            document.is_open() || !document.edits().is_empty()
        };
        let slots = self.slots().into_iter();
        let searched =
            slots.filter(|slot| differs(slot) && within(&path_of(slot)) && self.may_reach(caller, slot));
        searched.map(|slot| (slot.key.clone(), slot)).collect()
    }

    /// Counts the matches in an area.
    async fn hunt(
        &self,
        caller: &Caller,
        folders: Folders,
        request: &SearchRequest,
        ends: Instant,
    ) -> Result<Tally, Refusal> {
        for slot in folders.documents.values() {
            // Its recorded edits are part of the agent view.
            let _ = timeout_at(ends, slot.wait_until_ready()).await;
        }
        let hunt = Arc::new(Hunt {
            workspace: self.clone(),
            caller: caller.clone(),
            pattern: request.pattern.clone(),
            glob: request.glob.clone(),
            most: request.limits.files,
            folders,
            met: Mutex::default(),
            tally: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        // Set when this future is dropped, too: nobody waits for the answer any more.
        let stop = StopWhenDropped(hunt.clone());
        let run = tokio::task::spawn_blocking(move || hunt.run());
        let ended = timeout_at(ends, run).await;
        let mut tally = std::mem::take(&mut *stop.0.lock_tally());
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(Refusal::Broken(error.to_string())),
            Err(_) => tally.partial = true,
        }
        Ok(tally)
    }

    /// Reads the files that are told of.
    async fn told_of(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        tally: Tally,
        ends: Instant,
    ) -> Result<SearchReply, Refusal> {
        let Tally { kept, matches, files, hard_links, partial } = tally;
        let one = request.path.is_some() && files == 0 && kept.len() == 1;
        let mut reply =
            SearchReply { matches, in_files: files, hard_links, partial, ..SearchReply::default() };
        // One file does not take the place of all others.
        let for_each = if kept.len() == 1 { request.limits.lines } else { request.limits.lines.div_ceil(4) };
        let mut left = request.limits.lines;
        for (path, counted) in kept {
            if left == 0 {
                break;
            }
            let asked = ReadRequest { path: to_text(&path).into_owned(), view: View::Agent };
            let read = match timeout_at(ends, self.read(caller, &asked)).await {
                Ok(Ok(read)) => read,
                Ok(Err(refusal)) if one => return Err(refusal),
                // It went away, or cannot be read as text after all.
                Ok(Err(refusal)) => {
                    reply.forget(counted);
                    reply.not_text += usize::from(matches!(refusal, Refusal::NotText { .. }));
                    reply.hard_links += usize::from(is_hard_link(&refusal));
                    continue;
                }
                Err(_) => {
                    reply.partial = true;
                    break;
                }
            };
            let (text, pattern, most) = (read.text().clone(), request.pattern.clone(), for_each.min(left));
            let (lines, count) = blocking(move || Ok(matches_in(&text, &pattern, most))).await?;
            reply.forget(counted);
            if count > 0 {
                left -= lines.len();
                reply.matches += count;
                reply.in_files += 1;
                reply.files.push(FileMatches { read, lines, count });
            }
        }
        Ok(reply)
    }
}

impl SearchReply {
    /// Takes a file out of the sums that was counted with as many matches.
    fn forget(&mut self, counted: usize) {
        if counted > 0 {
            self.matches = self.matches.saturating_sub(counted);
            self.in_files = self.in_files.saturating_sub(1);
        }
    }
}

/// The first lines with a match, and how many there are.
fn matches_in(text: &Text, pattern: &Pattern, most: usize) -> (Vec<LineMatch>, usize) {
    let mut lines = Vec::new();
    let mut count = 0;
    for (line, content) in text.all_lines().enumerate() {
        if let Some(place) = pattern.find(&content.content()) {
            count += 1;
            if lines.len() < most {
                lines.push(LineMatch { line, place });
            }
        }
    }
    (lines, count)
}

/// What was counted.
#[derive(Debug, Default)]
struct Tally {
    /// The first files with matches, by name, and how many each has.
    kept: BTreeMap<PathBuf, usize>,
    matches: usize,
    files: usize,
    hard_links: usize,
    partial: bool,
}

/// The first step of a search that is under way.
struct Hunt {
    workspace: Workspace,
    caller: Caller,
    pattern: Pattern,
    glob: Option<FileGlob>,
    /// How many files are kept.
    most: usize,
    folders: Folders,
    /// The documents that were come upon.
    met: Mutex<HashSet<String>>,
    tally: Mutex<Tally>,
    stop: AtomicBool,
}

struct StopWhenDropped(Arc<Hunt>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

impl Hunt {
    fn run(self: &Arc<Self>) {
        let entering = self.clone();
        let enter = move |folder: &Path| !entering.is_stopped() && !entering.is_answered_elsewhere(folder);
        walk(&self.folders.roots, &self.folders.tops, enter, || {
            let mut searcher = SearcherBuilder::new()
                .line_terminator(LineTerminator::crlf())
                .binary_detection(BinaryDetection::quit(0))
                .line_number(false)
                .build();
            move |path: &Path, opener: &mut Opener| {
                if self.takes(path) {
                    self.visit(path, opener, &mut searcher);
                }
                !self.is_stopped()
            }
        });
        let met = std::mem::take(&mut *self.met.lock().unwrap_or_else(PoisonError::into_inner));
        for (key, slot) in &self.folders.documents {
            let path = path_of(slot);
            if !self.is_stopped()
                && !met.contains(key)
                && self.takes(&path)
                && self.is_beyond_the_walk(&path, slot)
            {
                self.visit_document(path, slot);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn lock_tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another process searches what lies there and nobody has open.
    fn is_answered_elsewhere(&self, path: &Path) -> bool {
        self.workspace.inner.others.get().is_some_and(|others| others.answer_for(path))
    }

    fn takes(&self, path: &Path) -> bool {
        let roots = self.folders.roots.iter().map(|root| root.path());
        let mut from = roots.chain(self.folders.tops.iter().map(PathBuf::as_path));
        self.glob.as_ref().is_none_or(|glob| glob.takes(path, &mut from))
            && self.caller.may(Access::Read, path)
    }

    fn visit(&self, path: &Path, opener: &mut Opener, searcher: &mut Searcher) {
        let key = to_text(path);
        if let Some(slot) = self.folders.documents.get(&*key) {
            self.met.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into_owned());
            self.visit_document(path.to_owned(), slot);
        } else if !self.is_answered_elsewhere(path) {
            let file = match opener.open(path) {
                Ok(Some(file)) => file,
                Ok(None) => return,
                Err(_) => return self.leave_out(),
            };
            let mut count = Count { stop: &self.stop, lines: 0, is_binary: false };
            let searched = searcher.search_file(self.pattern.matcher(), &file, &mut count);
            if searched.is_ok() && !count.is_binary {
                self.found(path.to_owned(), count.lines);
            }
        }
    }

    fn visit_document(&self, path: PathBuf, slot: &Arc<Slot>) {
        let (open, place) = (slot.lock().is_open(), slot.place());
        let place = place.map(|place| place.with_hard_links(self.folders.roots.hard_links()));
        let found = || Found { key: slot.key.clone(), slot: Some(slot.clone()), place: place.clone() };
        // Of one that nobody has open the disk has the last word.
        if !open && self.is_answered_elsewhere(&path) {
            return;
        }
        let loaded = if open { check_hard_link(&found()) } else { self.workspace.load(&found()).map(drop) };
        if let Err(refusal) = loaded {
            if is_hard_link(&refusal) {
                self.leave_out();
            }
            return;
        }
        let text = {
            let mut document = slot.lock();
            let is_gone = place.is_some() && !document.exists_for_agents();
            if is_gone { None } else { document.serve(View::Agent).ok().map(|served| served.text().clone()) }
        };
        if let Some(text) = text {
            self.found(path, matches_in(&text, &self.pattern, 0).1);
        }
    }

    /// Whether a document that the walk did not come upon is to be searched all the same: one that has no file yet, or that lies where
    /// the walk did not go. One that the walk has left out, as ignore files name it, is not.
    fn is_beyond_the_walk(&self, path: &Path, slot: &Slot) -> bool {
        let Some(top) = self.folders.tops.iter().find(|top| path.starts_with(top)) else { return true };
        let is_hidden = path.strip_prefix(top).is_ok_and(crate::disk::is_hidden);
        let has_no_file = || slot.place().is_none_or(|place| stamp(&place).is_err());
        !is_hidden && (has_no_file() || self.is_answered_elsewhere(path))
    }

    fn leave_out(&self) {
        self.lock_tally().hard_links += 1;
    }

    fn found(&self, path: PathBuf, count: usize) {
        if count == 0 {
            return;
        }
        let mut tally = self.lock_tally();
        tally.matches += count;
        tally.files += 1;
        tally.kept.insert(path, count);
        if tally.kept.len() > self.most {
            tally.kept.pop_last();
        }
    }
}

fn is_hard_link(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Disk(DiskError::HardLink { .. }))
}

/// Where a document lies; of one without a file its URI.
fn path_of(slot: &Slot) -> PathBuf {
    match slot.place() {
        Some(place) => place.absolute().to_owned(),
        None => from_text(&slot.key).map_or_else(|| PathBuf::from(&slot.key), Cow::into_owned),
    }
}

/// Counts the lines with a match of one file.
struct Count<'a> {
    stop: &'a AtomicBool,
    lines: usize,
    is_binary: bool,
}

impl Sink for Count<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines += found.lines().count();
        Ok(!self.stop.load(Ordering::Relaxed))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;
    use crate::record::Histories;
    use crate::settings::Settings;

    fn request(pattern: &str, time: Duration) -> SearchRequest {
        let limits = SearchLimits { files: 3, lines: 8, time };
        SearchRequest { pattern: Pattern::new(pattern).unwrap(), path: None, glob: None, limits }
    }

    #[tokio::test]
    async fn the_answer_is_the_same_each_time_and_loads_only_what_it_tells_of() {
        let temp = tempfile::tempdir().unwrap();
        for number in 0..200 {
            let lines = if number % 2 == 0 { "x\nx\rx\r\n" } else { "none\n" };
            std::fs::write(temp.path().join(format!("{number:03}.txt")), lines).unwrap();
        }
        let roots = Roots::open([temp.path()]).unwrap();
        let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        let caller = Caller::anywhere("tester", "1");
        let asked = request("^x$", Duration::from_secs(60));
        for _ in 0..3 {
            let found = workspace.search(&caller, &asked).await.unwrap();
            let names: Vec<&str> =
                found.files.iter().map(|file| &file.read.name[file.read.name.len() - 7..]).collect();
            assert_eq!(names, ["000.txt", "002.txt", "004.txt"]);
            let lines: Vec<Vec<usize>> =
                found.files.iter().map(|file| file.lines.iter().map(|found| found.line).collect()).collect();
            assert_eq!(lines, [vec![0, 1], vec![0, 1], vec![0, 1]], "each has its share");
            assert_eq!((found.in_files, found.partial), (100, false));
            assert!(found.files.iter().all(|file| file.count == 3), "a lone carriage return ends a line");
        }
        assert_eq!(workspace.slots().len(), 3);
    }

    #[tokio::test]
    async fn without_time_the_answer_says_that_it_is_a_part() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a.txt"), "x\n").unwrap();
        let roots = Roots::open([temp.path()]).unwrap();
        let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        let caller = Caller::anywhere("tester", "1");
        let found = workspace.search(&caller, &request("x", Duration::ZERO)).await.unwrap();
        assert!(found.partial);
    }
}
