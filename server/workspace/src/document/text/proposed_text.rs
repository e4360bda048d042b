//! The text of a document with its held hunks in it, for the person to compare.

use std::ops::Range;

use hashline_history::HunkRef;
use hashline_text::Text;
use hashline_weave::{HunkId, View};

use crate::document::Document;
use crate::document::decisions::group::hull;

/// What agents read, and what of it is not in the editor's text.
#[derive(Clone, Debug)]
pub struct ProposedText {
    /// The text.
    pub text: Text,
    /// The hunks that are in it and not in the editor's text, in text order. What is shown as one is one here.
    pub places: Vec<PlacedHunk>,
}

/// Where a hunk is in both texts. All that differs between them lies in such places; where hunks build on each other these may
/// overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedHunk {
    /// Its name.
    pub hunk: HunkRef,
    /// Its lines in the proposed text, 0-based.
    pub lines: Range<usize>,
    /// The lines of the editor's text that they stand for.
    pub replaced: Range<usize>,
}

impl Document {
    /// The text with the held hunks in it.
    pub fn proposed_text(&mut self) -> ProposedText {
        let weave = self.weave();
        let (here, there) = (weave.places(View::Buffer), weave.places(View::Agent));
        let ids: Vec<HunkId> = weave.hunks().collect();
        let mut places = Vec::new();
        for id in ids {
            let weave = self.weave();
            if weave.in_buffer(id) || !weave.in_agent_view(id) {
                continue;
            }
            let group = self.group_of(id);
            if group[0] == id
                && let (Some(hunk), Some(replaced), Some(lines)) =
                    (self.name(id), hull(&group, &here), hull(&group, &there))
            {
                places.push(PlacedHunk { hunk, lines, replaced });
            }
        }
        places.sort_by_key(|place| (place.lines.start, place.lines.end, place.replaced.start));
        ProposedText { text: self.weave().agent().clone(), places }
    }
}
