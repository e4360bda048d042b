//! Resources, read where their documents are.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use hashline_history::path::from_text;
use hashline_link::{CancellationToken, Sidecar};
use hashline_workspace::Refusal;
use hashline_workspace::disk::{PathRefusal, PathStyle};
use rmcp::model::CompletionInfo;

use crate::reply::{NOT_HERE, Reply};
use crate::resources::open::Open;
use crate::resources::review::Reviewed;
use crate::resources::{Request, Resource, complete, json_of, refused};
use crate::router::all_sidecars::Target;
use crate::router::choose_sidecar::Choice;
use crate::router::forward::Failure;
use crate::router::{ATTEMPTS, Origin, PAUSE, Router, own_caller};

/// How long a sidecar may take to say what is open or how things stand, beside what it is asked to wait.
const LIMIT: Duration = Duration::from_secs(5);
/// How long it may take for a whole document.
const READ_LIMIT: Duration = Duration::from_secs(30);

impl Router {
    /// Reads a resource.
    pub(crate) async fn read_resource(&self, origin: &Origin, uri: &str) -> Reply {
        match self.locate(uri) {
            Ok(Resource::Review(None)) => self.all_edits(origin).await,
            Ok(Resource::Folder(path)) => {
                let reply = self.ask_own(origin, read(Resource::Folder(path.clone()))).await;
                match self.roots().resolve(&path, PathStyle::WithinRoot) {
                    Ok(place) if reply.failed => reply.renamed(&place.to_text(), &path),
                    Ok(_) | Err(_) => reply,
                }
            }
            Ok(Resource::Document(path)) => {
                self.read_at(origin, &path, &read(Resource::Document(path.clone()))).await
            }
            Ok(Resource::Review(Some(path))) => {
                self.read_at(origin, &path, &read(Resource::Review(Some(path.clone())))).await
            }
            Err(reply) => *reply,
        }
    }

    /// All that the document at a path holds.
    pub(crate) async fn document(&self, origin: &Origin, path: &str) -> Reply {
        match self.roots().resolve(path, PathStyle::Any) {
            Ok(place) => {
                let path = place.to_text();
                self.read_at(origin, &path, &read(Resource::Document(path.clone()))).await
            }
            Err(refusal) => refused(refusal.into()),
        }
    }

    /// The open documents of all editors.
    pub(crate) async fn open_documents(&self, origin: &Origin) -> Vec<Open> {
        let sidecars = self.within_roots();
        let asked = sidecars.iter().map(|sidecar| self.ask_sidecar(sidecar, origin, Request::Open {}));
        let answers = join_all(asked).await;
        // An editor that does not answer has nothing open that could be read.
        let open =
            |answer: Result<Reply, Failure>| serde_json::from_str::<Vec<Open>>(&answer.ok()?.text).ok();
        answers.into_iter().filter_map(open).flatten().collect()
    }

    /// What the path of a template may go on to. The disk knows.
    pub(crate) async fn complete(&self, origin: &Origin, template: &str, given: &str) -> CompletionInfo {
        complete::path(self.own.workspace(), &own_caller(origin), template, given).await
    }

    /// Whether changes of a resource can be told of; else why not. It need not exist yet.
    pub(crate) fn watchable(&self, uri: &str) -> Result<(), String> {
        let resource = self.locate(uri).map_err(|refused| refused.text)?;
        resource.topic().map(drop).ok_or_else(|| {
            format!(
                "{uri} cannot be subscribed to: changes are told of file:// and review://. Read it again when you need it."
            )
        })
    }

    /// What a URI means to every place: a relative path is relative to roots of this connection. A refusal is for the client.
    pub(super) fn locate(&self, uri: &str) -> Result<Resource, Box<Reply>> {
        if let Some(why) = self.nothing() {
            return Err(Box::new(Reply::refused(why)));
        }
        let absolute = |path: &str| match self.roots().resolve(path, PathStyle::Any) {
            Ok(place) => Ok(place.to_text()),
            // Perhaps a document without a file: its editor knows.
            Err(PathRefusal::NotAFile(uri)) => Ok(uri),
            Err(refusal) => Err(Refusal::from(refusal)),
        };
        let located = match Resource::parse(uri) {
            Ok(Resource::Document(path)) => absolute(&path).map(Resource::Document),
            Ok(Resource::Review(Some(path))) => absolute(&path).map(|path| Resource::Review(Some(path))),
            other => other,
        };
        located.map_err(|refusal| Box::new(refused(refusal)))
    }

    /// Asks the place that has a document.
    async fn read_at(&self, origin: &Origin, document: &str, request: &Request) -> Reply {
        let Some(path) = file(document) else { return self.read_without_file(origin, request).await };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let known = self.sidecars.settled(self.sidecars.known(), &path).await;
            match self.choose(&known, &path).await {
                Choice::Disk => return self.ask_own(origin, request.clone()).await,
                Choice::Refused(words) => return Reply::refused(words),
                Choice::Sidecar(sidecar) => match self.ask_sidecar(&sidecar, origin, request.clone()).await {
                    Ok(reply) => return reply,
                    Err(failure) if failure.is_going_away() && attempt < ATTEMPTS => {
                        tokio::time::sleep(PAUSE).await;
                    }
                    Err(failure) => return Reply::refused(failure.of_question(&sidecar)),
                },
            }
        }
    }

    /// Asks for a document that has no file: whichever editor has it.
    async fn read_without_file(&self, origin: &Origin, request: &Request) -> Reply {
        for sidecar in self.within_roots() {
            match self.ask_sidecar(&sidecar, origin, request.clone()).await {
                Ok(reply) if reply.has(NOT_HERE) => {}
                Ok(reply) => return reply,
                Err(failure) if failure.is_gone() => {}
                Err(failure) => return Reply::refused(failure.of_question(&sidecar)),
            }
        }
        // Refused here, in the same words as everywhere.
        self.ask_own(origin, request.clone()).await
    }

    /// The edits of all documents, as one.
    async fn all_edits(&self, origin: &Origin) -> Reply {
        let targets = self.targets();
        let asked = targets.iter().map(|target| self.ask_place(target, origin, read(Resource::Review(None))));
        let answers = join_all(asked).await;
        let told = answers.into_iter().zip(&targets).fold(Reviewed::default(), |told, (answer, target)| {
            let not_asked = |why: String| Reviewed { not_asked: vec![why], ..Reviewed::default() };
            told.and(match (answer, target) {
                (Ok(reply), _) => serde_json::from_str(&reply.text).unwrap_or_else(|_| not_asked(reply.text)),
                // Its edits are in the record.
                (Err(failure), _) if failure.is_gone() => Reviewed::default(),
                (Err(failure), Target::Sidecar(sidecar)) => not_asked(failure.of_question(sidecar)),
                (Err(_), Target::Own) => Reviewed::default(),
            })
        });
        json_of(&told)
    }

    /// Asks one place.
    pub(super) async fn ask_place(
        &self,
        target: &Target,
        origin: &Origin,
        request: Request,
    ) -> Result<Reply, Failure> {
        match target {
            Target::Own => Ok(self.ask_own(origin, request).await),
            Target::Sidecar(sidecar) => self.ask_sidecar(sidecar, origin, request).await,
        }
    }

    async fn ask_own(&self, origin: &Origin, request: Request) -> Reply {
        // Whoever does not wait any more drops this.
        self.own.answer(&own_caller(origin), request, &CancellationToken::new()).await
    }

    async fn ask_sidecar(
        &self,
        sidecar: &Sidecar,
        origin: &Origin,
        request: Request,
    ) -> Result<Reply, Failure> {
        let limit = match &request {
            Request::Read { .. } => READ_LIMIT,
            Request::Open {} | Request::States { .. } => LIMIT + request.wait(),
        };
        let (method, params) = request.into_call().map_err(|error| Failure::of_json(&error))?;
        self.exchange(sidecar, origin, &method, params, limit).await
    }
}

fn read(resource: Resource) -> Request {
    Request::Read { resource }
}

/// The path of a document that has a file.
pub(super) fn file(document: &str) -> Option<Arc<Path>> {
    from_text(document).filter(|path| path.is_absolute()).map(Arc::from)
}
