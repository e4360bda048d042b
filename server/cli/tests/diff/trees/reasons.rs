//! Whether what the command says stands against a decision does so.

use super::Oracle;
use super::decision::{Against, Decision, Outcome};
use super::oracle::{Now, Op, Part, is_beside};
use super::play::Play;
use super::words::{Kind, Refusal, refusals};

impl Play {
    /// What is said to stand against a decision does so, and all that is named.
    pub fn check_refusals(&mut self, why: &str, decision: &Decision, outcome: &Outcome) {
        let said = match refusals(why, &self.oracle, &self.project.folder) {
            Ok(said) if !said.is_empty() => said,
            said => panic!("no reason that is known: {said:?}\n{}", self.told()),
        };
        for refusal in &said {
            let holds = match refusal.kind {
                Kind::Already => decision.is_idle(&self.oracle),
                Kind::Taken | Kind::Shared => {
                    let mut clashing = outcome.clashing.iter();
                    (outcome.reasons.is_empty() && self.is_taken(refusal, &outcome.then))
                        || clashing.any(|then| self.is_taken(refusal, then))
                }
                Kind::There => self.is_there(refusal, outcome),
                Kind::Along => self.takes_along(refusal, decision),
                Kind::Of(_) => self.is_reason(refusal, decision, outcome),
            };
            let helps = |part: Part| self.oracle.is_alive(part) && outcome.then.is_alive(part);
            assert!(refusal.offers.is_none_or(helps), "it is no way out: {refusal:?}\n{}", self.told());
            assert!(holds, "it is not so: {refusal:?}, but {:?}\n{}", outcome.reasons, self.told());
            self.met.note(format!("reason: {:?}", refusal.kind));
        }
    }

    /// Whether this is what stands against one of the hunks, and no others are named than those.
    fn is_reason(&self, refusal: &Refusal, decision: &Decision, outcome: &Outcome) -> bool {
        outcome.reasons.iter().any(|reason| {
            let is_about = refusal.about.is_some_and(|(edit, hunk)| {
                edit == reason.part.0 && hunk.is_none_or(|hunk| hunk == reason.part.1)
            });
            // Of those that change one place one is enough.
            let names = match refusal.kind {
                Kind::Of(Against::SamePlace) => {
                    !refusal.others.is_empty() && refusal.others.is_subset(&reason.others)
                }
                // An editor names what is to be decided with it, too.
                _ => {
                    let is_open = self.oracle.is_open(self.oracle.edits[reason.part.0].file);
                    let with_it = |part: &Part| is_open && decision.names(&self.oracle, *part);
                    reason.others.is_subset(&refusal.others)
                        && refusal.others.difference(&reason.others).all(with_it)
                }
            };
            let stands = |part: &Part| !decision.names(&self.oracle, *part);
            let is_whole = !refusal.tells_of_others || refusal.others.iter().any(stands);
            refusal.kind == Kind::Of(reason.against) && is_about && names && is_whole
        })
    }

    /// Whether an editor would have to give a file a name that another one has.
    fn is_there(&self, refusal: &Refusal, outcome: &Outcome) -> bool {
        let living = self.oracle.living();
        let has = |name: &String| living.iter().any(|(_, now)| is_beside(&now.name, name));
        outcome.reasons.iter().any(|reason| reason.against == Against::Name)
            && !refusal.names.is_empty()
            && refusal.names.iter().all(has)
    }

    /// Whether a decision takes what is said along, and that was not named.
    fn takes_along(&self, refusal: &Refusal, decision: &Decision) -> bool {
        let whole = Decision { with_others: true, ..*decision }.outcome(&self.oracle);
        let decided: Vec<Part> = whole.steps.into_iter().flat_map(|step| step.parts).collect();
        let is_along = |part: &Part| decided.contains(part) && !decision.names(&self.oracle, *part);
        !refusal.others.is_empty() && refusal.others.iter().all(is_along)
    }

    /// Whether two files would have the name that is said to be taken, and the edits that are named give it to one of them.
    fn is_taken(&self, refusal: &Refusal, then: &Oracle) -> bool {
        let living = then.living();
        let clashes = living.iter().enumerate().flat_map(|(at, one)| {
            living[at + 1..]
                .iter()
                .filter(|other| is_beside(&one.1.name, &other.1.name))
                .map(move |other| [one, other])
        });
        // What gives a file its name: the latest that does, or what the decision is about.
        let gives = |(edit, hunk): &Part, name: &String| {
            *hunk == 1
                && match &then.edits[*edit].op {
                    Op::Make(_) => then.is_in((*edit, 1)),
                    Op::Move(from, to) => name == if then.is_in((*edit, 1)) { to } else { from },
                    Op::Remove => !then.is_in((*edit, 1)),
                    Op::Put(_) => false,
                }
        };
        let is_new = |part: &Part| then.is_in(*part) != self.oracle.is_in(*part);
        let gives = |part: &Part, (file, now): &(usize, Now)| {
            let of_file = |other: &Part| then.edits[other.0].file == *file && gives(other, &now.name);
            let latest = then.parts().filter(|other| of_file(other) && then.is_in(*other)).last();
            match refusal.kind {
                Kind::Shared => of_file(part) && is_new(part),
                _ => latest == Some(*part),
            }
        };
        let mut clashes = clashes;
        clashes.any(|both| {
            let is_name = |name: &String| both.iter().any(|(_, now)| now.name == *name);
            let is_given = |part: &Part| both.iter().any(|file| gives(part, file));
            // Of one that nobody named has had it from the start.
            let from_the_start = |file: &&(usize, Now)| !then.parts().any(|part| gives(&part, file));
            let known = !refusal.others.is_empty() || both.iter().any(from_the_start);
            !refusal.names.is_empty()
                && refusal.names.iter().all(is_name)
                && refusal.others.iter().all(is_given)
                && known
        })
    }
}
