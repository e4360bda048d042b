//! Following the editor: opening, changes, saving, closing (rules W6, W22).

use hashline_text::{DocVersion, Encoding, Ending, Position, Span, SpanError, Text};
use hashline_weave::{How, HunkId, Judgement, Regions, TakeOut};

use crate::document::edit::Turn;
use crate::document::found::Earlier;
use crate::document::wanted::Way;
use crate::document::{Document, Home, Millis, Reports};
use hashline_history::{Decision, Location};

/// One change of the editor's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentChange {
    /// What is replaced; the whole text if none.
    pub span: Option<Span>,
    /// What stands there afterwards.
    pub text: String,
}

/// Why a document no longer follows its editor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfStep {
    /// A change came with a version that is not above the last.
    #[error("a change came as version {got} after version {had}")]
    Version {
        /// The version that was there.
        had: DocVersion,
        /// The version that came.
        got: DocVersion,
    },
    /// A change named a place that the text does not have.
    #[error("a change named a place outside the text: {0}")]
    Place(String),
}

impl Document {
    /// Takes over that an editor has opened the document, again or for the first time. Where the text differs from the one that is known,
    /// it is a text that is found.
    pub fn reopen(
        &mut self,
        uri: &str,
        language: &str,
        version: DocVersion,
        encoding: Encoding,
        text: &Text,
        now: Millis,
    ) {
        uri.clone_into(&mut self.uri);
        let reports = Reports::Nothing;
        self.home = Home::Editor { version, encoding, language: language.to_owned(), reports };
        self.out_of_step = None;
        self.unseen = None;
        self.told.forget();
        self.guesses.forget();
        self.stop_wanting();
        self.found(text, &Earlier::default(), Location::Buffer, now);
        if let Some(weave) = &mut self.weave {
            weave.forget_past();
        }
        self.unseen = None;
        self.news.review = true;
        self.news.deliver |= self.is_delivering();
    }

    /// Takes over that the editor has closed the document. Its edits wait.
    pub fn close(&mut self) {
        self.home = Home::Disk;
        self.out_of_step = None;
        self.stop_wanting();
        self.stop_asking();
        self.told.forget();
        self.guesses.forget();
        self.news.review = true;
    }

    /// Takes over changes that the editor has made, in the order in which they are given.
    ///
    /// # Errors
    ///
    /// [`OutOfStep`]: the changes cannot be those of this text. The document then serves no agents until it is opened
    /// again or a change gives the whole text.
    pub fn change(
        &mut self,
        version: DocVersion,
        changes: &[ContentChange],
        now: Millis,
    ) -> Result<(), OutOfStep> {
        let Home::Editor { version: had, encoding, reports, .. } = &mut self.home else { return Ok(()) };
        let (encoding, reports, before) = (*encoding, *reports, *had);
        let from = changes.iter().rposition(|change| change.span.is_none());
        if version <= before && from.is_none() {
            let reason = OutOfStep::Version { had: before, got: version };
            return self.fall_out(reason);
        }
        *had = version;
        let mut healed = false;
        if self.out_of_step.is_some() {
            if from.is_none() {
                return Ok(());
            }
            self.out_of_step = None;
            self.news.review = true;
            healed = true;
        }
        self.snapshots.text_changed();
        // What comes before a whole text is of no more use, except to an undo that is said to be one.
        let from_whole = &changes[from.unwrap_or(0)..];
        let is_whole = healed || version <= before || reports != Reports::Causes;
        let changes = if is_whole { from_whole } else { changes };
        if healed && self.weave.is_some() {
            // Nobody knows how it came from the text before.
            self.told.pass(version);
            let (text, _) = after(self.text(), changes, encoding)?;
            self.found_open(&text, now);
            return Ok(());
        }
        let result = match (self.weave.is_some(), reports) {
            (false, _) => {
                // There is nothing that it could have switched.
                self.told.pass(version);
                self.change_text(changes, encoding)
            }
            (true, Reports::Causes) => self.change_told(changes, encoding, (before, version), now),
            (true, Reports::Nothing | Reports::Versions) => {
                self.change_unexplained(changes, encoding, before, now)
            }
        };
        result.or_else(|reason| self.fall_out(reason))
    }

    fn fall_out(&mut self, reason: OutOfStep) -> Result<(), OutOfStep> {
        if self.out_of_step.is_none() {
            self.stop_wanting();
            self.notices.push(format!(
                "hashline lost step with {} ({reason}). Agents are kept out of it until you close and open it again.",
                self.uri
            ));
            self.news.review = true;
        }
        self.out_of_step = Some(reason.clone());
        Err(reason)
    }

    fn change_text(&mut self, changes: &[ContentChange], encoding: Encoding) -> Result<(), OutOfStep> {
        for change in changes {
            match change.span {
                None => self.text = Text::from(change.text.as_str()),
                Some(span) => make(&mut self.text, span, encoding, &change.text, |text, span, new| {
                    text.apply(span, encoding, new).map(drop)
                })?,
            }
        }
        Ok(())
    }

    /// Brings decisions to what the text shows.
    pub(crate) fn follow(&mut self, judgement: &Judgement) {
        let mut turns = Vec::new();
        let mut contrary = Vec::new();
        for switched in &judgement.switched {
            let id = switched.hunk;
            let Some((_, hunk)) = self.owner_of(id) else { continue };
            let before = (hunk.decision, hunk.reason.clone());
            let after = self.decision_by(id, switched.how);
            if switched.on && matches!(after.0, Decision::Rejected | Decision::Withdrawn) {
                contrary.push((id, after.clone()));
            }
            let mut after = as_shown(after, switched.on);
            self.note_switch(id, switched.on);
            self.set_decision(id, after.0, after.1.clone());
            if let Some(wish) = self.wanted.get(id).filter(|wish| wish.on == switched.on)
                && let Some(decision) = wish.act.decision
            {
                after = (decision, wish.act.reason.clone());
            }
            turns.push(Turn { hunk: id, before, after });
        }
        if let Some(entry) = judgement.entry.filter(|_| !turns.is_empty()) {
            self.turns.insert(entry, turns);
        }
        for (id, (decision, reason)) in contrary {
            let mut off = self.weave().with_dependents(id);
            off.retain(|hunk| self.weave().in_buffer(*hunk));
            self.want(&off, false, Way::Out(Some(TakeOut::KeepMyLines)), Some(decision), reason);
        }
    }

    /// What the person has undone, or done again, is their latest word.
    pub(crate) fn forget_turned(&mut self, judgement: &Judgement) {
        for switched in &judgement.switched {
            if matches!(switched.how, How::Undone(_) | How::Redone(_)) {
                self.wanted.remove(switched.hunk);
            }
        }
    }

    /// What the decision about a hunk is once it was switched like this.
    pub(crate) fn decision_by(&self, id: HunkId, how: How) -> (Decision, Option<String>) {
        let undecided = (Decision::Undecided, None);
        let Some((_, hunk)) = self.owner_of(id) else { return undecided };
        let before = (hunk.decision, hunk.reason.clone());
        match how {
            // What was wanted is decided when the wish ends; it may be another one by now.
            How::Asked(_) => before,
            How::Undone(entry) => self.turn(entry, id).map_or(undecided, |turn| turn.before),
            How::Redone(entry) => self.turn(entry, id).map_or(before, |turn| turn.after),
            // Sent and given up, and put in after all: what was decided stands.
            How::Seen if self.flow.is_ghost(id) => before,
            // Put in by hand, what was rejected is to be decided again.
            How::Seen if matches!(before.0, Decision::Rejected | Decision::Withdrawn) => undecided,
            How::Seen => (Decision::Accepted, None),
        }
    }

    fn turn(&self, entry: hashline_weave::JournalId, hunk: HunkId) -> Option<Turn> {
        self.turns.get(&entry)?.iter().find(|turn| turn.hunk == hunk).cloned()
    }
}

/// What is not in the text is not accepted, and what is in it is not rejected, however that came.
pub(crate) fn as_shown(
    (decision, reason): (Decision, Option<String>),
    is_in_text: bool,
) -> (Decision, Option<String>) {
    match (decision, is_in_text) {
        (Decision::Accepted, false) | (Decision::Rejected | Decision::Withdrawn, true) => {
            (Decision::Undecided, None)
        }
        _ => (decision, reason),
    }
}

/// The text after some changes, and the lines that they touched.
pub(crate) fn after(
    text: &Text,
    changes: &[ContentChange],
    encoding: Encoding,
) -> Result<(Text, Regions), OutOfStep> {
    let (mut text, mut regions) = (text.clone(), Regions::default());
    changes.iter().try_for_each(|change| apply(&mut text, &mut regions, change, encoding))?;
    Ok((text, regions))
}

/// The text after each of some changes.
pub(crate) fn after_each(
    text: &Text,
    changes: &[ContentChange],
    encoding: Encoding,
) -> Result<Vec<Text>, OutOfStep> {
    let (mut text, mut regions) = (text.clone(), Regions::default());
    let mut texts = Vec::with_capacity(changes.len());
    for change in changes {
        apply(&mut text, &mut regions, change, encoding)?;
        texts.push(text.clone());
    }
    Ok(texts)
}

fn apply(
    text: &mut Text,
    regions: &mut Regions,
    change: &ContentChange,
    encoding: Encoding,
) -> Result<(), OutOfStep> {
    match change.span {
        None => regions.replace_all(text, Text::from(change.text.as_str())),
        Some(span) => make(text, span, encoding, &change.text, |text, span, new| {
            regions.apply(text, span, encoding, new)
        })?,
    }
    Ok(())
}

/// Makes one change by `apply`.
///
/// Neovim counts an ending behind a last line that has none, and names the place behind it (in a text of two lines, line 2) where it
/// appends or takes away lines at the end. Such a change is made as the editor counts: with an ending there, which is taken away
/// again afterwards.
fn make(
    text: &mut Text,
    span: Span,
    encoding: Encoding,
    new: &str,
    mut apply: impl FnMut(&mut Text, Span, &str) -> Result<(), SpanError>,
) -> Result<(), OutOfStep> {
    let counts_one_more = span.end.line as usize == text.lsp_line_count() && span.end.character == 0;
    let mut apply = |text: &mut Text, span, new: &str| {
        apply(text, span, new).map_err(|error| OutOfStep::Place(error.to_string()))
    };
    if !counts_one_more {
        return apply(text, span, new);
    }
    let ending = Ending::find(new.as_bytes()).map(|(_, ending)| ending);
    let ending = ending.or_else(|| text.first_ending()).unwrap_or_default();
    let end = text.end_position(encoding);
    apply(text, Span::new(end, end), ending.as_str())?;
    apply(text, span, new)?;
    if text.ends_with_newline() {
        let end = text.end_position(encoding);
        let before = Position::new(end.line.saturating_sub(1), u32::MAX);
        apply(text, Span::new(before, end), "")?;
    }
    Ok(())
}
