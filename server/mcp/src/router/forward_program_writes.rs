//! What programs have written by themselves, recorded where it belongs.

use std::path::Path;
use std::time::Duration;

use crate::program_write::{self, Written};
use crate::reply::Reply;
use crate::router::choose_sidecar::Choice;
use crate::router::{ATTEMPTS, Origin, PAUSE, Router, own_caller};

/// How long a sidecar may take to record it.
const LIMIT: Duration = Duration::from_secs(3);

impl Router {
    /// Has recorded what a program has written to a file that no editor has open.
    pub(crate) async fn record_written(&self, origin: &Origin, file: &Path, written: Written) -> Reply {
        let arguments = written.into_arguments();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let known = self.sidecars.settled(self.sidecars.known(), file).await;
            match self.choose(&known, file).await {
                Choice::Disk => {
                    return program_write::record(self.own.workspace(), &own_caller(origin), arguments).await;
                }
                Choice::Refused(words) => return Reply::refused(words),
                Choice::Sidecar(sidecar) => {
                    let asked =
                        self.exchange(&sidecar, origin, program_write::CALL, arguments.clone(), LIMIT).await;
                    match asked {
                        Ok(reply) => return reply,
                        Err(failure) if failure.is_gone() && attempt < ATTEMPTS => {
                            tokio::time::sleep(PAUSE).await;
                        }
                        Err(failure) => return Reply::refused(failure.of_question(&sidecar)),
                    }
                }
            }
        }
    }
}
