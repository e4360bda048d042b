//! The order in which things happen, and in which they are recorded.

use std::path::Path;

use hashline_history::{Decision, EditId, HunkRef};

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Edited(EditId),
    Decided(HunkRef, Decision),
}

/// What is recorded later has not happened earlier. That is known of what was seen to happen once and is recorded once: what comes and goes within
/// one step is not seen. `events` are those that were seen, each with its step.
pub fn in_order(history: &Path, events: &[(usize, Event)]) -> Result<(), String> {
    let record = std::fs::read_to_string(history.join("decisions.log")).map_err(|error| error.to_string())?;
    let recorded = recorded(&record).map_err(|error| format!("half a line: {error}"))?;
    let once = |all: &[(usize, Event)], event: &Event| {
        let mut places = all.iter().filter(|(_, known)| known == event).map(|(at, _)| *at);
        places.next().filter(|_| places.next().is_none())
    };
    // What stands in one line has no order.
    let (mut last, mut newest, mut line) = (0, 0, 0);
    for (at, event) in recorded.iter().filter(|(_, event)| once(&recorded, event).is_some()) {
        let Some(step) = once(events, event) else { continue };
        if *at > line {
            (last, line) = (newest, *at);
        }
        if step < last {
            return Err(format!("{event:?} of step {step} is recorded behind step {last}:\n{record}"));
        }
        newest = newest.max(step);
    }
    Ok(())
}

/// What a record says has happened, each with its line.
fn recorded(record: &str) -> Result<Vec<(usize, Event)>, serde_json::Error> {
    let mut recorded = Vec::new();
    for (at, line) in record.lines().enumerate() {
        let line: serde_json::Value = serde_json::from_str(line)?;
        if let Some(id) = line.pointer("/edit/id") {
            recorded.push((at, Event::Edited(serde_json::from_value(id.clone())?)));
        }
        for decided in line["decisions"].as_array().into_iter().flatten() {
            let hunk = serde_json::from_value(decided["hunk"].clone())?;
            let decision = serde_json::from_value(decided["decision"].clone())?;
            recorded.push((at, Event::Decided(hunk, decision)));
        }
    }
    Ok(recorded)
}
