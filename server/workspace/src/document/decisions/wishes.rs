//! The wishes themselves, by hunk: what each says, and by which decision.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashline_history::{Decision, Reason};
use hashline_text::OwnedLine;
use hashline_weave::{HunkId, PutIn, TakeOut};

use crate::document::decisions::request::Choice;

/// How hunks are to come into the text, or to leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As they were proposed, if nothing stands against them.
    AsProposed,
    /// A hunk in spite of what stands against it, with what it builds on.
    InSpite(HunkId, PutIn),
    /// Hunks that are one, as the person has rewritten them.
    Rewritten(Vec<HunkId>, Vec<OwnedLine>),
    /// Out of the text; if the person has changed lines inside, in this way.
    Out(Option<TakeOut>),
}

/// What one decision wants of all the hunks that it is about.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub token: u64,
    pub way: Way,
    /// What the decision about its hunks is once the text shows it; none to leave it as it is.
    pub decision: Option<Decision>,
    pub reason: Option<Reason>,
    /// The lines that the person agreed to lose with it, as they read then; none where they were not asked about any.
    pub agreed: Option<Vec<String>>,
}

impl Act {
    /// Whether the person lets lines of theirs go.
    pub(crate) fn gives_leave(&self) -> bool {
        matches!(self.way, Way::Out(Some(TakeOut::WithMyChanges)) | Way::InSpite(_, PutIn::TakeTheirs))
    }

    /// The hunks that come in a way of their own.
    pub(crate) fn special(&self) -> &[HunkId] {
        match &self.way {
            Way::InSpite(id, _) => std::slice::from_ref(id),
            Way::Rewritten(group, _) => group,
            Way::AsProposed | Way::Out(_) => &[],
        }
    }

    /// Whether the person has decided it.
    pub(crate) fn is_decision(&self) -> bool {
        matches!(self.decision, Some(Decision::Accepted | Decision::Rejected))
    }
}

/// What is wanted of one hunk.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// To be in the text, or not to be.
    pub on: bool,
    pub act: Arc<Act>,
    /// It may be sent: it is recorded that it is wanted, or that need not be.
    pub is_recorded: bool,
}

/// Where a hunk goes that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Into the text, or what it does to the file is to be so; else out of it again.
    pub on: bool,
    /// What the decision about it is when it is there; none if nobody has decided.
    pub decision: Option<Decision>,
}

/// The wishes, by hunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted(BTreeMap<HunkId, Wish>);

impl Wanted {
    pub(crate) fn get(&self, id: HunkId) -> Option<&Wish> {
        self.0.get(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (HunkId, &Wish)> {
        self.0.iter().map(|(id, wish)| (*id, wish))
    }

    pub(crate) fn set(&mut self, id: HunkId, wish: Wish) {
        self.0.insert(id, wish);
    }

    pub(crate) fn remove(&mut self, id: HunkId) -> Option<Wish> {
        self.0.remove(&id)
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(HunkId, &Wish) -> bool) {
        self.0.retain(|id, wish| keep(*id, wish));
    }

    /// It is recorded that what these decisions want is wanted.
    pub(crate) fn was_recorded(&mut self, tokens: impl Fn(u64) -> bool) {
        let wishes = self.0.values_mut().filter(|wish| tokens(wish.act.token));
        wishes.for_each(|wish| wish.is_recorded = true);
    }

    /// The first hunk that a decision is about.
    pub(crate) fn first_of(&self, token: u64) -> Option<HunkId> {
        self.iter().find(|(_, wish)| wish.act.token == token).map(|(id, _)| id)
    }

    /// Those that may be sent, by decision, in the order in which they were made.
    pub(crate) fn acts(&self) -> Vec<(Arc<Act>, Vec<HunkId>)> {
        let mut acts: BTreeMap<u64, (Arc<Act>, Vec<HunkId>)> = BTreeMap::new();
        for (id, wish) in self.iter().filter(|(_, wish)| wish.is_recorded) {
            acts.entry(wish.act.token).or_insert_with(|| (wish.act.clone(), Vec::new())).1.push(id);
        }
        acts.into_values().collect()
    }
}

impl Wish {
    /// Whether a choice asks for the very same.
    pub(crate) fn is_what(&self, choice: Choice, edited: Option<TakeOut>) -> bool {
        let decision = match choice.puts_in() {
            Some(true) => Decision::Accepted,
            Some(false) => Decision::Rejected,
            None => Decision::Undecided,
        };
        let same_way = !matches!(self.act.way, Way::Out(how) if how != edited);
        choice.puts_in() == Some(self.on) && self.act.decision == Some(decision) && same_way
    }
}
