//! The patches that the command writes, applied by git.

use std::path::Path;

use crate::export::git_apply;

use super::oracle::{Oracle, Part, Status, Tree};
use super::play::{Play, tree_in};

/// Writes a tree into a folder.
fn lay_out(tree: &Tree, folder: &Path) {
    for (name, text) in tree {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Play {
    /// A patch of a conversation makes of the tree without it the one with it: as it is now, with all that was proposed, and with what was
    /// rejected, where there are such trees.
    pub fn export(&mut self) {
        let of = self.rng.below(self.conversations.len());
        let Some(conversation) = self.conversations[of].clone() else { return };
        let edits = self.oracle.edits_of(of);
        let all: Vec<Part> = edits.iter().flat_map(|edit| self.oracle.parts_of(*edit)).collect();
        let rejected: Vec<Part> = all.iter().copied().filter(|part| !self.oracle.is_alive(*part)).collect();
        let with = |parts: &[Part], status| self.oracle.with(parts, status);
        let now = self.oracle.clone();
        for (options, before, after) in [
            (&[][..], with(&all, Status::Rejected), now.clone()),
            (&["--proposed"], with(&all, Status::Rejected), with(&all, Status::Accepted)),
            (&["--rejected"], now, with(&rejected, Status::Accepted)),
        ] {
            let beside = match options {
                ["--proposed"] => self
                    .oracle
                    .beside(&all)
                    .map(|(both, neither)| (both, [neither, self.oracle.in_place_of(&all)].concat())),
                ["--rejected"] => self.oracle.beside(&rejected).map(|(both, _)| (both, Vec::new())),
                _ => Some((Vec::new(), self.oracle.in_place_of(&all))),
            };
            let Some((both, neither)) = beside else { continue };
            let worlds = [before, after]
                .map(|world| world.with(&both, Status::Accepted).with(&neither, Status::Rejected));
            let [Some(before), Some(mut after)] = worlds.each_ref().map(Oracle::tree) else { continue };
            let ran = self.project.run(&[&["export", "-c", &conversation], options].concat());
            self.story.push(format!(
                "export {options:?} -c {} => {} {}",
                &conversation[19..],
                ran.code,
                ran.err.trim()
            ));
            let shows = |part: &Part| worlds.iter().any(|world| world.shows(*part));
            let is_named = |(edit, _): &Part| ran.err.contains(self.oracle.short(*edit));
            // What is beside a making that is left out of the patch is where it was.
            let is_of_left_out = |part: &Part| {
                let beside = |made: &Part| {
                    self.oracle.below(*made).contains(part) || self.oracle.rivals(*made).contains(part)
                };
                let named = if options == ["--rejected"] { &rejected } else { &all };
                let is_left_out = |(edit, hunk): &Part| {
                    let name = format!("{}:{hunk}", self.oracle.short(*edit));
                    let mut found = ran.err.match_indices(&name);
                    found.any(|(at, _)| {
                        !ran.err[at + name.len()..].starts_with(|next: char| next.is_ascii_digit())
                    })
                };
                let mut makings =
                    named.iter().filter(|made| self.oracle.is_making(**made) && beside(made)).peekable();
                ran.code == 4 && makings.peek().is_some() && makings.all(is_left_out)
            };
            for part in both.iter().chain(&neither).filter(|part| shows(part)) {
                assert!(is_named(part) || is_of_left_out(part), "{part:?} is not named\n{}", self.told());
            }
            let there = tempfile::tempdir().unwrap();
            lay_out(&before, there.path());
            // Where nothing can be written, or nothing is left of it, there is no patch to apply.
            if !(ran.out.is_empty() && [1, 4].contains(&ran.code)) {
                let said = git_apply(there.path(), &ran.out, &[]);
                assert!(said.is_ok(), "{said:?}\n{}\n{}", ran.out, self.told());
            }
            let mut made = tree_in(there.path());
            if ran.code == 4 {
                // Of lines that stand in each other's place some are left out of the patch, and named.
                for file in worlds[1].over_changed_lines(&edits) {
                    let is_named = |at: &usize| {
                        self.oracle.edits[*at].file == file && ran.err.contains(self.oracle.short(*at))
                    };
                    assert!(edits.iter().any(is_named), "{}", self.told());
                    for name in worlds.iter().filter_map(|world| Some(world.file(file)?.name)) {
                        made.remove(&name);
                        after.remove(&name);
                    }
                }
            }
            assert_eq!(made, after, "{options:?}: {}\n{}", ran.out, self.told());
            self.met.note("patch");
        }
    }
}
