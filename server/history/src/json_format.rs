//! What a weave's delta, a hash and the like look like in JSON.
//!
//! A line is one string with its ending in it, as `"one\r\n"`; a run is `[first id, lines, maker, removers, gone]`, and
//! runs that are as they were before are `[from, how many]`. Whatever comes
//! back is checked for what the weave takes for granted, as the record may have been touched by anybody.

use std::collections::{BTreeMap, HashMap, HashSet};

use hashline_text::{DiskForm, Ending, OwnedLine, Text};
use hashline_weave::{Delta, HunkId, IdRange, LineId, NewHunk, RunState, Weave};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// Ids stay far below what arithmetic on them can bear.
const MOST_LINES: u64 = 1 << 48;

/// A value as a line of JSON, with its newline.
pub(crate) fn to_line(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut line = serde_json::to_vec(value).map_err(|_| StoreError::BadDraft("it has no form in JSON"))?;
    line.push(b'\n');
    Ok(line)
}

/// A [`Delta`] in JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WireDelta {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hunks: Vec<WireHunk>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    switched: Vec<(u32, bool)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<(u32, bool)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lost: Vec<(u32, bool)>,
    /// Hunk, first line, how many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    own: Vec<(u32, u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<WireRuns>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contents: Vec<(u64, Vec<String>)>,
    next_line: u64,
    #[serde(default, skip_serializing_if = "is_first")]
    watched: u64,
    newline: (bool, usize),
    ending: String,
}

/// Runs of lines, in order. A delta tells all runs; most of them are as they were, and writing them each time would let the record
/// grow with the square of the edits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum WireRuns {
    /// A run: first id, lines, maker, removers, gone.
    Run(u64, u64, Option<u32>, Vec<u32>, bool),
    /// Runs of the state before: from which on, and how many.
    Same(usize, usize),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct WireHunk {
    removed: Vec<(u64, String)>,
    made: u64,
    proposed: Vec<String>,
    around: (Option<u64>, Option<u64>),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    depends: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    collides: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newline: Option<bool>,
}

impl WireDelta {
    /// What is written of a delta since an earlier state.
    pub(crate) fn new(delta: &Delta, earlier: &Weave) -> Self {
        let marks = |list: &[(HunkId, bool)]| list.iter().map(|(id, is)| (order(*id), *is)).collect();
        Self {
            hunks: delta.hunks.iter().map(WireHunk::from).collect(),
            switched: marks(&delta.switched),
            refused: marks(&delta.refused),
            lost: marks(&delta.lost),
            own: delta.own.iter().map(|(id, own)| (order(*id), own.first.number(), own.len as u64)).collect(),
            runs: delta.runs.as_ref().map(|runs| write_runs(runs, &earlier.run_states())),
            contents: delta.contents.iter().map(|(id, lines)| (id.number(), written(lines))).collect(),
            next_line: delta.next_line.number(),
            watched: delta.watched_from.number(),
            newline: delta.newline,
            ending: delta.ending.as_str().to_owned(),
        }
    }
}

/// Whether no change was ever made that nobody watched.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn is_first(watched: &u64) -> bool {
    *watched == 0
}

fn write_runs(runs: &[RunState], before: &[RunState]) -> Vec<WireRuns> {
    let places: HashMap<LineId, usize> =
        before.iter().enumerate().map(|(at, run)| (run.ids.first, at)).collect();
    let mut out: Vec<WireRuns> = Vec::new();
    for run in runs {
        let same = places.get(&run.ids.first).copied().filter(|at| before[*at] == *run);
        match (same, out.last_mut()) {
            (Some(at), Some(WireRuns::Same(from, len))) if *from + *len == at => *len += 1,
            (Some(at), _) => out.push(WireRuns::Same(at, 1)),
            (None, _) => {
                let maker = run.maker.map(order);
                let (first, len) = (run.ids.first.number(), run.ids.len as u64);
                out.push(WireRuns::Run(first, len, maker, orders(&run.removers), run.gone));
            }
        }
    }
    out
}

impl From<&NewHunk> for WireHunk {
    fn from(hunk: &NewHunk) -> Self {
        let number = |id: LineId| id.number();
        Self {
            removed: hunk.removed.iter().map(|(id, line)| (id.number(), write_line(line))).collect(),
            made: hunk.made.number(),
            proposed: written(&hunk.proposed),
            around: (hunk.around.0.map(number), hunk.around.1.map(number)),
            depends: orders(&hunk.depends),
            collides: orders(&hunk.collides),
            newline: hunk.newline,
        }
    }
}

impl WireDelta {
    /// The delta that was written, if it can be one of this state.
    pub(crate) fn read(self, earlier: &Weave) -> Result<Delta, &'static str> {
        let mut sum = DeltaSum::since(earlier);
        sum.add(self)?;
        sum.finish()
    }
}

/// Deltas that follow on each other, as one. To put a weave together again costs as much as the weave has runs: so that is done once, and
/// not for each of thousands of deltas.
///
/// # Limitations
///
/// A text's last line takes the ending that it needs from the state before a delta: deltas before and after a change of that ending
/// ([`changes_ending`](Self::changes_ending)) are not to be put together.
pub(crate) struct DeltaSum {
    /// All runs that were ever told of.
    told: Vec<RunState>,
    /// The runs as they are now, in order: which of those, and how many that follow on it.
    runs: Vec<(usize, usize)>,
    has_runs: bool,
    hunks: Vec<NewHunk>,
    switched: BTreeMap<HunkId, bool>,
    refused: BTreeMap<HunkId, bool>,
    lost: BTreeMap<HunkId, bool>,
    own: BTreeMap<HunkId, IdRange>,
    contents: BTreeMap<u64, OwnedLine>,
    /// The rest is that of the last delta; none before the first.
    last: Option<Last>,
}

/// What a delta says anew each time.
#[derive(Clone, Copy)]
struct Last {
    next_line: u64,
    watched: u64,
    newline: (bool, usize),
    ending: Ending,
}

impl DeltaSum {
    /// Nothing has happened yet since this state.
    pub(crate) fn since(weave: &Weave) -> Self {
        let told = weave.run_states();
        Self {
            runs: vec![(0, told.len())],
            told,
            has_runs: false,
            hunks: Vec::new(),
            switched: BTreeMap::new(),
            refused: BTreeMap::new(),
            lost: BTreeMap::new(),
            own: BTreeMap::new(),
            contents: BTreeMap::new(),
            last: None,
        }
    }

    /// Whether a delta says another ending than the one before.
    pub(crate) fn changes_ending(&self, next: &WireDelta) -> bool {
        self.last.is_some_and(|last| last.ending.as_str() != next.ending)
    }

    /// Adds what happened next.
    pub(crate) fn add(&mut self, wire: WireDelta) -> Result<(), &'static str> {
        if wire.next_line > MOST_LINES {
            return Err("it counts more lines than there can be");
        }
        let next = wire.next_line;
        let number = move |number: u64| {
            if number <= next { Ok(number) } else { Err("it names a line that there is not") }
        };
        let line = move |id: u64| number(id).map(LineId::from_number);
        let range = move |first: u64, len: u64| {
            let fits = first.checked_add(len).is_some_and(|end| end <= next);
            let len = usize::try_from(len).ok().filter(|_| fits);
            Ok(IdRange { first: line(first)?, len: len.ok_or("it names a line that there is not")? })
        };
        let marks = |list: Vec<(u32, bool)>| list.into_iter().map(|(id, is)| (HunkId::from_order(id), is));
        if let Some(runs) = wire.runs {
            self.add_runs(runs, range)?;
        }
        for hunk in wire.hunks {
            let removed = hunk.removed.into_iter();
            let around = |id: Option<u64>| id.map(line).transpose();
            self.hunks.push(NewHunk {
                removed: removed
                    .map(|(id, text)| Ok((line(id)?, read_line(&text)?)))
                    .collect::<Result<_, &'static str>>()?,
                made: range(hunk.made, hunk.proposed.len() as u64)?.first,
                proposed: read_lines(&hunk.proposed)?,
                around: (around(hunk.around.0)?, around(hunk.around.1)?),
                depends: hunks(hunk.depends),
                collides: hunks(hunk.collides),
                newline: hunk.newline,
            });
        }
        self.switched.extend(marks(wire.switched));
        self.refused.extend(marks(wire.refused));
        self.lost.extend(marks(wire.lost));
        for (id, first, len) in wire.own {
            self.own.insert(HunkId::from_order(id), range(first, len)?);
        }
        for (first, lines) in wire.contents {
            let first = range(first, lines.len() as u64)?.first.number();
            self.contents.extend((first..).zip(read_lines(&lines)?));
        }
        let (watched, ending) = (number(wire.watched)?, read_ending(&wire.ending)?);
        self.last = Some(Last { next_line: next, watched, newline: wire.newline, ending });
        Ok(())
    }

    fn add_runs(
        &mut self,
        runs: Vec<WireRuns>,
        range: impl Fn(u64, u64) -> Result<IdRange, &'static str>,
    ) -> Result<(), &'static str> {
        let before = std::mem::take(&mut self.runs);
        // Where each of the pieces begins.
        let mut starts: Vec<usize> = Vec::with_capacity(before.len());
        let mut count = 0;
        for (_, len) in &before {
            starts.push(count);
            count += len;
        }
        // No run is there twice, so no more can be told than there were.
        let mut left = count;
        for run in runs {
            match run {
                WireRuns::Run(first, len, maker, removers, gone) => {
                    let maker = maker.map(HunkId::from_order);
                    let ids = range(first, len)?;
                    self.put(self.told.len(), 1);
                    self.told.push(RunState { ids, maker, removers: hunks(removers).into(), gone });
                }
                WireRuns::Same(from, len) => {
                    let end = from.checked_add(len).filter(|end| len <= left && *end <= count);
                    let end = end.ok_or("it speaks of lines that there were not")?;
                    left -= len;
                    let mut at = from;
                    let mut piece = starts.partition_point(|start| *start <= at).saturating_sub(1);
                    while at < end {
                        let (first, len) = before[piece];
                        let inside = at - starts[piece];
                        let part = (len - inside).min(end - at);
                        self.put(first + inside, part);
                        at += part;
                        piece += 1;
                    }
                }
            }
        }
        self.has_runs = true;
        Ok(())
    }

    /// Goes on with runs that were told of.
    fn put(&mut self, first: usize, len: usize) {
        match self.runs.last_mut() {
            Some((last, before)) if *last + *before == first => *before += len,
            _ => self.runs.push((first, len)),
        }
    }

    /// All of it as one delta.
    pub(crate) fn finish(self) -> Result<Delta, &'static str> {
        let last = self.last.ok_or("it says nothing")?;
        let states =
            || self.runs.iter().flat_map(|(first, len)| self.told[*first..first + len].iter().cloned());
        let runs: Option<Vec<RunState>> = self.has_runs.then(|| states().collect());
        if runs.as_ref().is_some_and(|runs| !apart(runs)) {
            return Err("it names a line twice");
        }
        let mut contents = Vec::new();
        self.contents.into_iter().for_each(|(id, line)| push_line(&mut contents, id, line));
        Ok(Delta {
            runs,
            hunks: self.hunks,
            switched: self.switched.into_iter().collect(),
            refused: self.refused.into_iter().collect(),
            lost: self.lost.into_iter().collect(),
            own: self.own.into_iter().collect(),
            contents,
            next_line: LineId::from_number(last.next_line),
            watched_from: LineId::from_number(last.watched),
            newline: last.newline,
            ending: last.ending,
        })
    }
}

/// Whether no line is in two runs, and none is empty.
fn apart(runs: &[RunState]) -> bool {
    let mut ranges: Vec<(u64, u64)> =
        runs.iter().map(|run| (run.ids.first.number(), run.ids.len as u64)).collect();
    ranges.sort_unstable();
    ranges.iter().all(|(_, len)| *len > 0) && ranges.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0)
}

fn order(id: HunkId) -> u32 {
    u32::try_from(id.order()).unwrap_or(u32::MAX)
}

fn orders(ids: &[HunkId]) -> Vec<u32> {
    ids.iter().copied().map(order).collect()
}

fn hunks(orders: Vec<u32>) -> Vec<HunkId> {
    orders.into_iter().map(HunkId::from_order).collect()
}

fn write_line(line: &OwnedLine) -> String {
    format!("{}{}", line.content, line.ending.as_str())
}

fn written(lines: &[OwnedLine]) -> Vec<String> {
    lines.iter().map(write_line).collect()
}

fn read_line(text: &str) -> Result<OwnedLine, &'static str> {
    match Ending::split(text) {
        (content, Some(ending)) if Ending::find(content.as_bytes()).is_none() => {
            Ok(OwnedLine::new(content, ending))
        }
        _ => Err("a line of it is not one line"),
    }
}

fn read_lines(lines: &[String]) -> Result<Vec<OwnedLine>, &'static str> {
    lines.iter().map(|line| read_line(line)).collect()
}

fn read_ending(text: &str) -> Result<Ending, &'static str> {
    match Ending::split(text) {
        ("", Some(ending)) => Ok(ending),
        _ => Err("it names an ending that there is not"),
    }
}

/// All of a weave, also what a first delta would leave out, but for the lines of its buffer, which are kept as they are beside it; none for a weave that the buffer's text
/// alone makes.
pub(crate) fn without_text(weave: &Weave) -> Option<WireDelta> {
    weave.delta_since(&Weave::new(weave.buffer().clone()))?;
    let delta = weave.whole_but_text()?;
    Some(WireDelta::new(&delta, &Weave::new(Text::default())))
}

/// The weave that [`without_text`] and the text of its buffer make.
pub(crate) fn with_text(wire: WireDelta, text: &Text) -> Result<Weave, String> {
    let mut weave = Weave::new(Text::default());
    let mut delta = wire.read(&weave)?;
    let ranges = shown(&delta);
    let mut ids = ranges.iter().flat_map(|(first, end)| *first..*end);
    let mut contents = std::mem::take(&mut delta.contents);
    for line in text.all_lines() {
        let id = ids.next().ok_or("its text has more lines than it tells of")?;
        push_line(&mut contents, id, line.to_owned_line(delta.ending));
    }
    delta.contents = contents;
    weave.apply_delta(&delta).map_err(|error| error.to_string())?;
    Ok(weave)
}

fn push_line(contents: &mut Vec<(LineId, Vec<OwnedLine>)>, id: u64, line: OwnedLine) {
    match contents.last_mut() {
        Some((first, lines)) if first.number() + lines.len() as u64 == id => lines.push(line),
        _ => contents.push((LineId::from_number(id), vec![line])),
    }
}

/// The ids of the lines that are in the buffer, in its order, by what a whole delta says.
fn shown(delta: &Delta) -> Vec<(u64, u64)> {
    let on: HashSet<HunkId> = delta.switched.iter().filter(|(_, is)| *is).map(|(id, _)| *id).collect();
    let shown = delta.runs.iter().flatten().filter(|run| {
        let made = run.maker.is_none_or(|maker| on.contains(&maker));
        made && !run.gone && !run.removers.iter().any(|remover| on.contains(remover))
    });
    shown.map(|run| (run.ids.first.number(), run.ids.first.number() + run.ids.len as u64)).collect()
}

/// How a text is stored, in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireForm {
    bom: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ending: Option<WireEnding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireEnding {
    Lf,
    CrLf,
    Cr,
}

impl From<DiskForm> for WireForm {
    fn from(form: DiskForm) -> Self {
        let ending = form.ending.map(|ending| match ending {
            Ending::Lf => WireEnding::Lf,
            Ending::CrLf => WireEnding::CrLf,
            Ending::Cr => WireEnding::Cr,
        });
        Self { bom: form.bom, ending }
    }
}

impl From<WireForm> for DiskForm {
    fn from(form: WireForm) -> Self {
        let ending = form.ending.map(|ending| match ending {
            WireEnding::Lf => Ending::Lf,
            WireEnding::CrLf => Ending::CrLf,
            WireEnding::Cr => Ending::Cr,
        });
        Self { bom: form.bom, ending }
    }
}

/// A hash that may be missing in JSON: 64 hex digits, or null.
pub(crate) mod hash {
    use std::borrow::Cow;

    use hashline_text::FileHash;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        hash: &Option<FileHash>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        hash.map(|hash| hash.to_hex()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<FileHash>, D::Error> {
        let text = Option::<Cow<'de, str>>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

/// A hunk of the weave in JSON: its place in the order of record.
pub(crate) mod hunk {
    use hashline_weave::HunkId;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(id: &Option<HunkId>, serializer: S) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => serializer.serialize_u32(super::order(*id)),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<HunkId>, D::Error> {
        Ok(Option::<u32>::deserialize(deserializer)?.map(HunkId::from_order))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use hashline_weave::{Change, WeaveError};

    use super::*;

    /// A weave with a hunk whose place is lost, and the state before it was.
    fn lost() -> (Weave, Weave) {
        let mut weave = Weave::new(Text::from("one\ntwo\n"));
        let change = Change { lines: 1..2, new: vec![OwnedLine::new("2", Ending::Lf)] };
        weave.record(&[change]).unwrap();
        let before = weave.clone();
        assert_eq!(weave.unobserved(Text::from("one\ntoo\n")).len(), 1);
        (before, weave)
    }

    fn read(json: &str, earlier: &Weave) -> Result<Delta, &'static str> {
        serde_json::from_str::<WireDelta>(json).unwrap().read(earlier)
    }

    #[test]
    fn a_lost_place_is_written_and_read() {
        let (before, weave) = lost();
        let delta = weave.delta_since(&before).unwrap();
        let json = serde_json::to_string(&WireDelta::new(&delta, &before)).unwrap();
        assert!(json.contains(r#""lost":[[0,true]]"#) && json.contains(r#""watched":4"#), "{json}");
        assert_eq!(read(&json, &before), Ok(delta));
        let text = weave.buffer().clone();
        let whole = with_text(without_text(&weave).unwrap(), &text).unwrap();
        assert!(whole.is_lost(HunkId::from_order(0)));
        assert_eq!(weave.delta_since(&whole), None);
        // Where everything was watched there is nothing of it in the record.
        let json = serde_json::to_string(&without_text(&before).unwrap()).unwrap();
        assert!(!json.contains("lost") && !json.contains("watched"), "{json}");
    }

    #[test]
    fn a_lost_place_that_makes_no_sense_is_rejected() {
        let (before, weave) = lost();
        let delta = weave.delta_since(&before).unwrap();
        let json = serde_json::to_string(&WireDelta::new(&delta, &before)).unwrap();
        let other = json.replace(r#""lost":[[0,true]]"#, r#""lost":[[1,true]]"#);
        let refusal = before.clone().apply_delta(&read(&other, &before).unwrap());
        assert!(matches!(refusal, Err(WeaveError::BadDelta(_))));
        let other = json.replace(r#""watched":4"#, r#""watched":5"#);
        assert_eq!(read(&other, &before), Err("it names a line that there is not"));
        let other = json.replace(r#""lost":[[0,true]]"#, r#""lost":[0]"#);
        assert!(serde_json::from_str::<WireDelta>(&other).is_err());
    }
}
