//! Short ways to say operations, and the plainest way to apply them.

use hashline_anchor::{AnchorFailure, Operation, Options, RawOperation, Resolved, apply, line_hash, resolve};
use hashline_text::{Ending, Line, Text};

pub fn op(op: &str, anchor: &str, content: Option<&str>) -> RawOperation {
    RawOperation { content: content.map(str::to_owned), ..RawOperation::new(op, anchor) }
}

/// The anchor of a line, numbered from 1.
pub fn tag(text: &Text, number: usize) -> String {
    let line = text.line(Line(number - 1)).expect("the test names a line that is there");
    format!("{number}:{}", line_hash(&line.content()))
}

pub fn parsed(raw: &[RawOperation]) -> Vec<Operation> {
    let parse = |(index, raw): (usize, &RawOperation)| Operation::parse(index, raw.clone());
    raw.iter().enumerate().map(parse).collect::<Result<_, _>>().expect("the form is right")
}

pub fn resolved(text: &str, raw: &[RawOperation]) -> Result<Resolved, Vec<AnchorFailure>> {
    resolve(&Text::from(text), &parsed(raw), Options::default())
}

/// The text after the operations.
pub fn edited(text: &str, raw: &[RawOperation]) -> Result<String, Vec<AnchorFailure>> {
    let edits = resolved(text, raw)?.edits;
    Ok(apply(&Text::from(text), &edits).expect("the edits fit the text").to_string())
}

/// The lines of a text, each with its ending; a missing last one stands as that of the line before, else LF.
pub fn lines_of(text: &str) -> (Vec<(String, Ending)>, bool) {
    let mut lines: Vec<(String, Ending)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let len = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let behind = &rest[len..];
        let ending =
            [Ending::CrLf, Ending::Lf, Ending::Cr].into_iter().find(|end| behind.starts_with(end.as_str()));
        let before = lines.last().map_or(Ending::Lf, |(_, ending)| *ending);
        lines.push((rest[..len].to_owned(), ending.unwrap_or(before)));
        rest = &behind[ending.map_or(0, Ending::len)..];
    }
    (lines, text.is_empty() || text.ends_with(['\n', '\r']))
}

pub fn text_of(lines: &[(String, Ending)], newline: bool) -> String {
    let mut out: String = lines.iter().map(|(content, ending)| content.clone() + ending.as_str()).collect();
    if let (false, Some((_, ending))) = (newline, lines.last()) {
        out.truncate(out.len() - ending.len());
    }
    out
}
