//! What the tools that edit have in common: their replies, and refusals with the lines as they are now.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use hashline_anchor::{CONTEXT, MAX_SHOWN_CHARS, write_regions};
use hashline_text::{FileHash, HashPrefix, Text};
use hashline_workspace::agent::{EditReply, EditRequest, FileAction, FileReply, FileRequest};
use hashline_workspace::document::{HunkState, Mode, Note, Refused, Unit};
use hashline_workspace::{Caller, Obeyed, Refusal, Workspace};

use crate::own_edits::OwnEdits;
use crate::reply::{EDITS, FILE_HASH, Reply};
use crate::tools::edit_summary;

/// How long the editor's text has to show an edit that goes in at once, before the reply is that it is still on its way.
const ARRIVAL: Duration = Duration::from_millis(500);
/// Lines of an edit that are shown whole in the reply; of longer regions the middle is left out.
const REGION_LINES: usize = 120;
/// How many lines of an edit are shown in all.
const SHOWN_LINES: usize = 500;
/// How many parts are named that have changed nothing.
const IDLE_PARTS: usize = 20;
/// Lines of each place that are shown with a refusal, and how many places.
const REFUSED: (usize, usize) = (12, 20);

/// What stands above the lines that a change without anchors is about.
const CONCERNED: &str = "The lines that it is about, as they are now:\n";

/// Where edits are made, and for whom.
pub(crate) struct Desk<'a> {
    pub workspace: &'a Workspace,
    pub caller: &'a Caller,
    /// The editor in which a person can decide about edits, if there is one.
    pub editor: Option<&'a str>,
    pub own: &'a OwnEdits,
}

impl Desk<'_> {
    /// Makes an edit. `places`: the lines that an agent who is refused has to see, and what stands above them.
    pub(crate) async fn edit(
        &self,
        request: EditRequest,
        places: impl Fn(&Text) -> (&'static str, Vec<Range<usize>>),
    ) -> Reply {
        let (from, path) = (request.file_hash, request.path.clone());
        match self.workspace.edit(self.caller, request).await {
            Ok(mut done) => {
                if !done.dry_run {
                    self.workspace.until_in_text(&mut done, ARRIVAL).await;
                }
                self.done(from, &done)
            }
            Err(refusal @ Refusal::Edit(Refused::NothingToDo { .. })) => unchanged(&path, refusal),
            Err(refusal) => self.refused(from, refusal, places),
        }
    }

    /// Makes an edit that names no lines by number.
    pub(crate) async fn rewrite(&self, request: EditRequest) -> Reply {
        let change = request.change.clone();
        let places = |now: &Text| {
            let (lines, most) = REFUSED;
            let short = |place: Range<usize>| place.start..place.end.min(place.start.saturating_add(lines));
            (CONCERNED, change.places(now).into_iter().take(most).map(short).collect())
        };
        self.edit(request, places).await
    }

    /// Makes an edit that names no lines by number; where there is no file, makes the file with this content.
    pub(crate) async fn write(&self, request: EditRequest, content: String) -> Reply {
        let file = FileRequest {
            path: request.path.clone(),
            change: FileAction::Create(content.into_bytes()),
            conversation: request.conversation.clone(),
            tool: request.tool.clone(),
            reason: request.reason.clone(),
        };
        let (path, hash) = (request.path.clone(), request.file_hash);
        match self.workspace.has_file(self.caller, &path).await {
            Ok(false) if hash.is_none() => self.change_file(file).await,
            Ok(false) => Reply::refused(format!(
                "The edit was refused and nothing was changed: there is no file at {path}, so none that file_hash could be of. To make \
                 it, leave out file_hash."
            )),
            // What else there is to say of the path is said there.
            _ => self.rewrite(request).await,
        }
    }

    /// Makes, removes or renames a file.
    pub(crate) async fn change_file(&self, request: FileRequest) -> Reply {
        match self.workspace.change_file(self.caller, request.clone()).await {
            Ok(done) => {
                let reply = self.filed(&request, &done);
                edit_summary::with_decided(reply, self.workspace, self.caller, &done.name)
            }
            Err(refusal @ (Refusal::NotMadeYet { .. } | Refusal::FileChangeHeld { .. }))
                if self.caller.reviews =>
            {
                let next = "await_review waits for that; withdraw_edit takes an edit of yours back.";
                Reply { text: format!("{refusal} {next}"), ..Reply::from(refusal) }
            }
            Err(refusal) => refusal.into(),
        }
    }

    /// Remembers which edit of a file on the disk was the caller's own.
    pub(crate) fn note_own(&self, from: Option<HashPrefix>, done: &EditReply) {
        if !done.open
            && !done.dry_run
            && let Some(from) = from.or(done.before.map(HashPrefix::from))
        {
            self.own.made(&self.caller.connection, from, done.hash);
        }
    }

    fn done(&self, from: Option<HashPrefix>, done: &EditReply) -> Reply {
        self.note_own(from, done);
        edit_summary::with_decided(self.answer(done), self.workspace, self.caller, &done.name)
    }

    fn answer(&self, done: &EditReply) -> Reply {
        let mut out = String::with_capacity(1024);
        let state = state(done);
        // Writing to a string cannot fail.
        let _ = match done.dry_run {
            true => write!(out, "[{} · dry run, nothing was changed · would be {state}", done.name),
            false => write!(out, "[{} · edit {} · {} · {state}", done.name, done.edit.short(), done.status),
        };
        let _ = writeln!(out, " · {} · file_hash {}]", counted(&done.text), done.hash.short());
        if !done.dry_run {
            self.notes(&mut out, done);
        }
        if done.carried {
            out.push_str(
                "The file had changed since you read it; the lines that you named had not, so the edit was carried to where \
                 they are now.\n",
            );
        }
        for note in &done.notes {
            out.push_str(&words_of(*note));
        }
        if !done.idle.is_empty() {
            out.push_str(&idle_words(done.unit, &done.idle));
        }
        for moved in &done.moved {
            let _ = writeln!(out, "Moved: {moved}.");
        }
        if done.text.line_count() == 0 {
            out.push_str("The file is empty now.\n");
        } else {
            out.push_str(if done.dry_run { "It would read:\n" } else { "It reads now:\n" });
            regions(&mut out, &done.text, &done.regions);
        }
        let reply = Reply::new(out).with(FILE_HASH, done.hash.to_hex());
        if done.dry_run { reply } else { reply.with(EDITS, vec![done.edit.to_string()]) }
    }

    /// What a change of a file came to.
    fn filed(&self, request: &FileRequest, done: &FileReply) -> Reply {
        let (what, is_done) = match &request.change {
            FileAction::Create(_) => ("make the file".to_owned(), "made"),
            FileAction::Delete | FileAction::DeleteVersion(_) => ("remove the file".to_owned(), "removed"),
            FileAction::Move(_) => {
                (format!("rename it to {}", done.to.as_deref().unwrap_or_default()), "renamed")
            }
        };
        let state = if done.held { "held" } else { is_done };
        let mut out = format!("[{} · edit {} · pending · {state}", done.name, done.edit.short());
        // Writing to a string cannot fail.
        let _ = match &done.hash {
            Some(hash) => writeln!(out, " · file_hash {}]", hash.short()),
            None => writeln!(out, "]"),
        };
        match (done.held, self.editor) {
            (true, Some(editor)) => {
                let _ = writeln!(
                    out,
                    "Held for the person to accept in {editor}: to {what}. Nothing on the disk has changed yet.{}",
                    self.who_tells()
                );
            }
            (true, None) => {
                let _ = writeln!(
                    out,
                    "Held: to {what}. Nothing on the disk has changed yet. No editor is running for this file, so nobody is \
                     deciding now; the person can, with mcpdiff in a terminal or in an editor later."
                );
            }
            (false, _) => {
                if let Some(to) = &done.to {
                    let _ = writeln!(out, "It is {to} now.");
                }
            }
        }
        if let Some(by) = done.obeyed {
            let _ = writeln!(out, "{}", why_held(by));
        }
        let (conversation, opened) = &done.conversation;
        if *opened {
            let _ = writeln!(
                out,
                "New mcp_conversation_id: {conversation}. Pass it on with further edits of this turn."
            );
        }
        if let Some(text) = done.text.as_ref().filter(|text| text.line_count() > 0) {
            out.push_str("It reads now:\n");
            let all = 0..text.line_count();
            regions(&mut out, text, std::slice::from_ref(&all));
        }
        let reply = Reply::new(out).with(EDITS, vec![done.edit.to_string()]);
        match &done.hash {
            Some(hash) => reply.with(FILE_HASH, hash.to_hex()),
            None => reply,
        }
    }

    fn notes(&self, out: &mut String, done: &EditReply) {
        let held = done.states.contains(&HunkState::Held);
        let there = |state: &HunkState| matches!(state, HunkState::InText | HunkState::Edited(_));
        let in_editor = done.open && done.mode == Mode::Apply && done.states.iter().all(there);
        // Writing to a string cannot fail.
        let _ = match (held, done.under_way, self.editor) {
            (false, ..) if in_editor => {
                writeln!(out, "It is in the editor's text; the disk has it when the person saves.")
            }
            (false, ..) => Ok(()),
            (true, true, _) => {
                writeln!(
                    out,
                    "It is still on its way into the editor's text, which does not show it yet; nobody has to accept it. Go on by this \
                     file_hash: your reads show it already. The disk has it when the person saves."
                )
            }
            (true, false, None) => writeln!(
                out,
                "Held: your reads show it, but the disk and builds do not have it. No editor is running for this file, so nobody is deciding \
                 now; the person can, with mcpdiff in a terminal or in an editor later."
            ),
            (true, false, Some(editor)) => writeln!(
                out,
                "Held for the person to accept in {editor}: your reads show it, but the editor's text, the disk and builds do not have it \
                 yet.{}",
                self.who_tells()
            ),
        };
        if let Some(by) = done.obeyed.filter(|_| held) {
            let _ = writeln!(out, "{}", why_held(by));
        }
        if !done.held_below.is_empty() {
            let below: Vec<_> = done.held_below.iter().map(hashline_history::HunkRef::short).collect();
            let _ =
                writeln!(out, "It builds on {}, which must be accepted first or with it.", below.join(", "));
        }
        let (conversation, opened) = &done.conversation;
        if *opened {
            let _ = writeln!(
                out,
                "New mcp_conversation_id: {conversation}. Pass it on with further edits of this turn."
            );
        }
    }

    /// Where the caller hears of a decision, behind a sentence.
    fn who_tells(&self) -> &'static str {
        if self.caller.reviews { " await_review tells the decision." } else { "" }
    }

    /// A refusal; where it does not show the lines as they are now, they are added, so that no re-read is needed. The workspace has
    /// served them: an edit that goes by the hash in its words is carried past typing like any other.
    fn refused(
        &self,
        from: Option<HashPrefix>,
        refusal: Refusal,
        places: impl Fn(&Text) -> (&'static str, Vec<Range<usize>>),
    ) -> Reply {
        let now = match &refusal {
            Refusal::Edit(
                Refused::UnknownHash { now, .. }
                | Refused::ChangedOnDisk { now }
                | Refused::NotInOldText { now },
            ) => now,
            Refusal::Edit(Refused::Stale { now, touched, .. }) if touched.is_empty() => now,
            _ => return refusal.into(),
        };
        let own = |to: &FileHash| from.is_some_and(|from| self.own.lead(&self.caller.connection, &from, to));
        let mut words = match now
            .hash
            .filter(|to| matches!(refusal, Refusal::Edit(Refused::ChangedOnDisk { .. })) && own(to))
        {
            Some(hash) => format!(
                "The edit was refused and nothing was changed: your own edit has changed the file since that file_hash; its reply had \
                 the new hash and the new anchors. The file_hash is {} now.\n",
                hash.short()
            ),
            None => refusal.to_string(),
        };
        let (heading, places) = places(now.text());
        add_lines(&mut words, now.text(), heading, &places);
        Reply { text: words, ..Reply::from(refusal) }
    }
}

/// Adds lines as they are now, with their anchors.
pub(crate) fn add_lines(words: &mut String, now: &Text, heading: &str, places: &[Range<usize>]) {
    if !words.ends_with('\n') {
        words.push('\n');
    }
    if now.line_count() == 0 {
        words.push_str("The file is empty now. To put lines into it, use insert_after with the anchor 0:\n");
        return;
    }
    if places.is_empty() {
        return;
    }
    words.push_str(heading);
    let last = now.line_count() - 1;
    let near: Vec<_> = places.iter().map(|place| place.start.min(last)..place.end.min(last + 1)).collect();
    write_regions(words, now, &near, CONTEXT, MAX_SHOWN_CHARS);
}

/// The answer to a change that the text has already: no refusal, as there is nothing to mend and nothing to try again.
fn unchanged(path: &str, refusal: Refusal) -> Reply {
    let words = refusal.to_string();
    let Refusal::Edit(Refused::NothingToDo { mut now, notes }) = refusal else { return refusal.into() };
    let (lines, hash) = (counted(now.text()), now.hash());
    let mut out = format!("[{path} · unchanged · {lines} · file_hash {}]\n{words}\n", hash.short());
    for note in &notes {
        out.push_str(&words_of(*note));
    }
    Reply::new(out).with(FILE_HASH, hash.to_hex())
}

/// That no setting makes an edit of such a file go in at once, and what to do.
pub(crate) fn why_held(by: Obeyed) -> String {
    format!(
        "Edits of this file are held in every mode, as {by}. Go on without it, or ask the person to decide."
    )
}

/// How many lines a text has.
fn counted(text: &Text) -> String {
    match text.line_count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

/// Which parts of a change have changed nothing.
fn idle_words(unit: Unit, parts: &[usize]) -> String {
    let name = match unit {
        Unit::Operation | Unit::Whole => "operation",
        Unit::Edit => "edit",
        Unit::Hunk => "hunk",
    };
    let numbers: Vec<_> = parts.iter().take(IDLE_PARTS).map(|part| (part + 1).to_string()).collect();
    let (plural, its) = if parts.len() == 1 { ("", "its") } else { ("s", "their") };
    let more = match parts.len().saturating_sub(IDLE_PARTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("No change came of {name}{plural} {}{more}: {its} lines read so already.\n", numbers.join(", "))
}

/// Where the edit is, in a word or by hunk.
fn state(done: &EditReply) -> String {
    let words: Vec<&str> = done.states.iter().map(|state| word_of(*state, done)).collect();
    match words.as_slice() {
        [] => "in the text".to_owned(),
        [first, rest @ ..] if rest.iter().all(|word| word == first) => (*first).to_owned(),
        several => {
            let named: Vec<_> =
                several.iter().enumerate().map(|(at, word)| format!("hunk {} {word}", at + 1)).collect();
            named.join(", ")
        }
    }
}

fn word_of(state: HunkState, done: &EditReply) -> &'static str {
    match state {
        HunkState::Held if done.under_way => "on its way into the editor",
        other => edit_summary::state_word(other),
    }
}

/// What a note says.
fn words_of(note: Note) -> String {
    match note {
        Note::MarkKept => {
            "The file begins with a byte-order mark, which content lacks. It was kept.\n".to_owned()
        }
        Note::EndingsKept(None) => {
            "Lines that the document had before end as they did, and not as they were sent.\n".to_owned()
        }
        Note::EndingsKept(Some(own)) => format!(
            "The lines end in {own}, as the editor keeps them in this document, and not as they were sent.\n"
        ),
        Note::EndingsChanged { from, to } => {
            format!("All lines ended in {from} before; they end in {to} now, as they were sent.\n")
        }
    }
}

/// The changed lines with two lines of context; the middle of long parts is left out, as the agent wrote it itself.
fn regions(out: &mut String, text: &Text, places: &[Range<usize>]) {
    let half = REGION_LINES / 2;
    let (mut shortened, mut lines, mut left) = (Vec::new(), 0, 0);
    for place in places {
        if lines >= SHOWN_LINES {
            left += 1;
            continue;
        }
        lines += place.len().min(REGION_LINES) + 2 * CONTEXT;
        match place.len() > REGION_LINES {
            true => shortened.extend([place.start..place.start + half, place.end - half..place.end]),
            false => shortened.push(place.clone()),
        }
    }
    write_regions(out, text, &shortened, CONTEXT, MAX_SHOWN_CHARS);
    if left > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "… and {left} more changed places; a read shows them.");
    }
}
