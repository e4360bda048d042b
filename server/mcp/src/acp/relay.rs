//! The lines on their way, one half for each direction.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hashline_history::AgentName;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::acp::dialogue::{Dialogue, FromAgent, Opening};
use crate::acp::files;
use crate::acp::lines::{Lines, Piece};
use crate::acp::server_entry::AcpServer;
use crate::router::Router;

/// What both directions know.
type Shared = Arc<Mutex<Dialogue>>;

/// From the client to the agent, with the answers that are given here.
pub struct ToAgent {
    dialogue: Shared,
    router: Arc<Router>,
    server: AcpServer,
    /// Those of all sessions.
    folders: Vec<PathBuf>,
    answers: mpsc::UnboundedReceiver<String>,
}

/// From the agent to the client.
pub struct ToClient {
    dialogue: Shared,
    router: Arc<Router>,
    /// As many as the agent has asked for: nobody waits here for the agent to read them, who may wait for us to read on.
    answers: mpsc::UnboundedSender<String>,
}

/// Both directions between a client and an agent that is called `agent` until it says otherwise. The router serves the folders of the sessions
/// from when they are opened on.
#[must_use]
pub fn between(router: Arc<Router>, server: AcpServer, agent: &str) -> (ToAgent, ToClient) {
    let dialogue = Arc::new(Mutex::new(Dialogue::new(AgentName::from(agent))));
    let (sender, answers) = mpsc::unbounded_channel();
    let to_client = ToClient { dialogue: dialogue.clone(), router: router.clone(), answers: sender };
    (ToAgent { dialogue, router, server, folders: Vec::new(), answers }, to_client)
}

impl ToAgent {
    /// Moves lines until there are no more, or nobody reads them. The agent's input ends with the client's.
    ///
    /// # Errors
    /// One of the two streams is broken.
    pub async fn run(
        mut self,
        client: impl AsyncRead + Send + Unpin,
        mut agent: impl AsyncWrite + Send + Unpin,
    ) -> io::Result<()> {
        let mut lines = Lines::new(client);
        loop {
            let bytes = tokio::select! {
                biased;
                Some(answer) = self.answers.recv(), if !lines.is_within() => answer.into_bytes(),
                piece = lines.next() => match piece? {
                    Some(Piece::Line(line)) => self.heard(line),
                    Some(Piece::Part(part)) => part,
                    None => return agent.shutdown().await,
                },
            };
            agent.write_all(&bytes).await?;
            agent.flush().await?;
        }
    }

    /// The line that the agent hears in the place of one.
    fn heard(&mut self, line: Vec<u8>) -> Vec<u8> {
        let opening = of(&self.dialogue, |dialogue| dialogue.hear_client(&line));
        let Some(Opening { folders, place, version }) = opening else { return line };
        match (self.serve(&folders), place) {
            (true, Some(place)) => place.filled(line, &self.server.entry(&folders, version)),
            _ => line,
        }
    }

    /// Serves the folders of a session besides those that are served; returns whether they can be.
    fn serve(&mut self, folders: &[PathBuf]) -> bool {
        // One that has gone since takes nothing from other sessions.
        let mut all: Vec<PathBuf> = self.folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
        all.extend(folders.iter().filter(|folder| !self.folders.contains(folder)).cloned());
        match self.router.open_roots(&all) {
            Ok(roots) => {
                self.router.serve_roots(Ok(roots));
                self.folders = all;
                true
            }
            Err(error) => {
                tracing::warn!("a session goes without hashline: {error}");
                false
            }
        }
    }
}

impl ToClient {
    /// Moves lines until there are no more, or nobody reads them.
    ///
    /// # Errors
    /// One of the two streams is broken.
    pub async fn run(
        self,
        agent: impl AsyncRead + Send + Unpin,
        mut client: impl AsyncWrite + Send + Unpin,
    ) -> io::Result<()> {
        let mut lines = Lines::new(agent);
        while let Some(piece) = lines.next().await? {
            let bytes = match piece {
                Piece::Line(line) if self.keeps(&line).await => continue,
                Piece::Line(bytes) | Piece::Part(bytes) => bytes,
            };
            client.write_all(&bytes).await?;
            client.flush().await?;
        }
        Ok(())
    }

    /// Whether a line is none of the client's business, as it was answered here.
    async fn keeps(&self, line: &[u8]) -> bool {
        let request = match of(&self.dialogue, |dialogue| dialogue.hear_agent(line)) {
            FromAgent::PassOn => return false,
            FromAgent::Dropped => return true,
            FromAgent::File(request) => request,
        };
        let Some(answer) = files::answer(&self.router, &request).await else { return false };
        of(&self.dialogue, |dialogue| dialogue.answered(request.id));
        // Where nobody reads it the agent's input has ended.
        let _ = self.answers.send(answer);
        true
    }
}

fn of<T>(dialogue: &Shared, ask: impl FnOnce(&mut Dialogue) -> T) -> T {
    ask(&mut dialogue.lock().unwrap_or_else(PoisonError::into_inner))
}
