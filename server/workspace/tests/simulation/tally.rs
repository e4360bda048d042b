//! What the runs met. Each count must be above zero at the end: a simulation that never meets a thing says nothing of it.

use std::fmt;

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
    reopened: "decisions reopened",
    accepted_again: "rejected hunks accepted after all",
    withdrawn: "edits withdrawn",
    deliveries: "deliveries sent",
    applied: "deliveries applied",
    late: "deliveries applied after they were given up",
    refused: "deliveries refused",
    dropped: "deliveries not applied although the answer says so",
    misplaced_answer: "answers that came before the text",
    splits: "notifications split in two",
    merges: "notifications with more than one change",
    undone: "deliveries undone in the editor",
    undone_seen: "of them recognised",
    redone: "deliveries redone in the editor",
    redone_seen: "of them recognised",
    seen: "hunks accepted because the text showed them",
    saves: "saves",
    rewrites: "texts rewritten as a whole",
    reopenings: "documents closed and opened again",
    on_disk: "edits while closed",
    out_of_step: "documents out of step",
    quiet: "moments at which all was settled",
    checked: "lines of hunks looked for in the text",
}
