//! file_create: a new file of any content.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hashline_text::FileHash;
use hashline_workspace::agent::{FileAction, FileRequest};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::arguments::Arguments;
use crate::reply::Reply;
use crate::tools::edit_reply::Desk;
use crate::tools::hash_chain::{made, path_schema};
use crate::toolset::Definition;

const NAME: &str = "file_create";
const FIELDS: [&str; 4] = ["path", "content", "encoding", "mcp_conversation_id"];

/// Base64 as clients write it: with or without `=` at the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn definition() -> Definition {
    Definition {
        description: "Make a file and the folders that it needs; refused if there is one. Returns its hash for your next change.",
        properties: json!({
            "path": path_schema(),
            "content": { "type": "string" },
            "encoding": {
                "type": "string",
                "enum": ["utf-8", "base64"],
                "description": "Of content; utf-8 unless given. base64 takes any bytes"
            },
            "mcp_conversation_id": { "type": "string" }
        }),
        required: &["path", "content"],
    }
}

fn parse(given: JsonObject) -> Result<(FileRequest, FileHash), String> {
    let mut given = Arguments::new(NAME, &FIELDS, given);
    let path = given.required_text("path", "give the path of the file within the root");
    let content = given.required_text("content", "give what the file is to hold; \"\" makes an empty one");
    let bytes = match given.text("encoding").map(|word| word.trim().to_ascii_lowercase()).as_deref() {
        None | Some("" | "utf-8" | "utf8") => content.into_bytes(),
        Some("base64") => decoded(&mut given, &content),
        Some(other) => {
            given.problem(format!("encoding must be utf-8 or base64, not {other:?}"));
            Vec::new()
        }
    };
    let conversation = given.conversation();
    given.finish()?;
    let hash = FileHash::of(&bytes);
    Ok((
        FileRequest {
            path,
            change: FileAction::Create(bytes),
            conversation,
            tool: NAME.to_owned(),
            reason: None,
        },
        hash,
    ))
}

fn decoded(given: &mut Arguments, content: &str) -> Vec<u8> {
    let plain: String = content.split_ascii_whitespace().collect();
    BASE64.decode(plain).unwrap_or_else(|error| {
        given.problem(format!("content is no base64 ({error}): send base64, or text with encoding utf-8"));
        Vec::new()
    })
}

pub(crate) async fn call(desk: &Desk<'_>, given: JsonObject) -> Reply {
    let (request, hash) = match parse(given) {
        Ok(parsed) => parsed,
        Err(problems) => return Reply::refused(problems),
    };
    match desk.workspace.change_file(desk.caller, request).await {
        Ok(done) => {
            let json = json!({ "hash": hash.to_hex() });
            made(json, &done.edit.to_string(), &done.conversation.0, &hash, done.obeyed)
        }
        Err(refusal) => refusal.into(),
    }
}
