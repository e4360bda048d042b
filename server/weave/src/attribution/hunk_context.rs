//! Where hunks are in the buffer and what stands around them, to tell whether that is still so after a change that nobody watched
//! (rule W17).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use hashline_text::Text;

use crate::model::{HunkId, LineId, Model, Run, View};

/// How many lines on each side of a hunk are looked at.
const AROUND: usize = 3;

/// The buffer at one moment, and in it the place of each hunk with the lines around it.
pub(crate) struct Surroundings {
    text: Text,
    ids: Vec<LineId>,
    /// Per hunk the windows of which one has to stand.
    windows: Vec<Vec<Window>>,
    /// Per hunk the lines that it would bring, if it is off.
    coming: Vec<Vec<String>>,
}

/// A hunk's lines in the buffer (what it made if it is on, what it would take away if it is off; for an insert the gap) and the lines
/// around them.
struct Window {
    lines: Range<usize>,
    /// It is cut short by the beginning of the text, by its end.
    at_start: bool,
    at_end: bool,
}

impl Surroundings {
    /// Of all hunks, as the model is now. Of those in `one_sided` the lines on one side are enough.
    pub(crate) fn of(model: &mut Model, one_sided: &[HunkId]) -> Self {
        let count = model.buffer().line_count();
        let window = |place: &Range<usize>, before: bool, after: bool| {
            let (ahead, behind) = (if before { AROUND } else { 0 }, if after { AROUND } else { 0 });
            Window {
                lines: place.start.saturating_sub(ahead)..(place.end + behind).min(count),
                at_start: place.start < ahead,
                at_end: place.end + behind > count,
            }
        };
        let windows = |(place, id): (Option<Range<usize>>, HunkId)| match place {
            None => Vec::new(),
            Some(place) if one_sided.contains(&id) => {
                vec![window(&place, true, false), window(&place, false, true)]
            }
            Some(place) => vec![window(&place, true, true)],
        };
        let windows = model.places(View::Buffer).into_iter().zip(model.hunks()).map(windows).collect();
        let coming = |id: HunkId| match model.in_buffer(id) {
            true => Vec::new(),
            false => model.proposed(id).iter().map(|line| line.content.clone()).collect(),
        };
        let coming = model.hunks().map(coming).collect();
        Self { text: model.buffer().clone(), ids: shown_ids(model), windows, coming }
    }

    /// Which hunks stand in a later state where they stood, without doubt: the lines of a window are all there, side by
    /// side and as they read, at the end of the text if they were there, and lines that read like them stand nowhere else, neither
    /// before nor now. And nobody has put in, wherever that is, the lines that the hunk
    /// would bring and that stood nowhere before: they would stand there twice.
    pub(crate) fn certain_in(&self, later: &Model) -> Vec<bool> {
        if self.windows.is_empty() {
            return Vec::new();
        }
        let mut names = Names::default();
        let then = Lines::of(&mut names, &self.text);
        let now = Lines::of(&mut names, later.buffer());
        let ids = shown_ids(later);
        let places: HashMap<LineId, usize> = ids.iter().copied().zip(0..).collect();
        let certain = |window: &Window| {
            let place = self.ids.get(window.lines.start).and_then(|first| places.get(first)).copied()?;
            let here = place..place + window.lines.len();
            let content = &then.names[window.lines.clone()];
            let stands = ids.get(here.clone()) == Some(&self.ids[window.lines.clone()])
                && now.names.get(here.clone()) == Some(content);
            let at_end = here.end == ids.len();
            let fits = stands && (!window.at_start || place == 0) && (!window.at_end || at_end);
            let blank = content.iter().all(|name| names.is_blank(*name));
            (fits && !blank && then.holds_once(content) && now.holds_once(content)).then_some(())
        };
        let came = |lines: &Vec<String>| {
            let content: Option<Vec<u32>> = lines.iter().map(|line| names.find(line)).collect();
            content.is_some_and(|content| {
                let blank = content.iter().all(|name| names.is_blank(*name));
                !blank && then.find(&content).next().is_none() && now.find(&content).next().is_some()
            })
        };
        let any = |windows: &Vec<Window>| windows.iter().any(|window| certain(window).is_some());
        self.windows.iter().zip(&self.coming).map(|(windows, lines)| any(windows) && !came(lines)).collect()
    }
}

/// The ids of the buffer's lines.
fn shown_ids(model: &Model) -> Vec<LineId> {
    let shown = model.ids(Run::is_shown);
    shown.into_iter().flat_map(|ids| (0..ids.len).map(move |at| ids.at(at))).collect()
}

/// Numbers for contents of lines, equal ones for equal contents.
#[derive(Default)]
pub(crate) struct Names<'a> {
    known: HashMap<Cow<'a, str>, u32>,
    /// Per name whether there is nothing to be seen in such a line.
    blank: Vec<bool>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(&mut self, content: Cow<'a, str>) -> u32 {
        let next = self.blank.len() as u32;
        *self.known.entry(content).or_insert_with_key(|content| {
            self.blank.push(content.trim().is_empty());
            next
        })
    }

    /// The number of a content that was numbered before.
    fn find(&self, content: &str) -> Option<u32> {
        self.known.get(content).copied()
    }

    pub(crate) fn is_blank(&self, name: u32) -> bool {
        self.blank[name as usize]
    }
}

/// The lines of a text by name, and where each name stands.
struct Lines {
    names: Vec<u32>,
    /// All lines, those of one name together.
    sorted: Vec<u32>,
    /// Per name where its lines begin in `sorted`, and where the last end.
    starts: Vec<u32>,
}

impl Lines {
    fn of<'a>(all: &mut Names<'a>, text: &'a Text) -> Self {
        let names: Vec<u32> = text.all_lines().map(|line| all.of(line.content())).collect();
        let mut starts = vec![0; all.blank.len() + 1];
        names.iter().for_each(|name| starts[*name as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; names.len()];
        for (line, name) in (0..).zip(&names) {
            let at = &mut next[*name as usize];
            sorted[*at as usize] = line;
            *at += 1;
        }
        Self { names, sorted, starts }
    }

    /// The lines of a name, in order; none for one that came up after these were counted.
    fn of_name(&self, name: u32) -> &[u32] {
        match (self.starts.get(name as usize), self.starts.get(name as usize + 1)) {
            (Some(from), Some(to)) => &self.sorted[*from as usize..*to as usize],
            _ => &[],
        }
    }

    /// Where these lines stand in the text, side by side. Looked for by the rarest of them.
    fn find<'a>(&'a self, content: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        let rarest = content.iter().enumerate().min_by_key(|(_, name)| self.of_name(**name).len());
        let starts = rarest.into_iter().flat_map(|(at, name)| {
            self.of_name(*name).iter().filter_map(move |line| (*line as usize).checked_sub(at))
        });
        starts.filter(|start| self.names.get(*start..start + content.len()) == Some(content))
    }

    /// Whether they stand there exactly once.
    fn holds_once(&self, content: &[u32]) -> bool {
        self.find(content).take(2).count() == 1
    }
}
