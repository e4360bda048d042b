//! Hunks without typing: every valid set of them gives the text that the rules say, in any order of switching; every other is
//! refused.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use common::model::{Model, Set};
use common::{Rng, Trace, changes, endings, seeds, text};
use hashline_weave::Weave;

#[test]
fn every_valid_set_of_hunks_is_whole() {
    for seed in seeds(800) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 14);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        for _ in 0..6 + rng.below(14) {
            match rng.below(10) {
                0..=5 if model.hunks.len() < 8 => model.edit_any(&mut weave, &mut rng, kind, &mut trace),
                6 | 7 if !model.hunks.is_empty() => model.refuse_any(&mut weave, &mut rng, &mut trace),
                _ => model.switch_any(&mut weave, &mut rng, &mut trace),
            }
            model.check(&mut weave);
        }
        let count = model.hunks.len().min(9);
        let mut sets: Vec<Set> = (0..1usize << count)
            .map(|bits| (0..count).filter(|hunk| bits >> hunk & 1 == 1).collect())
            .collect();
        for at in (1..sets.len()).rev() {
            sets.swap(at, rng.below(at + 1));
        }
        trace.note("all sets");
        for set in &sets {
            if model.valid(set) {
                model.assert_whole(&weave.line_states(), set);
            }
            if rng.chance(30) || sets.len() < 64 {
                trace.note(format_args!("to {set:?}"));
                model.switch_to(&mut weave, set);
            }
        }
        model.check(&mut weave);
        trace.note("none");
        assert!(model.switch_to(&mut weave, &Set::new()));
        assert_eq!(weave.buffer().to_string(), original.to_string(), "with nothing on it is the original");
    }
}

#[test]
fn a_record_that_is_taken_back_leaves_no_trace() {
    for seed in seeds(600) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 14);
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        for _ in 0..8 {
            let lines = weave.agent().line_count();
            let changes = changes(&mut rng, kind, lines);
            trace.note(format_args!("record {changes:?}"));
            if rng.chance(50) {
                model.record(&mut weave, &changes);
                let target: Set = (0..model.hunks.len()).filter(|_| rng.chance(50)).collect();
                model.switch_to(&mut weave, &target);
                continue;
            }
            let states = weave.line_states();
            let agent = weave.agent().to_string();
            if let Ok(hunks) = weave.record(&changes) {
                assert!(weave.unrecord(&hunks));
            }
            assert_eq!(weave.line_states(), states);
            assert_eq!(weave.agent().to_string(), agent);
            model.check(&mut weave);
        }
    }
}
