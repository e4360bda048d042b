//! Decisions about files that an editor has open go through its sidecar: the text is there, unsaved work included.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hashline_history::{DocumentName, FileId, HunkRef, Session, Store, StoreError, Why};
use hashline_link::{
    Client, Decide, DecideOutcome, DecideResult, Decision, Held, Sidecar, StateDir, discover,
};
use hashline_terminal::Failure;
use hashline_workspace::document::Along;
use hashline_workspace::{OpenElsewhere, Others, Rehearsal};
use tokio::runtime::Runtime;
use tokio::time::error::Elapsed;

use super::decider::{Answer, Choice, Decider, Disk, Mine, Refusal, Target, Wish, requests};
use super::messages;

/// How long an editor may take to say what it has.
const LIMIT: Duration = Duration::from_secs(5);
/// How long it may take over a decision.
const DECISION: Duration = Duration::from_secs(30);

/// Decides where the text is: in the editor that has the file open, else on the disk.
pub struct Everywhere<'a> {
    store: &'a Store,
    runtime: Runtime,
    disk: Disk,
    sidecars: Vec<Sidecar>,
}

impl<'a> Everywhere<'a> {
    /// Finds out who is there.
    pub fn new(store: &'a Store, state: StateDir) -> Result<Self, Failure> {
        let sidecars = discover(&state);
        let runtime =
            runtime().map_err(|error| Failure::broken(format!("no threads to work with: {error}")))?;
        let path = state.path().to_owned();
        let disk = Disk::new(store, &path, Arc::new(Editors { state }))?;
        Ok(Self { store, disk, runtime, sidecars })
    }

    /// Finishes or takes back what a process left unfinished that was killed, and says what, in sentences.
    pub fn mended(&self) -> Vec<String> {
        self.disk.mended(self.store)
    }

    /// Takes the history to work on it.
    pub fn session(&self) -> Result<Session, StoreError> {
        self.disk.session(self.store)
    }

    /// Whether the process of this name runs.
    pub fn runs(&self, owner: &str) -> bool {
        self.sidecars.iter().any(|sidecar| sidecar.id.as_str() == owner)
    }

    /// Finds out what would come of several decisions, to make them as one.
    pub fn rehearsal(&self) -> Trial<'_> {
        Trial { so_far: SoFar::of(&self.disk), before: SoFar::of(&self.disk), of: self }
    }

    /// What the files are called now. What cannot be read is told by whoever decides.
    fn names(&self) -> HashMap<FileId, DocumentName> {
        let documents = self.store.documents().unwrap_or_default();
        documents.into_iter().map(|document| (document.file, document.name)).collect()
    }

    /// Makes decisions that were rehearsed about files that no editor has open, as one.
    fn switch(&self, rehearsal: &Rehearsal, steps: Range<usize>, parts: &[Arc<Part<'_>>]) -> Answer {
        let mut notes = self.disk.notices();
        let mut answer = Answer::from(rehearsal.make(steps, &self.names()));
        for refused in &mut answer.refused {
            refused.document = document_of(refused, parts);
        }
        notes.extend(self.disk.notices());
        Answer { notes, ..answer }
    }

    /// The wish, with the files called what they are called now: an earlier decision may have given them other names.
    fn renamed(&self, wish: &Wish) -> Wish {
        let names = self.names();
        let mut wish = wish.clone();
        for edit in &mut wish.edits {
            if let Some(name) = names.get(&edit.file) {
                edit.document.clone_from(name);
            }
        }
        wish
    }
}

/// The editors that run at any moment.
struct Editors {
    state: StateDir,
}

impl Editors {
    /// Whether a sidecar has something of a file that counts.
    fn have(&self, path: &Path, counts: impl Fn(&Held) -> bool) -> OpenElsewhere {
        let sidecars = discover(&self.state);
        if sidecars.is_empty() {
            return OpenElsewhere::No;
        }
        match runtime_of_its_own(holders(&sidecars, path)) {
            Some(Ok(holders)) if !holders.iter().any(|(_, held)| counts(held)) => OpenElsewhere::No,
            Some(Err(silent)) => OpenElsewhere::NoAnswer { editor: silent.editor },
            // Where they cannot be asked one may have it.
            Some(Ok(_)) | None => OpenElsewhere::Yes,
        }
    }
}

impl Others for Editors {
    /// Between the question before and the write an editor may have been started. What it only knows of undecided edits is not a text.
    fn has(&self, path: &Path) -> OpenElsewhere {
        self.have(path, |held| held.open)
    }

    fn answer_for(&self, path: &Path) -> bool {
        self.have(path, |_| true) != OpenElsewhere::No
    }

    fn roots(&self) -> Vec<PathBuf> {
        discover(&self.state).into_iter().flat_map(|sidecar| sidecar.roots).collect()
    }

    fn own_name(&self) -> Option<&str> {
        None
    }

    fn editor_of(&self, name: &str) -> Option<String> {
        discover(&self.state)
            .into_iter()
            .find(|sidecar| sidecar.id.as_str() == name)
            .map(|sidecar| sidecar.editor)
    }
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn runtime_of_its_own<T>(work: impl Future<Output = T>) -> Option<T> {
    runtime().ok().map(|runtime| runtime.block_on(work))
}

impl Decider for Everywhere<'_> {
    fn decide(&mut self, wish: &Wish) -> Answer {
        self.decide_now(wish)
    }

    fn look_at(&mut self, wish: &Wish) -> Answer {
        let mut trial = self.rehearsal();
        let answer = trial.decide(wish);
        match trial.so_far.collision() {
            Some(taken) => Answer { refused: vec![taken], ..Answer::default() },
            None => answer,
        }
    }
}

impl Everywhere<'_> {
    fn decide_now(&self, wish: &Wish) -> Answer {
        let wish = self.renamed(wish);
        self.runtime.block_on(async {
            let files = match self.files(&wish).await {
                Ok(files) => files,
                Err(refused) => return refused,
            };
            let mut all = Answer::default();
            for File { id, name, holder } in files {
                let one = match holder {
                    Some(sidecar) => each_through(sidecar, name, &wish).await,
                    None => self.disk.decide(&wish, name, id).await,
                };
                all.add(about(name, one));
            }
            all
        })
    }
}

/// Decides nothing yet, but finds out what would come of it; then all of it can be made as one.
pub struct Trial<'a> {
    so_far: SoFar<'a>,
    /// The same without the wish that is tried.
    before: SoFar<'a>,
    of: &'a Everywhere<'a>,
}

/// What would be decided.
#[derive(Clone)]
struct SoFar<'a> {
    on_disk: Rehearsal,
    /// The files that editors decide about, as far as they got by then.
    in_editors: HashMap<FileId, InEditor>,
    /// What the wishes that are kept came to, file by file.
    parts: Vec<Arc<Part<'a>>>,
    /// How many wishes are kept.
    kept: usize,
}

/// What a wish comes to in one file.
struct Part<'a> {
    /// The wish, by its place among those that are kept.
    of: usize,
    /// The same of this file alone.
    wish: Wish,
    file: DocumentName,
    /// The sidecar that is to decide.
    holder: Option<&'a Sidecar>,
    decided: Vec<HunkRef>,
}

impl SoFar<'_> {
    fn of(disk: &Disk) -> Self {
        Self { on_disk: disk.rehearsal(), in_editors: HashMap::new(), parts: Vec::new(), kept: 0 }
    }

    /// What stands against making it so far, if two files would have one name.
    fn collision(&self) -> Option<Refusal> {
        let taken = Refusal::from(self.on_disk.collision()?);
        Some(Refusal { document: document_of(&taken, &self.parts), ..taken })
    }
}

/// A file that an editor decides about.
#[derive(Clone)]
struct InEditor {
    /// What the editor would have been told by then.
    told: Vec<Decide>,
    /// Where the file would be by then; none if it would not be there.
    path: Option<PathBuf>,
}

impl Decider for Trial<'_> {
    fn decide(&mut self, wish: &Wish) -> Answer {
        let wish = self.of.renamed(wish);
        let files = match self.of.runtime.block_on(self.of.files(&wish)) {
            Ok(files) => files,
            Err(refused) => return refused,
        };
        let before = self.so_far.clone();
        let mut all = Answer::default();
        for File { id, name, holder } in files {
            let one = match holder {
                Some(sidecar) => self.through(sidecar, id, name, &wish),
                None => Answer::from(self.so_far.on_disk.decide(name.as_path(), id, &requests(&wish))),
            };
            if one.refused.is_empty() {
                let (decided, file) = (one.decided.clone(), name.clone());
                let edits = wish.edits.iter().filter(|edit| edit.file == id).cloned().collect();
                let wish = Wish { edits, ..wish.clone() };
                let part = Part { of: self.so_far.kept, wish, file, holder, decided };
                self.so_far.parts.push(Arc::new(part));
            }
            all.add(about(name, one));
            if all.refused.iter().any(|refusal| refusal.why != Why::Gone) {
                // What is wanted of several files is not done in some of them.
                self.so_far = before;
                all.decided.clear();
                break;
            }
        }
        all
    }

    fn look_at(&mut self, wish: &Wish) -> Answer {
        let before = self.so_far.clone();
        let answer = self.decide(wish);
        self.so_far = before;
        answer
    }
}

impl Trial<'_> {
    /// Whether it needs the wish that was tried that two files have one name for a while. Files on the disk may: all of those that follow on each
    /// other are changed at once.
    pub fn shares_names(&self) -> bool {
        self.so_far.on_disk.shared_names() > self.before.on_disk.shared_names()
    }

    /// What stands against making all that is kept, if two files would have one name in the end.
    pub fn collision(&self) -> Option<Refusal> {
        self.before.collision()
    }

    /// The wish that was tried is to be made with the others.
    pub fn keep(&mut self) {
        self.so_far.kept += 1;
        self.before = self.so_far.clone();
    }

    /// The wish that was tried is as if it had not been.
    pub fn forget(&mut self) {
        self.so_far = self.before.clone();
    }

    /// Makes all that is kept, in its order, and says of each wish what came of it. What follows on each other on the disk is done as a whole or
    /// not at all. Where something is refused after all, what comes behind it is as well.
    pub fn make(self) -> Vec<Answer> {
        let Trial { before: SoFar { on_disk, parts, kept, .. }, of, .. } = self;
        let mut answers = vec![Answer::default(); kept];
        let (mut made, mut left) = (0, parts.len());
        for run in parts.chunk_by(|one, next| one.holder.is_none() && next.holder.is_none()) {
            let first = &run[0];
            let mut answer = match first.holder {
                Some(_) => of.decide_now(&first.wish),
                None => {
                    let steps = made..made + run.len();
                    made = steps.end;
                    of.switch(&on_disk, steps, run)
                }
            };
            left -= run.len();
            // What came to a conversation since it was rehearsed is decided with the first of its files.
            for part in &run[1..] {
                let own = |hunk: &mut HunkRef| part.decided.contains(hunk);
                answers[part.of].decided.extend(answer.decided.extract_if(.., own));
            }
            let is_made = answer.refused.is_empty();
            answers[first.of].add(answer);
            if !is_made {
                // Where nothing is decided yet, the one reason for that is enough.
                let has_begun = answers.iter().any(|answer| !answer.decided.is_empty());
                for part in parts[parts.len() - left..].iter().filter(|_| has_begun) {
                    let hunk = part.decided.first().map_or_else(String::new, ToString::to_string);
                    let refused = refusal(hunk, Why::Failed, messages::COMES_AFTER.to_owned());
                    answers[part.of].refused.push(Refusal { document: Some(part.file.clone()), ..refused });
                }
                break;
            }
        }
        answers
    }

    /// Asks the editor that has a file what would become of a wish after all that it would have been told by then. It does one thing after
    /// the other, so each name that the file has in between has to be free, and all that is to be done on the disk before it is done by then.
    fn through(&mut self, sidecar: &Sidecar, id: FileId, name: &DocumentName, wish: &Wish) -> Answer {
        if let Some(taken) = self.so_far.collision() {
            return Answer { refused: vec![taken], ..Answer::default() };
        }
        let path = || name.as_path().to_owned();
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok_and(|there| !there.is_dir());
        let here = || InEditor { told: Vec::new(), path: Some(path()).filter(is_there) };
        let InEditor { mut told, path: mut was } =
            self.so_far.in_editors.get(&id).cloned().unwrap_or_else(here);
        let mut all = Answer::default();
        for (one, request) in wish.each().iter().zip(requests(wish)) {
            told.push(Decide { path: Some(path()), ..said(name, one) });
            let asked = async { Client::connect(sidecar).await?.rehearse(&told).await };
            let asked = async { tokio::time::timeout(LIMIT, asked).await };
            let outcome = self.of.runtime.block_on(asked);
            let file = outcome.iter().flatten().find_map(|outcome| outcome.file.clone());
            let answer = answer_of(sidecar, &told[told.len() - 1], outcome);
            if !answer.refused.is_empty() {
                return answer;
            }
            let now = file.map_or_else(|| was.clone(), |file| file.exists.then_some(file.path));
            let renamed =
                self.so_far.on_disk.rename(was.as_deref(), now.as_deref(), &request, &answer.decided);
            if let Err(taken) = renamed {
                return Answer { refused: vec![Refusal::from(taken)], ..Answer::default() };
            }
            was = now;
            all.add(answer);
        }
        self.so_far.in_editors.insert(id, InEditor { told, path: was });
        all
    }
}

/// A file that a wish is about, and the sidecar that decides about it, if one does.
struct File<'a, 'w> {
    id: FileId,
    name: &'w DocumentName,
    holder: Option<&'a Sidecar>,
}

impl Everywhere<'_> {
    /// The files of a wish, each once. An error is the answer to the wish.
    async fn files<'a, 'w>(&'a self, wish: &'w Wish) -> Result<Vec<File<'a, 'w>>, Answer> {
        let mut files: Vec<File<'_, '_>> = Vec::new();
        for edit in &wish.edits {
            let (id, name) = (edit.file, &edit.document);
            if files.iter().any(|file| file.id == id) {
                continue;
            }
            // Of one that is gone no editor knows, whatever has its name by now.
            let latest = self.store.latest(name).ok().flatten();
            if latest.is_some_and(|(latest, _)| latest != id) || is_blocked(name.as_path()) {
                files.push(File { id, name, holder: None });
                continue;
            }
            match holder(&self.sidecars, name.as_path()).await {
                Ok(holder) => files.push(File { id, name, holder }),
                Err(Silent { editor, why }) => {
                    let message = messages::no_answer(&editor, &why);
                    let refused = vec![refusal(edit.edit.to_string(), Why::Elsewhere, message)];
                    return Err(about(name, Answer { refused, ..Answer::default() }));
                }
            }
        }
        Ok(files)
    }
}

/// Whether no file can have this name as it is: a folder has it, or what should be a folder above it is a file.
fn is_blocked(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(there) => there.is_dir(),
        Err(error) => error.kind() == std::io::ErrorKind::NotADirectory,
    }
}

/// The answer, with the file named that it is about.
fn about(name: &DocumentName, mut answer: Answer) -> Answer {
    for refused in &mut answer.refused {
        refused.document.get_or_insert_with(|| name.clone());
    }
    answer
}

/// The file that a refusal is about, which is one of those that were decided about.
fn document_of(refused: &Refusal, parts: &[Arc<Part<'_>>]) -> Option<DocumentName> {
    let is_named =
        |part: &Part<'_>| part.wish.edits.iter().any(|edit| refused.hunk.starts_with(edit.edit.as_str()));
    parts.iter().find(|part| is_named(part)).map(|part| part.file.clone())
}

fn refusal(hunk: String, why: Why, message: String) -> Refusal {
    Refusal { hunk, why, message, others: Vec::new(), document: None }
}

/// An editor that may have a file open and does not say, and why not.
struct Silent {
    editor: String,
    why: String,
}

/// The sidecar that has a file open or still has claimed its edits.
async fn holder<'a>(sidecars: &'a [Sidecar], path: &Path) -> Result<Option<&'a Sidecar>, Silent> {
    // The owner of undecided edits, else who has unsaved work, else who has what the disk has, and claimed the edits, or used it last.
    let best = holders(sidecars, path)
        .await?
        .into_iter()
        .max_by_key(|(_, held)| (held.pending > 0, held.dirty, !held.behind, held.claimed, held.used));
    Ok(best.map(|(sidecar, _)| sidecar))
}

/// The sidecars that have a file open or still have claimed its edits, and what they have.
async fn holders<'a>(sidecars: &'a [Sidecar], path: &Path) -> Result<Vec<(&'a Sidecar, Held)>, Silent> {
    let mut holders: Vec<(&Sidecar, Held)> = Vec::new();
    for sidecar in sidecars {
        let paths: [PathBuf; 1] = [path.to_owned()];
        let asked = async { Client::connect(sidecar).await?.holds(&paths).await };
        let why = match tokio::time::timeout(LIMIT, asked).await {
            Ok(Ok(mut held)) => {
                let held = held.pop().unwrap_or_default();
                // What a sidecar only knows of is nobody's.
                if held.open || held.claimed {
                    holders.push((sidecar, held));
                }
                continue;
            }
            // It has ended.
            Ok(Err(error)) if error.is_refused() => continue,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it takes too long".to_owned(),
        };
        // One that is elsewhere is no reason to refuse.
        if sidecar.root_of(path).is_some() {
            return Err(Silent { editor: sidecar.editor.clone(), why });
        }
    }
    Ok(holders)
}

/// Lets a sidecar decide all that is wished of one document, one after the other.
async fn each_through(sidecar: &Sidecar, document: &DocumentName, wish: &Wish) -> Answer {
    let mut all = Answer::default();
    for wish in wish.each() {
        all.add(through(sidecar, document, &wish).await);
        if !all.refused.is_empty() {
            break;
        }
    }
    all
}

/// Lets a sidecar decide, about one document.
async fn through(sidecar: &Sidecar, document: &DocumentName, wish: &Wish) -> Answer {
    let decide = said(document, wish);
    let asked = async { Client::connect(sidecar).await?.decide(&decide).await };
    answer_of(sidecar, &decide, tokio::time::timeout(DECISION, asked).await)
}

/// What a sidecar has answered, or that it did not.
fn answer_of(
    sidecar: &Sidecar,
    decide: &Decide,
    said: Result<Result<DecideOutcome, hashline_link::Error>, Elapsed>,
) -> Answer {
    let refused = |why, message| {
        let hunk = match (&decide.conversation, decide.hunk) {
            (Some(conversation), _) => conversation.clone(),
            (None, Some(number)) => format!("{}:{number}", decide.edit),
            (None, None) => decide.edit.clone(),
        };
        Answer { refused: vec![refusal(hunk, why, message)], ..Answer::default() }
    };
    let outcome = match said {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => {
            return refused(Why::Elsewhere, messages::no_answer(&sidecar.editor, &error.to_string()));
        }
        Err(_) => return refused(Why::Elsewhere, messages::no_answer(&sidecar.editor, "it takes too long")),
    };
    let mut answer = Answer { kept: outcome.kept, ..Answer::default() };
    answer.decided = outcome.decided.iter().filter_map(|hunk| hunk.parse().ok()).collect();
    answer.refused = outcome.refused.into_iter().map(Refusal::from).collect();
    match outcome.result {
        DecideResult::Queued => answer.waiting = Some(sidecar.editor.clone()),
        DecideResult::Done => {}
        _ if !answer.refused.is_empty() => {}
        DecideResult::NotFound | DecideResult::NotOwner => return refused(Why::Gone, outcome.message),
        DecideResult::Changed => return refused(Why::Changed, outcome.message),
        DecideResult::Conflict => return refused(Why::Elsewhere, outcome.message),
    }
    answer
}

/// A wish as a sidecar is told of it.
fn said(document: &DocumentName, wish: &Wish) -> Decide {
    let (edit, hunk, conversation) = match &wish.target {
        Target::Hunk(hunk) => (hunk.edit.to_string(), Some(hunk.number), None),
        Target::Edit(edit) => (edit.to_string(), None, None),
        Target::Conversation(id) | Target::Whole(id) => (String::new(), None, Some(id.to_string())),
    };
    Decide {
        edit,
        hunk,
        // An edit is of one document anyway.
        path: conversation.is_some().then(|| document.as_path().to_owned()),
        conversation,
        decided_too: matches!(wish.target, Target::Whole(_)),
        decision: match wish.choice {
            Choice::Accept => Decision::Accept,
            Choice::Reject => Decision::Reject,
            Choice::TakeTheirs => Decision::TakeTheirs,
            Choice::KeepBoth => Decision::KeepBoth,
        },
        reason: wish.reason.clone(),
        mine: wish.mine.map(|mine| match mine {
            Mine::Keep => hashline_link::Mine::Keep,
            Mine::GiveUp => hashline_link::Mine::GiveUp,
        }),
        along: match wish.along {
            Along::Named => hashline_link::Along::Named,
            Along::OfTurn => hashline_link::Along::OfTurn,
            Along::All => hashline_link::Along::All,
            Along::Needed => hashline_link::Along::Needed,
        },
    }
}

impl From<hashline_link::Refused> for Refusal {
    fn from(refused: hashline_link::Refused) -> Self {
        let others = refused.others.iter().filter_map(|hunk| hunk.parse().ok()).collect();
        Self { hunk: refused.hunk, why: refused.why, message: refused.message, others, document: None }
    }
}
