//! text_read: the lines of a file as they are in the editor, and the hash that a change goes by.

use std::ops::Range;

use hashline_anchor::LineRange;
use hashline_link::FRAME_LIMIT;
use hashline_text::{Line, Text};
use hashline_weave::View;
use hashline_workspace::agent::{ReadReply, ReadRequest};
use hashline_workspace::{Caller, Workspace};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::{Arguments, refusal};
use crate::reply::{FILE_HASH, MAX_SIZE, Reply};
use crate::result_limits;
use crate::tools::hash_chain::{lines_schema, path_schema};
use crate::toolset::Definition;

const NAME: &str = "text_read";

/// How much is given in one answer. It has the content twice, with up to 13 bytes for one of them where that is a control character, and
/// from an editor it comes in one frame of the link.
const MAX_BYTES: usize = FRAME_LIMIT / 16;

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Read a text file as the person's editor has it now (else from disk), with held edits in it: content, hash, \
                      total_lines. E.g. {\"lines\":[5,8]} for lines 5 to 7, [-3,0] for the last three; all without lines.",
        properties: json!({ "path": path_schema(), "lines": lines_schema() }),
        required: &["path"],
    }
}

fn parse(given: JsonObject) -> Result<(ReadRequest, Option<LineRange>), String> {
    let mut given = Arguments::new(NAME, &["path", "lines"], given);
    let path = given.required_text("path", "give the path of a file within the root");
    let lines = given.pair("lines").map(LineRange::from);
    given.finish()?;
    Ok((ReadRequest { path, view: View::Agent }, lines))
}

pub(crate) async fn call(workspace: &Workspace, caller: &Caller, given: JsonObject) -> Reply {
    let (request, lines) = match parse(given) {
        Ok(asked) => asked,
        Err(problems) => return Reply::refused(problems),
    };
    match workspace.read(caller, &request).await {
        Ok(read) => answer(workspace, lines, &read),
        Err(refusal) => refusal.into(),
    }
}

fn answer(workspace: &Workspace, lines: Option<LineRange>, read: &ReadReply) -> Reply {
    let count = read.text().line_count();
    let wanted = match lines.map_or(Ok(0..count), |lines| lines.to_read(count)) {
        Ok(wanted) => wanted,
        Err(problem) => return Reply::refused(refusal(NAME, &[format!("lines: {problem}")])),
    };
    if bytes(read.text(), &wanted) > MAX_BYTES {
        return too_much(read, wanted);
    }
    let content = read.stored(wanted.clone());
    workspace.shown(read, wanted);
    let hash = read.hash.to_hex();
    Reply::structured(json!({ "content": content, "hash": hash, "total_lines": count }))
        .with(FILE_HASH, hash)
        .with(MAX_SIZE, result_limits::CLAUDE_CODE_MAX)
}

/// How many bytes lines hold.
fn bytes(text: &Text, lines: &Range<usize>) -> usize {
    text.byte_of_line(Line(lines.end)).0 - text.byte_of_line(Line(lines.start)).0
}

/// What to say of lines that do not fit into one answer: with which to begin.
fn too_much(read: &ReadReply, wanted: Range<usize>) -> Reply {
    let text = read.text();
    let size = bytes(text, &wanted);
    let mut fits = wanted.clone();
    while bytes(text, &fits) > MAX_BYTES {
        fits.end = fits.start + fits.len() / 2;
    }
    let next = match fits.is_empty() {
        true => format!("Line {} alone is too long; read others, by lines.", fits.start + 1),
        false => format!("Give lines, for example [{}, {}].", fits.start + 1, fits.end + 1),
    };
    Reply::refused(format!(
        "{} was not read: what was asked for has {size} bytes, and one answer has no more than {MAX_BYTES}. {next} The file has {} lines \
         and the hash {}.",
        read.name,
        text.line_count(),
        read.hash.to_hex()
    ))
}
