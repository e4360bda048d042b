//! From a draft to a transaction: what has changed since the last one, as a delta or as a new base.

use std::ffi::OsStr;

use hashline_text::{DiskForm, FileHash, Line, Text};
use hashline_weave::{HunkId, Weave};

use crate::diff::{Replaced, unified};
use crate::document::{Content, Document};
use crate::error::StoreError;
use crate::id::HunkRef;
use crate::json_format::{WireDelta, WireForm, without_text};
use crate::layout;
use crate::name::DocumentName;
use crate::record::Sequence;
use crate::transaction::{Base, Continuity, Draft, NewEdit, Now, Operation, Transaction};

/// Deltas may weigh this much, or as much as what a base costs if that is more, before a base is written: so a replay costs no
/// more than a few times the file, and writing bases no more than the deltas did.
const LIGHT: u64 = 64 << 10;

/// The text of a document as it was recorded last.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub sequence: Sequence,
    pub weave: Weave,
    pub form: DiskForm,
    pub hash: FileHash,
    /// What the hunks of the weave are called.
    pub hunks: Vec<Option<HunkRef>>,
}

impl Told {
    /// What was recorded last of a document, if it is text.
    pub(crate) fn of(document: Document) -> Option<Self> {
        let Document { sequence, hunks, content: Content::Text { weave, form, hash }, .. } = document else {
            return None;
        };
        Some(Self { sequence, weave: *weave, form, hash, hunks })
    }
}

/// What a draft says of the document's content, ready to be recorded.
#[derive(Debug, Default)]
pub(crate) struct Woven {
    pub base: Option<Base<WireDelta>>,
    /// The bytes of the base's checkpoint.
    pub bytes: Option<Vec<u8>>,
    pub delta: Option<WireDelta>,
    pub form: Option<WireForm>,
    pub text: Option<FileHash>,
    pub told: Option<Told>,
}

impl Woven {
    pub(crate) fn put_into(
        self,
        transaction: &mut Transaction<WireDelta>,
    ) -> (Option<Vec<u8>>, Option<Told>) {
        transaction.base = self.base;
        transaction.delta = self.delta;
        transaction.form = self.form;
        transaction.text = self.text;
        (self.bytes, self.told)
    }
}

/// What is known of the file that a draft is about.
pub(crate) struct Known<'a> {
    /// What it is called in the record.
    pub name: &'a DocumentName,
    pub told: Option<&'a Told>,
    /// The bytes of the deltas since the last base, and those of that base.
    pub weight: (u64, u64),
    /// The names of the weave's hunks, where they do not follow from what was told.
    pub hunks: Option<Vec<Option<HunkRef>>>,
}

/// Compares what a draft holds with what was recorded.
pub(crate) fn weave_in(
    draft: &Draft<'_>,
    known: &Known<'_>,
    sequence: Sequence,
) -> Result<Woven, StoreError> {
    let (now, form, given) = match draft.now {
        None => return Ok(Woven::default()),
        Some(Now::Bytes(bytes)) => return Ok(of_bytes(draft, known.name, bytes, sequence)),
        Some(Now::Text { weave, form, hash }) => (weave, form, hash),
    };
    let told = known.told;
    let same = told.filter(|told| told.form == form && told.weave.buffer().is_same_instance(now.buffer()));
    let hash = given.or(same.map(|told| told.hash)).unwrap_or_else(|| form.hash(now.buffer()));
    let hunks = match &known.hunks {
        Some(hunks) => hunks.clone(),
        None => names(draft, now, told)?,
    };
    let limit = LIGHT.max(known.weight.1 + now.buffer().len_bytes() as u64);
    let light = |told: &&Told| {
        draft.continuity == Continuity::Follows
            && known.weight.0 <= limit
            && told.weave.hunks().count() <= hunks.len()
    };
    let mut woven = Woven { text: Some(hash), ..Woven::default() };
    let weave = if let Some(told) = told.filter(light) {
        woven.delta = now.delta_since(&told.weave).map(|delta| WireDelta::new(&delta, &told.weave));
        woven.form = (told.form != form).then(|| form.into());
        if woven.delta.is_none() && woven.form.is_none() {
            woven.text = None;
        }
        now.as_told(&told.weave)
    } else {
        // The checkpoint holds the text before the edit, as outside readers of the format expect.
        let before = without_edit(draft.edit.as_ref(), now);
        let base = before.as_ref().unwrap_or(now).as_told(&Weave::new(Text::default()));
        let creates = draft.edit.as_ref().is_some_and(|edit| edit.operation == Operation::Create);
        let bytes = DiskForm { ending: None, ..form }.to_bytes(base.buffer());
        let bytes = (!creates || !base.buffer().is_empty()).then_some(bytes);
        woven.base = Some(Base {
            checkpoint: bytes.as_ref().map(|_| checkpoint(draft, known.name, sequence)),
            hash: bytes.as_deref().map(FileHash::of),
            binary: false,
            weave: without_text(&base),
            hunks: hunks.clone(),
        });
        woven.bytes = bytes;
        woven.delta = now.delta_since(&base).map(|delta| WireDelta::new(&delta, &base));
        woven.form = Some(form.into());
        now.as_told(&base)
    };
    woven.told = Some(Told { sequence, weave, form, hash, hunks });
    Ok(woven)
}

fn of_bytes(draft: &Draft<'_>, name: &DocumentName, bytes: &[u8], sequence: Sequence) -> Woven {
    let hash = FileHash::of(bytes);
    let checkpoint = Some(checkpoint(draft, name, sequence));
    let base = Base { checkpoint, hash: Some(hash), binary: true, weave: None, hunks: Vec::new() };
    Woven { base: Some(base), bytes: Some(bytes.to_vec()), text: Some(hash), ..Woven::default() }
}

fn checkpoint(draft: &Draft<'_>, name: &DocumentName, sequence: Sequence) -> String {
    let conversation = draft.edit.as_ref().map(|edit| &edit.conversation);
    layout::checkpoint(conversation, name, sequence)
}

/// What the hunks of the weave are called: those that were recorded, and those of the new edit.
fn names(draft: &Draft<'_>, now: &Weave, told: Option<&Told>) -> Result<Vec<Option<HunkRef>>, StoreError> {
    let mut names = told.map_or_else(Vec::new, |told| told.hunks.clone());
    let count = now.hunks().count();
    if names.len() > count && draft.continuity == Continuity::Follows {
        return Err(StoreError::BadDraft("the weave has fewer hunks than were recorded; it is another one"));
    }
    let known = names.len();
    names.resize(count, None);
    for (edit, hunk) in draft.edit.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk))) {
        let Some(id) = hunk.id else { continue };
        match names.get_mut(id.order()).filter(|_| id.order() >= known) {
            Some(name) => *name = Some(HunkRef { edit: edit.id.clone(), number: hunk.number }),
            None => return Err(StoreError::BadDraft("a hunk of the edit is no new one of the weave")),
        }
    }
    Ok(names)
}

fn hunks_of(edit: &NewEdit) -> Vec<HunkId> {
    edit.hunks.iter().filter_map(|hunk| hunk.id).collect()
}

/// The weave with the hunks of an edit out of its buffer, if one is in it.
fn without_edit(edit: Option<&NewEdit>, now: &Weave) -> Option<Weave> {
    let there = |id: &HunkId| id.order() < now.hunks().count() && now.in_buffer(*id);
    let on: Vec<HunkId> = hunks_of(edit?).into_iter().filter(there).collect();
    let mut before = now.clone();
    (!on.is_empty() && before.switch(&[], &on).is_ok()).then_some(before)
}

/// The diff of an edit that a weave has as its latest; none if it changes no lines, or changes that cannot be shown any more.
pub(crate) fn diff_of(edit: &NewEdit, name: &OsStr, weave: Weave) -> Option<String> {
    let ids = hunks_of(edit);
    let known = |id: &HunkId| id.order() < weave.hunks().count();
    let creates = edit.operation == Operation::Create;
    if (ids.is_empty() && !creates) || !ids.iter().all(known) {
        return None;
    }
    // As it was recorded: held. In the buffer it may keep others out of the agent view.
    let mut weave = without_edit(Some(edit), &weave).unwrap_or(weave);
    let mut after = weave.agent().clone();
    weave.conceal(&ids);
    let before = weave.agent().clone();
    let mut replaced = Vec::new();
    let mut shift: isize = 0;
    for hunk in &edit.hunks {
        let Some(id) = hunk.id else { continue };
        let (removed, proposed) = (weave.removed(id).count(), weave.proposed(id).len());
        let start = hunk.line.checked_add_signed(shift)?;
        replaced.push(Replaced { old: hunk.line..hunk.line + removed, new: start..start + proposed });
        shift += proposed as isize - removed as isize;
    }
    let apart = replaced.windows(2).all(|two| two[0].old.end <= two[1].old.start);
    let within = replaced.last().is_none_or(|last| last.old.end <= before.line_count());
    if !apart || !within {
        return None;
    }
    if before.line_count().checked_add_signed(shift) != Some(after.line_count()) {
        // With this edit another one has come into the view, or left it. That is not its doing.
        after = before.clone();
        for (id, one) in ids.iter().zip(&replaced).rev() {
            let lines = Line(one.old.start)..Line(one.old.end);
            after.replace_lines(lines, weave.proposed(*id), before.ends_with_newline()).ok()?;
        }
    }
    Some(unified(((!creates).then_some(name), Some(name)), &before, &after, &replaced))
}
