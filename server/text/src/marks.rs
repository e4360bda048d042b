//! What is remembered of hashing a text, so that after a change only what comes behind it is hashed again.
//!
//! Clones of a text share it, and a text that is changed keeps what was hashed before the place of the change.
//!
//! # Limitations
//!
//! - A change at the beginning of a text leaves nothing to go on from.
//! - Only texts whose endings are stored as they are profit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ropey::Rope;

use crate::FileHash;
use crate::hash::FileHasher;

/// How many bytes are hashed from one mark to the next: some tens of microseconds.
const APART: usize = 32 << 10;

/// The marks of a text and of its unchanged clones.
#[derive(Clone, Default)]
pub(crate) struct Marks(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// Of the text, once it was hashed.
    own: Option<Hashed>,
    /// Until then, of a text that begins with so many bytes of this one.
    origin: Option<(Marks, usize)>,
}

/// A text that was hashed.
#[derive(Clone)]
struct Hashed {
    bom: bool,
    /// The hasher after every so many bytes.
    states: Arc<[FileHasher]>,
    hash: FileHash,
}

impl Marks {
    /// The marks of what this text becomes when it is changed behind so many bytes.
    pub(crate) fn after_change(&self, unchanged: usize) -> Self {
        let kept = self.lock();
        let origin = match (&kept.own, &kept.origin) {
            (None, Some((origin, begin))) => (origin.clone(), unchanged.min(*begin)),
            // It may be hashed later, by whoever has a clone of it.
            _ => (self.clone(), unchanged),
        };
        Self(Arc::new(Mutex::new(Kept { own: None, origin: Some(origin) })))
    }

    /// The hash of the text whose marks these are, behind a byte-order mark if there is to be one.
    pub(crate) fn hash(&self, rope: &Rope, bom: Option<&[u8]>) -> FileHash {
        let known = {
            let kept = self.lock();
            match &kept.own {
                Some(own) if own.bom == bom.is_some() => return own.hash,
                _ => kept.origin.clone(),
            }
        };
        let mut states = known.map_or_else(Vec::new, |(origin, begin)| origin.states(bom.is_some(), begin));
        let mut hasher = states.last().cloned().unwrap_or_else(|| {
            let mut hasher = FileHasher::default();
            bom.into_iter().for_each(|mark| hasher.update(mark));
            hasher
        });
        let done = states.len() * APART;
        let (chunks, begin, ..) = rope.chunks_at_byte(done);
        let (mut skip, mut room) = (done - begin, APART);
        for chunk in chunks {
            let mut rest = &chunk.as_bytes()[skip..];
            skip = 0;
            while rest.len() >= room {
                let (part, behind) = rest.split_at(room);
                hasher.update(part);
                states.push(hasher.clone());
                (rest, room) = (behind, APART);
            }
            hasher.update(rest);
            room -= rest.len();
        }
        let hash = hasher.finish();
        *self.lock() =
            Kept { own: Some(Hashed { bom: bom.is_some(), states: states.into(), hash }), origin: None };
        hash
    }

    /// About how many bytes of memory these take, unless they are those of the other.
    pub(crate) fn bytes_beside(&self, other: &Self) -> usize {
        let own = || self.lock().own.as_ref().map_or(0, |own| size_of_val(&*own.states));
        if Arc::ptr_eq(&self.0, &other.0) { 0 } else { own() }
    }

    /// The states at the marks that lie in the first so many bytes.
    fn states(&self, bom: bool, begin: usize) -> Vec<FileHasher> {
        let own = self.lock().own.clone();
        let states = own.filter(|own| own.bom == bom).map(|own| own.states);
        states.map_or_else(Vec::new, |states| states[..states.len().min(begin / APART)].to_vec())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ByteOffset, Text};

    fn text() -> String {
        "0123456789abcdef\n".repeat(10 * APART / 17)
    }

    /// How many bytes a hash would not look at.
    fn known(text: &Text) -> usize {
        let kept = text.marks.lock();
        match (&kept.own, &kept.origin) {
            (Some(_), _) => text.len_bytes(),
            (None, Some((origin, begin))) => origin.states(false, *begin).len() * APART,
            (None, None) => 0,
        }
    }

    #[test]
    fn what_comes_before_a_change_is_not_hashed_again() {
        let mut text = Text::from(text());
        let clone = text.clone();
        let at = |byte| ByteOffset(byte)..ByteOffset(byte);
        assert_eq!(known(&text), 0);
        text.replace_bytes(at(5 * APART + 7), "x").unwrap();
        assert_eq!(known(&text), 0);
        // A clone of the text as it was is hashed after the change.
        let _ = clone.hash();
        assert_eq!(known(&clone), clone.len_bytes());
        assert_eq!(known(&text), 5 * APART);
        text.replace_bytes(at(8 * APART), "x").unwrap();
        assert_eq!(known(&text), 5 * APART);
        text.replace_bytes(at(2 * APART), "x").unwrap();
        assert_eq!(known(&text), 2 * APART);
        let _ = text.hash();
        text.replace_bytes(at(text.len_bytes()), "x").unwrap();
        assert_eq!(known(&text), text.len_bytes() / APART * APART);
        text.replace_bytes(at(0), "x").unwrap();
        assert_eq!(known(&text), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_hash_is_the_same_whatever_was_hashed_before(
            steps in prop::collection::vec((0.0..1.0_f64, 0..3 * APART, 0..3_usize, any::<bool>()), 1..12)
        ) {
            let mut text = Text::from(text());
            let mut kept = vec![text.clone()];
            for (place, removed, added, bom) in steps {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let start = (place * text.len_bytes() as f64) as usize;
                let end = (start + removed).min(text.len_bytes());
                text.replace_bytes(ByteOffset(start)..ByteOffset(end), &"new\n".repeat(added)).unwrap();
                kept.push(text.clone());
                let one = &kept[removed % kept.len()];
                let form = crate::DiskForm { bom, ending: None };
                prop_assert_eq!(form.hash(one), FileHash::of(&form.to_bytes(one)));
            }
            for one in &kept {
                prop_assert_eq!(one.hash(), FileHash::of(one.to_string().as_bytes()));
            }
        }
    }
}
