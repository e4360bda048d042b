//! A file on the two sides of a patch, which differ in some hunks alone: without them, and with them.
//!
//! What others have built on these hunks is on neither side, and what these build on is on both. The text is that of the record: what
//! somebody has typed since is on neither.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use hashline_history::{
    Content as Recorded, Decision, Document, DocumentName, EditId, EditState, FileChange, HunkRef, HunkState,
    Location,
};
use hashline_text::{DiskForm, Text};
use hashline_weave::{HunkId, Weave};

use super::git_patch::{Change, Content, File};

/// Which of the hunks that are named a patch is to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are in the files now.
    Enabled,
    /// All, whatever was decided about them.
    Proposed,
    /// Those that were rejected.
    Rejected,
}

/// An edit, or one hunk of it.
pub type Part = (EditId, Option<u32>);

/// A file before and after some hunks, and what else that takes.
#[derive(Debug)]
pub struct Sides {
    exists: [bool; 2],
    name: [DocumentName; 2],
    mode: [Option<u32>; 2],
    content: [Content; 2],
    /// The hunks in which the sides differ.
    pub chosen: Vec<HunkRef>,
    /// The hunks that these build on, and that are not in the text: they have to be there already.
    pub needed: Vec<HunkRef>,
    /// The hunks in the text that cannot be there with these, or not without them.
    pub without: Vec<HunkRef>,
    /// Those of the chosen that cannot be told: their place is not certain, or others of them stand against them.
    pub left_out: Vec<HunkRef>,
}

impl Sides {
    /// The sides of a file, of which these edits are named, or these hunks of them.
    pub fn of(document: &Document, named: &[Part], which: Which) -> Self {
        let hunks = Hunks::of(document, named, which);
        let registers = document.registers;
        let mut sides = Self {
            exists: [registers.exists; 2],
            name: [document.name.clone(), document.name.clone()],
            mode: [registers.mode; 2],
            content: [Content::Unknown, Content::Unknown],
            chosen: hunks.chosen().map(Hunk::name).collect(),
            needed: Vec::new(),
            without: Vec::new(),
            left_out: hunks
                .all
                .iter()
                .filter(|hunk| (hunk.is_chosen && hunk.is_lost()) || hunk.is_against_earlier)
                .map(Hunk::name)
                .collect(),
        };
        match &document.content {
            Recorded::None => {}
            Recorded::Bytes { bytes, .. } => {
                sides.content = [Content::Bytes(bytes.clone()), Content::Bytes(bytes.clone())];
            }
            Recorded::Text { weave, form, .. } => sides.set_texts(&hunks, weave, *form),
        }
        sides.set_registers(&hunks);
        sides
    }

    fn set_texts(&mut self, hunks: &Hunks<'_>, weave: &Weave, form: DiskForm) {
        let chosen: Vec<HunkId> = hunks.chosen().filter_map(|hunk| hunk.state.id).collect();
        let (texts, left_out) = Texts::as_far_as_possible(weave, &chosen, hunks.which);
        self.content = [&texts.before, &texts.after].map(|text| content(text, form));
        self.needed = hunks.names(&texts.needed);
        self.without = hunks.names(&texts.without);
        self.left_out.extend(hunks.names(&left_out));
    }

    fn set_registers(&mut self, hunks: &Hunks<'_>) {
        let exists = hunks.register(&self.exists[0], |change| change.exists);
        let name = hunks.register(&self.name[0], |change| change.name.clone());
        let mode = hunks.register(&self.mode[0], |change| change.mode.map(|(was, is)| (was, Some(is))));
        let without = [exists.without, name.without, mode.without].concat();
        let left_out = [exists.left_out, name.left_out, mode.left_out].concat();
        // One hunk sets several registers.
        self.without.extend(without.into_iter().collect::<BTreeSet<_>>());
        self.left_out.extend(left_out.into_iter().collect::<BTreeSet<_>>());
        (self.exists, self.name, self.mode) = (exists.sides, name.sides, mode.sides);
    }

    /// What the patch says, with names from this folder. None of something that has no file.
    pub fn change_in(&self, folder: &Path) -> Option<Change> {
        let file = |side: usize| {
            let DocumentName::Path(path) = &self.name[side] else { return None };
            let parts: Vec<&OsStr> = path.strip_prefix(folder).ok()?.iter().collect();
            let name: OsString = parts.join(OsStr::new("/"));
            Some(File { name, mode: self.mode[side], content: self.content[side].clone() })
        };
        let (before, after) = (file(0)?, file(1)?);
        Some(Change { before: self.exists[0].then_some(before), after: self.exists[1].then_some(after) })
    }
}

fn content(text: &Text, form: DiskForm) -> Content {
    String::from_utf8(form.to_bytes(text))
        .map_or_else(|error| Content::Bytes(error.into_bytes()), Content::Text)
}

/// The hunks of a file, in the order of record.
struct Hunks<'a> {
    all: Vec<Hunk<'a>>,
    which: Which,
}

struct Hunk<'a> {
    edit: &'a EditState,
    state: &'a HunkState,
    is_chosen: bool,
    /// It was named, but the lines of an earlier making of the file are in the text, and those of both would be.
    is_against_earlier: bool,
}

/// A register on both sides, and the hunks that are on neither, or cannot be told.
struct Register<T> {
    sides: [T; 2],
    without: Vec<HunkRef>,
    left_out: Vec<HunkRef>,
}

impl Hunk<'_> {
    fn name(&self) -> HunkRef {
        HunkRef { edit: self.edit.made.id.clone(), number: self.state.number }
    }

    /// What it does to the file itself.
    fn of_file(&self) -> Option<&FileChange> {
        self.edit.made.file.as_ref().filter(|_| self.state.number == 1)
    }

    fn makes_file(&self) -> bool {
        self.of_file().is_some_and(|change| change.exists == Some((false, true)))
    }

    /// Whether it is of lines that could not be carried over a change that nobody watched.
    fn is_lost(&self) -> bool {
        self.state.id.is_none() && self.of_file().is_none()
    }

    fn is_done(&self) -> bool {
        self.state.location != Location::None
    }
}

impl<'a> Hunks<'a> {
    fn of(document: &'a Document, named: &[Part], which: Which) -> Self {
        let wholes: HashSet<&EditId> =
            named.iter().filter(|part| part.1.is_none()).map(|(edit, _)| edit).collect();
        let parts: HashSet<(&EditId, u32)> =
            named.iter().filter_map(|(edit, part)| Some((edit, (*part)?))).collect();
        let is_named = |edit: &EditState, hunk: &HunkState| {
            wholes.contains(&edit.made.id) || parts.contains(&(&edit.made.id, hunk.number))
        };
        let takes = |state: &HunkState| match (which, state.id, document.weave()) {
            (Which::Proposed, ..) => state.decision != Decision::Withdrawn,
            (Which::Rejected, ..) => state.decision == Decision::Rejected,
            (Which::Enabled, Some(id), Some(weave)) => weave.in_buffer(id),
            (Which::Enabled, ..) => state.location != Location::None,
        };
        let is_chosen = |edit: &EditState, state: &HunkState| is_named(edit, state) && takes(state);
        let hunks = document.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |state| (edit, state)));
        let mut all: Vec<Hunk<'_>> = hunks
            .map(|(edit, state)| Hunk {
                edit,
                state,
                is_chosen: is_chosen(edit, state),
                is_against_earlier: false,
            })
            .collect();
        // The lines that this has taken the place of are those of a file that was removed, and are not in the one that was made then, unless
        // its own lines are out.
        let remade = all.iter().rposition(|hunk| hunk.makes_file() && hunk.is_done() && !hunk.is_chosen);
        let (own, beside) = lines_beside(&all, document.weave());
        let is_in = |id: &HunkId| document.weave().is_some_and(|weave| weave.in_buffer(*id));
        let new: HashSet<HunkId> = remade.map_or_else(HashSet::new, |remade| {
            all[remade].edit.hunks.iter().filter_map(|state| state.id).filter(is_in).collect()
        });
        let is_beside_in = beside.iter().any(is_in);
        for (at, hunk) in all.iter_mut().enumerate() {
            let is_in_its_place = |id: HunkId, weave: &Weave| {
                let collisions = weave.collisions(id).iter();
                weave.with_dependents(id).iter().chain(collisions).any(|other| new.contains(other))
            };
            let is_of_removed_file = remade.is_some_and(|remade| at < remade)
                && hunk.state.id.zip(document.weave()).is_some_and(|(id, weave)| is_in_its_place(id, weave));
            let rests_on_beside = |id: HunkId, weave: &Weave| {
                weave.with_prerequisites(id).iter().any(|other| beside.contains(other))
            };
            let is_beside =
                hunk.state.id.zip(document.weave()).is_some_and(|(id, weave)| rests_on_beside(id, weave));
            hunk.is_chosen = hunk.is_chosen && !is_of_removed_file && !is_beside;
            let rests_on_own = |id: HunkId, weave: &Weave| {
                weave.with_prerequisites(id).iter().any(|other| own.contains(other))
            };
            hunk.is_against_earlier = hunk.is_chosen
                && is_beside_in
                && hunk
                    .state
                    .id
                    .zip(document.weave())
                    .is_some_and(|(id, weave)| !weave.in_buffer(id) && rests_on_own(id, weave));
            hunk.is_chosen &= !hunk.is_against_earlier;
        }
        Self { all, which }
    }

    fn chosen(&self) -> impl Iterator<Item = &Hunk<'a>> {
        self.all.iter().filter(|hunk| hunk.is_chosen)
    }

    fn names(&self, ids: &[HunkId]) -> Vec<HunkRef> {
        let ids: HashSet<HunkId> = ids.iter().copied().collect();
        let is_one = |hunk: &&Hunk<'_>| hunk.state.id.is_some_and(|id| ids.contains(&id));
        self.all.iter().filter(is_one).map(Hunk::name).collect()
    }

    /// A register of the file, which is this now: what the edits make of it, one after the other, without the chosen hunks and with them.
    fn register<T: Clone + PartialEq>(
        &self,
        now: &T,
        set: impl Fn(&FileChange) -> Option<(T, T)>,
    ) -> Register<T> {
        let changes = self.all.iter().filter_map(|hunk| {
            let (was, is) = set(hunk.of_file()?)?;
            Some(Setting { was, is, is_chosen: hunk.is_chosen, is_done: hunk.is_done(), name: hunk.name() })
        });
        let changes: Vec<Setting<T>> = changes.collect();
        let as_it_is =
            |left_out| Register { sides: [now.clone(), now.clone()], without: Vec::new(), left_out };
        let chosen = || changes.iter().filter(|change| change.is_chosen);
        if chosen().next().is_none() {
            return as_it_is(Vec::new());
        }
        let mut without: Vec<HunkRef> = Vec::new();
        loop {
            let other =
                |change: &Setting<T>| !change.is_chosen && change.is_done && !without.contains(&change.name);
            let (before, unfit) = follow(&changes, other);
            let (after, unfit_with) = follow(&changes, |change| change.is_chosen || other(change));
            let (left_out, unfit_with): (Vec<&Setting<T>>, Vec<&Setting<T>>) =
                unfit_with.into_iter().partition(|change| change.is_chosen);
            let names = |changes: &[&Setting<T>]| changes.iter().map(|change| change.name.clone()).collect();
            let against: Vec<HunkRef> = names(&[unfit, unfit_with].concat());
            match (before, after) {
                (Some(before), Some(after)) if against.is_empty() => {
                    return Register { sides: [before, after], without, left_out: names(&left_out) };
                }
                // What was rejected is made of the file as it is.
                _ if self.which == Which::Rejected => {
                    return as_it_is(chosen().map(|change| change.name.clone()).collect());
                }
                _ => without.extend(against),
            }
        }
    }
}

/// First the lines of the file that was made last. Then those of files that were made and removed before that one was made, and that this has not taken the place of, with what rests on them:
/// they were out when it was made, and are not in it.
fn lines_beside(hunks: &[Hunk<'_>], weave: Option<&Weave>) -> (HashSet<HunkId>, HashSet<HunkId>) {
    let made: Vec<&Hunk<'_>> = hunks.iter().filter(|hunk| hunk.makes_file()).collect();
    let last = made.iter().rposition(|hunk| hunk.is_done() || hunk.is_chosen);
    let (Some(weave), Some(last)) = (weave, last) else { return Default::default() };
    let (before, last) = (&made[..last], made[last].edit);
    let lines = |edit: &EditState| edit.hunks.iter().filter_map(|state| state.id).collect::<Vec<_>>();
    let own = lines(last);
    let mut weave = weave.clone();
    if weave.switch(&weave.with_prerequisites_of(&own), &[]).is_err() {
        return Default::default();
    }
    let with_above = before.iter().flat_map(|hunk| lines(hunk.edit)).map(|id| weave.with_dependents(id));
    let beside = with_above.filter(|ids| !ids.iter().any(|id| own.contains(id))).flatten().collect();
    (own.into_iter().collect(), beside)
}

/// What an edit sets a register to.
struct Setting<T> {
    was: T,
    is: T,
    is_chosen: bool,
    is_done: bool,
    name: HunkRef,
}

/// What a register comes to by some of its changes, and those of them that do not find it as they did.
fn follow<T: Clone + PartialEq>(
    changes: &[Setting<T>],
    takes: impl Fn(&Setting<T>) -> bool,
) -> (Option<T>, Vec<&Setting<T>>) {
    let mut value = changes.first().map(|first| first.was.clone());
    let mut unfit = Vec::new();
    for change in changes.iter().filter(|change| takes(change)) {
        if value.as_ref() == Some(&change.was) {
            value = Some(change.is.clone());
        } else {
            unfit.push(change);
        }
    }
    (value, unfit)
}

/// A text without some hunks, and with them.
struct Texts {
    before: Text,
    after: Text,
    needed: Vec<HunkId>,
    without: Vec<HunkId>,
}

impl Texts {
    /// With as many of the chosen hunks as go together: of those that do not, the ones in the text, and the later ones. Returns the others,
    /// too.
    fn as_far_as_possible(weave: &Weave, chosen: &[HunkId], which: Which) -> (Self, Vec<HunkId>) {
        let (mut left_out, chosen): (Vec<HunkId>, Vec<HunkId>) =
            chosen.iter().copied().partition(|id| weave.is_lost(*id));
        if let Some(texts) = Self::new(weave, &chosen, which) {
            return (texts, left_out);
        }
        let mut taken = Vec::new();
        let mut best = None;
        let (inside, outside): (Vec<HunkId>, Vec<HunkId>) =
            chosen.iter().rev().partition(|id| weave.in_buffer(**id));
        for id in inside.into_iter().chain(outside) {
            taken.push(id);
            match Self::new(weave, &taken, which) {
                Some(texts) => best = Some(texts),
                None => left_out.extend(taken.pop()),
            }
        }
        let as_it_is = || {
            let text = weave.buffer();
            Self { before: text.clone(), after: text.clone(), needed: Vec::new(), without: Vec::new() }
        };
        (best.unwrap_or_else(as_it_is), left_out)
    }

    /// None if the hunks do not go together, or the place of one is not certain.
    fn new(weave: &Weave, chosen: &[HunkId], which: Which) -> Option<Self> {
        let named: HashSet<HunkId> = chosen.iter().copied().collect();
        let is_chosen = |id: &HunkId| named.contains(id);
        let on: Vec<HunkId> =
            weave.with_prerequisites_of(chosen).into_iter().filter(|id| !weave.in_buffer(*id)).collect();
        let needed: Vec<HunkId> = on.iter().copied().filter(|id| !is_chosen(id)).collect();
        let above = chosen.iter().flat_map(|id| weave.with_dependents(*id));
        let against =
            on.iter().flat_map(|id| weave.collisions(*id)).flat_map(|id| weave.with_dependents(*id));
        let mut without: Vec<HunkId> =
            above.chain(against).filter(|id| weave.in_buffer(*id) && !is_chosen(id)).collect();
        without.sort_unstable();
        without.dedup();
        // What was rejected is made of the text as it is.
        if which == Which::Rejected && !without.is_empty() {
            return None;
        }
        let mut weave = weave.clone();
        weave.switch(&on, &without).ok()?;
        let after = weave.buffer().clone();
        weave.switch(&[], chosen).ok()?;
        Some(Self { before: weave.buffer().clone(), after, needed, without })
    }
}
