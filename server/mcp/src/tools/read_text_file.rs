//! read_text_file: tagged lines of a file as it is in the editor.

use std::fmt::Write as _;
use std::ops::Range;

use hashline_anchor::write_tagged_page;
use hashline_text::Text;
use hashline_weave::View;
use hashline_workspace::agent::{ReadReply, ReadRequest};
use hashline_workspace::{Caller, Refusal, Workspace};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::{FILE_HASH, MAX_SIZE, Reply};
use crate::result_limits::{self, LINE_IN_PAGE, LINE_IN_RANGE};
use crate::tools::edit_summary;
use crate::toolset::Definition;

const NAME: &str = "read_text_file";

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Read a text file as the person's editor has it now, unsaved work included (else from disk), with held edits \
                      in it. The first line gives file_hash; each line is LINE:HH|content, e.g. `2:98|  return \"world\";`, \
                      where 2:98 is the anchor for edit_text_file.",
        properties: json!({
            "path": { "type": "string", "description": "Absolute, relative to the root, or a document's URI" },
            "start_line": { "type": "integer", "description": "First line, from 1" },
            "end_line": { "type": "integer", "description": "Last line, inclusive" },
            "view": {
                "type": "string",
                "enum": ["agent", "buffer"],
                "description": "buffer: without edits that are still held"
            }
        }),
        required: &["path"],
    }
}

/// What is asked for.
struct Asked {
    request: ReadRequest,
    start: Option<i64>,
    end: Option<i64>,
}

fn parse(given: JsonObject) -> Result<Asked, String> {
    let mut given = Arguments::new(NAME, &["path", "start_line", "end_line", "view"], given);
    let path = given.required_text("path", "give the path of a file inside a root");
    let start = given.whole("start_line");
    let end = given.whole("end_line");
    if start.is_some_and(|start| start < 1) {
        given.problem("start_line counts from 1");
    }
    if let Some(end) = end.filter(|end| *end < start.unwrap_or(1)) {
        given.problem(format!("end_line {end} is before the first line asked for, {}", start.unwrap_or(1)));
    }
    let view = match given.word("view", &["agent", "buffer"]) {
        Some("buffer") => View::Buffer,
        _ => View::Agent,
    };
    given.finish()?;
    Ok(Asked { request: ReadRequest { path, view }, start, end })
}

pub(crate) async fn call(
    workspace: &Workspace,
    caller: &Caller,
    editor: Option<&str>,
    given: JsonObject,
) -> Reply {
    let asked = match parse(given) {
        Ok(asked) => asked,
        Err(problems) => return Reply::refused(problems),
    };
    match workspace.read(caller, &asked.request).await {
        Ok(read) => answer(workspace, caller, editor, &asked, &read),
        Err(refusal) => refusal.into(),
    }
}

fn answer(
    workspace: &Workspace,
    caller: &Caller,
    editor: Option<&str>,
    asked: &Asked,
    read: &ReadReply,
) -> Reply {
    let text = read.text();
    let wanted = match wanted(text, asked) {
        Ok(wanted) => wanted,
        Err(why) => return Refusal::BadRange(format!("{}: {why}", read.name)).into(),
    };
    // With an end, all of it; without, a page.
    let (line_limit, page) = match asked.end {
        Some(_) => (LINE_IN_RANGE, usize::MAX),
        None => (LINE_IN_PAGE, result_limits::page(&caller.agent)),
    };
    let mut tagged = String::new();
    let page = write_tagged_page(&mut tagged, text, wanted.clone(), line_limit, page);
    let part = Part { more: page.lines.end < wanted.end, lines: page.lines, line_limit, cut: page.cut };
    let mut out = String::with_capacity(tagged.len() + 256);
    write_head(&mut out, editor, asked, read, &part);
    out.push_str(&tagged);
    workspace.shown(read, part.lines);
    let reply =
        Reply::new(out).with(FILE_HASH, read.hash.to_hex()).with(MAX_SIZE, result_limits::CLAUDE_CODE_MAX);
    edit_summary::with_decided(reply, workspace, caller, &read.name)
}

/// The lines that one answer shows.
struct Part {
    lines: Range<usize>,
    /// How many characters of a line are shown.
    line_limit: usize,
    /// How many lines are longer than that.
    cut: usize,
    /// Whether there are more lines that were asked for.
    more: bool,
}

/// The lines that are asked for, counted from 0.
fn wanted(text: &Text, asked: &Asked) -> Result<Range<usize>, String> {
    let count = text.line_count();
    let index = |line: i64| usize::try_from(line).unwrap_or(usize::MAX);
    let start = asked.start.map_or(0, |line| index(line).saturating_sub(1));
    if start > 0 && start >= count {
        return Err(format!(
            "start_line {} is beyond the end, the file has {}. Ask for lines that it has, or leave the range out.",
            start + 1,
            lines(count),
        ));
    }
    Ok(start..asked.end.map_or(count, index).clamp(start, count))
}

fn write_head(out: &mut String, editor: Option<&str>, asked: &Asked, read: &ReadReply, part: &Part) {
    let count = read.text().line_count();
    let first = if count == 0 { 0 } else { part.lines.start + 1 };
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "[{} · lines {first}-{} of {count} · file_hash {}]",
        read.name,
        part.lines.end,
        read.hash.short()
    );
    if part.more {
        let _ = write!(out, " There is more: go on with start_line {}.", part.lines.end + 1);
    }
    if let Some(editor) = editor.filter(|_| read.open) {
        let _ = write!(out, " Open in {editor}.");
    }
    if read.disk_differs {
        out.push_str(" Something else has changed the file on disk since; the editor's text counts.");
    }
    let changes = if read.held == 1 { "change" } else { "changes" };
    let _ = match (read.held, asked.request.view) {
        (0, _) => Ok(()),
        (held, View::Agent) => {
            write!(
                out,
                " {held} held {changes} in this text {} not in the editor yet.",
                if held == 1 { "is" } else { "are" }
            )
        }
        (held, View::Buffer) => write!(out, " Without {held} held {changes}."),
    };
    if !read.conflicted.is_empty() {
        let _ = write!(out, " Conflicted and left out: {}.", read.conflicted.join(", "));
    }
    if part.cut > 0 {
        let _ = write!(
            out,
            " {} cut after {} characters{}.",
            if part.cut == 1 { "1 long line is".to_owned() } else { format!("{} long lines are", part.cut) },
            part.line_limit,
            if part.line_limit == LINE_IN_PAGE {
                "; ask for it by start_line and end_line to see more"
            } else {
                ""
            },
        );
    }
    if count == 0 {
        out.push_str(" The file is empty: put lines into it with insert_after at the anchor 0:");
    }
    out.push('\n');
}

fn lines(count: usize) -> String {
    match count {
        0 => "no lines".to_owned(),
        1 => "1 line".to_owned(),
        _ => format!("{count} lines"),
    }
}
