//! Arguments of any size, for every tool that there is: what is too much is named with its length and its bound, nothing is done, and the
//! answer is short, whatever was sent.

use std::collections::BTreeSet;

use hashline_mcp::{NameStyle, Toolset, list};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use crate::desk::{Answer, Desk};

/// The most bytes of a message.
const MESSAGE: usize = 16 << 20;
/// More than an answer to anything that is refused has to say.
const SHORT: usize = 64 << 10;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", "one\ntwo\n");
    desk
}

/// Each tool with each of its arguments, and what kind of value that is.
fn arguments() -> Vec<(Tool, String, String)> {
    let tools = list(&BTreeSet::from(Toolset::ALL), NameStyle::Plain);
    let of_tool = |tool: Tool| {
        let properties = tool.input_schema.get("properties").and_then(Value::as_object).cloned();
        let each = properties.unwrap_or_default().into_iter();
        each.map(move |(name, schema)| {
            (tool.clone(), name, schema["type"].as_str().unwrap_or("any").to_owned())
        })
    };
    tools.into_iter().flat_map(of_tool).collect()
}

fn with(name: &str, value: Value) -> Value {
    let mut given = JsonObject::from_iter([("path".to_owned(), json!("a.txt"))]);
    given.insert(name.to_owned(), value);
    Value::Object(given)
}

async fn is_refused(desk: &Desk, tool: &str, given: Value, words: &[&str]) -> Answer {
    let answer = desk.call(tool, given).await;
    let told: String = answer.text.chars().take(300).collect();
    assert!(
        answer.failed && words.iter().all(|word| answer.text.contains(word)),
        "{tool}: {words:?} in {told}"
    );
    assert!(answer.text.len() < SHORT, "{tool} answers with {} bytes: {told}", answer.text.len());
    assert_eq!(desk.bytes("a.txt"), b"one\ntwo\n", "{tool}");
    answer
}

#[tokio::test]
async fn an_argument_that_is_too_long_is_named_with_its_length_and_its_bound() {
    let desk = desk();
    let mut tried = 0;
    for (tool, name, kind) in arguments() {
        let tool = &*tool.name;
        let long = Value::String("x".repeat(MESSAGE + 1));
        let words = [format!("{name} is {} bytes long, and may have ", MESSAGE + 1)];
        is_refused(&desk, tool, with(&name, long.clone()), &[&words[0]]).await;
        tried += 1;
        if kind == "array" && name != "lines" {
            let many = with(&name, vec![json!({}); 10_001].into());
            let words = [format!("{name} has 10001 entries, and may have 10000 at most")];
            is_refused(&desk, tool, many, &[&words[0]]).await;
            let written = with(&name, format!("[{}0]", "0,".repeat(10_000)).into());
            is_refused(&desk, tool, written, &[&words[0]]).await;
            let entry = with(&name, json!([0, long]));
            is_refused(&desk, tool, entry, &[&format!("{name}[1] is {} bytes long", MESSAGE + 1)]).await;
        }
    }
    assert!(tried > 50, "only {tried} were tried");
}

/// A call with this argument is answered in few words, whatever they are.
async fn is_answered_shortly(desk: &Desk, tool: &str, name: &str, value: Value) {
    let answer = desk.call(tool, with(name, value)).await;
    let (told, length) = (answer.text.chars().take(300).collect::<String>(), answer.text.len());
    assert!(length < SHORT, "{tool} with {name} answers {length}: {told}");
}

/// Ten bytes short of its bound, or as many entries as there may be: whatever is wrong with it is told in a short answer.
#[tokio::test]
async fn what_is_as_long_as_may_be_is_not_said_back() {
    let desk = desk();
    for (tool, name, kind) in arguments() {
        // All of these are right.
        if ["content", "new", "diff"].contains(&name.as_str()) {
            continue;
        }
        for text in ["x".repeat(MESSAGE), "x".repeat(12_000), "(x".repeat(2_000), "x".repeat(500)] {
            is_answered_shortly(&desk, &tool.name, &name, text.into()).await;
        }
        if kind == "array" {
            let field =
                json!({ "op": "x".repeat(400), "anchor": "y".repeat(400), "old": "z", "z".repeat(400): 1 });
            for entry in [json!({}), json!("x".repeat(500)), json!([]), field] {
                is_answered_shortly(&desk, &tool.name, &name, vec![entry; 10_000].into()).await;
            }
        }
    }
}

#[tokio::test]
async fn fields_and_values_have_bounds_too() {
    let desk = desk();
    let fields: JsonObject = (0..40).map(|number| (format!("field{number}"), json!(1))).collect();
    is_refused(
        &desk,
        "write_file",
        Value::Object(fields.clone()),
        &["the call has 40 fields, and may have 32 at most"],
    )
    .await;
    let edits = with("edits", json!([{ "old": "a", "new": "b" }, fields]));
    is_refused(&desk, "edit_file_diff", edits, &["edits[1] has 40 fields"]).await;
    let name = with(&"n".repeat(600), json!(1));
    is_refused(&desk, "write_file", name, &["the name of a field of the call is 600 bytes long"]).await;
    let deep = with("operations", json!([{ "op": vec![json!([]); 1 << 18] }]));
    is_refused(&desk, "edit_text_file", deep, &["values, and may hold 262144 at most"]).await;
    let written = with("operations", format!("[[{}0]]", "[],".repeat(1 << 18)).into());
    is_refused(&desk, "edit_text_file", written, &["operations holds more than 262144 values"]).await;
}
