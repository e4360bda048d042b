//! An agent that reads, and edits what it has read.

use hashline_text::{HashPrefix, Line};
use hashline_weave::View;
use hashline_workspace::agent::{EditRequest, ReadRequest};
use hashline_workspace::document::Change;
use hashline_workspace::{Caller, Refusal, Workspace};

pub fn caller() -> Caller {
    Caller::anywhere("tester", "1")
}

pub async fn read(workspace: &Workspace, path: &str) -> Result<String, Refusal> {
    let request = ReadRequest { path: path.into(), view: View::Agent };
    let reply = workspace.read(&caller(), &request).await?;
    workspace.shown(&reply, 0..reply.text().line_count());
    Ok(reply.text().to_string())
}

/// Puts a line in the place of the first.
pub async fn replace_first(workspace: &Workspace, path: &str, line: &str) -> String {
    let request = ReadRequest { path: path.into(), view: View::Agent };
    let read = workspace.read(&caller(), &request).await.unwrap();
    workspace.shown(&read, 0..read.text().line_count());
    let first = read.text().line(Line(0)).unwrap();
    let anchor = format!("1:{}", hashline_anchor::line_hash(&first.content()));
    let raw = hashline_anchor::RawOperation::new("replace", anchor).content(line);
    let request = EditRequest {
        path: path.into(),
        file_hash: Some(HashPrefix::from(read.hash)),
        change: Change::Operations(vec![hashline_anchor::Operation::parse(0, raw).unwrap()]),
        strict: false,
        dry_run: false,
        conversation: None,
        tool: "edit_text_file".into(),
        reason: None,
    };
    workspace.edit(&caller(), request).await.unwrap().edit.to_string()
}
