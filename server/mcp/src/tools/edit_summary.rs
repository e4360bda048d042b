//! How edits are told of: a line for the edit, a line for each hunk.

use std::fmt::{Display, Write as _};

use hashline_history::{Decision, Status};
use hashline_weave::Conflict;
use hashline_workspace::agent::{EditInfo, HunkInfo};
use hashline_workspace::document::{HunkState, HunkView, UnderWay, in_words};
use hashline_workspace::{Caller, Workspace};

use crate::reply::Reply;

/// The lines of a person's own text that are shown.
const OWN_LINES: usize = 40;
/// How many decisions a reply to something else tells of.
const DECIDED: usize = 8;

/// The word for a state.
pub(crate) fn state_word(state: HunkState) -> &'static str {
    match state {
        HunkState::Held => "held",
        HunkState::InText => "in the text",
        HunkState::Edited(_) => "in the text, changed by the person",
        HunkState::Conflicted(_) => "conflicted",
        HunkState::Withdrawn => "withdrawn",
    }
}

/// The word by which list_edits is asked for a state.
pub(crate) fn state_key(state: HunkState) -> &'static str {
    match state {
        HunkState::Held => "held",
        HunkState::InText => "in_text",
        HunkState::Edited(_) => "edited",
        HunkState::Conflicted(_) => "conflicted",
        HunkState::Withdrawn => "withdrawn",
    }
}

/// An edit and its hunks.
pub(crate) fn write_edit(out: &mut String, edit: &EditInfo, own: bool) {
    // Writing to a string cannot fail.
    let _ = write!(out, "edit {} · {}", edit.id.short(), edit.name);
    // What became of the only hunk of a decided edit says it all.
    if edit.status == Status::Pending || edit.hunks.len() != 1 {
        let _ = write!(out, " · {}", edit.status_word());
    }
    if !own {
        let _ = write!(out, " · by agent {}", words_of_others(&edit.agent));
    }
    match edit.hunks.as_slice() {
        [only] => {
            out.push_str(" · ");
            write_hunk(out, edit, only);
        }
        several => {
            out.push('\n');
            for hunk in several {
                let _ = write!(out, "  hunk {} · ", hunk.view.number);
                write_hunk(out, edit, hunk);
            }
        }
    }
}

/// The rest of a line, and what the person has to say.
fn write_hunk(out: &mut String, edit: &EditInfo, hunk: &HunkInfo) {
    let view = &hunk.view;
    let changed = matches!(view.state, HunkState::Edited(_));
    if let Some(change) = &view.file {
        let _ = write!(out, "{} · ", in_words(change));
    }
    let under_way = view.under_way.map(|to| under_way_words(view, to));
    let outcome = match view.decision {
        Decision::Undecided if let Some(words) = under_way => words,
        Decision::Undecided if view.file.is_some() && view.state == HunkState::InText => "done",
        Decision::Undecided => state_word(view.state),
        Decision::Accepted if changed => "accepted, changed by the person",
        Decision::Accepted => "accepted",
        Decision::Rejected => "rejected",
        Decision::Withdrawn => "withdrawn",
    };
    out.push_str(outcome);
    if let Some(lines) = view.lines.as_ref().filter(|_| view.decision == Decision::Undecided || changed) {
        let _ = match lines.len() {
            0 if lines.start == 0 => write!(out, " · before line 1"),
            0 => write!(out, " · behind line {}", lines.start),
            1 => write!(out, " · line {}", lines.start + 1),
            _ => write!(out, " · lines {}-{}", lines.start + 1, lines.end),
        };
    }
    if let Some(reason) = &view.reason {
        let _ = write!(out, " · the person says: {}", words_of_others(reason));
    }
    if view.decision == Decision::Undecided {
        if let HunkState::Conflicted(conflict) = view.state {
            let _ = write!(out, ": {}", conflict_words(conflict, view.conflict.as_deref()));
        }
        let own = |name: &&hashline_history::HunkRef| name.edit == edit.id;
        let below: Vec<_> =
            view.depends_on.iter().filter(|name| !own(name)).map(hashline_history::HunkRef::short).collect();
        if !below.is_empty() {
            let _ = write!(out, " · needs {}", below.join(", "));
        }
    }
    out.push('\n');
    if let Some(lines) = hunk.changed_to.as_ref().filter(|_| changed) {
        write_own_text(out, lines);
    }
}

/// Words that somebody else chose: in quotes, which end where these words do, so that nothing in them is taken for what hashline says.
fn words_of_others(words: &str) -> impl Display {
    format!("{words:?}")
}

/// What a hunk is on its way to, and by whose word. Nobody has decided one that goes in at once.
fn under_way_words(view: &HunkView, to: UnderWay) -> &'static str {
    let there = matches!(view.state, HunkState::InText | HunkState::Edited(_));
    match (to.decision, to.on, there) {
        (Some(Decision::Accepted), ..) if view.file.is_some() => "accepted, and the editor is asked to do it",
        (Some(_), ..) if view.file.is_some() => "rejected, and the editor is asked to undo it",
        (Some(Decision::Accepted), true, false) => "accepted, on its way into the text",
        (Some(Decision::Accepted), true, true) => "accepted while it was on its way out of the text",
        (Some(Decision::Rejected), false, true) => "rejected, on its way out of the text",
        (Some(Decision::Rejected), false, false) => "rejected while it was on its way into the text",
        (Some(Decision::Withdrawn), false, true) => "withdrawn, on its way out of the text",
        (Some(Decision::Withdrawn), false, false) => "withdrawn while it was on its way into the text",
        (_, true, false) => "on its way into the text",
        (_, false, true) => "on its way out of the text",
        (_, true, true) | (_, false, false) => state_word(view.state),
    }
}

fn write_own_text(out: &mut String, lines: &[String]) {
    if lines.is_empty() {
        out.push_str("    the person took these lines out\n");
        return;
    }
    out.push_str("    it reads now:\n");
    for line in lines.iter().take(OWN_LINES) {
        let _ = writeln!(out, "    |{line}");
    }
    if lines.len() > OWN_LINES {
        let _ = writeln!(out, "    … {} more lines", lines.len() - OWN_LINES);
    }
}

/// What stands against a hunk, and what to do, in words for its agent.
pub(crate) fn conflict_words(conflict: Conflict, sentence: Option<&str>) -> String {
    let what = match conflict {
        Conflict::LineChanged => "the person changed a line that it replaces",
        Conflict::LineRemoved => "the person removed a line that it replaces",
        Conflict::LineTyped => "the person typed between the lines that it replaces",
        Conflict::PlaceRemoved => "the person removed the lines around its place",
        Conflict::Lost => {
            "the file was changed while nobody watched, and its place in it is no longer certain"
        }
        Conflict::EndingsWouldJoin => {
            "with it a line that ends in \\r would come before an empty line that ends in \\n, and the two endings would be \
             read as one"
        }
        Conflict::With(_) => match sentence {
            Some(sentence) => return format!("{} Withdraw one of the two.", sentence.trim_end()),
            None => "another edit changes the same place",
        },
    };
    format!("{what}. Read the file again and edit anew, or leave it to the person")
}

/// How many hunks of an edit are left to decide.
pub(crate) fn undecided(edit: &EditInfo) -> usize {
    edit.hunks.iter().filter(|hunk| hunk.view.decision == Decision::Undecided).count()
}

/// An answer about a document; behind its first line what was decided about the caller's edits in it without its having been told.
pub(crate) fn with_decided(mut reply: Reply, workspace: &Workspace, caller: &Caller, name: &str) -> Reply {
    let decided = workspace.decided_untold(caller, name);
    if decided.is_empty() {
        return reply;
    }
    let is_decided = decided.iter().all(|edit| edit.status != Status::Pending);
    let what = if is_decided { "Decided" } else { "Decided, or commented on," };
    let mut words = format!("{what} since you were told last:\n");
    for edit in decided.iter().take(DECIDED) {
        write_edit(&mut words, edit, true);
    }
    if decided.len() > DECIDED {
        let rest = if caller.reviews { ": list_edits tells of all" } else { "" };
        let _ = writeln!(words, "and {} more{rest}.", decided.len() - DECIDED);
    }
    workspace.told(caller, &decided);
    let first = reply.text.find('\n').map_or(reply.text.len(), |end| end + 1);
    reply.text.insert_str(first, &words);
    reply
}
