//! Commands: a decision, for clients that have no plugin (rule W21).
//!
//! A command means "make it so". It is idempotent: what the text shows already is recorded, everything else is delivered.

use std::sync::Arc;
use std::time::Duration;

use futures_util::poll;
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{Command, ExecuteCommandParams, MessageType};

use crate::decision_requests::decide;
use crate::protocol::{Decide, Decision, Why};
use crate::session::Session;

/// All commands and what each decides.
pub(crate) const COMMANDS: &[(&str, Decision)] = &[
    ("hashline.accept", Decision::Accept),
    ("hashline.reject", Decision::Reject),
    ("hashline.keepMine", Decision::KeepMine),
    ("hashline.takeTheirs", Decision::TakeTheirs),
    ("hashline.keepBoth", Decision::KeepBoth),
    ("hashline.reopen", Decision::Reopen),
    ("hashline.comment", Decision::Comment),
];

/// How long a client waits for the answer to a command at most: some take no keys meanwhile.
const ANSWER: Duration = Duration::from_secs(1);

/// The command for a decision.
pub(crate) fn command(title: String, decide: &Decide) -> Command {
    let name = COMMANDS.iter().find(|(_, decision)| *decision == decide.decision);
    let argument = serde_json::to_value(decide).unwrap_or_default();
    Command { title, command: name.map_or("", |(name, _)| name).to_owned(), arguments: Some(vec![argument]) }
}

/// Carries out a command; the person is told of what is refused.
pub(crate) async fn execute(session: &Arc<Session>, params: ExecuteCommandParams) -> Result<Option<Value>> {
    let Some((name, decision)) = COMMANDS.iter().find(|(name, _)| *name == params.command) else {
        return Err(Error::invalid_params(format!("there is no command {}", params.command)));
    };
    let argument = match params.arguments.into_iter().next() {
        Some(Value::Object(argument)) => argument,
        _ => {
            return Err(Error::invalid_params(format!(
                "{name} takes one object: the fields of hashline/decide"
            )));
        }
    };
    let mut argument = argument;
    // The command says it.
    argument.insert("decision".to_owned(), serde_json::to_value(decision).unwrap_or_default());
    let said: Decide = serde_json::from_value(Value::Object(argument))
        .map_err(|error| Error::invalid_params(format!("{name}: {error}")))?;
    let waiting = session;
    let session = session.clone();
    let mut work = Box::pin(async move {
        match decide(&session, &said).await {
            Ok(decided) => {
                // Of all that waited, nothing does any more: it is so.
                let made_so = |why| why == Why::Gone && said.edit.is_none();
                for refusal in decided.refused.into_iter().filter(|refusal| !made_so(refusal.why)) {
                    session.say(MessageType::WARNING, refusal.message);
                }
            }
            Err(error) => session.say(MessageType::ERROR, error.to_string()),
        }
    });
    // What can be decided without waiting is, before the next message is read. The rest goes on even if the client takes back its
    // command, or the answer does not wait any longer.
    if poll!(work.as_mut()).is_pending() {
        let _ = tokio::time::timeout(ANSWER, tokio::spawn(work)).await;
    }
    // Emacs' lsp-mode loses what it reads right behind the answer that it waits for: what comes of the command is put to it first.
    waiting.flush().await;
    Ok(None)
}
