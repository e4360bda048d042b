//! Which sidecar answers for a path (rule W19).

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::join_all;
use hashline_history::path::to_text;
use hashline_link::{Error, Held, Sidecar};
use hashline_workspace::disk::PathStyle;

use crate::router::Router;
use crate::router::sidecars::Known;

/// How long a sidecar may take to say what it has.
const LIMIT: Duration = Duration::from_secs(5);

/// Where a call about a path goes.
#[derive(Debug)]
pub(super) enum Choice {
    /// No editor has to do with it.
    Disk,
    /// This editor's.
    Sidecar(Box<Sidecar>),
    /// Nobody can answer without harm.
    Refused(String),
}

/// Where a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Openness {
    /// No editor has it open, or it is not served.
    Closed,
    /// An editor has it open.
    Open {
        /// Its name.
        editor: String,
    },
    /// Editors have it open, and nobody can answer for it without harm: why, and what to do.
    Unclear(String),
}

/// Who answers for a path.
#[derive(Debug)]
pub(super) struct Owner {
    pub choice: Choice,
    /// Whether any editor has it open.
    pub open: bool,
}

/// What a sidecar says of a path.
#[derive(Clone, Debug)]
struct Holder {
    sidecar: Sidecar,
    /// How many names its innermost root around the path has; none if none of its roots is around it.
    depth: Option<usize>,
    held: Held,
}

impl Router {
    /// Where a call about a path, with all links followed, goes.
    pub(super) async fn choose(&self, known: &Known, path: &Path) -> Choice {
        let depths: Vec<Option<usize>> = known.roots.iter().map(|roots| depth(roots, path)).collect();
        if let ([only], [Some(_)]) = (&*known.list, depths.as_slice()) {
            // Nobody else can have it: there is nothing to ask. Whether it still runs shows when it is called.
            match self.sidecars.client(only).await {
                Ok(_) => return Choice::Sidecar(Box::new(only.clone())),
                Err(error) if is_gone(&error) => return Choice::Disk,
                Err(error) => return Choice::Refused(unreachable_words(only, path, &error)),
            }
        }
        let asked =
            known.list.iter().zip(depths).map(|(sidecar, depth)| self.ask_holder(sidecar, depth, path));
        let mut holders = Vec::new();
        for answer in join_all(asked).await {
            match answer {
                Ok(holder) => holders.extend(holder),
                Err(words) => return Choice::Refused(words),
            }
        }
        pick(holders, path)
    }

    /// The file of a path, with all links followed; none if it is not served.
    pub(crate) fn file_of(&self, path: &str) -> Option<PathBuf> {
        let place = self.roots().resolve(path, PathStyle::Any).ok()?;
        Some(place.absolute().to_owned())
    }

    /// Where the document of a path is, as hooks ask.
    pub(crate) async fn openness(&self, path: &str) -> Openness {
        let Some(path) = self.file_of(path) else { return Openness::Closed };
        let known = self.sidecars.settled(self.sidecars.known(), &path).await;
        match self.owners(&known, &[path]).await.pop() {
            Some(Owner { choice: Choice::Sidecar(sidecar), open: true }) => {
                Openness::Open { editor: sidecar.editor }
            }
            Some(Owner { choice: Choice::Refused(words), .. }) => Openness::Unclear(words),
            Some(Owner { .. }) | None => Openness::Closed,
        }
    }

    /// Who answers for each of some paths, as far as they can be asked. A file is left out that is open with different unsaved text in
    /// several editors.
    pub(super) async fn owners(&self, known: &Known, paths: &[PathBuf]) -> Vec<Owner> {
        let asked = known.list.iter().map(|sidecar| async {
            let asked = async { self.sidecars.client(sidecar).await?.holds(paths).await };
            match tokio::time::timeout(LIMIT, asked).await {
                Ok(Ok(held)) => held,
                // It has told what it found, or is told of as failing.
                Ok(Err(_)) | Err(_) => Vec::new(),
            }
        });
        let held = join_all(asked).await;
        let owner = |(at, path): (usize, &PathBuf)| {
            let mut open = false;
            let holders =
                known.list.iter().zip(&known.roots).zip(&held).filter_map(|((sidecar, roots), held)| {
                    let (held, depth) = (held.get(at)?.clone(), depth(roots, path));
                    open |= held.open;
                    let concerned = held.open || held.pending > 0 || depth.is_some();
                    concerned.then(|| Holder { sidecar: sidecar.clone(), depth, held })
                });
            let choice = pick(holders.collect(), path);
            Owner { choice, open }
        };
        paths.iter().enumerate().map(owner).collect()
    }

    /// What one sidecar says; an error is in words for the agent.
    async fn ask_holder(
        &self,
        sidecar: &Sidecar,
        depth: Option<usize>,
        path: &Path,
    ) -> Result<Option<Holder>, String> {
        let asked = async {
            let client = self.sidecars.client(sidecar).await?;
            client.holds(&[path.to_owned()]).await
        };
        let error = match tokio::time::timeout(LIMIT, asked).await {
            Ok(Ok(mut held)) => {
                let held = held.pop().unwrap_or_default();
                let concerned = held.open || held.pending > 0 || depth.is_some();
                return Ok(concerned.then(|| Holder { sidecar: sidecar.clone(), depth, held }));
            }
            Ok(Err(error)) => error,
            Err(_) => Error::Timeout { during: "asking what is open" },
        };
        // One that is far from the path and does not answer is no reason to refuse.
        if is_gone(&error) || depth.is_none() {
            return Ok(None);
        }
        Err(unreachable_words(sidecar, path, &error))
    }
}

/// Whether there is certainly no sidecar any more.
pub(super) fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Refused { .. } | Error::Closed)
}

fn depth(roots: &[PathBuf], path: &Path) -> Option<usize> {
    let holding = roots.iter().filter(|root| path.starts_with(root));
    holding.map(|root| root.components().count()).max()
}

fn unreachable_words(sidecar: &Sidecar, path: &Path, error: &Error) -> String {
    format!(
        "Nothing was read or changed: {} (process {}) has the folder of {} open and may have unsaved text of it, but it does \
         not answer: {error}. Try again in a moment; if it stays so, tell the person to restart that editor.",
        sidecar.editor,
        sidecar.pid,
        to_text(path),
    )
}

/// The one of several that answers for a path.
fn pick(mut holders: Vec<Holder>, path: &Path) -> Choice {
    // Those that are not behind the disk first; of them the one that has claimed what the others would refuse, then used last first; of
    // those that never were, the innermost, then the oldest.
    holders.sort_by_key(|Holder { held, depth, sidecar }| {
        (held.behind, !held.claimed, Reverse(held.used), Reverse(*depth), sidecar.started)
    });
    let owner = holders.iter().position(|holder| holder.held.pending > 0);
    if let Some(owner) = owner {
        return chosen(holders, owner);
    }
    let dirty: Vec<usize> = (0..holders.len()).filter(|at| holders[*at].held.dirty).collect();
    match dirty.as_slice() {
        [] => {}
        [first, rest @ ..] => {
            let same = |at: &usize| {
                holders[*at].held.hash.is_some() && holders[*at].held.hash == holders[*first].held.hash
            };
            if rest.iter().all(same) {
                let first = *first;
                return chosen(holders, first);
            }
            let names: Vec<_> = dirty
                .iter()
                .map(|at| format!("{} (process {})", holders[*at].sidecar.editor, holders[*at].sidecar.pid))
                .collect();
            return Choice::Refused(format!(
                "Nothing was read or changed: {} is open with different unsaved text in {}. Ask the person to save or close it \
                 in one of them, then call again.",
                to_text(path),
                names.join(" and "),
            ));
        }
    }
    match holders.iter().position(|holder| holder.held.open) {
        Some(open) => chosen(holders, open),
        None => {
            // Open nowhere: whoever has the innermost folder serves the disk, so that its editor knows of it.
            let innermost = (0..holders.len()).max_by_key(|at| {
                (holders[*at].depth, holders[*at].held.used, Reverse(holders[*at].sidecar.started))
            });
            innermost.map_or(Choice::Disk, |at| chosen(holders, at))
        }
    }
}

fn chosen(mut holders: Vec<Holder>, at: usize) -> Choice {
    Choice::Sidecar(Box::new(holders.swap_remove(at).sidecar))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(editor: &str, depth: Option<usize>, held: Held) -> Holder {
        let sidecar = serde_json::json!({
            "id": format!("{editor}-00000000"), "pid": 1, "editor": editor, "version": "1", "protocol": 1,
            "roots": [], "socket": "/s", "started": 1
        });
        Holder { sidecar: serde_json::from_value(sidecar).unwrap(), depth, held }
    }

    fn held(open: bool, dirty: bool, pending: u32, hash: &str, used: u64) -> Held {
        let hash = Some(hash.to_owned()).filter(|hash| !hash.is_empty());
        Held { open, dirty, pending, hash, used: Some(used), ..Held::default() }
    }

    fn picked(holders: &[(&str, Held)]) -> String {
        let holders = holders.iter().map(|(name, held)| holder(name, Some(2), held.clone())).collect();
        match pick(holders, Path::new("/p/a")) {
            Choice::Disk => "disk".to_owned(),
            Choice::Sidecar(sidecar) => sidecar.editor,
            Choice::Refused(words) => words,
        }
    }

    #[test]
    fn the_owner_then_the_only_dirty_one_then_the_one_used_last() {
        let clean = |used| held(true, false, 0, "", used);
        let dirty = |hash, used| held(true, true, 0, hash, used);
        assert_eq!(picked(&[]), "disk");
        assert_eq!(picked(&[("a", clean(1)), ("b", clean(2))]), "b");
        assert_eq!(picked(&[("a", dirty("x", 1)), ("b", clean(2))]), "a");
        assert_eq!(picked(&[("a", dirty("x", 1)), ("b", dirty("x", 2))]), "b");
        assert_eq!(picked(&[("a", held(true, false, 1, "", 1)), ("b", dirty("x", 2))]), "a");
        assert_eq!(picked(&[("a", held(false, false, 0, "", 9)), ("b", clean(1))]), "b");
        let behind = |used| Held { behind: true, ..clean(used) };
        assert_eq!(picked(&[("a", clean(1)), ("b", behind(2))]), "a");
        assert_eq!(picked(&[("a", behind(1)), ("b", behind(2))]), "b");
        // What it has saved a moment ago is not recorded yet.
        let claimed = |held| Held { claimed: true, ..held };
        assert_eq!(picked(&[("a", claimed(clean(1))), ("b", clean(2))]), "a");
        assert_eq!(picked(&[("a", claimed(clean(1))), ("b", dirty("x", 2))]), "b");
        assert_eq!(picked(&[("a", claimed(dirty("x", 1))), ("b", dirty("x", 2))]), "a");
        assert_eq!(picked(&[("a", claimed(behind(1))), ("b", clean(2))]), "b");
        let refused = picked(&[("nvim", dirty("x", 1)), ("code", dirty("y", 2))]);
        assert!(refused.contains("code (process 1) and nvim (process 1)"), "{refused}");
        assert!(
            picked(&[("a", dirty("", 1)), ("b", dirty("", 2))]).starts_with("Nothing was read or changed")
        );
    }
}
