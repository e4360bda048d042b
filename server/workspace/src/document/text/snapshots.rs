//! What was served, and for how long that is remembered (rule W14): the newest snapshots however old they are, and others while they are young and there is
//! room.

use std::ops::Range;
use std::sync::Arc;

use hashline_text::{DiskForm, FileHash, HashPrefix, Text};
use hashline_weave::{Snapshot, SnapshotDifference, View};

use crate::document::moment::Millis;

/// Snapshots that are kept at least.
const KEPT: usize = 64;
/// Snapshots that are kept at most.
const MOST: usize = 1024;
/// How many may follow one another that are kept by their differences: so many are made again at most to have one of them.
const APART: usize = 64;
/// How long further ones are kept, in milliseconds.
const YOUNG: u64 = 30 * 60 * 1000;
/// How much memory all of them may take where there are further ones, in bytes.
const BYTES: usize = 8 * 1024 * 1024;

/// A text as it is served: a view of the document at one moment.
#[derive(Clone, Debug)]
pub struct Served {
    /// The text and the identities of its lines.
    pub snapshot: Arc<Snapshot>,
    /// Its file hash, where it is known already.
    pub hash: Option<FileHash>,
    /// Which view it is.
    pub view: View,
    /// Hunks of the agent view that are not in the editor's text.
    pub held: usize,
    /// The names of conflicted hunks, which are left out.
    pub conflicted: Vec<String>,
    pub(super) form: DiskForm,
    pub(super) revision: u64,
}

impl Served {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &Text {
        self.snapshot.text()
    }

    /// How the text would be stored.
    pub(crate) fn form(&self) -> DiskForm {
        self.form
    }

    /// Notes that the view is still this one at a later revision of the weave.
    pub(crate) fn is_of(&mut self, revision: u64) {
        self.revision = revision;
    }

    /// Computes the file hash, if it is not known; takes time in the size of the text, so not under a lock.
    pub fn hash(&mut self) -> FileHash {
        let (form, snapshot) = (self.form, &self.snapshot);
        *self.hash.get_or_insert_with(|| form.hash(snapshot.text()))
    }
}

/// Lines of a snapshot that agents have really seen: sorted, and apart.
pub(crate) type Seen = Arc<[Range<usize>]>;

/// What was served once.
#[derive(Clone, Debug)]
struct Known {
    hash: FileHash,
    snapshot: Arc<Snapshot>,
    seen: Seen,
    at: Millis,
}

/// The same as it is kept.
#[derive(Clone, Debug)]
struct Kept {
    hash: FileHash,
    form: Form,
    seen: Seen,
    at: Millis,
    /// About how many bytes its form takes, besides what the next one takes as well.
    bytes: usize,
}

/// How a snapshot is kept.
#[derive(Clone, Debug)]
enum Form {
    Whole(Arc<Snapshot>),
    /// By what makes it of the next one.
    Difference(Arc<SnapshotDifference>),
}

impl Form {
    /// The snapshot, made of the next one where that is needed.
    fn made(&self, next: Option<Arc<Snapshot>>) -> Option<Arc<Snapshot>> {
        match self {
            Form::Whole(snapshot) => Some(snapshot.clone()),
            Form::Difference(difference) => Some(difference.applied_to(&*next?).into()),
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self, Form::Whole(_))
    }
}

impl Kept {
    /// The newest, which has its text in common with the document.
    fn newest(known: Known) -> Self {
        let Known { hash, snapshot, seen, at } = known;
        Self { hash, form: Form::Whole(snapshot), seen, at, bytes: 0 }
    }

    /// Another one is behind this one now, and it is kept as takes less.
    fn precedes(&mut self, snapshot: Arc<Snapshot>, next: &Snapshot, may_differ: bool) {
        let difference = if may_differ { snapshot.difference_from(next) } else { None };
        (self.bytes, self.form) = match difference {
            Some(difference) => (difference.bytes(), Form::Difference(difference.into())),
            None => (snapshot.bytes_beside(next), Form::Whole(snapshot)),
        };
    }

    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        self.bytes + size_of_val(&*self.seen)
    }
}

/// What was served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshots {
    /// Oldest first, the newest whole. Clones share them: a document is copied for its review after a key.
    kept: Arc<Vec<Kept>>,
    /// The hash of a view of the present revision.
    latest: Vec<(View, u64, FileHash, Arc<Snapshot>)>,
}

impl Snapshots {
    pub(crate) fn text_changed(&mut self) {
        self.latest.clear();
    }

    pub(crate) fn forget_hashes(&mut self) {
        self.latest.clear();
    }

    /// Takes in what was served of another state of the document.
    pub(crate) fn merge(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.kept, &other.kept) {
            // As of each edit on the disk, which is made in a copy. To make all of them again would cost more with each.
            return;
        }
        let mut all = self.all();
        for theirs in other.all() {
            match all.iter_mut().find(|own| own.hash == theirs.hash) {
                Some(own) => own.seen = with(&own.seen, &theirs.seen),
                None => all.push(theirs),
            }
        }
        all.sort_by_key(|known| known.at);
        self.kept = Arc::default();
        all.into_iter().for_each(|known| self.push(known));
    }

    /// All of them, whole.
    fn all(&self) -> Vec<Known> {
        let mut next = None;
        let known = |kept: &Kept| {
            next = kept.form.made(next.take());
            Some(Known { hash: kept.hash, snapshot: next.clone()?, seen: kept.seen.clone(), at: kept.at })
        };
        let mut all: Vec<Known> = self.kept.iter().rev().filter_map(known).collect();
        all.reverse();
        all
    }

    /// The snapshot at a place: the next whole one, and back from there.
    fn snapshot(&self, at: usize) -> Option<Arc<Snapshot>> {
        let rest = self.kept.get(at..)?;
        let whole = rest.iter().position(|kept| kept.form.is_whole())?;
        rest[..=whole].iter().rev().fold(None, |next, kept| kept.form.made(next))
    }

    /// Adds one as the newest.
    fn push(&mut self, known: Known) {
        let before = self.kept.iter().rev().skip(1);
        let may_differ = before.take_while(|kept| !kept.form.is_whole()).count() < APART;
        let kept = Arc::make_mut(&mut self.kept);
        if let Some(last) = kept.last_mut()
            && let Form::Whole(snapshot) = &last.form
        {
            last.precedes(snapshot.clone(), &known.snapshot, may_differ);
        }
        kept.push(Kept::newest(known));
    }

    /// Takes one out, from which the one before it may be kept as a difference.
    fn remove(&mut self, at: usize) {
        let before = at.checked_sub(1).and_then(|before| Some((before, self.snapshot(before)?)));
        let next = self.snapshot(at + 1);
        let kept = Arc::make_mut(&mut self.kept);
        let removed = kept.remove(at);
        match (before, next) {
            (Some((before, snapshot)), Some(next)) => {
                kept[before].precedes(snapshot, &next, !removed.form.is_whole());
            }
            (Some((before, snapshot)), None) => kept[before].form = Form::Whole(snapshot),
            (None, _) => {}
        }
    }

    /// Whether none was served lately.
    pub(crate) fn are_old(&self, now: Millis) -> bool {
        self.kept.last().is_none_or(|kept| now.since(kept.at) > YOUNG)
    }

    pub(super) fn latest(&self, view: View, revision: u64) -> Option<(FileHash, Arc<Snapshot>)> {
        let found = self.latest.iter().find(|(kept, at, ..)| *kept == view && *at == revision)?;
        Some((found.2, found.3.clone()))
    }

    pub(super) fn hashed(&mut self, served: &Served, hash: FileHash) {
        self.latest.retain(|(view, ..)| *view != served.view);
        self.latest.push((served.view, served.revision, hash, served.snapshot.clone()));
    }

    pub(super) fn keep(&mut self, served: &Served, hash: FileHash, lines: Range<usize>, now: Millis) {
        let known = self.kept.iter().rposition(|kept| kept.hash == hash);
        let seen = known.map_or_else(Arc::default, |at| self.kept[at].seen.clone());
        let seen = with(&seen, &[lines]);
        if self.ends_with(&served.snapshot)
            && let Some(last) = Arc::make_mut(&mut self.kept).last_mut()
        {
            // As of each part of a text that is read.
            (last.seen, last.at) = (seen, now);
        } else {
            known.into_iter().for_each(|at| self.remove(at));
            self.push(Known { hash, snapshot: served.snapshot.clone(), seen, at: now });
        }
        self.forget(now);
    }

    /// Whether the newest is this very snapshot.
    fn ends_with(&self, snapshot: &Arc<Snapshot>) -> bool {
        let last = self.kept.last().map(|kept| &kept.form);
        matches!(last, Some(Form::Whole(last)) if Arc::ptr_eq(last, snapshot))
    }

    /// Lets go of the oldest, as far as there is no room.
    fn forget(&mut self, now: Millis) {
        let mut bytes: usize = self.kept.iter().map(Kept::bytes).sum();
        let mut first = 0;
        let too_many = |left, bytes, oldest: &Kept| {
            left > KEPT && (left > MOST || bytes > BYTES || now.since(oldest.at) > YOUNG)
        };
        while too_many(self.kept.len() - first, bytes, &self.kept[first]) {
            bytes -= self.kept[first].bytes();
            first += 1;
        }
        if first > 0 {
            Arc::make_mut(&mut self.kept).drain(..first);
        }
    }

    /// The snapshots that a prefix fits, newest first.
    pub(crate) fn matching(&self, prefix: &HashPrefix) -> Vec<(FileHash, Arc<Snapshot>, Seen)> {
        let fits = self.kept.iter().enumerate().rev().filter(|(_, kept)| prefix.matches(&kept.hash));
        fits.filter_map(|(at, kept)| Some((kept.hash, self.snapshot(at)?, kept.seen.clone()))).collect()
    }
}

/// What was seen, and more.
fn with(seen: &[Range<usize>], more: &[Range<usize>]) -> Seen {
    let mut all = [seen, more].concat();
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all.into_iter().filter(|range| !range.is_empty()) {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined.into()
}

#[cfg(test)]
mod tests {
    use hashline_text::{DocVersion, Encoding, Position, Span};

    use super::*;
    use crate::document::Refused;
    use crate::document::{ContentChange, Document};

    const MINUTE: u64 = 60 * 1000;

    /// A document in an editor, and the hashes under which it was served, oldest first.
    struct Desk {
        document: Document,
        version: i32,
        hashes: Vec<FileHash>,
    }

    impl Desk {
        fn of(text: &str) -> Self {
            let text = Text::from(text);
            let document = Document::open("file:///a.txt", "text", DocVersion(1), Encoding::Utf16, text);
            Self { document, version: 1, hashes: Vec::new() }
        }

        fn changes(&mut self, changes: &[ContentChange], at: Millis) {
            self.version += 1;
            self.document.change(DocVersion(self.version), changes, at).unwrap();
        }

        /// The person changes the first line, and an agent reads.
        fn served_anew(&mut self, at: Millis) {
            let span = Span::new(Position::new(0, 0), Position::new(1, 0));
            self.changes(&[ContentChange { span: Some(span), text: format!("{}\n", self.version) }], at);
            self.serves(at);
        }

        fn serves(&mut self, at: Millis) {
            let mut served = self.document.serve(View::Agent).unwrap();
            let hash = served.hash();
            self.document.served(&served, hash, 0..served.text().line_count(), at);
            self.hashes.push(hash);
        }

        /// How much memory the snapshots are said to take.
        fn bytes(&self) -> usize {
            self.document.text.snapshots.kept.iter().map(Kept::bytes).sum()
        }

        /// How many of the oldest are not known any more; all behind them are.
        fn forgotten(&mut self) -> usize {
            let mut now = self.document.serve(View::Agent).unwrap();
            let hash = now.hash();
            let locate = |of: &FileHash| self.document.locate(&HashPrefix::from(*of), &now, hash);
            let is_known = |of: &FileHash| match locate(of) {
                Ok(_) => true,
                Err(Refused::UnknownHash { .. }) => false,
                Err(other) => panic!("{other:?}"),
            };
            let known: Vec<bool> = self.hashes.iter().map(is_known).collect();
            let forgotten = known.iter().take_while(|known| !**known).count();
            assert!(known[forgotten..].iter().all(|known| *known), "{known:?}");
            forgotten
        }
    }

    #[test]
    fn the_last_snapshots_are_known_however_old_and_others_for_a_while() {
        let mut desk = Desk::of("0\nrest\n");
        for minute in 0..80 {
            desk.served_anew(Millis(minute * MINUTE / 4));
        }
        assert_eq!(desk.forgotten(), 0, "all of them are of the last twenty minutes");
        // The first was served at 0, the second a quarter of a minute later.
        desk.served_anew(Millis(YOUNG));
        assert_eq!(desk.forgotten(), 0);
        desk.served_anew(Millis(YOUNG + 1));
        assert_eq!(desk.forgotten(), 1);
        desk.served_anew(Millis(YOUNG + MINUTE));
        assert_eq!(desk.forgotten(), 4);
        desk.served_anew(Millis(1000 * MINUTE));
        assert_eq!(desk.forgotten(), 84 - KEPT);
        // What is read once more takes no other place.
        let now = Millis(2000 * MINUTE);
        desk.serves(now);
        assert_eq!(desk.forgotten(), 84 - KEPT);
        assert!(
            !desk.document.text.snapshots.are_old(now)
                && desk.document.text.snapshots.are_old(now.after(YOUNG + 1))
        );
    }

    #[test]
    fn what_a_copy_was_served_is_not_made_anew() {
        let mut desk = Desk::of("0\nrest\n");
        (0..3).for_each(|_| desk.served_anew(Millis(0)));
        let mut copy = desk.document.text.snapshots.clone();
        copy.merge(&desk.document.text.snapshots);
        assert!(Arc::ptr_eq(&copy.kept, &desk.document.text.snapshots.kept));
        desk.served_anew(Millis(0));
        copy.merge(&desk.document.text.snapshots);
        assert_eq!(copy.kept.len(), 4);
    }

    #[test]
    fn snapshots_share_their_long_lists_of_lines_but_for_what_changed() {
        const LINES: usize = 8_000;
        let lines: String = (0..LINES).map(|line| format!("line {line}\n")).collect();
        let mut desk = Desk::of(&format!("0\n{lines}"));
        // Of each two lines one goes: what is left has no neighbour of before.
        let removal = |line: usize| {
            let at = |line| Position::new(u32::try_from(line).unwrap(), 0);
            ContentChange { span: Some(Span::new(at(line), at(line + 1))), text: String::new() }
        };
        let removals: Vec<_> = (1..LINES).rev().step_by(2).map(removal).collect();
        desk.changes(&removals, Millis(0));
        desk.serves(Millis(0));
        let empty = Desk::of("").document.serve(View::Agent).unwrap().snapshot;
        let alone = desk.document.text.snapshots.snapshot(0).unwrap().bytes_beside(&empty);
        assert!(alone > LINES / 2 * 16, "{alone}");
        for _ in 0..1_000 {
            desk.served_anew(Millis(0));
        }
        assert_eq!(desk.forgotten(), 0);
        let each = desk.bytes() / 1_000;
        assert!(each < alone / 10, "{each} bytes each");
    }

    /// A text of some 200 KiB.
    fn long(mark: usize) -> String {
        (0..8_000).map(|line| format!("line {line} of text {mark}\n")).collect()
    }

    #[test]
    fn texts_that_have_nothing_in_common_are_kept_as_far_as_there_is_room_and_the_last_always() {
        let mut desk = Desk::of(&long(0));
        let anew = |mark: usize| ContentChange { span: None, text: long(mark) };
        for mark in 0..KEPT {
            desk.changes(&[anew(mark)], Millis(0));
            desk.serves(Millis(0));
        }
        assert_eq!(desk.forgotten(), 0);
        assert!(desk.bytes() > BYTES, "{}", desk.bytes());
        for more in 1..10 {
            desk.changes(&[anew(KEPT + more)], Millis(0));
            desk.serves(Millis(0));
            assert_eq!(desk.forgotten(), more);
        }
        // Those that come now take little, so that there is room for some of the others.
        for _ in 0..2 * KEPT {
            desk.served_anew(Millis(0));
        }
        let kept = desk.document.text.snapshots.kept.len();
        assert!(kept > 2 * KEPT + 10 && desk.bytes() <= BYTES, "{kept} with {} bytes", desk.bytes());
    }

    #[test]
    fn texts_that_have_nearly_everything_in_common_take_little_however_they_came() {
        let mut desk = Desk::of(&long(0));
        for line in 0..200 {
            let at = Position::new(line * 7, 0);
            let change = ContentChange { span: Some(Span::new(at, at)), text: "new\n".to_owned() };
            if line % 2 == 0 {
                desk.changes(&[change], Millis(0));
            } else {
                let mut text = desk.document.text().clone();
                text.apply(Span::new(at, at), Encoding::Utf16, "new\n").unwrap();
                desk.changes(&[ContentChange { span: None, text: text.to_string() }], Millis(0));
            }
            desk.serves(Millis(0));
        }
        assert_eq!(desk.forgotten(), 0);
        assert!(desk.bytes() < 200 * 512, "{} bytes", desk.bytes());
    }

    #[test]
    fn what_is_kept_by_its_difference_is_what_was_served() {
        let mut desk = Desk::of(&(0..300).map(|line| format!("zeile {line} äöü\r\n")).collect::<String>());
        let mut served: Vec<(FileHash, Arc<Snapshot>)> = Vec::new();
        let mut number = 7_u32;
        let mut any = |below: u32| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 8) % below
        };
        for step in 0..400_u64 {
            let lines = u32::try_from(desk.document.text().line_count()).unwrap();
            let from = any(lines - 5);
            let span = Span::new(Position::new(from, any(3)), Position::new(from + any(3), 3 + any(3)));
            let changes = match step % 5 {
                // The same is served once more.
                0 => Vec::new(),
                // What was served before is the newest again.
                1 => {
                    let (_, earlier) = &served[any(served.len() as u32) as usize];
                    vec![ContentChange { span: None, text: earlier.text().to_string() }]
                }
                2 => vec![
                    ContentChange { span: Some(span), text: "ö".to_owned() },
                    ContentChange {
                        span: Some(Span::new(Position::new(0, 0), Position::new(0, 1))),
                        text: "ä".to_owned(),
                    },
                ],
                _ => vec![ContentChange { span: Some(span), text: format!("é{step}\r\n") }],
            };
            if !changes.is_empty() {
                desk.changes(&changes, Millis(step));
            }
            let mut now = desk.document.serve(View::Agent).unwrap();
            let hash = now.hash();
            desk.document.served(&now, hash, 0..1, Millis(step));
            served.retain(|(known, _)| *known != hash);
            served.push((hash, now.snapshot));
            if step % 100 == 99 {
                let mut again = desk.document.text.snapshots.clone();
                // Of another state of the document.
                again.kept = Arc::new(again.kept.to_vec());
                desk.document.text.snapshots.merge(&again);
            }
        }
        let kept = desk.document.text.snapshots.kept.clone();
        let wholes = kept.iter().filter(|kept| kept.form.is_whole()).count();
        assert!(wholes < kept.len() / 3, "{wholes} of {} are whole", kept.len());
        for (hash, snapshot) in &served {
            let found = desk.document.text.snapshots.matching(&HashPrefix::from(*hash));
            let [(_, found, _)] = &found[..] else { panic!("{} are found", found.len()) };
            assert_eq!(found.text(), snapshot.text());
            assert_eq!(found.text().hash(), *hash);
            for line in 0..snapshot.text().line_count() {
                let weave = desk.document.weave();
                assert_eq!(weave.carry(found, line..line + 1), weave.carry(snapshot, line..line + 1));
            }
        }
    }
}
