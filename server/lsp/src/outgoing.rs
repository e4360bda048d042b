//! All that is sent unasked goes through one task: what the review looks like, edits for the editor to carry out,
//! sentences for the person (rule W21).
//!
//! For each document the task keeps a board: what is shown of it, and when it is to be looked at next. Deliveries of one
//! document follow one another, because the workspace hands out the next one only when it has the verdict on the last.
//! The editor's answers are waited for elsewhere, so that none holds up anything.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::poll;
use hashline_text::DocVersion;
use hashline_workspace::document::{Delivery, FileAnswer, FileDelivery, Millis};
use hashline_workspace::{DocumentReview, Event};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tower_lsp::Client;
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::{MessageType, Registration};

use crate::client::Facts;
use crate::diagnostics;
use crate::lock::lock;
use crate::raw_params::Written;
use crate::session::{Session, Signal};
use crate::to_proto::{ApplyEdit, PublishDiagnostics, TellPendingEdits, TellWaiting};
use crate::{link_service, protocol, settings, to_proto};

/// How often the review of one document is sent at most.
const REVIEW_PAUSE: Duration = Duration::from_millis(30);
/// The same for each of its hunks, where that is longer: making, sending and reading a list costs time for each of them, and
/// a list of many that comes with every key would slow down the typing.
const HUNK_PAUSE: Duration = Duration::from_millis(1);
/// However many there are: it is still soon for whoever looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// How often code lenses are asked to be fetched again at most.
const LENS_PAUSE: Duration = Duration::from_millis(200);
/// How long a document has to be without changes before edits without a version are sent for it.
const QUIET: u64 = 300;
/// How soon a document is asked again for a delivery at the earliest.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// How long an agent that waits no more is still said to wait: as a rule it asks again at once.
const STILL_WAITING: Duration = Duration::from_secs(2);

/// What is shown of a document, and what is due.
#[derive(Debug, Default)]
struct Board {
    /// When its review is to be sent.
    review_due: Option<Instant>,
    review_sent: Option<Instant>,
    /// When it is to be asked for a delivery.
    delivery_due: Option<Instant>,
    /// How many hunks the client has been told of.
    hunks: u32,
    /// The client has asked for its history since it was told of it last, and hears of the next change whatever is pending.
    history_asked: bool,
    /// As JSON.
    diagnostics: Option<Box<RawValue>>,
    /// The version of the text that they were told for.
    diagnosed: Option<DocVersion>,
    /// What code lenses say, without where.
    lenses: Vec<String>,
}

/// The task that sends.
pub(crate) struct Outgoing {
    session: Arc<Session>,
    client: Client,
    boards: HashMap<String, Board>,
    lenses_due: Option<Instant>,
    lenses_sent: Option<Instant>,
    /// The agents that count as waiting for decisions, and until when those do that have stopped.
    waiting: BTreeMap<String, Option<Instant>>,
    /// Those of them that the plugin was told of last.
    waiting_told: Vec<String>,
    /// Who waits until nothing is left to be put to the editor.
    flushing: Vec<oneshot::Sender<()>>,
}

impl Outgoing {
    pub fn new(session: Arc<Session>, client: Client) -> Self {
        Self {
            session,
            client,
            boards: HashMap::new(),
            lenses_due: None,
            lenses_sent: None,
            waiting: BTreeMap::new(),
            waiting_told: Vec::new(),
            flushing: Vec::new(),
        }
    }

    /// Sends what comes up, until nothing more can.
    pub async fn run(
        mut self,
        mut events: mpsc::UnboundedReceiver<Event>,
        mut signals: mpsc::UnboundedReceiver<Signal>,
    ) {
        loop {
            let due = self.next_due();
            tokio::select! {
                biased;
                signal = signals.recv() => match signal {
                    Some(signal) => self.signalled(signal).await,
                    None => return,
                },
                event = events.recv() => match event {
                    Some(event) => self.noted(event).await,
                    None => return,
                },
                () = sleep_until(due) => {}
            }
            // What has come up meanwhile about the same document is shown together.
            while let Ok(event) = events.try_recv() {
                self.noted(event).await;
            }
            // Who has asked for a history before one of these changes hears of it.
            while let Ok(signal) = signals.try_recv() {
                self.signalled(signal).await;
            }
            self.see_to_what_is_due().await;
            for flushed in self.flushing.drain(..) {
                // An error: who asked does not wait any more.
                let _ = flushed.send(());
            }
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let boards = self.boards.values().flat_map(|board| [board.review_due, board.delivery_due]);
        boards.chain([self.lenses_due]).chain(self.waiting.values().copied()).flatten().min()
    }

    async fn noted(&mut self, event: Event) {
        match event {
            Event::Review(uri) => self.review_changed(uri),
            Event::Deliver(uri) => {
                self.boards.entry(uri).or_default().delivery_due = Some(Instant::now());
            }
            Event::Notice(sentence) => self.client.show_message(MessageType::WARNING, sentence).await,
            Event::Waiting => self.show_who_waits().await,
        }
    }

    async fn show_who_waits(&mut self) {
        let (now, waiting) = (Instant::now(), self.session.workspace.waiting_agents());
        for (agent, until) in &mut self.waiting {
            if !waiting.iter().any(|waits| **waits == **agent) {
                until.get_or_insert(now + STILL_WAITING);
            }
        }
        self.waiting.extend(waiting.iter().map(|agent| (agent.to_string(), None)));
        self.waiting.retain(|_, until| until.is_none_or(|until| until > now));
        let agents: Vec<String> = self.waiting.keys().cloned().collect();
        if self.facts().plugin && agents != self.waiting_told {
            self.waiting_told.clone_from(&agents);
            tell::<TellWaiting>(&self.client, &protocol::Waiting { agents }).await;
        }
    }

    fn review_changed(&mut self, uri: String) {
        let now = Instant::now();
        let board = self.boards.entry(uri).or_default();
        if board.review_due.is_none() {
            // A history has as many hunks as were ever made.
            let hunks = if board.history_asked { u32::MAX } else { board.hunks };
            let pause = REVIEW_PAUSE.max(HUNK_PAUSE.saturating_mul(hunks)).min(LONGEST_PAUSE);
            let next = board.review_sent.map(|sent| sent + pause);
            board.review_due = Some(next.map_or(now, |next| next.max(now)));
        }
    }

    async fn signalled(&mut self, signal: Signal) {
        match signal {
            Signal::Initialized => {
                self.initialized();
                self.show_who_waits().await;
                self.settle_servers().await;
            }
            Signal::Say(kind, sentence) => self.client.show_message(kind, sentence).await,
            Signal::AskSettings => self.ask_settings(),
            Signal::Settings => {
                self.show_all();
                self.settle_servers().await;
            }
            Signal::Roots => {
                // A folder that has come may have settings of its own.
                self.ask_settings();
                self.settle_servers().await;
            }
            Signal::Show(uri) => self.review_changed(uri),
            Signal::History(uri) => self.boards.entry(uri).or_default().history_asked = true,
            Signal::Flush(flushed) => self.flushing.push(flushed),
        }
    }

    fn initialized(&mut self) {
        let facts = self.facts();
        if facts.register_configuration {
            let client = self.client.clone();
            tokio::spawn(async move {
                let registration = Registration {
                    id: "hashline-settings".to_owned(),
                    method: "workspace/didChangeConfiguration".to_owned(),
                    register_options: Some(serde_json::json!({"section": "hashline"})),
                };
                if let Err(error) = client.register_capability(vec![registration]).await {
                    tracing::debug!(%error, "the editor does not tell of changed settings");
                }
            });
        }
        self.ask_settings();
        self.show_all();
    }

    /// Serves what is open by now over HTTP and to Claude Code, as the settings say by now, and tells other processes of it.
    async fn settle_servers(&self) {
        let (address, link) = {
            let configured = lock(&self.session.configured);
            (configured.listen(), configured.ide_link())
        };
        let session = &self.session;
        session.ide.settle(&session.workspace, session.editor_name(), link && session.facts.get().is_some());
        let settled = self.session.http.settle(self.session.workspace.roots(), address).await;
        settled.unwrap_or_else(|sentence| self.session.say(MessageType::ERROR, sentence));
        link_service::update(&self.session);
    }

    /// Asks for the settings, where the client answers such questions.
    fn ask_settings(&self) {
        if !self.facts().configuration {
            return;
        }
        let (client, session) = (self.client.clone(), self.session.clone());
        tokio::spawn(async move { settings::ask(&client, &session).await });
    }

    /// Shows all documents that have something to show, or had.
    fn show_all(&mut self) {
        let pending = self.session.workspace.reviews().into_iter().map(|review| review.uri);
        let shown: Vec<String> = self.boards.keys().cloned().collect();
        for uri in pending.chain(shown) {
            self.review_changed(uri);
        }
    }

    fn facts(&self) -> Facts {
        self.session.facts()
    }

    async fn see_to_what_is_due(&mut self) {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let reviews: Vec<String> = self.uris(|board| due(board.review_due));
        for uri in reviews {
            self.show(&uri).await;
        }
        let deliveries: Vec<String> = self.uris(|board| due(board.delivery_due));
        for uri in deliveries {
            self.deliver(&uri).await;
        }
        if self.waiting.values().any(|until| due(*until)) {
            self.show_who_waits().await;
        }
        if due(self.lenses_due) {
            self.lenses_due = None;
            self.lenses_sent = Some(now);
            let client = self.client.clone();
            tokio::spawn(async move {
                let _ = client.code_lens_refresh().await;
            });
        }
        self.boards.retain(|_, board| {
            board.review_due.is_some()
                || board.delivery_due.is_some()
                || board.hunks > 0
                || board.history_asked
                || board.diagnostics.is_some()
                || !board.lenses.is_empty()
        });
    }

    fn uris(&self, wanted: impl Fn(&Board) -> bool) -> Vec<String> {
        self.boards.iter().filter(|(_, board)| wanted(board)).map(|(uri, _)| uri.clone()).collect()
    }

    /// Brings what the client shows of a document up to date.
    async fn show(&mut self, uri: &str) {
        let facts = self.facts();
        let workspace = &self.session.workspace;
        let Some(board) = self.boards.get_mut(uri) else { return };
        board.review_due = None;
        board.review_sent = Some(Instant::now());
        let gone =
            || DocumentReview { uri: uri.to_owned(), version: None, owner: None, review: Default::default() };
        let review = workspace.review(uri).unwrap_or_else(gone);
        let hunks: usize = review.review.edits.iter().map(|edit| edit.hunks.len()).sum();
        if facts.plugin && (hunks > 0 || board.hunks > 0 || board.history_asked) {
            tell::<TellPendingEdits>(&self.client, &to_proto::pending_edits(&review)).await;
        }
        board.hunks = u32::try_from(hunks).unwrap_or(u32::MAX);
        board.history_asked = false;

        let lenses = diagnostics::signature(&review);
        if board.lenses != lenses {
            board.lenses = lenses;
            if facts.lens_refresh && self.lenses_due.is_none() {
                let next = self.lenses_sent.map(|sent| sent + LENS_PAUSE);
                let now = Instant::now();
                self.lenses_due = Some(next.map_or(now, |next| next.max(now)));
            }
        }

        let wanted = workspace.settings_of(uri).diagnostics && review.version.is_some();
        let text = workspace.text_of(uri).filter(|_| wanted);
        let found = text.and_then(|(_, text)| diagnostics::written(&review, &text, facts.encoding));
        let same = board.diagnostics.as_deref().map(RawValue::get) == found.as_deref().map(RawValue::get);
        // Of what stood in lines that went and came back since, an editor may have let go.
        let is_old = found.is_some() && board.diagnosed != review.version;
        if !same || is_old {
            board.diagnostics = found;
            board.diagnosed = review.version;
            let told = to_proto::Diagnostics {
                uri,
                version: review.version.map(|version| version.0),
                diagnostics: board.diagnostics.as_deref(),
            };
            tell::<PublishDiagnostics>(&self.client, &told).await;
        }
    }

    /// Sends what waits to be delivered to a document, if its time has come.
    async fn deliver(&mut self, uri: &str) {
        let facts = self.facts();
        if let Some(delivery) = self.session.workspace.poll_file(uri) {
            self.send_file(uri, delivery, &facts).await;
        }
        let workspace = &self.session.workspace;
        let Some(board) = self.boards.get_mut(uri) else { return };
        let now = workspace.now();
        if !facts.versioned_edits
            && let Some(quiet) = self.session.changed(uri).map(|changed| changed.0.saturating_add(QUIET))
            && now.0 < quiet
        {
            board.delivery_due = Some(Instant::now() + Duration::from_millis(quiet - now.0));
            return;
        }
        let (delivery, next) = workspace.poll(uri);
        board.delivery_due = next.map(|next| Instant::now() + until(next, now).max(POLL_PAUSE));
        if let Some(delivery) = delivery {
            self.send(uri, &delivery, &facts).await;
        }
    }

    /// Sends a delivery; the answer is waited for elsewhere.
    async fn send(&self, uri: &str, delivery: &Delivery, facts: &Facts) {
        let edit = to_proto::apply_edit(uri, delivery, facts);
        let (client, workspace) = (self.client.clone(), self.session.workspace.clone());
        let (uri, number) = (uri.to_owned(), delivery.number);
        ask(async move {
            let applied = match client.send_request::<ApplyEdit>(edit).await {
                Ok(answer) => answer.applied,
                Err(error) => {
                    tracing::debug!(%error, uri, "the editor did not take an edit");
                    false
                }
            };
            workspace.answered(&uri, number, applied);
        })
        .await;
    }

    /// Asks for a file to be renamed or removed; the answer is waited for elsewhere.
    async fn send_file(&self, uri: &str, delivery: FileDelivery, facts: &Facts) {
        let edit = to_proto::file_edit(uri, &delivery, facts);
        let (client, workspace) = (self.client.clone(), self.session.workspace.clone());
        ask(async move {
            let answer = match client.send_request::<ApplyEdit>(edit).await {
                Ok(answer) if answer.applied => FileAnswer::Done,
                Ok(answer) => FileAnswer::NotDone(answer.failure_reason),
                Err(error) => FileAnswer::NotDone(Some(error.to_string())),
            };
            workspace.answered_file(&delivery, answer);
        })
        .await;
    }
}

/// Tells the editor something that may be long.
async fn tell<N: Notification<Params = Written>>(client: &Client, params: &impl Serialize) {
    match Written::of(params) {
        Ok(params) => client.send_notification::<N>(params).await,
        Err(error) => tracing::error!(%error, method = N::METHOD, "a message cannot be written as JSON"),
    }
}

/// Puts a question to the editor before it returns, and waits for the answer, which may never come, in a task of its own. That
/// task must not be ended while the connection lives: `tower_lsp` panics when an answer comes that nobody waits for.
async fn ask(asking: impl Future<Output = ()> + Send + 'static) {
    let mut asking = Box::pin(asking);
    if poll!(asking.as_mut()).is_pending() {
        tokio::spawn(asking);
    }
}

fn until(moment: Millis, now: Millis) -> Duration {
    Duration::from_millis(moment.0.saturating_sub(now.0))
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
