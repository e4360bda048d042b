//! An editor whose plugin says what it does, and the person at it. What it does to its text it writes down.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use hashline_history::{EditId, HunkRef};
use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::{TakeOut, Turn, apply_text_edits};
use hashline_workspace::Workspace;
use hashline_workspace::document::{Along, Cause, Choice, Decided, Delivery, HunkView, Request, Target};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::change::change;
use crate::desk::{PATIENCE, request};

/// Who changed a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The person, by hand.
    Hand,
    /// Undo and redo.
    Turn,
    /// hashline.
    Hashline,
    /// Something that nobody watched, or that was read again.
    Found,
}

/// What became of a text.
#[derive(Clone, Debug)]
pub struct Made {
    pub by: By,
    pub before: String,
    pub after: String,
}

/// What a person does that waits for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Type,
    WriteOver,
    Delete,
    Undo,
    Redo,
    Save,
    Close,
    Accept,
    Reject,
    /// The editor is sent what is to be delivered.
    Fetch,
    /// It carries out what it was sent.
    CarryOut,
    /// It does not, and says so.
    Decline,
}

/// The editor's window on the file.
#[derive(Clone, Debug)]
struct Window {
    text: String,
    version: i32,
    past: Vec<String>,
    future: Vec<String>,
}

/// A decision that was begun.
struct Begun {
    request: Request,
    deciding: JoinHandle<Decided>,
    /// What had happened by then.
    since: usize,
    /// Whether no other was under way.
    alone: bool,
}

/// A decision that was answered.
pub struct Answered {
    pub request: Request,
    pub decided: Decided,
    /// Nothing that might undo it happened meanwhile.
    pub undisturbed: bool,
}

/// What happened in a folder, whichever process saw to it.
#[derive(Default)]
struct Log {
    /// Each text that is typed is another one.
    turns: AtomicUsize,
    /// The texts that the file had.
    stored: Mutex<Vec<String>>,
    /// Held by whoever writes the file, in more than one step, or looks what it holds.
    file: Mutex<()>,
    /// The edits of which agents were told that they are recorded.
    taken: Mutex<Vec<EditId>>,
    /// What was locked, or is wrong otherwise.
    trouble: Mutex<Vec<String>>,
    words: Mutex<Vec<String>>,
}

/// What a person went through, whichever process serves them.
#[derive(Default)]
pub struct Diary {
    log: Arc<Log>,
    made: Mutex<Vec<Made>>,
    /// Counts what may undo a decision.
    disturbed: AtomicUsize,
    /// The text that was in the window last, or in the file.
    last: Mutex<String>,
}

impl Diary {
    /// That of another person, over the same folder.
    pub fn beside(&self) -> Self {
        Self { log: self.log.clone(), ..Self::default() }
    }

    pub fn turn(&self) -> usize {
        self.log.turns.fetch_add(1, Ordering::Relaxed)
    }

    pub fn note(&self, by: By, before: &str, after: &str) {
        after.clone_into(&mut self.last.lock().unwrap());
        if by != By::Hashline {
            self.disturb();
        }
        let made = Made { by, before: before.to_owned(), after: after.to_owned() };
        self.made.lock().unwrap().push(made);
    }

    /// The text becomes one that nobody watched coming.
    pub fn find(&self, text: &str) {
        let before = self.last.lock().unwrap().clone();
        self.note(By::Found, &before, text);
    }

    /// Something happens that may undo a decision.
    pub fn disturb(&self) {
        self.disturbed.fetch_add(1, Ordering::Relaxed);
    }

    pub fn take(&self) -> Vec<Made> {
        std::mem::take(&mut self.made.lock().unwrap())
    }

    pub fn note_stored(&self, text: &str) {
        self.log.stored.lock().unwrap().push(text.to_owned());
    }

    /// What the file was seen to hold last.
    fn stored_last(&self) -> String {
        self.log.stored.lock().unwrap().last().cloned().unwrap_or_default()
    }

    /// Some text that the file had.
    pub fn stored_once(&self) -> String {
        let turn = self.turn();
        let stored = self.log.stored.lock().unwrap();
        stored[turn % stored.len()].clone()
    }

    pub fn note_taken(&self, edit: &EditId) {
        self.log.taken.lock().unwrap().push(edit.clone());
    }

    /// The edits that were taken, in their order.
    pub fn taken(&self) -> Vec<EditId> {
        self.log.taken.lock().unwrap().clone()
    }

    pub fn trouble(&self) -> Option<String> {
        self.log.trouble.lock().unwrap().first().cloned()
    }

    fn complain(&self, words: String) {
        self.log.trouble.lock().unwrap().push(words);
    }

    /// Writes down what happened, for whoever reads of a run that went wrong.
    pub fn say(&self, words: impl Into<String>) {
        self.log.words.lock().unwrap().push(words.into());
    }

    pub fn words(&self) -> String {
        self.log.words.lock().unwrap().join("\n")
    }
}

type Deciding = Pin<Box<dyn Future<Output = Decided> + Send>>;

/// The editor, and the process that serves it.
pub struct Editor {
    pub workspace: Workspace,
    pub diary: Arc<Diary>,
    path: PathBuf,
    uri: String,
    window: Mutex<Option<Window>>,
    /// What the editor was sent and has not answered.
    sent: Mutex<Option<Delivery>>,
    begun: Mutex<Vec<Begun>>,
    handle: Handle,
}

impl Editor {
    pub fn of(workspace: Workspace, path: &Path, diary: Arc<Diary>) -> Arc<Self> {
        let uri = url::Url::from_file_path(path).unwrap().to_string();
        Arc::new(Self {
            workspace,
            diary,
            path: path.to_owned(),
            uri,
            window: Mutex::default(),
            sent: Mutex::default(),
            begun: Mutex::default(),
            handle: Handle::current(),
        })
    }

    fn window(&self) -> MutexGuard<'_, Option<Window>> {
        self.window.lock().unwrap()
    }

    pub fn uri(&self) -> &str {
        &self.uri
    }

    pub fn is_open(&self) -> bool {
        self.window().is_some()
    }

    /// The text in the window, if there is one.
    pub fn text(&self) -> Option<String> {
        self.window().as_ref().map(|window| window.text.clone())
    }

    pub fn stored(&self) -> String {
        let _whole = self.diary.log.file.lock().unwrap();
        std::fs::read_to_string(&self.path).unwrap()
    }

    /// What the file was known to hold, and what it does.
    pub fn looks_at_file(&self) -> (String, String) {
        let _whole = self.diary.log.file.lock().unwrap();
        let (known, stored) = (self.diary.stored_last(), std::fs::read_to_string(&self.path).unwrap());
        if known != stored {
            self.diary.note_stored(&stored);
        }
        (known, stored)
    }

    /// Something else writes the file.
    pub fn write(&self, text: &str) {
        let _whole = self.diary.log.file.lock().unwrap();
        std::fs::write(&self.path, text).unwrap();
        self.diary.note_stored(text);
    }

    pub fn is_delivering(&self) -> bool {
        self.sent.lock().unwrap().is_some()
    }

    /// Opens the file with this text: that of the file, or one that the editor has kept.
    pub fn open(&self, text: &str) {
        let mut window = self.window();
        if window.is_some() {
            return;
        }
        self.diary.find(text);
        self.workspace.did_open(&self.uri, "text", DocVersion(1), Encoding::Utf16, text);
        let (past, future) = (Vec::new(), Vec::new());
        *window = Some(Window { text: text.to_owned(), version: 1, past, future });
    }

    /// The process has been started anew under the editor, which tells it of its window and keeps its undo.
    pub fn tells_again(&self, of: &Self) {
        let Some(window) = of.window().clone() else { return };
        self.diary.find(&window.text);
        let version = DocVersion(window.version);
        self.workspace.did_open(&self.uri, "text", version, Encoding::Utf16, &window.text);
        *self.window() = Some(window);
    }

    pub fn close(&self) {
        self.sent.lock().unwrap().take();
        if self.window().take().is_some() {
            self.workspace.did_close(&self.uri);
            self.diary.find(&self.stored());
        }
    }

    pub fn save(&self) {
        let window = self.window();
        let Some(text) = window.as_ref().map(|window| window.text.clone()) else { return };
        self.write(&text);
        self.workspace.did_save(&self.uri);
    }

    /// The text is read again from the file.
    pub fn reload(&self) {
        let text = self.stored();
        self.becomes(By::Found, Some(Cause::Reload), |_| text);
    }

    fn types(&self, at: usize) {
        let turn = self.diary.turn();
        self.rewrites(|lines| lines.insert(at % (lines.len() + 1), format!("typed {turn}\n")));
    }

    fn writes_over(&self, at: usize) {
        let turn = self.diary.turn();
        self.rewrites(|lines| {
            let at = at % lines.len().max(1);
            if let Some(line) = lines.get_mut(at) {
                *line = format!("mine {turn}\n");
            }
        });
    }

    fn deletes(&self, at: usize) {
        self.rewrites(|lines| {
            if lines.len() > 3 {
                lines.remove(at % lines.len());
            }
        });
    }

    fn rewrites(&self, change: impl FnOnce(&mut Vec<String>)) {
        self.becomes(By::Hand, None, |text| {
            let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            change(&mut lines);
            lines.concat()
        });
    }

    fn turns(&self, turn: Turn) {
        let mut window = self.window();
        let Some(window) = window.as_mut() else { return };
        let (from, onto) = match turn {
            Turn::Undo => (&mut window.past, &mut window.future),
            Turn::Redo => (&mut window.future, &mut window.past),
        };
        let Some(to) = from.pop() else { return };
        onto.push(window.text.clone());
        self.shows(window, By::Turn, Some(Cause::Turn(turn)), to);
    }

    fn becomes(&self, by: By, cause: Option<Cause>, to: impl FnOnce(&str) -> String) {
        if let Some(window) = self.window().as_mut() {
            let text = to(&window.text);
            self.shows(window, by, cause, text);
        }
    }

    /// The text becomes another one, which the editor tells as one change of the lines between.
    fn shows(&self, window: &mut Window, by: By, cause: Option<Cause>, text: String) {
        if text == window.text {
            return;
        }
        let change = change(&window.text, &text);
        window.version += 1;
        let before = std::mem::replace(&mut window.text, text);
        self.diary.note(by, &before, &window.text);
        if by != By::Turn {
            window.past.push(before);
            window.future.clear();
        }
        let version = DocVersion(window.version);
        if let Some(cause) = cause {
            self.workspace.did_cause(&self.uri, version, cause);
        }
        let done = self.workspace.did_change(&self.uri, version, &[change]);
        let known = self.workspace.text_of(&self.uri).map(|(_, text)| text.to_string());
        if done.is_err() || known.as_ref() != Some(&window.text) {
            self.diary.complain(format!("out of step: {done:?}"));
        }
    }

    fn fetch(&self) {
        let mut sent = self.sent.lock().unwrap();
        if sent.is_none() {
            *sent = self.workspace.poll(&self.uri).0;
        }
    }

    /// Carries out what it was sent, if the text is still the one that it is for. `says` tells whether it says which change that is.
    fn carry_out(&self, says: bool) {
        let Some(Delivery { number, edits, version, .. }) = self.sent.lock().unwrap().take() else { return };
        let applies = {
            let mut window = self.window();
            let window = window.as_mut().filter(|window| DocVersion(window.version) == version);
            window.map(|window| {
                let mut text = Text::from(window.text.as_str());
                apply_text_edits(&mut text, &edits, Encoding::Utf16).unwrap();
                let cause = says.then_some(Cause::Delivery(number));
                self.shows(window, By::Hashline, cause, text.to_string());
            })
        };
        self.workspace.answered(&self.uri, number, applies.is_some());
    }

    fn decline(&self) {
        if let Some(delivery) = self.sent.lock().unwrap().take() {
            self.workspace.answered(&self.uri, delivery.number, false);
        }
    }

    /// Carries out all that there is to be sent. Returns whether anything was.
    pub fn deliver(&self) -> bool {
        let mut any = false;
        loop {
            self.fetch();
            if !self.is_delivering() {
                return any;
            }
            self.carry_out(true);
            any = true;
        }
    }

    /// The undecided hunks that are offered.
    pub fn offered(&self) -> Vec<(HunkRef, HunkView)> {
        let reviews = self.workspace.review(&self.uri);
        let edits = reviews.into_iter().flat_map(|review| review.review.edits);
        let hunks = edits.flat_map(|edit| {
            let id = edit.edit.id.clone();
            edit.hunks.into_iter().map(move |hunk| (HunkRef { edit: id.clone(), number: hunk.number }, hunk))
        });
        hunks.collect()
    }

    fn decides_some(&self, choice: Choice) {
        let undecided: Vec<HunkRef> = self.offered().into_iter().map(|(hunk, _)| hunk).collect();
        let turn = self.diary.turn();
        if let Some(hunk) = undecided.get(turn * 3 % undecided.len().max(1)) {
            self.begin(choice, Target::Hunk(hunk.clone()));
        }
    }

    /// Begins with a decision: it is made in the document when this returns, if that can be without waiting.
    pub fn begin(&self, choice: Choice, target: Target) {
        let along = if self.diary.turn().is_multiple_of(4) { Along::OfTurn } else { Along::All };
        let edited = self.diary.turn().is_multiple_of(2).then_some(TakeOut::KeepMyLines);
        self.ask(Request { along, edited, ..request(choice, target) });
    }

    /// Begins a decision just as it is asked for.
    pub fn ask(&self, request: Request) {
        let (workspace, uri, asked) = (self.workspace.clone(), self.uri.clone(), request.clone());
        let mut deciding: Deciding = Box::pin(async move { workspace.decide(Some(&uri), &asked).await });
        let _inside = self.handle.enter();
        let mut begun = self.begun.lock().unwrap();
        let (since, alone) = (self.diary.disturbed.load(Ordering::Relaxed), begun.is_empty());
        let deciding = match deciding.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(decided) => self.handle.spawn(std::future::ready(decided)),
            Poll::Pending => self.handle.spawn(deciding),
        };
        begun.push(Begun { request, deciding, since, alone });
    }

    /// The decisions that were answered since this was asked last, in the order in which they were begun.
    pub async fn answered(&self) -> Vec<Answered> {
        let mut all = Vec::new();
        loop {
            let begun = {
                let mut begun = self.begun.lock().unwrap();
                if !begun.first().is_some_and(|begun| begun.deciding.is_finished()) {
                    return all;
                }
                begun.remove(0)
            };
            let decided = begun.deciding.await.unwrap();
            let since = self.diary.disturbed.load(Ordering::Relaxed);
            let undisturbed = begun.alone && begun.since == since;
            all.push(Answered { request: begun.request, decided, undisturbed });
        }
    }

    pub fn is_waiting(&self) -> bool {
        !self.begun.lock().unwrap().is_empty()
    }

    /// Waits for nothing any more: the process ends.
    pub fn gives_up(&self) {
        self.begun.lock().unwrap().drain(..).for_each(|begun| begun.deciding.abort());
    }

    pub fn act(&self, act: Act) {
        let at = self.diary.turn() * 7;
        match act {
            Act::Type => self.types(at),
            Act::WriteOver => self.writes_over(at),
            Act::Delete => self.deletes(at),
            Act::Undo => self.turns(Turn::Undo),
            Act::Redo => self.turns(Turn::Redo),
            Act::Save => self.save(),
            Act::Close => self.close(),
            Act::Accept => self.decides_some(Choice::Accept),
            Act::Reject => self.decides_some(Choice::Reject),
            Act::Fetch => self.fetch(),
            Act::CarryOut => self.carry_out(!at.is_multiple_of(5)),
            Act::Decline => self.decline(),
        }
    }

    /// Does what comes while something is recorded, on another thread, as what the editor says must wait for nothing.
    pub fn meanwhile(self: &Arc<Self>, acts: &[Act]) {
        let (done, told) = channel();
        let (editor, all) = (self.clone(), acts.to_vec());
        let thread = std::thread::spawn(move || {
            for act in all {
                editor.diary.say(format!("    meanwhile {act:?}"));
                editor.act(act);
            }
            let _ = done.send(());
        });
        if told.recv_timeout(PATIENCE).is_err() {
            self.diary.complain(match thread.is_finished() {
                true => format!("{acts:?} has panicked"),
                false => format!("{acts:?} waits for what is being recorded"),
            });
        }
    }
}

/// The lines of a text, each of which is another one.
pub fn lines(text: &str) -> HashSet<&str> {
    text.lines().collect()
}
