//! What the parts of one connection share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use dashmap::DashMap;
use hashline_workspace::Workspace;
use hashline_workspace::document::Millis;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower_lsp::lsp_types::{MessageType, Url};

use crate::announcement::Presence;
use crate::client::Facts;
use crate::configuration::Configured;
use crate::http::Http;
use crate::ide::Ide;

/// How long the editor has to open its first document before agents are served without it: it may have read the files that it
/// starts with before it started the sidecar.
const OPENING: Duration = Duration::from_millis(300);

/// Something for the [outgoing](crate::outgoing) task to see to.
#[derive(Debug)]
pub(crate) enum Signal {
    /// The editor is ready.
    Initialized,
    /// The person should be told.
    Say(MessageType, String),
    /// The settings are to be asked for.
    AskSettings,
    /// The settings have changed.
    Settings,
    /// The folders that are served have changed.
    Roots,
    /// What is shown of a document is to be brought up to date.
    Show(String),
    /// The plugin has asked for the history of a document, and is to hear of the next change.
    History(String),
    /// All that has come up until now is to be put to the editor; it is answered when it is.
    Flush(oneshot::Sender<()>),
}

/// What the parts of one connection share.
pub(crate) struct Session {
    pub workspace: Workspace,
    /// The version of the sidecar.
    pub version: String,
    /// What to call the editor, if the one who started this knows.
    pub editor: Option<String>,
    /// What is known of the editor; none before it has initialized.
    pub facts: OnceLock<Facts>,
    /// The documents that are open, by the URI as the editor spells it: letter by letter, towards the workspace and back.
    pub open: DashMap<String, Open>,
    pub folders: Mutex<Vec<PathBuf>>,
    pub configured: Mutex<Configured>,
    pub presence: Presence,
    pub http: Http,
    pub ide: Ide,
    pub opening: Opening,
    signals: mpsc::UnboundedSender<Signal>,
}

/// The time between the editor's first word and its first document and settings: until then it is not known what is open, nor how edits
/// are to be treated.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    begun: OnceLock<Instant>,
    /// Fires when the first document is there.
    opened: CancellationToken,
    /// Fires when the editor has told its settings, or has none to tell.
    told: CancellationToken,
}

impl Opening {
    /// The editor is about to open documents.
    pub fn begin(&self) {
        let _ = self.begun.set(Instant::now());
    }

    /// The editor has opened a document.
    pub fn end(&self) {
        self.opened.cancel();
    }

    /// The editor has told its settings, or will not.
    pub fn settings_told(&self) {
        self.told.cancel();
    }

    /// Waits until the editor has opened a document and told its settings, or has had the time to.
    pub async fn over(&self) {
        self.over_within(OPENING).await;
    }

    async fn over_within(&self, limit: Duration) {
        if let Some(begun) = self.begun.get() {
            let both = async { tokio::join!(self.opened.cancelled(), self.told.cancelled()) };
            let _ = tokio::time::timeout_at(*begun + limit, both).await;
        }
    }
}

/// An open document, as far as it is no business of the workspace.
#[derive(Debug)]
pub(crate) struct Open {
    /// Its URI in the spelling of the library that reads most messages.
    url: String,
    /// When it was opened or changed last, by the workspace's clock.
    changed: AtomicU64,
}

impl Open {
    pub fn new(url: String, now: Millis) -> Self {
        Self { url, changed: AtomicU64::new(now.0) }
    }

    /// Notes that it changes now.
    pub fn touch(&self, now: Millis) {
        self.changed.store(now.0, Ordering::Relaxed);
    }
}

impl Session {
    pub fn new(
        workspace: Workspace,
        version: String,
        editor: Option<String>,
        presence: Presence,
        http: Http,
        ide: Ide,
        signals: mpsc::UnboundedSender<Signal>,
    ) -> Self {
        let hard_links = workspace.settings().hard_links();
        Self {
            workspace,
            version,
            editor,
            presence,
            http,
            ide,
            facts: OnceLock::new(),
            open: DashMap::new(),
            folders: Mutex::default(),
            configured: Mutex::new(Configured::started_with(hard_links)),
            opening: Opening::default(),
            signals,
        }
    }

    /// Hands something to the outgoing task. After the end of the session nobody takes it.
    pub fn signal(&self, signal: Signal) {
        let _ = self.signals.send(signal);
    }

    /// Waits until the editor has been asked for all that was decided until now.
    pub async fn flush(&self) {
        let (flushed, done) = oneshot::channel();
        self.signal(Signal::Flush(flushed));
        // An error: the session is at its end.
        let _ = done.await;
    }

    /// Tells the person something.
    pub fn say(&self, kind: MessageType, sentence: impl Into<String>) {
        self.signal(Signal::Say(kind, sentence.into()));
    }

    /// What is known of the editor; nothing before it has initialized.
    pub fn facts(&self) -> Facts {
        self.facts.get().cloned().unwrap_or_default()
    }

    /// What to call the editor.
    pub fn editor_name(&self) -> String {
        let known = self.editor.clone().or_else(|| self.facts.get()?.editor.clone());
        known.unwrap_or_else(|| "an editor".to_owned())
    }

    /// When a document was opened or changed last, by the workspace's clock.
    pub fn changed(&self, uri: &str) -> Option<Millis> {
        self.open.get(uri).map(|open| Millis(open.changed.load(Ordering::Relaxed)))
    }

    /// A URI in the editor's own spelling, if it is that of an open document.
    pub fn spelled(&self, uri: &str) -> String {
        if self.open.contains_key(uri) {
            return uri.to_owned();
        }
        let url = Url::parse(uri).map_or_else(|_| uri.to_owned(), Into::into);
        let same = self.open.iter().find(|open| open.url == url);
        same.map_or(url, |open| open.key().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn agents_wait_for_the_first_document_and_the_settings_and_not_for_ever() {
        let opening = Opening::default();
        let hour = Duration::from_secs(3600);
        // Before the editor has said anything nobody knows of it.
        opening.over_within(hour).await;
        opening.begin();
        opening.over_within(Duration::ZERO).await;
        let waits = opening.over_within(hour);
        tokio::pin!(waits);
        assert!(futures_util::poll!(waits.as_mut()).is_pending());
        opening.end();
        assert!(futures_util::poll!(waits.as_mut()).is_pending());
        opening.settings_told();
        waits.await;
        opening.over_within(hour).await;
    }
}
