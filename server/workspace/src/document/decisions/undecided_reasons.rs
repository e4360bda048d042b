//! Why something was not decided, with the next step.

use hashline_history::{Decision, HunkRef};
use hashline_text::Text;
use hashline_weave::{Conflict, HunkId};
use similar::TextDiff;

use crate::document::decisions::review::conflict_sentence;
use crate::document::{Choice, Document, Target, Undecided, Why};

impl Document {
    pub(crate) fn gone(&self, choice: Choice, target: &Target) -> Undecided {
        let mut undecided = Self::no_such(target);
        if choice == Choice::Comment {
            undecided.message =
                "Nothing of it is to be decided, and only that can be commented on.".to_owned();
        } else if *target == Target::All {
            undecided.message = "No agent edit waits in this document.".to_owned();
        } else if self.is_withdrawn(target) {
            undecided.message =
                "Its agent has withdrawn it, so there is nothing to decide about it.".to_owned();
        }
        undecided
    }

    /// Whether an agent has taken back all that a target names.
    fn is_withdrawn(&self, target: &Target) -> bool {
        let named = self.edits().iter().filter(|edit| match target {
            Target::Hunk(hunk) => edit.id.as_str().starts_with(hunk.edit.as_str()),
            Target::Edit(id) => edit.id.as_str().starts_with(id.as_str()),
            Target::Conversation(id) | Target::Whole(id) => edit.conversation == *id,
            Target::Lines(_) | Target::All => false,
        });
        let only = match target {
            Target::Hunk(hunk) => Some(hunk.number),
            _ => None,
        };
        let decisions = named.flat_map(|edit| edit.decisions());
        let mut decisions =
            decisions.filter(|(number, _)| only.is_none_or(|only| only == *number)).peekable();
        decisions.peek().is_some() && decisions.all(|(_, decision)| decision == Decision::Withdrawn)
    }

    /// What the document is called in sentences.
    pub(crate) fn called(&self) -> String {
        self.file_now().name.as_ref().map_or_else(|| self.uri().to_owned(), ToString::to_string)
    }

    /// What to say when nothing can be decided, or a decision could not be written to the file.
    pub(crate) fn not_decided(target: &Target, message: String) -> Undecided {
        Undecided { why: Why::Failed, message, ..Self::no_such(target) }
    }

    /// What to say where another editor decides.
    pub(crate) fn decided_elsewhere(target: &Target, editor: &str, document: &str) -> Undecided {
        let message = format!(
            "{document} is open in {editor} too, and its edits are decided there. Decide there, or close it there first."
        );
        Undecided { why: Why::Elsewhere, message, ..Self::no_such(target) }
    }

    /// What to say when a target names nothing.
    pub(crate) fn no_such(target: &Target) -> Undecided {
        let hunk = match target {
            Target::Hunk(name) => name.to_string(),
            Target::Edit(id) => id.clone(),
            Target::Conversation(id) | Target::Whole(id) => id.to_string(),
            Target::Lines(lines) => format!("line {}", lines.start + 1),
            Target::All => "all".to_owned(),
        };
        let no_edit_called =
            |name: &str| format!("No undecided edit is called {name}. List the edits to see which are left.");
        let message = match target {
            Target::Lines(_) => {
                "No agent edit waits on these lines. Go to the next one, or list them all.".to_owned()
            }
            Target::Hunk(name) => no_edit_called(&name.short()),
            _ => no_edit_called(&hunk),
        };
        Undecided { hunk, why: Why::Gone, message, others: Vec::new() }
    }

    /// What to say of a file that is gone: there is nothing in it to keep or to decide about.
    pub(crate) fn removed(&self, target: &Target) -> Undecided {
        let message = format!(
            "{} was removed by something else since its last edit was recorded, so there is no text to decide about and nothing was \
             decided.\nPut it back, or have it written again as it was recorded.",
            self.called()
        );
        Undecided { why: Why::Removed, message, ..Self::no_such(target) }
    }

    pub(crate) fn collides(&self, id: HunkId, other: HunkId) -> Undecided {
        let others: Vec<HunkRef> = self.name(other).into_iter().collect();
        let names = others.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
        Undecided {
            hunk: self.full_name(id),
            why: Why::Collides,
            // Whether the other is in the text need not be so for long: what one command decides is tried as a whole.
            message: format!(
                "{names} changes the same place, and only one of the two can be in the text. Reject that one first, or this one."
            ),
            others,
        }
    }

    pub(crate) fn conflicted(&self, id: HunkId, conflict: Conflict) -> Undecided {
        match conflict {
            Conflict::With(other) => return self.collides(id, other),
            Conflict::Lost => return self.lost(id, id),
            _ => {}
        }
        let next = match conflict {
            // Neither lines of the person's nor the agent's are in the way.
            Conflict::EndingsWouldJoin => "Type something into the empty line, or reject the edit.",
            _ => "Choose “Keep mine”, “Take the agent's” or “Keep both”.",
        };
        Undecided {
            hunk: self.full_name(id),
            why: Why::Conflicted,
            message: format!("{} {next}", conflict_sentence(conflict, None)),
            others: Vec::new(),
        }
    }

    /// Why a hunk is not switched: where it, or another that would be switched with it, stands now is not certain.
    pub(crate) fn lost(&self, id: HunkId, lost: HunkId) -> Undecided {
        let others: Vec<HunkRef> =
            if id == lost { Vec::new() } else { self.name(lost).into_iter().collect() };
        let whose = others.first().map_or_else(|| "this edit".to_owned(), HunkRef::short);
        let way = match self.text.woven().is_some_and(|weave| weave.in_buffer(lost)) {
            true => {
                "Take its lines out by hand, and reject it with the choice to keep your lines: that leaves the text as it is."
            }
            false => "Reject it, and make the change by hand if you want it.",
        };
        Undecided {
            hunk: self.full_name(id),
            why: Why::Lost,
            message: format!(
                "The file was changed while hashline was not watching, and the place of {whose} in it is no longer certain. {way}"
            ),
            others,
        }
    }
}

/// The lines of a difference that are shown.
const SHOWN: usize = 60;

/// What was changed in a file while nobody watched.
pub(crate) fn changed_words(name: &str, before: &Text, now: &Text) -> String {
    let (before, now) = (before.to_string(), now.to_string());
    let difference = TextDiff::from_lines(&before, &now);
    let difference = difference
        .unified_diff()
        .context_radius(3)
        .header(&format!("{name}, as recorded"), &format!("{name}, as it is"))
        .to_string();
    let mut lines: Vec<&str> = difference.lines().collect();
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    let mut words = format!(
        "{name} was changed by something else since its last edit was recorded, so nothing in this file was decided:\n{}\n",
        lines.join("\n")
    );
    if more > 0 {
        words.push_str(&format!("… and {more} more lines.\n"));
    }
    words.push_str(
        "Keep that change, or give it up (a copy is kept); or open the file in an editor and decide there.",
    );
    words
}
