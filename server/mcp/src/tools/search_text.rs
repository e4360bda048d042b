//! search_text: the lines in which something stands, tagged so that they can be edited at once.

use std::ops::Range;
use std::path::PathBuf;

use hashline_anchor::{write_tagged_around, write_tagged_cut};
use hashline_history::path::to_text;
use hashline_history::shows;
use hashline_text::{Line, Text};
use hashline_workspace::agent::{
    FileGlob, FileMatches, LineMatch, Pattern, SearchLimits, SearchReply, SearchRequest,
};
use hashline_workspace::disk::path_of_file_uri;
use hashline_workspace::{Caller, Refusal, Workspace};
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::reply::{COUNT, Reply};
use crate::result_limits::{self, FILES_FOUND, LINE_FOUND, LINES_FOUND, SEARCH_TIME};
use crate::toolset::Definition;

const NAME: &str = "search_text";

/// In `_meta`: what was found where, which is what several answers are put together by.
pub(crate) const FOUND: &str = "found";

/// The most lines of context on each side.
const MOST_CONTEXT: i64 = 20;

/// The characters of a page that the first line may take.
const HEAD: usize = 600;

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Search texts by regular expression, line by line, unsaved work and held edits included. Each file comes with its \
                      file_hash and tagged lines, ready for edit_text_file. Ignored, hidden and binary files are left out. \
                      E.g. {\"pattern\":\"(?i)todo\",\"glob\":\"src/**/*.rs\"}.",
        properties: json!({
            "pattern": { "type": "string", "description": "Rust regex; (?i) ignores case" },
            "path": { "type": "string", "description": "Only in this file or folder" },
            "glob": { "type": "string", "description": "Only in files such as *.{ts,tsx}; !*.md for all others" },
            "context": { "type": "integer", "description": "Lines around each match, 0 unless given" }
        }),
        required: &["pattern"],
    }
}

/// What is asked for.
struct Asked {
    request: SearchRequest,
    context: usize,
    /// Where, in words.
    place: String,
}

fn parse(given: JsonObject) -> Result<Asked, String> {
    let mut given = Arguments::new(NAME, &["pattern", "path", "glob", "context"], given);
    let text = given.required_text("pattern", "give a regular expression to look for");
    if text.is_empty() && given.is_faultless() {
        given.problem("pattern is empty: give a regular expression to look for");
    }
    let blank = |text: &String| !text.trim().is_empty();
    let path = given.text("path").filter(blank);
    let glob = given.text("glob").filter(blank);
    let context = given.whole("context").unwrap_or(0);
    if !(0..=MOST_CONTEXT).contains(&context) {
        given.problem(format!("context must be from 0 to {MOST_CONTEXT}, not {context}"));
    }
    given.finish()?;
    let pattern = Pattern::new(&text).map_err(|refusal| refusal.to_string())?;
    let files = glob.as_deref().map(FileGlob::new).transpose().map_err(|refusal| refusal.to_string())?;
    // In the first line of the answer, which others take apart.
    let in_line = |text: &String| text.replace(|letter| !shows(letter), "\u{fffd}");
    let place = match (path.as_ref().map(in_line), glob.as_ref().map(in_line)) {
        (None, None) => String::new(),
        (Some(path), None) => format!(" in {path}"),
        (None, Some(glob)) => format!(" in files {glob}"),
        (Some(path), Some(glob)) => format!(" in files {glob} of {path}"),
    };
    let limits = SearchLimits { files: FILES_FOUND, lines: LINES_FOUND, time: SEARCH_TIME };
    let request = SearchRequest { pattern, path, glob: files, limits };
    Ok(Asked { request, context: usize::try_from(context).unwrap_or_default(), place })
}

pub(crate) async fn call(
    workspace: &Workspace,
    caller: &Caller,
    editor: Option<&str>,
    given: JsonObject,
) -> Reply {
    // A short expression may take long to compile.
    let asked = match tokio::task::spawn_blocking(move || parse(given)).await {
        Ok(Ok(asked)) => asked,
        Ok(Err(problems)) => return Reply::refused(problems),
        Err(error) => return Refusal::Broken(error.to_string()).into(),
    };
    match workspace.search(caller, &asked.request).await {
        Ok(found) => answer(workspace, caller, editor, &asked, &found),
        Err(refusal) => refusal.into(),
    }
}

fn answer(
    workspace: &Workspace,
    caller: &Caller,
    editor: Option<&str>,
    asked: &Asked,
    reply: &SearchReply,
) -> Reply {
    let mut found = Found {
        matches: reply.matches,
        files: reply.in_files,
        not_text: reply.not_text,
        hard_links: reply.hard_links,
        partial: reply.partial,
        place: asked.place.clone(),
        sections: Vec::new(),
    };
    let page = result_limits::page(&caller.agent).saturating_sub(HEAD);
    let mut texts = Vec::new();
    let mut taken = 0;
    for file in &reply.files {
        let shown = Shown::of(file, editor, asked.context, page.saturating_sub(taken));
        // What has room for nothing but its own first line is for the next search, unless it is all there is.
        if taken > 0 && taken + shown.chars > page {
            break;
        }
        taken += shown.chars;
        for lines in shown.lines {
            workspace.shown(&file.read, lines);
        }
        found.sections.push(Section {
            path: path_of(&file.read.name),
            file_hash: file.read.hash.to_hex(),
            matches: file.count,
            shown: shown.matches,
            bytes: shown.text.len(),
        });
        texts.push(shown.text);
    }
    found.into_reply(&texts)
}

/// What is shown of one file.
struct Shown {
    text: String,
    chars: usize,
    matches: usize,
    lines: Vec<Range<usize>>,
}

impl Shown {
    fn of(file: &FileMatches, editor: Option<&str>, context: usize, room: usize) -> Self {
        let text = file.read.text();
        let mut body = String::new();
        let mut shown = Self { text: String::new(), chars: 0, matches: 0, lines: Vec::new() };
        // The heading says how many are shown; with as many digits as it may have.
        let room = room.saturating_sub(head(file, editor, 0).chars().count() + 9);
        for region in regions(text.line_count(), &file.lines, context) {
            if !shown.take_region(&mut body, text, region, &file.lines, room) {
                break;
            }
        }
        shown.text = head(file, editor, shown.matches) + &body;
        shown.chars += shown.text.chars().count() - body.chars().count();
        shown
    }
}

impl Shown {
    /// Writes the lines of a region, as many as there is room for; whether that was all of them. One with a match is always written.
    fn take_region(
        &mut self,
        out: &mut String,
        text: &Text,
        region: Range<usize>,
        matches: &[LineMatch],
        room: usize,
    ) -> bool {
        let mut gap = self.lines.last().is_some_and(|last| last.end < region.start);
        let first = region.start;
        for line in region {
            let before = out.len();
            if std::mem::take(&mut gap) {
                out.push_str("…\n");
            }
            let is_match = write_line(out, text, line, matches);
            let chars = out[before..].chars().count();
            if self.matches > 0 && self.chars + chars > room {
                out.truncate(before);
                return false;
            }
            self.chars += chars;
            self.matches += usize::from(is_match);
            match self.lines.last_mut().filter(|last| last.end == line && line > first) {
                Some(last) => last.end = line + 1,
                None => self.lines.push(line..line + 1),
            }
        }
        true
    }
}

/// The lines with matches and those around them, joined where they touch.
fn regions(count: usize, lines: &[LineMatch], context: usize) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(lines.len());
    for found in lines {
        let region = found.line.saturating_sub(context)..(found.line + context + 1).min(count);
        match joined.last_mut() {
            Some(last) if region.start <= last.end => last.end = last.end.max(region.end),
            _ => joined.push(region),
        }
    }
    joined
}

/// Writes a tagged line; whether it is one with a match.
fn write_line(out: &mut String, text: &Text, line: usize, matches: &[LineMatch]) -> bool {
    let found = matches.binary_search_by_key(&line, |found| found.line).ok().and_then(|at| matches.get(at));
    match (found, text.line(Line(line))) {
        (Some(found), Some(content)) => {
            write_tagged_around(out, line, &content.content(), found.place.clone(), LINE_FOUND);
        }
        _ => write_tagged_cut(out, text, line..line + 1, LINE_FOUND),
    }
    found.is_some()
}

fn head(file: &FileMatches, editor: Option<&str>, shown: usize) -> String {
    let read = &file.read;
    let first = if shown < file.count { format!(", the first {shown} here") } else { String::new() };
    let open = editor.filter(|_| read.open).map(|editor| format!(" Open in {editor}.")).unwrap_or_default();
    let held = match read.held {
        0 => String::new(),
        1 => " 1 held change in this text is not in the editor yet.".to_owned(),
        held => format!(" {held} held changes in this text are not in the editor yet."),
    };
    format!(
        "[{} · {}{first} · file_hash {}]{open}{held}\n",
        read.name,
        count(file.count, "match"),
        read.hash.short()
    )
}

/// What was found, for those who put several answers together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Found {
    /// The lines with matches in all files.
    matches: usize,
    /// The files that have any.
    files: usize,
    not_text: usize,
    #[serde(default)]
    hard_links: usize,
    partial: bool,
    /// Where it was looked for, in words.
    place: String,
    /// The files that the text shows, in its order.
    sections: Vec<Section>,
}

/// What a text shows of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Section {
    path: String,
    file_hash: String,
    matches: usize,
    shown: usize,
    /// How long its part of the text is.
    bytes: usize,
}

impl Found {
    /// The answer; the text of each section belongs to it.
    fn into_reply(self, texts: &[String]) -> Reply {
        let mut out = self.first_line();
        for text in texts {
            out.push('\n');
            out.push_str(text);
        }
        let reply = Reply::new(out).with(COUNT, self.matches);
        match serde_json::to_value(&self) {
            Ok(found) => reply.with(FOUND, found),
            Err(_) => reply,
        }
    }

    /// How much was found, how much of it is left out, and how to see that.
    fn first_line(&self) -> String {
        let mut out = match self.matches {
            0 => format!("No line matches{}.", self.place),
            matches => format!("{}{} in {}.", count(matches, "match"), self.place, count(self.files, "file")),
        };
        let shown: usize = self.sections.iter().map(|section| section.shown).sum();
        if shown < self.matches {
            out.push_str(&format!(
                " Here are {shown} of them, from {}: narrow pattern, path or glob to see others.",
                count(self.sections.len(), "file")
            ));
        }
        if self.partial {
            out.push_str(
                " Time was up before all files were searched, so there may be more: narrow path or glob.",
            );
        }
        if self.not_text > 0 {
            out.push_str(&format!(" Left out as no UTF-8 text: {}.", count(self.not_text, "file")));
        }
        if self.hard_links > 0 {
            let files = count(self.hard_links, "file");
            out.push_str(&format!(" Left out as hard links, which are not served here: {files}."));
        }
        if self.matches == 0 && !self.partial {
            out.push_str(" Ignored, hidden and binary files are not searched; a file that path names is, whatever it is called.");
        }
        out.push('\n');
        out
    }
}

/// The path of a document that is called by its URI, as it lies outside the roots; else its name.
fn path_of(name: &str) -> String {
    let path = path_of_file_uri(name).ok().filter(|_| name.starts_with("file:"));
    path.map_or_else(|| name.to_owned(), |path| to_text(&path).into_owned())
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}{}", if what.ends_with("ch") { "es" } else { "s" }),
    }
}

/// The paths of the files that an answer shows.
pub(crate) fn paths(reply: &Reply) -> Vec<String> {
    found(reply).into_iter().flat_map(|found| found.sections).map(|section| section.path).collect()
}

fn found(reply: &Reply) -> Option<Found> {
    reply.meta.get(FOUND).and_then(|found| Found::deserialize(found).ok())
}

/// One answer of several, for an agent. `keeps` says of a path and the number of an answer whether what that says of it counts.
pub(crate) fn merged(agent: &str, replies: &[Reply], keeps: impl Fn(&str, usize) -> bool) -> Reply {
    let mut all = Found::default();
    let mut sections: Vec<(Section, String)> = Vec::new();
    for (at, reply) in replies.iter().enumerate() {
        let Some(mut found) = found(reply) else { continue };
        let mut rest = reply.text.split_once('\n').map_or("", |(_, rest)| rest);
        for section in std::mem::take(&mut found.sections) {
            // An empty line parts the sections.
            let text = rest.get(1..1 + section.bytes).unwrap_or_default().to_owned();
            rest = rest.get(1 + section.bytes..).unwrap_or_default();
            if keeps(&section.path, at) {
                sections.push((section, text));
            } else {
                found.matches = found.matches.saturating_sub(section.matches);
                found.files = found.files.saturating_sub(1);
            }
        }
        all.matches += found.matches;
        all.files += found.files;
        all.not_text += found.not_text;
        all.hard_links += found.hard_links;
        all.partial |= found.partial;
        all.place = found.place;
    }
    sections.sort_by_cached_key(|(section, _)| PathBuf::from(&section.path));
    let page = result_limits::page(agent).saturating_sub(HEAD);
    let mut taken = 0;
    sections.retain(|(_, text)| {
        let chars = text.chars().count();
        let fits = taken == 0 || taken + chars <= page;
        // The first that has no room ends the page: what comes after it is not shown before it.
        taken = if fits { taken + chars } else { usize::MAX / 2 };
        fits
    });
    let (kept, texts): (Vec<_>, Vec<_>) = sections.into_iter().unzip();
    all.sections = kept;
    all.into_reply(&texts)
}

/// The same arguments with another path.
pub(crate) fn with_path(mut given: JsonObject, path: String) -> JsonObject {
    given.insert("path".to_owned(), Value::String(path));
    given
}
