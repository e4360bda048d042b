//! The text of a document and its weave, what was served of it, and whether it follows its editor.
//!
//! Nothing else changes the text, and what is served is always a view of it. A document that agents have never asked for has no weave, and
//! one that is out of step keeps the text that it had.
//!
//! The face: [`WovenText::now`] is the text, [`WovenText::weave`] its weave, [`WovenText::woven`] that without making one. In this room the editor is
//! followed (`sync`), texts that are found are taken over (`load_text`), agents are served (`serve`) and their edits become hunks (`change`,
//! `propose`), as does what other programs write to its file (`foreign_write`).

pub(crate) mod change;
pub(crate) mod content_change;
pub(crate) mod edit_notes;
pub(crate) mod edit_refused;
pub(crate) mod foreign_write;
pub(crate) mod load_text;
pub(crate) mod propose;
pub(crate) mod proposed_text;
mod serve;
pub(crate) mod served_text;
pub(crate) mod snapshots;
mod sync;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use hashline_text::{DiskForm, FileHash, Text};
use hashline_weave::{Regions, Weave};

use crate::document::moment::Millis;
use crate::document::text::content_change::OutOfStep;
use crate::document::text::snapshots::Snapshots;

/// How many texts of before there is a weave are known.
const PLAIN_BEFORE: usize = 32;

/// A text, with its weave once there is one.
#[derive(Clone, Debug)]
pub(crate) struct WovenText {
    /// As it was before it was woven.
    plain: Text,
    /// What the file has, until there is a weave that knows it.
    base: Option<Text>,
    /// The latest texts of before there was a weave, oldest first.
    plain_before: VecDeque<Text>,
    weave: Option<Weave>,
    form: DiskForm,
    out_of_step: Option<OutOfStep>,
    snapshots: Snapshots,
    /// The text before a change that nobody watched, until something is decided or edited in spite of it.
    unseen: Option<Box<Weave>>,
    /// The texts that it had and that are recorded, or will be before it is made anew of its record.
    recorded: Arc<HashSet<FileHash>>,
}

impl WovenText {
    pub(crate) fn of(text: Text, form: DiskForm) -> Self {
        Self {
            plain: text,
            base: None,
            plain_before: VecDeque::new(),
            weave: None,
            form,
            out_of_step: None,
            snapshots: Snapshots::default(),
            unseen: None,
            recorded: Arc::default(),
        }
    }

    /// The text that the editor has, or the file.
    pub(crate) fn now(&self) -> &Text {
        match &self.weave {
            Some(weave) => weave.buffer(),
            None => &self.plain,
        }
    }

    /// The weave, made now if there was none.
    pub(crate) fn weave(&mut self) -> &mut Weave {
        let Self { plain, base, weave, .. } = self;
        weave.get_or_insert_with(|| woven(plain, base.take()))
    }

    /// The weave, if there is one.
    pub(crate) fn woven(&self) -> Option<&Weave> {
        self.weave.as_ref()
    }

    /// Has the weave that it had before something was tried.
    pub(crate) fn put_back(&mut self, weave: Weave) {
        self.weave = Some(weave);
    }

    /// Notes that the file has this text. If it is not the present one, what the file has is not known by its lines any more.
    pub(crate) fn note_file_has(&mut self, text: &Text) {
        match &mut self.weave {
            None => self.base = Some(text.clone()),
            Some(weave) if weave.buffer() == text => weave.mark_base(),
            Some(weave) if weave.base().is_some_and(|base| base.text() == text) => {}
            Some(weave) => weave.set_base(None),
        }
    }

    /// Notes that the text is about to change, without a weave that would know it. Where it is replaced as a whole nothing is kept: the texts
    /// would have no memory in common.
    fn note_plain(&mut self, is_replaced: bool) {
        if is_replaced {
            self.plain_before.clear();
            return;
        }
        if self.plain_before.len() == PLAIN_BEFORE {
            self.plain_before.pop_front();
        }
        self.plain_before.push_back(self.plain.clone());
    }

    /// Whether a text is one of the latest of before there was a weave.
    fn was_plain(&self, text: &Text) -> bool {
        self.plain_before.contains(text)
    }

    /// How the text would be stored.
    pub(crate) fn form(&self) -> DiskForm {
        self.form
    }

    /// Says how the text would be stored.
    pub(crate) fn set_form(&mut self, form: DiskForm) {
        if self.form != form {
            self.form = form;
            self.snapshots.forget_hashes();
        }
    }

    /// Notes that the text is another one.
    pub(crate) fn was_changed(&mut self) {
        self.snapshots.text_changed();
    }

    /// Why it does not follow its editor, if it does not.
    pub(crate) fn out_of_step(&self) -> Option<&OutOfStep> {
        self.out_of_step.as_ref()
    }

    /// Is as much in step as another one.
    pub(crate) fn keep_step_of(&mut self, other: &Self) {
        self.out_of_step.clone_from(&other.out_of_step);
    }

    /// The text before a change that nobody watched, if nothing was decided or edited in spite of that.
    pub(crate) fn unseen(&self) -> Option<&Weave> {
        self.unseen.as_deref()
    }

    /// Something is decided or edited in spite of a change that nobody watched: it stays.
    pub(crate) fn keep_unseen(&mut self) {
        self.unseen = None;
    }

    /// Takes back a change that nobody watched.
    pub(crate) fn give_up_unseen(&mut self) {
        self.weave = self.unseen.take().map(|before| *before);
        self.snapshots.text_changed();
    }

    /// Whether a text is one that it had and that is recorded.
    pub(crate) fn is_recorded(&self, text: &Text) -> bool {
        !self.recorded.is_empty() && self.recorded.contains(&self.form.hash(text))
    }

    /// Notes that texts of it are recorded.
    pub(crate) fn note_recorded(&mut self, texts: impl IntoIterator<Item = FileHash>) {
        Arc::make_mut(&mut self.recorded).extend(texts);
    }

    /// Takes in what was served of another state of the document.
    pub(crate) fn merge_served(&mut self, other: &Self) {
        self.snapshots.merge(&other.snapshots);
    }

    /// Whether no agent has read it lately.
    pub(crate) fn was_served_long_ago(&self, now: Millis) -> bool {
        self.snapshots.are_old(now)
    }
}

/// A weave of a text, which the person has typed from what the file has, where that is known.
fn woven(text: &Text, base: Option<Text>) -> Weave {
    let Some(base) = base else { return Weave::new(text.clone()) };
    let mut weave = Weave::new(base);
    weave.mark_base();
    if weave.buffer() != text {
        let mut regions = Regions::default();
        regions.replace_all(&mut weave.buffer().clone(), text.clone());
        weave.typed(text, &regions);
    }
    weave
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use hashline_text::{DocVersion, Encoding, Position, Span};

    use super::*;
    use crate::document::{ContentChange, Document};

    fn typed(changes: &[ContentChange]) -> Document {
        let text = Text::from("one\n");
        let mut document = Document::open("file:///a", "text", DocVersion(1), Encoding::Utf8, text);
        for (change, version) in changes.iter().zip(2..) {
            document.change(DocVersion(version), std::slice::from_ref(change), Millis(0)).unwrap();
        }
        document
    }

    #[test]
    fn the_latest_texts_are_known_without_a_weave() {
        let start = Position::new(0, 0);
        let key = ContentChange { span: Some(Span::new(start, start)), text: "x".to_owned() };
        let document = typed(&vec![key; 40]);
        let before = |keys: usize| Text::from(format!("{}one\n", "x".repeat(keys)));
        assert!(document.text.weave.is_none());
        assert!((8..40).all(|keys| document.clone().had(&before(keys))));
        assert!(!document.clone().had(&before(7)) && !document.had(&before(41)));
    }

    #[test]
    fn whole_texts_that_were_replaced_are_not_kept() {
        let whole = |text: &str| ContentChange { span: None, text: text.to_owned() };
        let document = typed(&[whole("two\n"), whole("three\n")]);
        assert!(document.text.plain_before.is_empty());
        assert!(!document.had(&Text::from("two\n")));
    }
}
