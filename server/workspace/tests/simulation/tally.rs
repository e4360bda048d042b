//! What the runs met. Each count must be above zero at the end: a simulation that never meets a thing says nothing of it.

use std::collections::BTreeMap;
use std::fmt;

use crate::kind::Kind;

/// How many runs each kind of editor was in, and in how many of them something was wrong at its desk.
#[derive(Clone, Debug, Default)]
pub struct ByKind(BTreeMap<String, (u64, u64)>);

impl ByKind {
    fn of(&mut self, kind: Kind) -> &mut (u64, u64) {
        self.0.entry(format!("{kind:?}")).or_default()
    }

    /// A run with these editors was played.
    pub fn played(&mut self, kinds: &[Kind]) {
        let mut kinds = kinds.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().for_each(|kind| self.of(kind).0 += 1);
    }

    /// It failed at the desk of this one.
    pub fn failed(&mut self, kind: Kind) {
        self.of(kind).1 += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (kind, (played, failed)) in &other.0 {
            let own = self.0.entry(kind.clone()).or_default();
            own.0 += played;
            own.1 += failed;
        }
    }
}

impl fmt::Display for ByKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, (played, failed)) in &self.0 {
            writeln!(f, "{played:>10}  runs with {kind}, {failed} of them failed")?;
        }
        Ok(())
    }
}

macro_rules! tally {
    ($($name:ident: $words:literal,)*) => {
        /// How often each thing happened.
        #[derive(Clone, Debug, Default)]
        pub struct Tally {
            $(pub $name: u64,)*
        }

        impl Tally {
            pub fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
            }

            /// What never happened.
            pub fn missing(&self) -> Vec<&'static str> {
                let mut missing = Vec::new();
                $(if self.$name == 0 { missing.push($words); })*
                missing
            }
        }

        impl fmt::Display for Tally {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(writeln!(f, "{:>10}  {}", self.$name, $words)?;)*
                Ok(())
            }
        }
    };
}

tally! {
    steps: "steps",
    keys: "characters typed",
    edits: "edits recorded",
    hunks: "hunks",
    patches: "edits that came as diffs",
    carried: "edits carried over from an older text",
    moved: "anchors found elsewhere",
    stale: "edits refused as stale",
    spurious: "of them although the lines stand in the text (typed again, or moved)",
    wrong_anchor: "edits refused for an anchor",
    unknown_hash: "edits refused for an unknown hash",
    kept_out: "calls refused while out of step",
    unwritten: "edits taken back because they could not be recorded",
    conflicts: "conflicted hunks met",
    keep_mine: "conflicts ended by keeping mine",
    take_theirs: "conflicts ended by taking theirs",
    keep_both: "conflicts ended by keeping both",
    edited: "decisions refused because the person had changed the lines",
    with_changes: "edited hunks taken out with the changes",
    keep_lines: "edited hunks taken out keeping the lines",
    revised: "hunks accepted as the person has rewritten them",
    revised_sent: "of them in the delivery that follows",
    needs_others: "decisions refused because others go with them",
    collisions: "decisions refused because of a collision",
    commented: "hunks commented on",
    reopened: "decisions reopened",
    accepted_again: "rejected hunks accepted after all",
    withdrawn: "edits withdrawn",
    deliveries: "deliveries sent",
    applied: "deliveries applied",
    late: "deliveries applied after they were given up",
    refused: "deliveries refused",
    misplaced: "deliveries put where they were not for",
    dropped: "deliveries not applied although the answer says so",
    misplaced_answer: "answers that came before the text",
    splits: "notifications split in two",
    merges: "notifications with more than one change",
    slips: "notifications with a mark that came late, stale or never, or with what was typed",
    undone: "deliveries undone in the editor",
    undone_seen: "of them recognised",
    redone: "deliveries redone in the editor",
    redone_seen: "of them recognised",
    seen: "hunks accepted because the text showed them",
    indents: "blocks indented, or back",
    moves: "lines moved",
    cursors: "changes at several cursors",
    completions: "words completed with an import",
    saves: "saves",
    otherwise: "texts that another guess explained as well as what happened, of a client that says nothing",
    reloads: "texts read from the file again",
    checkouts: "of them put there by a checkout",
    full: "times when nothing could be recorded",
    rewrites: "texts rewritten as a whole",
    reopenings: "documents closed and opened again",
    on_disk: "edits while closed",
    out_of_step: "documents out of step",
    quiet: "moments at which all was settled",
    checked: "lines of hunks looked for in the text",
    lost: "looks at hunks whose place was lost in a text that nobody watched",
}
