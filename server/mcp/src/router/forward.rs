//! Passing a call on to a sidecar, and what is said when that fails.

use std::time::Duration;

use hashline_link::{Begun, Call, Error, RemoteError, RemoteKind, Sidecar};
use rmcp::model::JsonObject;
use tokio::time::{Instant, timeout_at};

use crate::reply::{Reply, UNREACHED};
use crate::result_limits::SEARCH_TIME;
use crate::router::{ATTEMPTS, Asking, Origin, PAUSE, Router};
use crate::tools::await_review::LONGEST;
use crate::toolset::ToolName;

/// How long a sidecar may take for a call that does not wait for the person.
const LIMIT: Duration = Duration::from_secs(30);

/// Why a call was not answered.
#[derive(Debug)]
pub(super) struct Failure {
    error: Error,
    /// Whether it may have been carried out all the same.
    sent: bool,
}

impl Failure {
    /// What cannot be written was not asked.
    pub(super) fn of_json(error: &serde_json::Error) -> Self {
        Self { error: Error::Protocol(error.to_string()), sent: false }
    }

    /// Whether the sidecar is gone and was not asked.
    pub(super) fn is_gone(&self) -> bool {
        !self.sent && super::choose_sidecar::is_gone(&self.error)
    }

    /// Whether it is certain that nothing was done.
    fn is_harmless(&self) -> bool {
        // A handler that broke off, or a sidecar that was going away, may have done it before.
        let refused = |refusal: &RemoteError| {
            matches!(refusal.kind, RemoteKind::BadRequest | RemoteKind::NotFound | RemoteKind::Busy)
        };
        !self.sent || matches!(&self.error, Error::Remote(refusal) if refused(refusal))
    }

    /// Whether it looks as if the sidecar was ending.
    pub(super) fn is_going_away(&self) -> bool {
        match &self.error {
            Error::Closed | Error::Refused { .. } => true,
            Error::Remote(refusal) => matches!(refusal.kind, RemoteKind::Failed | RemoteKind::Cancelled),
            _ => false,
        }
    }

    /// Whether making the call again may help, and cannot make anything happen twice.
    pub(super) fn may_retry(&self, tool: ToolName) -> bool {
        self.is_going_away() && (self.is_harmless() || tool.is_read_only())
    }

    /// The same in words, where nothing was to be changed.
    pub(super) fn of_question(&self, sidecar: &Sidecar) -> String {
        format!("{} could not be asked: {}. Try again in a moment.", sidecar.editor, self.error)
    }

    /// The same in words for the agent.
    pub(super) fn reply(&self, sidecar: &Sidecar, asking: &Asking<'_>) -> Reply {
        let Failure { error, sent } = self;
        let Asking { origin, tool, .. } = asking;
        let editor = &sidecar.editor;
        let words = if !tool.is_read_only() && !self.is_harmless() {
            let list = if origin.reviews { ", or call list_edits" } else { "" };
            format!(
                "It is not known whether this {tool} was carried out: {editor} was asked, and then {error}. Do not send it again \
                 blindly: read the file and see whether your change is there{list}, and go on from there."
            )
        } else if *sent {
            format!("{editor} did not carry out {tool}: {error}. Nothing was changed; try again in a moment.")
        } else {
            format!("{editor} could not be asked: {error}. Nothing was changed; try again in a moment.")
        };
        Reply::refused(words).with(UNREACHED, true)
    }
}

impl Router {
    /// Passes a call on, once.
    pub(super) async fn pass_on(&self, sidecar: &Sidecar, asking: &Asking<'_>) -> Result<Reply, Failure> {
        let Asking { origin, tool, arguments, .. } = asking;
        let limit = match tool {
            // It looks for as long, and reads for as long; an editor that does not answer must not hold up what others found.
            ToolName::SearchText => 3 * SEARCH_TIME,
            ToolName::AwaitReview => LIMIT + Duration::from_secs(LONGEST.unsigned_abs()),
            _ => LIMIT,
        };
        self.exchange(sidecar, origin, tool.as_str(), arguments.clone(), limit).await
    }

    /// Asks a sidecar for something by its name, once.
    pub(super) async fn exchange(
        &self,
        sidecar: &Sidecar,
        origin: &Origin,
        name: &str,
        arguments: JsonObject,
        limit: Duration,
    ) -> Result<Reply, Failure> {
        let deadline = Instant::now() + limit;
        let call = Call { caller: self.caller(origin), tool: name.to_owned(), arguments };
        let begun = match self.begin(sidecar, &call, deadline).await {
            // It ended since it was used last.
            Err(Error::Closed) => self.begin(sidecar, &call, deadline).await,
            begun => begun,
        };
        let begun = begun.map_err(|error| Failure { error, sent: false })?;
        let sent = |error| Failure { error, sent: true };
        let answer = timeout_at(deadline, begun.answer()).await;
        let raw = answer.unwrap_or(Err(Error::Timeout { during: "waiting for its answer" })).map_err(sent)?;
        raw.parse().map_err(sent)
    }

    /// Sends a call as soon as the connection has room for one more. Nothing is sent where that fails.
    async fn begin(&self, sidecar: &Sidecar, call: &Call, deadline: Instant) -> Result<Begun, Error> {
        let client = self.sidecars.client(sidecar).await?;
        let begun = timeout_at(deadline, client.begin(call)).await;
        begun.unwrap_or(Err(Error::Timeout { during: "waiting for other calls to be answered" }))
    }

    /// Whether a sidecar has ended, and not only a connection to it. One that is about to end answers for a moment yet.
    pub(super) async fn has_ended(&self, sidecar: &Sidecar) -> bool {
        for _ in 0..ATTEMPTS {
            let announced = self.sidecars.known().list.iter().any(|known| known.id == sidecar.id);
            if !announced
                || self
                    .sidecars
                    .client(sidecar)
                    .await
                    .is_err_and(|error| super::choose_sidecar::is_gone(&error))
            {
                return true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use hashline_link::{
        CancellationToken, DecideOutcome, Handler, Held, IN_FLIGHT, Listener, Raw, SidecarId, SidecarStatus,
        StateDir, serve,
    };
    use hashline_workspace::Settings;
    use hashline_workspace::disk::Roots;
    use tokio::sync::Semaphore;

    use super::*;

    /// A sidecar that begins calls and never answers one.
    struct Silent(Arc<Semaphore>);

    impl Handler for Silent {
        async fn call(&self, _: Call, cancel: CancellationToken) -> Result<Raw, RemoteError> {
            self.0.add_permits(1);
            cancel.cancelled().await;
            Err(RemoteError::cancelled())
        }
        async fn holds(&self, _: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
            Ok(Vec::new())
        }
        async fn status(&self) -> Result<SidecarStatus, RemoteError> {
            Ok(SidecarStatus::default())
        }
        async fn decide(&self, _: hashline_link::Decide) -> Result<DecideOutcome, RemoteError> {
            Err(RemoteError::cancelled())
        }
    }

    #[tokio::test]
    async fn a_call_that_never_found_room_was_not_sent() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path())).unwrap();
        let id = SidecarId::random();
        let listener = Listener::bind(&state, &id).unwrap();
        let sidecar = Sidecar::new(id, &listener, "nvim", Vec::new());
        let begun = Arc::new(Semaphore::new(0));
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, Arc::new(Silent(begun.clone())), stop.clone()));
        let router = Arc::new(Router::new(&Roots::default(), true, Settings::default(), state).unwrap());
        let origin = Origin { agent: "a".into(), connection: "1".into(), grants: None, reviews: true };
        // Over one connection.
        router.sidecars.client(&sidecar).await.unwrap();
        let exchange = |limit| {
            let (router, sidecar, origin) = (router.clone(), sidecar.clone(), origin.clone());
            async move { router.exchange(&sidecar, &origin, "write_file", JsonObject::new(), limit).await }
        };
        let waiting: Vec<_> = (0..IN_FLIGHT).map(|_| tokio::spawn(exchange(LIMIT))).collect();
        let all = u32::try_from(IN_FLIGHT).unwrap();
        timeout_at(Instant::now() + LIMIT, begun.acquire_many(all)).await.unwrap().unwrap().forget();

        let failure = exchange(Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(begun.available_permits(), 0, "it was sent");
        let (arguments, never) = (JsonObject::new(), CancellationToken::new());
        let asking = Asking { origin: &origin, tool: ToolName::WriteFile, arguments, cancel: &never };
        let told = failure.reply(&sidecar, &asking).text;
        assert!(told.contains("Nothing was changed") && told.contains("could not be asked"), "{told}");
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        stop.cancel();
        serving.await.unwrap();
    }
}
