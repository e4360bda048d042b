//! The owner of all documents: finds the one that a path means, and sees to it that what happens to it is recorded and told.
//!
//! # Locks
//!
//! In this order, and never one of an earlier kind while a later one is held: the agents' queue of a document, the history,
//! the document itself. A document is locked for the time in which its runs are touched: not over IO, hashing, waiting or
//! another lock. What the editor says takes the document's lock alone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use dashmap::DashMap;
use hashline_history::path::to_text;
use hashline_history::{AgentName, Connection};
use tokio::sync::{mpsc, watch};

use crate::conversation_openers::Openers;
use crate::disk::{DiskError, HardLinks, PathRefusal, PathStyle, Place, Roots, identity, path_of_file_uri};
use crate::document::{FileOperations, Millis, News, Reports};
use crate::document_slot::Slot;
use crate::grants::{Access, Grants};
use crate::record::{Histories, Job, Jobs};
use crate::refusal_messages::Refusal;
use crate::settings::{Settings, SettingsByFolder};
use crate::waiting_agents::WaitingAgents;

/// As many names of agents that have called are kept.
const AGENTS: usize = 64;

/// An agent, as far as a call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name that it gave itself.
    pub agent: AgentName,
    /// The connection that it came through.
    pub connection: Connection,
    /// The folders that it may reach; none for all that is served.
    pub roots: Option<Vec<PathBuf>>,
    /// What it may do in them; none for everything.
    pub grants: Option<Grants>,
    /// Whether it is offered the tools of the review. What is not offered is not named.
    pub reviews: bool,
    /// Whether it is served files that have more than one name; nobody is where the settings refuse them.
    pub hard_links: HardLinks,
}

/// Something that the editor's side has to see to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The review of a document has changed.
    Review(String),
    /// There may be something to deliver to a document.
    Deliver(String),
    /// The person should be told.
    Notice(String),
    /// Other agents than before [wait](Workspace::waiting_agents) for decisions.
    Waiting,
}

/// Whether the text of a file is in another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenElsewhere {
    /// It is in none.
    No,
    /// An editor has it open, or may be given it at any moment.
    Yes,
    /// An editor may have it open, and does not say in time.
    NoAnswer {
        /// The name of the editor.
        editor: String,
    },
}

/// The other processes that edit files here, and what this one is called among them.
pub trait Others: Send + Sync {
    /// Whether the text of a file is in another process by now.
    fn has(&self, path: &Path) -> OpenElsewhere;

    /// Whether the text of a file may be in another process by now.
    fn may_have(&self, path: &Path) -> bool {
        self.has(path) != OpenElsewhere::No
    }

    /// Whether another process tells agents of the edits of a file that no editor has open.
    fn answer_for(&self, path: &Path) -> bool;

    /// The folders that they serve.
    fn roots(&self) -> Vec<PathBuf>;

    /// What this process is called in the record where it claims the edits of its editor's documents; none of one without an editor.
    fn own_name(&self) -> Option<&str>;

    /// The editor of the process that is called so, as long as it runs.
    fn editor_of(&self, name: &str) -> Option<String>;
}

/// All documents of one editor, or of none.
#[derive(Clone)]
pub struct Workspace {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub roots: RwLock<Roots>,
    /// No roots, and what is closed in all that are served.
    closed: Roots,
    pub narrowed: DashMap<Vec<PathBuf>, Roots>,
    pub settings: RwLock<SettingsByFolder>,
    /// What the editor does with files when it is asked.
    pub file_operations: RwLock<FileOperations>,
    /// What the editor says of its changes.
    pub reports: OnceLock<Reports>,
    /// By identity: the path with all links followed, or the URI of a document without a file.
    pub slots: DashMap<String, Arc<Slot>>,
    /// The documents that the editor has open, by the URI that it uses. A file that is open under two names has two: the one that
    /// is in `slots` is the one that agents work in.
    pub open: DashMap<String, Arc<Slot>>,
    /// Folders in which what a crash may have left behind has been removed.
    pub swept: DashMap<PathBuf, ()>,
    pub histories: Histories,
    pub jobs: Jobs,
    pub openers: Openers,
    pub agents: Mutex<Vec<AgentName>>,
    pub waiting: WaitingAgents,
    /// Counts what may change how edits stand: what agents wait for who wait for decisions.
    pub decisions: watch::Sender<u64>,
    /// Counts what may change any answer to an agent.
    pub changes: watch::Sender<u64>,
    pub events: mpsc::UnboundedSender<Event>,
    /// Who else may have a file open by now.
    pub others: OnceLock<Arc<dyn Others>>,
    started: Instant,
}

impl Workspace {
    /// A workspace over these roots; what is closed in them is closed in all that come later. What the editor's side has to see to comes out of the receiver; without an editor it may
    /// be dropped.
    #[must_use]
    pub fn new(
        roots: Roots,
        settings: Settings,
        histories: Histories,
    ) -> (Self, mpsc::UnboundedReceiver<Event>) {
        let (events, receiver) = mpsc::unbounded_channel();
        let inner = Inner {
            closed: roots.none(),
            roots: RwLock::new(roots),
            narrowed: DashMap::new(),
            settings: RwLock::new(settings.into()),
            file_operations: RwLock::default(),
            reports: OnceLock::new(),
            slots: DashMap::new(),
            open: DashMap::new(),
            swept: DashMap::new(),
            histories,
            jobs: Jobs::default(),
            agents: Mutex::new(Vec::new()),
            waiting: WaitingAgents::default(),
            openers: Openers::default(),
            decisions: watch::Sender::new(0),
            changes: watch::Sender::new(0),
            events,
            others: OnceLock::new(),
            started: Instant::now(),
        };
        (Self { inner: Arc::new(inner) }, receiver)
    }

    /// The present moment of this workspace's clock.
    #[must_use]
    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.inner.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// The folders that are served.
    #[must_use]
    pub fn roots(&self) -> Vec<PathBuf> {
        self.read_roots().iter().map(|root| root.path().to_owned()).collect()
    }

    pub(crate) fn read_roots(&self) -> Roots {
        self.inner.roots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens folders as roots, without what is closed.
    ///
    /// # Errors
    /// One of them cannot be a root.
    pub fn open_roots<P: AsRef<Path>>(
        &self,
        folders: impl IntoIterator<Item = P>,
    ) -> Result<Roots, DiskError> {
        self.inner.closed.others(folders)
    }

    /// Serves other folders from now on: open documents come to lie in a root, or in none any more.
    pub fn set_roots(&self, roots: Roots) {
        *self.inner.roots.write().unwrap_or_else(PoisonError::into_inner) = roots;
        self.inner.narrowed.clear();
        self.inner.histories.forget();
        for slot in self.slots() {
            let uri = {
                let document = slot.lock();
                document.is_open().then(|| document.uri().to_owned())
            };
            // What an editor has closed stays where it was: what is decided about it yet is about that file.
            if let Some(uri) = uri {
                slot.set_place(self.place_of(&uri));
            }
        }
        self.later(Job::Offer);
        if self.is_one_of_several() {
            self.look_below();
        }
    }

    /// Asks about other processes: each time right before a file is written, with everything computed, whether one has it. Then it
    /// is not written ([`Refusal::TakenOver`], [`Refusal::NoAnswer`]). The first that are given stay.
    pub fn mind(&self, others: Arc<dyn Others>) {
        if self.inner.others.set(others).is_ok() && self.is_one_of_several() {
            self.later(Job::Watch);
        }
    }

    /// Treats edits by other settings from now on. Folders may be named by any of their names.
    pub fn set_settings(&self, settings: impl Into<SettingsByFolder>) {
        let mut settings = settings.into();
        for (folder, _) in &mut settings.of_folders {
            *folder = identity(folder);
        }
        *self.inner.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> SettingsByFolder {
        self.inner.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those of a document; what has no file has those of no folder.
    #[must_use]
    pub fn settings_of(&self, uri: &str) -> Settings {
        let file = self.slot_of(uri).and_then(|slot| slot.place());
        let settings = self.inner.settings.read().unwrap_or_else(PoisonError::into_inner);
        file.map_or(&settings.everywhere, |place| settings.of(place.absolute())).clone()
    }

    /// The agents that have called, those that were new last.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentName> {
        self.inner.agents.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_agent(&self, caller: &Caller) {
        let mut agents = self.inner.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if agents.contains(&caller.agent) {
            return;
        }
        // Whoever calls may take another name each time.
        if agents.len() == AGENTS {
            agents.remove(0);
        }
        agents.push(caller.agent.clone());
    }

    /// The document that a caller's path means, if the caller may read it.
    pub(crate) fn find(&self, caller: &Caller, path: &str) -> Result<Found, Refusal> {
        let found = self.find_served(caller, path)?;
        caller.check(Access::Read, found.place.as_ref(), path)?;
        Ok(found)
    }

    /// The same, if the caller may change it.
    pub(crate) fn find_to_write(&self, caller: &Caller, path: &str) -> Result<Found, Refusal> {
        let found = self.find_served(caller, path)?;
        caller.check(Access::Write, found.place.as_ref(), path)?;
        if let Some(place) = &found.place {
            place.check_write()?;
        }
        Ok(found)
    }

    fn find_served(&self, caller: &Caller, path: &str) -> Result<Found, Refusal> {
        match self.roots_of(caller).resolve(path, PathStyle::Any) {
            Ok(place) => {
                let key = key_of(place.absolute());
                let slot = self.inner.slots.get(&key).map(|slot| slot.clone());
                Ok(Found { key, slot, place: Some(place) })
            }
            Err(PathRefusal::NotAFile(uri)) => {
                let slot = self.inner.open.get(&uri).map(|slot| slot.clone());
                match slot.filter(|slot| slot.place().is_none() && !uri.starts_with("file:")) {
                    Some(slot) => Ok(Found { key: uri, slot: Some(slot), place: None }),
                    None => Err(PathRefusal::NotAFile(uri).into()),
                }
            }
            Err(refusal) => match self.outside(caller, path) {
                Some(found) => Ok(found),
                None => Err(refusal.into()),
            },
        }
    }

    /// Whether a caller is served files that have more than one name.
    pub(crate) fn hard_links_for(&self, caller: &Caller) -> HardLinks {
        let settings = self.inner.settings.read().unwrap_or_else(PoisonError::into_inner);
        caller.hard_links.and(settings.hard_links())
    }

    /// The roots that a caller may reach, with all that is refused to it in them.
    pub(crate) fn roots_of(&self, caller: &Caller) -> Roots {
        self.reached_by(caller).with_hard_links(self.hard_links_for(caller))
    }

    fn reached_by(&self, caller: &Caller) -> Roots {
        let Some(folders) = &caller.roots else { return self.read_roots() };
        if let Some(known) = self.inner.narrowed.get(folders) {
            return known.clone();
        }
        // Held until the answer is kept: roots that are set meanwhile forget all answers afterwards.
        let roots = self.inner.roots.read().unwrap_or_else(PoisonError::into_inner);
        let narrowed = roots.narrowed_to(folders);
        // A folder that is not there yet may be there with the next call.
        if narrowed.len() >= folders.len() {
            self.inner.narrowed.insert(folders.clone(), narrowed.clone());
        }
        narrowed
    }

    /// An open document outside the roots that are served, for a caller whose own roots hold it.
    fn outside(&self, caller: &Caller, path: &str) -> Option<Found> {
        let folders = caller.roots.as_ref()?;
        let roots = self.open_roots(folders.iter().filter(|folder| folder.is_dir())).ok()?;
        let roots = roots.with_hard_links(self.hard_links_for(caller));
        let place = roots.resolve(path, PathStyle::Any).ok()?;
        let key = key_of(place.absolute());
        let slot = self.inner.slots.get(&key)?.clone();
        slot.lock().is_open().then_some(())?;
        Some(Found { key, slot: Some(slot), place: Some(place) })
    }

    /// The place of a document that an editor has open under this URI.
    pub(crate) fn place_of(&self, uri: &str) -> Option<Place> {
        self.read_roots().identify(&path_of_file_uri(uri).ok()?)
    }

    /// Lets those look who watch for changes.
    pub(crate) fn changed(&self) {
        self.inner.changes.send_modify(|count| *count += 1);
    }

    /// Sees to what has come up in a document: records, tells, delivers. `slot` is not locked.
    pub(crate) fn attend(&self, slot: &Arc<Slot>) {
        let news = slot.lock().take_news();
        self.attend_to(slot, news);
    }

    /// Sees to this news of a document.
    pub(crate) fn attend_to(&self, slot: &Arc<Slot>, news: News) {
        let (unrecorded, notices, uri) = {
            let mut document = slot.lock();
            if news == News::default() {
                return;
            }
            let uri = document.uri().to_owned();
            (document.has_unrecorded(), document.take_notices(), uri)
        };
        self.changed();
        if unrecorded {
            self.later(Job::Record(slot.clone()));
        }
        notices.into_iter().for_each(|notice| self.notice(notice));
        if news.deliver {
            let _ = self.inner.events.send(Event::Deliver(uri.clone()));
        }
        if news.review || news.decided || news.moved {
            let _ = self.inner.events.send(Event::Review(uri));
        }
        if news.review || news.decided {
            self.inner.decisions.send_modify(|count| *count += 1);
        }
    }
}

/// What a path leads to.
pub(crate) struct Found {
    pub key: String,
    pub slot: Option<Arc<Slot>>,
    pub place: Option<Place>,
}

/// The identity of a document that has a file.
pub(crate) fn key_of(path: &Path) -> String {
    to_text(path).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use hashline_text::{DocVersion, Encoding};

    use super::*;
    use std::sync::atomic::Ordering;

    use crate::agent::EditRequest;
    use crate::document::Change;

    const UNTITLED: &str = "untitled:Untitled-1";

    #[tokio::test]
    async fn a_key_wakes_who_waits_for_decisions_only_where_a_held_edit_is() {
        use crate::document::ContentChange;
        use hashline_text::{Position, Span};
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, mut events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        workspace.did_open(UNTITLED, "text", DocVersion(1), Encoding::Utf16, &text);
        let request = request(&text.replace("line 50", "new"));
        workspace.edit(&Caller::anywhere("tester", "1"), request).await.unwrap();
        workspace.settle_record();
        let mut waits = workspace.inner.decisions.subscribe();
        let mut version = 1;
        let mut wakes = |line: u32, new: &str| {
            version += 1;
            let at = Position::new(line, 0);
            let change = ContentChange { span: Some(Span::new(at, at)), text: new.to_owned() };
            waits.mark_unchanged();
            while events.try_recv().is_ok() {}
            workspace.did_change(UNTITLED, DocVersion(version), &[change]).unwrap();
            let told = std::iter::from_fn(|| events.try_recv().ok());
            assert_eq!(told.filter(|event| matches!(event, Event::Review(_))).count(), 1, "places move");
            waits.has_changed().unwrap()
        };
        assert!(!wakes(10, "x") && !wakes(10, "x") && !wakes(90, "x") && !wakes(10, "new line\n"));
        assert!(wakes(51, "x"), "it is a conflict now");
    }

    #[test]
    fn of_the_names_that_agents_give_themselves_the_last_are_kept() {
        let (workspace, _events) =
            Workspace::new(Roots::default(), Settings::default(), Histories::of("a test"));
        for number in 0..3 * AGENTS {
            workspace.note_agent(&Caller::anywhere(&format!("agent {number}"), "1"));
            workspace.note_agent(&Caller::anywhere("agent 0", "1"));
        }
        let agents = workspace.agents();
        assert_eq!(agents.len(), AGENTS);
        assert!(agents.contains(&"agent 0".into()), "one that calls all the time is not gone");
        assert!(agents.contains(&format!("agent {}", 3 * AGENTS - 1).into()));
    }

    fn request(text: &str) -> EditRequest {
        EditRequest {
            path: UNTITLED.to_owned(),
            file_hash: None,
            change: Change::whole(text),
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "write_file".to_owned(),
            reason: None,
        }
    }

    /// Its editor hears of a document from more than one thread: one may take the news while there is only a guess, which is not shown.
    #[tokio::test]
    async fn edits_are_told_of_when_they_are_no_guess_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, mut events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
        workspace.did_open(UNTITLED, "text", DocVersion(1), Encoding::Utf16, "one\n");
        workspace.edit(&Caller::anywhere("tester", "1"), request("two\n")).await.unwrap();
        workspace.settle_record();
        let slot = workspace.open_slot(UNTITLED).unwrap();
        slot.guessed.store(true, Ordering::Relaxed);
        slot.lock().news_of_edits();
        workspace.attend(&slot);
        assert!(workspace.reviews().is_empty());
        while events.try_recv().is_ok() {}
        slot.ready();
        workspace.attend(&slot);
        let told = std::iter::from_fn(|| events.try_recv().ok());
        assert_eq!(told.filter(|event| matches!(event, Event::Review(_))).count(), 1);
        assert_eq!(workspace.reviews().len(), 1);
    }
}
