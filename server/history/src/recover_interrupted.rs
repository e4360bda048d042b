//! What a process that ended too early meant to do to the disk: was it done?

use hashline_text::FileHash;

use crate::append::Entry;
use crate::document::{Content, Document, Unread, base_of, replay};
use crate::error::Result;
use crate::files::FilesNow;
use crate::id::{FileId, HunkRef};
use crate::name::DocumentName;
use crate::reason::Reason;
use crate::record::{Decision, Sequence};
use crate::record_lines::{checkpoint, read_transactions};
use crate::session::Session;
use crate::steps::Net;
use crate::transaction::{
    Continuity, Decided, Draft, Effect, IntentEnd, Located, Now, Registers, Subject, Together,
};

/// What the disk says of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is as the intent would have it.
    Done,
    /// It is as it was before.
    NotDone,
    /// The file has its new name, and holds what it held before.
    Renamed,
    /// It is neither: somebody has changed it since.
    Changed,
}

/// Judges by what is there now, in the order of the effects.
fn judge(effects: &[Effect], now: &[Option<FileHash>]) -> Verdict {
    let all = |wanted: fn(&Effect) -> Option<FileHash>| effects.iter().map(wanted).eq(now.iter().copied());
    if all(|effect| effect.after) {
        return Verdict::Done;
    }
    if all(|effect| effect.before) {
        return Verdict::NotDone;
    }
    if let ([from, to], [None, Some(there)]) = (effects, now)
        && from.after.is_none()
        && to.before.is_none()
        && from.before == Some(*there)
    {
        return Verdict::Renamed;
    }
    // A file that was to be removed is there, one that was to be made is not.
    let undone = effects.iter().zip(now).any(|(effect, now)| effect.after.is_some() != now.is_some());
    if undone { Verdict::NotDone } else { Verdict::Changed }
}

impl Session {
    /// Ends an intent of this session that failed: the disk says whether it was done.
    ///
    /// # Errors
    ///
    /// It cannot be recorded; the next session does it.
    pub fn give_up(&mut self, file: FileId, files: &dyn FilesNow) -> Result<()> {
        self.end_intent(file, &Net::default(), files)
    }

    /// Ends the intents that were left open, one way or the other. Those that count together are finished together.
    pub(crate) fn end_intents(&mut self, files: &dyn FilesNow) -> Result<()> {
        let open: Vec<(FileId, Option<Together>)> = {
            let known = self.store().known();
            let ledger = &known.ledger;
            let group = |sequence: Sequence| {
                let at = ledger.lines.partition_point(|line| line.sequence < sequence);
                ledger.lines.get(at)?.together
            };
            let open = ledger.files.iter().filter_map(|(file, tracked)| Some((*file, tracked.intent?)));
            open.map(|(file, sequence)| (file, group(sequence))).collect()
        };
        let mut finished = Vec::new();
        for (file, group) in open {
            match group {
                None => self.end_intent(file, &Net::default(), files)?,
                Some(group) if finished.contains(&group) => {}
                Some(group) => {
                    self.finish_switch(group, files)?;
                    finished.push(group);
                }
            }
        }
        Ok(())
    }

    fn transactions(&mut self, file: FileId) -> Result<Vec<Unread>> {
        let store = self.store().clone();
        let known = store.known();
        read_transactions(&known.ledger, &mut self.log, file, None)
    }

    /// How a file was before a transaction of it; none if there is no such.
    pub(crate) fn before(&mut self, file: FileId, sequence: Sequence) -> Result<Option<Before>> {
        let mut transactions = self.transactions(file)?;
        transactions.retain(|transaction| transaction.sequence <= sequence);
        let read = |way: &str| checkpoint(&self.folder, way);
        Ok(Before::of(transactions, &read))
    }

    /// Ends the intent of a file, if there is one. `net` says what becomes of its names besides.
    pub(crate) fn end_intent(&mut self, file: FileId, net: &Net, files: &dyn FilesNow) -> Result<()> {
        let transactions = self.transactions(file)?;
        let Some(with) = transactions.iter().rfind(|transaction| !transaction.intent.is_empty()) else {
            return Ok(());
        };
        let Some(name) = transactions.last().map(|last| &last.document) else { return Ok(()) };
        let intent: Vec<Effect> = with.intent.iter().map(|effect| net.whole(effect)).collect();
        let mut now = Vec::new();
        for effect in &intent {
            match files.hash(effect.name.as_path()) {
                Ok(hash) => now.push(hash),
                Err(error) => {
                    self.repaired(format!(
                    "It is not known whether the last change of {name} was written: {} cannot be read ({error}).",
                    effect.name
                ));
                    return Ok(());
                }
            }
        }
        let verdict = judge(&intent, &now);
        if verdict == Verdict::NotDone {
            if let Some(before) = self.before(file, with.sequence)? {
                self.append_one(before.entry())?;
            }
            self.repaired(format!(
                "The last change of {name} was not written before its process ended; it was taken back."
            ));
            return Ok(());
        }
        let own = intent.iter().position(|effect| effect.name == *name);
        // Of a text that nobody knows it is not said what of it was written: the file tells, compared with what it was before (W16).
        let saved = own.and_then(|at| now.get(at).copied().flatten()).filter(|_| verdict != Verdict::Changed);
        let subject = Subject::File(file);
        let done = Draft { file: subject, saved, done: true, ..Draft::about(name.clone()) };
        let appended = self.append_one(done.into())?;
        if let Some(last) = transactions.last() {
            self.ended.insert(file, (last.sequence, appended.sequence));
        }
        self.repaired(match verdict {
        Verdict::Changed => format!(
            "{name} was changed by something else after a process ended in the middle of writing it; what the file does not show of its \
             last change is asked again."
        ),
        Verdict::Renamed => format!(
            "{name} has its new name, but its process ended before it wrote the rest; what the file does not show is asked again."
        ),
        _ => format!("The last change of {name} was written, though its process ended before it could say so."),
    });
        Ok(())
    }
}

/// How things were before a transaction.
pub(crate) struct Before {
    /// The transaction.
    with: Unread,
    document: Option<Document>,
    content: Content,
    hunks: Option<Vec<Option<HunkRef>>>,
    decisions: Vec<Decided>,
    locations: Vec<Located>,
}

impl Before {
    /// Before the last of these; none if there are none.
    fn of(
        mut transactions: Vec<Unread>,
        read: &dyn Fn(&str) -> std::result::Result<Vec<u8>, String>,
    ) -> Option<Self> {
        let with = transactions.pop()?;
        let document = replay(&transactions, read).ok().flatten();
        let recorded = document.as_ref().filter(|document| !matches!(document.content, Content::None));
        let (content, hunks) = match recorded {
            Some(document) => (document.content.clone(), Some(document.hunks.clone())),
            None => {
                let hunks = with.base.as_ref().map(|base| base.hunks.clone());
                (base_of(&with, read).unwrap_or(Content::None), hunks)
            }
        };
        let mut before =
            Self { with, document, content, hunks, decisions: Vec::new(), locations: Vec::new() };
        before.take_back();
        Some(before)
    }

    /// What takes back the decisions and locations of a transaction.
    fn take_back(&mut self) {
        let with = &self.with;
        let then = |hunk: &HunkRef| self.document.as_ref().and_then(|document| document.hunk(hunk));
        let withdrawn = |hunk: HunkRef| Decided {
            hunk,
            decision: Decision::Withdrawn,
            reason: Reason::of("It was never written to the file."),
        };
        let new = with.edit.iter().flat_map(|edit| {
            edit.hunks.iter().map(|hunk| HunkRef { edit: edit.id.clone(), number: hunk.number })
        });
        let mut decisions: Vec<Decided> = new.map(withdrawn).collect();
        for decided in &with.decisions {
            if let Some(state) = then(&decided.hunk) {
                let (decision, reason) = (state.decision, state.reason.clone());
                decisions.push(Decided { hunk: decided.hunk.clone(), decision, reason });
            }
        }
        let locations = with.locations.iter().map(|located| {
            let location = then(&located.hunk).map(|state| state.location).unwrap_or_default();
            Located { hunk: located.hunk.clone(), location }
        });
        let locations = locations.collect();
        let is_new = |name: &HunkRef| with.edit.as_ref().is_some_and(|edit| edit.id == name.edit);
        if let (Content::Text { weave, .. }, Some(names)) = (&mut self.content, &self.hunks) {
            let ids: Vec<_> = weave.hunks().collect();
            for (id, name) in ids.into_iter().zip(names) {
                if name.as_ref().is_some_and(is_new) {
                    weave.set_refused(id, true);
                }
            }
        }
        (self.decisions, self.locations) = (decisions, locations);
    }

    /// What makes things as they were.
    pub(crate) fn entry(&self) -> Entry<'_> {
        let ended = (!self.with.intent.is_empty()).then_some(IntentEnd::Withdrawn);
        Entry { draft: self.draft(), ended, hunks: self.hunks.clone() }
    }

    fn draft(&self) -> Draft<'_> {
        let with = &self.with;
        let change = with.edit.as_ref().and_then(|edit| edit.file.as_ref());
        let (name, registers) = match &self.document {
            Some(document) => (document.name.clone(), document.registers),
            None => {
                let name: Option<DocumentName> =
                    change.and_then(|change| Some(change.name.as_ref()?.0.clone()));
                let exists = change.and_then(|change| change.exists).is_none_or(|(before, _)| before);
                let mode = change.and_then(|change| change.mode.as_ref()?.0);
                (name.unwrap_or_else(|| with.document.clone()), Registers { exists, mode })
            }
        };
        let now = match &self.content {
            Content::None => None,
            Content::Text { weave, form, .. } => {
                Some(Now::Text { weave: weave.as_ref(), form: *form, hash: None })
            }
            Content::Bytes { bytes, .. } => Some(Now::Bytes(bytes)),
        };
        Draft {
            file: Subject::File(with.file),
            now,
            continuity: Continuity::Unobserved,
            decisions: self.decisions.clone(),
            locations: self.locations.clone(),
            registers: Some(registers),
            ..Draft::about(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before, after, and now.
    type Effects<'a> = &'a [(&'a str, &'a str, &'a str)];

    #[test]
    fn the_disk_says_whether_an_intent_was_done() {
        let hash = |of: &str| (!of.is_empty()).then(|| FileHash::of(of.as_bytes()));
        let cases: &[(Effects<'_>, Verdict)] = &[
            (&[("a", "b", "b")], Verdict::Done),
            (&[("a", "b", "a")], Verdict::NotDone),
            (&[("a", "b", "c")], Verdict::Changed),
            (&[("a", "b", "")], Verdict::NotDone),
            (&[("", "b", "b")], Verdict::Done),
            (&[("", "b", "")], Verdict::NotDone),
            (&[("", "b", "c")], Verdict::Changed),
            (&[("a", "", "")], Verdict::Done),
            (&[("a", "", "a")], Verdict::NotDone),
            (&[("a", "", "c")], Verdict::NotDone),
            (&[("a", "", ""), ("", "a", "a")], Verdict::Done),
            (&[("a", "", "a"), ("", "a", "")], Verdict::NotDone),
            (&[("a", "", ""), ("", "a", "c")], Verdict::Changed),
            (&[("a", "", ""), ("", "b", "a")], Verdict::Renamed),
            (&[("a", "", ""), ("", "b", "b")], Verdict::Done),
            (&[("a", "", "a"), ("", "b", "")], Verdict::NotDone),
        ];
        for (effects, expected) in cases {
            let effect = |(before, after, _): &(&str, &str, &str)| Effect {
                name: DocumentName::Path("/x".into()),
                before: hash(before),
                after: hash(after),
            };
            let now: Vec<_> = effects.iter().map(|(.., now)| hash(now)).collect();
            let effects: Vec<Effect> = effects.iter().map(effect).collect();
            assert_eq!(judge(&effects, &now), *expected, "{effects:?}");
        }
    }
}
