//! A person with an editor that says what it does, and what they do while something else is being recorded.

use std::pin::Pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Waker};

use hashline_history::{Decision, HunkRef};
use hashline_text::{DocVersion, Encoding};
use hashline_weave::Turn;
use hashline_workspace::Workspace;
use hashline_workspace::document::{Along, Cause, Choice, Decided, Delivery, Target};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::change::change;
use crate::desk::{Desk, PATIENCE, request};

pub const NAME: &str = "a.txt";

/// What comes to the document while it is being recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    Save,
    Decision,
    Close,
    /// All three and typing, in one of several orders.
    All(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Save,
    Type,
    Decide,
    Close,
}

/// The orders in which all come.
pub const ORDERS: usize = 4;

impl Meanwhile {
    fn acts(self) -> &'static [Act] {
        use Act::{Close, Decide, Save, Type};
        match self {
            Self::Save => &[Save],
            Self::Decision => &[Decide],
            Self::Close => &[Close],
            Self::All(0) => &[Save, Type, Decide, Close],
            Self::All(1) => &[Decide, Save, Close],
            Self::All(2) => &[Type, Save, Close, Decide],
            Self::All(_) => &[Decide, Type, Save, Decide, Save],
        }
    }
}

/// The editor's window on the file.
struct Window {
    text: String,
    version: i32,
    /// The texts before, for its undo.
    past: Vec<String>,
}

type Deciding = Pin<Box<dyn Future<Output = Decided> + Send>>;

/// The person, the editor and the workspace.
pub struct Seat {
    pub workspace: Workspace,
    desk: Mutex<Desk>,
    uri: String,
    window: Mutex<Option<Window>>,
    /// How often something was typed or decided, so that each time it is something else.
    turns: Mutex<usize>,
    /// What the file was last saved as.
    saved: Mutex<Option<String>>,
    /// Decisions that were begun and not waited for.
    deciding: Mutex<Vec<JoinHandle<Decided>>>,
    /// What was locked, or is wrong otherwise.
    trouble: Mutex<Vec<String>>,
    handle: Handle,
}

impl Seat {
    pub fn at(desk: Desk) -> Arc<Self> {
        Arc::new(Self {
            workspace: desk.workspace.clone(),
            uri: desk.uri(NAME),
            desk: Mutex::new(desk),
            window: Mutex::default(),
            turns: Mutex::default(),
            saved: Mutex::default(),
            deciding: Mutex::default(),
            trouble: Mutex::default(),
            handle: Handle::current(),
        })
    }

    /// Nobody who has it may wait for the record.
    pub fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap()
    }

    /// As [`Desk::settle`].
    pub fn settle(&self) {
        self.workspace.settle_record();
        self.workspace.settle_record();
    }

    fn window(&self) -> MutexGuard<'_, Option<Window>> {
        self.window.lock().unwrap()
    }

    pub fn is_open(&self) -> bool {
        self.window().is_some()
    }

    /// The text in the window; what the file holds if there is none.
    pub fn text(&self) -> String {
        let open = self.window().as_ref().map(|window| window.text.clone());
        open.unwrap_or_else(|| self.desk().stored(NAME))
    }

    /// What the person has saved last.
    pub fn saved(&self) -> Option<String> {
        self.saved.lock().unwrap().clone()
    }

    pub fn trouble(&self) -> Vec<String> {
        self.trouble.lock().unwrap().clone()
    }

    /// Another number each time.
    pub fn turn(&self) -> usize {
        let mut turns = self.turns.lock().unwrap();
        *turns += 1;
        *turns
    }

    pub fn open(&self) {
        let mut window = self.window();
        if window.is_none() {
            let text = self.desk().stored(NAME);
            self.workspace.did_open(&self.uri, "text", DocVersion(1), Encoding::Utf16, &text);
            *window = Some(Window { text, version: 1, past: Vec::new() });
        }
    }

    pub fn close(&self) {
        if self.window().take().is_some() {
            self.workspace.did_close(&self.uri);
        }
    }

    pub fn save(&self) {
        let Some(text) = self.window().as_ref().map(|window| window.text.clone()) else { return };
        self.desk().write(NAME, &text);
        *self.saved.lock().unwrap() = Some(text);
        self.workspace.did_save(&self.uri);
    }

    /// Types a line at a place that is another each time.
    pub fn types(&self) {
        let turn = self.turn();
        self.becomes(None, |text| {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let typed = format!("typed {turn}\n");
            lines.insert(turn * 7 % (lines.len() + 1), &typed);
            lines.concat()
        });
    }

    /// Writes over a line that is another each time.
    pub fn rewrites(&self) {
        let turn = self.turn();
        self.becomes(None, |text| {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let written = format!("mine {turn}\n");
            let at = turn * 5 % lines.len().max(1);
            if let Some(line) = lines.get_mut(at) {
                *line = &written;
            }
            lines.concat()
        });
    }

    pub fn undoes(&self) {
        let Some(before) = self.window().as_mut().and_then(|window| window.past.pop()) else { return };
        self.becomes(Some(Cause::Turn(Turn::Undo)), |_| before.clone());
        if let Some(window) = self.window().as_mut() {
            window.past.pop();
        }
    }

    /// The text becomes another one, which the editor tells as one change of the lines between.
    fn becomes(&self, cause: Option<Cause>, to: impl FnOnce(&str) -> String) {
        let mut window = self.window();
        let Some(window) = window.as_mut() else { return };
        let text = to(&window.text);
        if text == window.text {
            return;
        }
        let change = change(&window.text, &text);
        window.version += 1;
        window.past.push(std::mem::replace(&mut window.text, text));
        let version = DocVersion(window.version);
        if let Some(cause) = cause {
            self.workspace.did_cause(&self.uri, version, cause);
        }
        let done = self.workspace.did_change(&self.uri, version, &[change]);
        let known = self.workspace.text_of(&self.uri).map(|(_, text)| text.to_string());
        if done.is_err() || known.as_ref() != Some(&window.text) {
            self.trouble.lock().unwrap().push(format!("out of step: {done:?}"));
        }
    }

    /// Carries out what is sent to the editor.
    pub fn deliver(&self) {
        while let (Some(Delivery { number, edits, version, .. }), _) = self.workspace.poll(&self.uri) {
            let current = self.window().as_ref().map(|window| DocVersion(window.version));
            if current == Some(version) {
                self.becomes(Some(Cause::Delivery(number)), |text| {
                    let mut text = hashline_text::Text::from(text);
                    hashline_weave::apply_text_edits(&mut text, &edits, Encoding::Utf16).unwrap();
                    text.to_string()
                });
            }
            self.workspace.answered(&self.uri, number, current == Some(version));
        }
    }

    /// The undecided hunks, and the edits that they are of.
    pub fn undecided(&self) -> Vec<HunkRef> {
        let review = self.workspace.review(&self.uri);
        let edits = review.iter().flat_map(|review| &review.review.edits);
        let hunks = edits.flat_map(|edit| edit.hunks.iter().map(|hunk| (edit.edit.id.clone(), hunk)));
        let undecided = hunks.filter(|(_, hunk)| hunk.decision == Decision::Undecided);
        undecided.map(|(edit, hunk)| HunkRef { edit, number: hunk.number }).collect()
    }

    /// Decides something, if anything is undecided.
    pub fn begin_to_decide(&self, choice: Option<Choice>) {
        let hunks = self.undecided();
        let turn = self.turn();
        let Some(hunk) = hunks.get(turn * 3 % hunks.len().max(1)).cloned() else { return };
        let choice = choice.unwrap_or(if turn.is_multiple_of(3) { Choice::Reject } else { Choice::Accept });
        self.begin_with(choice, Target::Hunk(hunk));
    }

    /// Begins with a decision: it is made in the document when this returns, if that can be without waiting.
    pub fn begin_with(&self, choice: Choice, target: Target) {
        let (workspace, uri) = (self.workspace.clone(), self.uri.clone());
        let mut deciding: Deciding = Box::pin(async move {
            let request =
                hashline_workspace::document::Request { along: Along::All, ..request(choice, target) };
            workspace.decide(Some(&uri), &request).await
        });
        let _inside = self.handle.enter();
        if deciding.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            self.deciding.lock().unwrap().push(self.handle.spawn(deciding));
        }
    }

    /// Waits for the decisions that were begun.
    pub async fn end_deciding(&self, about: &str) {
        loop {
            let Some(deciding) = self.deciding.lock().unwrap().pop() else { return };
            let decided = tokio::time::timeout(PATIENCE, deciding).await;
            let told = self.desk().told();
            assert!(decided.is_ok(), "{about}: a decision was never answered; told: {told:?}");
        }
    }

    /// Does what comes while something is recorded, on another thread, as what the editor says must wait for nothing.
    pub fn meanwhile(self: &Arc<Self>, meanwhile: Meanwhile) {
        let (done, told) = channel();
        let seat = self.clone();
        let acts = std::thread::spawn(move || {
            for act in meanwhile.acts() {
                match act {
                    Act::Save => seat.save(),
                    Act::Type => seat.types(),
                    Act::Decide => seat.begin_to_decide(None),
                    Act::Close => seat.close(),
                }
            }
            let _ = done.send(());
        });
        if told.recv_timeout(PATIENCE).is_err() {
            let words = match acts.is_finished() {
                true => format!("{meanwhile:?} has panicked"),
                false => format!("{meanwhile:?} waits for what is being recorded"),
            };
            self.trouble.lock().unwrap().push(words);
        }
    }
}
