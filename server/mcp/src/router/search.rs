//! Searching in every place at once: what one sidecar and the disk find of one file is told once, as the one that answers for the file
//! has it (rule W19).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use hashline_history::path::from_text;
use hashline_workspace::disk::{PathRefusal, PathStyle};
use serde_json::Value;

use crate::reply::{Reply, UNREACHED};
use crate::router::all_sidecars::Target;
use crate::router::choose_sidecar::{Choice, Owner};
use crate::router::{Asking, Router};
use crate::tools::search_text::{FOUND, merged, paths, with_path};

impl Router {
    pub(super) async fn search(&self, asking: &Asking<'_>) -> Reply {
        let arguments = &asking.arguments;
        let everywhere = match arguments.get("path").and_then(Value::as_str) {
            Some(path) => match self.roots().resolve(path, PathStyle::Any) {
                // A relative path would mean another file to a sidecar, whose first root may be another.
                Ok(place) => asking.with(with_path(arguments.clone(), place.to_text())),
                Err(PathRefusal::NotAFile(_)) => asking.with(arguments.clone()),
                // Refused here, in the same words as everywhere.
                Err(_) => return self.own_call(asking).await,
            },
            None => asking.with(arguments.clone()),
        };
        tokio::select! {
            reply = self.search_everywhere(&everywhere) => reply,
            // Nobody reads this. The sidecars are told by taking the questions back.
            () = asking.cancel.cancelled() => Reply::refused("The search was taken back."),
        }
    }

    async fn search_everywhere(&self, asking: &Asking<'_>) -> Reply {
        let answers = self.ask_all(asking).await;
        let (targets, mut replies): (Vec<Target>, Vec<Reply>) = answers.into_iter().unzip();
        if !replies.iter().any(|reply| reply.has(FOUND)) {
            // Nobody could search. The disk's word, which is the last, is about the path.
            let unreached = replies.iter().position(|reply| reply.has(UNREACHED));
            return replies.swap_remove(unreached.unwrap_or(replies.len() - 1));
        }
        let owners = self.owners_of(&replies).await;
        let counts = |path: &str, at: usize| {
            let Some(owner) = owners.get(path) else { return true };
            let named = |at: usize| {
                replies.get(at).is_some_and(|reply| paths(reply).iter().any(|named| named == path))
            };
            let chosen = match &owner.choice {
                Choice::Disk => targets.iter().position(|target| matches!(target, Target::Own)),
                Choice::Sidecar(chosen) => targets
                    .iter()
                    .position(|target| matches!(target, Target::Sidecar(sidecar) if sidecar.id == chosen.id)),
                Choice::Refused(_) => return false,
            };
            match chosen {
                Some(chosen) if named(chosen) => at == chosen,
                // It was found on the disk, and the text in the editor does not have it.
                _ if owner.open => false,
                // The disk has one text, whoever searched it.
                _ => (0..at).all(|earlier| !named(earlier)),
            }
        };
        let mut reply = merged(&asking.origin.agent, &replies, counts);
        for unreached in replies.iter().filter(|reply| reply.has(UNREACHED)) {
            reply.text.push_str(&format!("\n{}\n", unreached.text));
        }
        reply
    }

    /// Who answers for the files that were found.
    async fn owners_of(&self, replies: &[Reply]) -> HashMap<String, Owner> {
        let known = self.sidecars.known();
        let mut named: Vec<String> = replies.iter().flat_map(paths).collect();
        named.sort_unstable();
        named.dedup();
        // A document without a file is its editor's.
        let files = named.into_iter().filter_map(|name| {
            let path = from_text(&name).filter(|path| path.is_absolute()).map(Cow::into_owned)?;
            Some((name, path))
        });
        let (names, paths): (Vec<String>, Vec<PathBuf>) = files.unzip();
        names.into_iter().zip(self.owners(&known, &paths).await).collect()
    }
}
