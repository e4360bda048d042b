//! Which edits of files on the disk came through which connection: an agent that names a text which nothing but its own edits has
//! changed since is told so, and not that something unseen may have changed the file.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashline_history::Connection;
use hashline_text::{FileHash, HashPrefix};

/// How many edits are remembered.
const KEPT: usize = 64;

/// The latest edits of files on the disk, oldest first.
#[derive(Debug, Default)]
pub(crate) struct OwnEdits {
    steps: Mutex<VecDeque<Step>>,
}

/// An edit: from one text to another.
#[derive(Debug)]
struct Step {
    connection: Connection,
    from: HashPrefix,
    to: FileHash,
}

impl OwnEdits {
    /// Notes an edit that was made.
    pub(crate) fn made(&self, connection: &Connection, from: HashPrefix, to: FileHash) {
        let mut steps = self.lock();
        if steps.len() == KEPT {
            steps.pop_front();
        }
        steps.push_back(Step { connection: connection.clone(), from, to });
    }

    /// Whether edits of this connection, and nothing else, lead from the text that a hash names to another.
    pub(crate) fn lead(&self, connection: &Connection, from: &HashPrefix, to: &FileHash) -> bool {
        let steps = self.lock();
        let mut end: Option<&HashPrefix> = None;
        for step in steps.iter().rev().filter(|step| step.connection == *connection) {
            let joins = end.map_or(step.to == *to, |end| end.matches(&step.to));
            if joins && same(&step.from, from) {
                return true;
            }
            if joins {
                end = Some(&step.from);
            }
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two beginnings may be of one hash.
fn same(one: &HashPrefix, other: &HashPrefix) -> bool {
    let (one, other) = (one.to_string(), other.to_string());
    one.starts_with(&other) || other.starts_with(&one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_edits_lead_on_from_each_other_and_nobody_elses_do() {
        let hash = |text: &str| FileHash::of(text.as_bytes());
        let named = |text: &str| HashPrefix::from(hash(text));
        let edits = OwnEdits::default();
        edits.made(&"1".into(), named("a"), hash("b"));
        edits.made(&"1".into(), named("of another file"), hash("x"));
        edits.made(&"1".into(), named("b"), hash("c"));
        edits.made(&"2".into(), named("c"), hash("d"));
        edits.made(&"1".into(), named("e"), hash("f"));
        for (from, to, lead) in
            [("a", "b", true), ("b", "c", true), ("a", "c", true), ("a", "d", false), ("d", "f", false)]
        {
            assert_eq!(edits.lead(&"1".into(), &named(from), &hash(to)), lead, "{from} to {to}");
        }
        let short: HashPrefix = hash("a").to_hex()[..8].parse().unwrap();
        assert!(edits.lead(&"1".into(), &short, &hash("c")));
    }
}
