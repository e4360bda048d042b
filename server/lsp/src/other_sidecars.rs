//! The sidecars of other editors (rule W19).

use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_link::{Client, Decide, DecideOutcome, Error, Finder, Held, Sidecar, SidecarId, StateDir};
use hashline_workspace::{OpenElsewhere, Others};

/// How long another sidecar may take to say what it has.
const LIMIT: Duration = Duration::from_secs(2);
/// How long it may take over a decision.
const DECISION: Duration = Duration::from_secs(30);

/// The other sidecars that run at any moment.
pub(crate) struct Neighbours {
    finder: Finder,
    own: SidecarId,
}

impl Neighbours {
    pub fn new(state: StateDir, own: SidecarId) -> Self {
        Self { finder: Finder::new(state), own }
    }

    fn list(&self) -> Vec<Sidecar> {
        self.finder.sidecars().iter().filter(|sidecar| sidecar.id != self.own).cloned().collect()
    }

    /// The other sidecar whose editor has a file open; an error is of the editor that may have it and does not say.
    async fn holder(&self, path: &Path) -> Result<Option<Sidecar>, (String, Error)> {
        let mut holders: Vec<(Held, Sidecar)> = Vec::new();
        for sidecar in self.list() {
            let paths: [PathBuf; 1] = [path.to_owned()];
            let asked = async { Client::connect(&sidecar).await?.holds(&paths).await };
            let late = || Error::Timeout { during: "asking what is open" };
            match tokio::time::timeout(LIMIT, asked).await.unwrap_or_else(|_| Err(late())) {
                Ok(mut held) => {
                    holders.extend(held.pop().filter(|held| held.open).map(|held| (held, sidecar)));
                }
                Err(error) if error.is_refused() => self.finder.refused(&sidecar),
                // One that is elsewhere is no reason to wait.
                Err(_) if sidecar.root_of(path).is_none() => {}
                Err(error) => return Err((sidecar.editor, error)),
            }
        }
        let best = holders
            .into_iter()
            .max_by_key(|(held, _)| (held.pending > 0, held.dirty, !held.behind, held.claimed, held.used));
        Ok(best.map(|(_, sidecar)| sidecar))
    }

    /// Hands a decision over to the editor that has the file open. None if none has by now; else the editor's name with what became of
    /// the decision.
    pub async fn hand_over(
        &self,
        path: &Path,
        decide: &Decide,
    ) -> Option<(String, Result<DecideOutcome, Error>)> {
        let sidecar = match self.holder(path).await {
            Ok(holder) => holder?,
            Err((editor, error)) => return Some((editor, Err(error))),
        };
        let asked = async { Client::connect(&sidecar).await?.decide(decide).await };
        let late = || Error::Timeout { during: "waiting for the decision" };
        let outcome = tokio::time::timeout(DECISION, asked).await.unwrap_or_else(|_| Err(late()));
        Some((sidecar.editor, outcome))
    }
}

impl Others for Neighbours {
    /// Whether another editor has the file open. It is asked on a thread of its own, as whoever wants to know may be a task.
    fn has(&self, path: &Path) -> OpenElsewhere {
        if self.list().is_empty() {
            return OpenElsewhere::No;
        }
        let asked = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            Some(runtime.block_on(self.holder(path)))
        };
        match std::thread::scope(|threads| threads.spawn(asked).join()) {
            Ok(Some(Ok(None))) => OpenElsewhere::No,
            Ok(Some(Err((editor, _)))) => OpenElsewhere::NoAnswer { editor },
            // Where it cannot be asked it may have it.
            Ok(Some(Ok(Some(_))) | None) | Err(_) => OpenElsewhere::Yes,
        }
    }

    /// Of several that offer the edits of a file that nobody has open, the oldest tells agents of them.
    fn answer_for(&self, path: &Path) -> bool {
        let sidecars = self.finder.sidecars();
        let older = sidecars.iter().take_while(|sidecar| sidecar.id != self.own);
        older.filter(|older| older.root_of(path).is_some()).any(|older| !older.has_ended())
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.list().into_iter().flat_map(|sidecar| sidecar.roots).collect()
    }

    fn own_name(&self) -> Option<&str> {
        Some(self.own.as_str())
    }

    fn editor_of(&self, name: &str) -> Option<String> {
        let sidecar = self.list().into_iter().find(|sidecar| sidecar.id.as_str() == name)?;
        (!sidecar.has_ended()).then_some(sidecar.editor)
    }
}
