//! What an agent reads and writes through its client, of documents that editors have open.

use serde_json::json;

use crate::acp::dialogue::FileRequest;
use crate::hooks::{BuiltIn, NotHeld, OpenDocuments, Verdict};
use crate::router::Router;

/// What JSON-RPC calls an error that is a server's own.
const REFUSED: i32 = -32000;

/// The answer to a request, as a line; none if it is the client's.
pub(super) async fn answer(router: &Router, request: &FileRequest) -> Option<String> {
    let FileRequest { id, tool, origin, turn } = request;
    let documents = OpenDocuments { router, origin, turn: turn.as_ref() };
    let verdict = documents.verdict(tool).await;
    let answer = match verdict.unwrap_or_else(|why| passed_on(tool, &why)) {
        Verdict::NoOpinion => return None,
        Verdict::LiveText(_) => {
            let live = match documents.live_text(tool.path()).await {
                Ok(live) => live,
                Err(NotHeld::Refused(why) | NotHeld::Failed(why)) => {
                    passed_on(tool, &why);
                    return None;
                }
            };
            json!({ "result": { "content": shown(tool, &live) } })
        }
        // Some programs write the file and tell the client of it afterwards: that is found in the file.
        Verdict::Hold(_) if is_written(&documents, tool).await => json!({ "result": {} }),
        Verdict::Hold(editor) => match documents.hold(tool, &editor).await {
            Ok(_) => json!({ "result": {} }),
            Err(NotHeld::Refused(words)) => refused(&words),
            Err(NotHeld::Failed(why)) => {
                passed_on(tool, &why);
                return None;
            }
        },
        Verdict::Refuse(words) => refused(&words),
    };
    // The id is as the agent spells it.
    let answer = answer.to_string();
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{}\n", answer.strip_prefix('{')?))
}

fn refused(words: &str) -> serde_json::Value {
    json!({ "error": { "code": REFUSED, "message": words } })
}

/// Whether the file has already what is to be written.
async fn is_written(documents: &OpenDocuments<'_>, tool: &BuiltIn) -> bool {
    match tool {
        BuiltIn::Write { path, content } => documents.is_on_disk(path, content).await,
        _ => false,
    }
}

/// Says in the log why the client is asked.
fn passed_on(tool: &BuiltIn, why: &str) -> Verdict {
    tracing::warn!("the client is asked about {}: {why}", tool.path());
    Verdict::NoOpinion
}

/// The lines that are read of a text.
fn shown<'a>(tool: &BuiltIn, text: &'a str) -> &'a str {
    let BuiltIn::Read { first, count, .. } = tool else { return text };
    let ends = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let mut from_line = ends.skip(first.unwrap_or(1).saturating_sub(1));
    let from = from_line.next().unwrap_or(text.len());
    let to = match count {
        None => text.len(),
        Some(0) => from,
        Some(count) => from_line.nth(count - 1).unwrap_or(text.len()),
    };
    &text[from..to]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_asked_for() {
        let read = |first, count| BuiltIn::Read { path: "/a".into(), first, count };
        let text = "one\r\ntwö\n\nfour";
        for (first, count, wanted) in [
            (None, None, text),
            (Some(1), None, text),
            (Some(0), None, text),
            (Some(2), None, "twö\n\nfour"),
            (None, Some(1), "one\r\n"),
            (Some(2), Some(2), "twö\n\n"),
            (Some(3), Some(1), "\n"),
            (Some(4), Some(9), "four"),
            (Some(4), Some(usize::MAX), "four"),
            (Some(2), Some(0), ""),
            (Some(5), None, ""),
            (Some(usize::MAX), Some(usize::MAX), ""),
        ] {
            assert_eq!(shown(&read(first, count), text), wanted, "{first:?} {count:?}");
        }
        assert_eq!(shown(&read(Some(2), Some(1)), "one\n"), "");
        assert_eq!(shown(&read(None, None), ""), "");
    }
}
