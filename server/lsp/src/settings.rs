//! The editor's settings: asking for them, and putting in force what it says.

use std::path::PathBuf;

use serde_json::Value;
use tower_lsp::Client;
use tower_lsp::lsp_types::{ConfigurationItem, MessageType, Url};

use crate::configuration::Configured;
use crate::lock::lock;
use crate::session::{Session, Signal};

/// Asks the editor for its settings, those of each of its folders too, and puts them in force.
pub(crate) async fn ask(client: &Client, session: &Session) {
    let question = lock(&session.configured).ask();
    let folders = lock(&session.folders).clone();
    let scopes = folders.iter().map(|folder| Url::from_file_path(folder).ok());
    let item = |scope_uri| ConfigurationItem { scope_uri, section: Some("hashline".to_owned()) };
    match client.configuration(std::iter::once(None).chain(scopes).map(item).collect()).await {
        Ok(answers) => {
            put_in_force(session, |configured| configured.answered(question, &folders, &answers));
        }
        Err(error) => {
            tracing::debug!(%error, "the editor does not tell its settings");
            put_in_force(session, |configured| {
                configured.not_answered(&folders);
                Vec::new()
            });
        }
    }
    session.opening.settings_told();
}

/// Folders have come that the editor will be asked about, and others have gone.
pub(crate) fn wait_for(session: &Session, added: &[PathBuf], removed: &[PathBuf]) {
    put_in_force(session, |configured| {
        configured.wait_for(added, removed);
        Vec::new()
    });
}

/// Puts settings in force that the editor says while it runs.
pub(crate) fn changed(session: &Session, settings: &Value) {
    put_in_force(session, |configured| configured.change(settings));
}

/// Puts settings in force that the editor says when it initializes.
pub(crate) fn started(session: &Session, options: &Value) {
    put_in_force(session, |configured| {
        configured.plugin = session.facts.get().is_some_and(|facts| facts.plugin);
        configured.start(options)
    });
}

fn put_in_force(session: &Session, take: impl FnOnce(&mut Configured) -> Vec<String>) {
    let mut configured = lock(&session.configured);
    let wrong = take(&mut configured);
    session.workspace.set_settings(configured.settings());
    drop(configured);
    for sentence in wrong {
        session.say(MessageType::WARNING, sentence);
    }
    session.signal(Signal::Settings);
}
