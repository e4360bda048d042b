//! Listening for programs, and telling them where.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::CancellationToken;
use hashline_workspace::Workspace;
use rmcp::ServiceExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::frames;
use crate::handshake::admit;
use crate::lock_file::LockFile;
use crate::server::Server;
use crate::token::Token;

/// How often folders and the locks of others are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How long a connection may take to show the token.
const ADMITTED_WITHIN: Duration = Duration::from_secs(10);

/// How many connections there are at once.
const MOST: usize = 32;

/// What is served.
pub struct Options {
    /// The documents. Their folders are told as they are by then.
    pub workspace: Workspace,
    /// What the editor is called.
    pub editor: String,
    /// Where Claude Code keeps what is its own. Nothing is served while that is not there.
    pub folder: PathBuf,
    /// Ends it.
    pub stop: CancellationToken,
}

/// Serves programs until it is stopped. Nothing is made or opened within the first second: the editor may yet say that it is not wanted.
pub async fn serve(options: Options) {
    let stop = options.stop.clone();
    let running = TaskTracker::new();
    tokio::select! {
        () = stop.cancelled() => {}
        () = listen(&options, &running) => {}
    }
    // What is held is withdrawn.
    running.close();
    running.wait().await;
}

/// Listens until something breaks.
async fn listen(options: &Options, running: &TaskTracker) {
    let Options { workspace, editor, folder, stop } = options;
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    look.reset();
    loop {
        look.tick().await;
        if folder.is_dir() {
            break;
        }
    }
    let begun = async { (TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await, Token::new()) }.await;
    let (listener, token) = match begun {
        (Ok(listener), Ok(token)) => (listener, token),
        (listener, token) => {
            tracing::warn!("there is no IDE link: {:?} {:?}", listener.err(), token.err());
            return;
        }
    };
    let Ok(address) = listener.local_addr() else { return };
    let mut lock_file = LockFile::new(folder, address.port(), &token, editor);
    let room = Arc::new(Semaphore::new(MOST));
    lock_file.settle(&workspace.roots());
    loop {
        tokio::select! {
            _ = look.tick() => lock_file.settle(&workspace.roots()),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let Ok(place) = room.clone().try_acquire_owned() else { continue };
                    let (workspace, token) = (workspace.clone(), token.clone());
                    let (ended, edits) = (stop.child_token(), running.clone());
                    running.spawn(async move {
                        let _place = place;
                        connected(stream, &token, workspace, ended, edits).await;
                    });
                }
                Err(error) => {
                    // Too many files are open, for a moment.
                    tracing::debug!(%error, "a connection is not taken");
                    tokio::time::sleep(LOOK).await;
                }
            },
        }
    }
}

/// Serves one connection until it ends.
async fn connected(
    stream: TcpStream,
    token: &Token,
    workspace: Workspace,
    ended: CancellationToken,
    running: TaskTracker,
) {
    let admitted = tokio::select! {
        admitted = tokio::time::timeout(ADMITTED_WITHIN, admit(stream, token)) => admitted,
        () = ended.cancelled() => return,
    };
    let socket = match admitted {
        Ok(Ok(socket)) => socket,
        Ok(Err(error)) => return tracing::info!(%error, "a connection to the IDE link was refused"),
        Err(_) => return tracing::info!("a connection to the IDE link said nothing"),
    };
    let (frames, wire) = frames::over(socket);
    let served = async {
        let server = Server::new(workspace, ended.clone(), running);
        match server.serve_with_ct(frames, ended.clone()).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::debug!(%error, "an IDE link did not begin as the protocol has it"),
        }
    };
    tokio::select! {
        () = async { tokio::join!(wire.carry(ended.clone()), served); } => {}
        () = ended.cancelled() => {}
    }
}
