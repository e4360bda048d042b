//! The list of tools: every client reads it, and its models pay for it in every turn.

use std::collections::BTreeSet;

use hashline_mcp::{NameStyle, ToolName, Toolset, list};

fn all() -> Vec<rmcp::model::Tool> {
    list(&BTreeSet::from(Toolset::ALL), NameStyle::Plain)
}

#[test]
fn it_stays_small() {
    // 2,000 tokens are the budget of all toolsets. Models' tokenisers take 3.5 characters or more of
    // such JSON for a token; what counts is what the model gets: names, descriptions, schemas.
    let seen: usize = all()
        .iter()
        .map(|tool| {
            let schema = serde_json::to_string(&tool.input_schema).unwrap();
            tool.name.len() + tool.description.as_ref().unwrap().len() + schema.len() + 40
        })
        .sum();
    println!("{seen} characters, {} tokens or fewer", seen * 2 / 7);
    assert!(seen < 7_000, "{seen} characters");
}

#[test]
fn every_tool_has_what_clients_ask_for() {
    for tool in all() {
        let name = tool.name.as_ref();
        assert!(name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{name}");
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!(hints.destructive_hint, Some(name == "delete_file"), "{name}");
        assert_eq!(hints.open_world_hint, Some(false), "{name}");
        assert_eq!(hints.idempotent_hint, Some(false), "{name}");
        let reads = ["read_text_file", "list_edits", "await_review", "search_text", "list_documents"];
        let writes = !reads.contains(&name);
        assert_eq!(hints.read_only_hint, Some(!writes), "{name}");
        assert!(tool.output_schema.is_none(), "{name}: clients would hide the text");
        let schema = serde_json::to_string(&tool.input_schema).unwrap();
        for odd in ["uint", "\"format\"", "null", "additionalProperties", "$schema", "$ref"] {
            assert!(!schema.contains(odd), "{name}: {odd} in {schema}");
        }
    }
}

#[test]
fn toolsets_choose_and_dots_are_taken() {
    let review = list(&BTreeSet::from([Toolset::Review]), NameStyle::Plain);
    let names: Vec<_> = review.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["list_edits", "await_review", "withdraw_edit"]);
    let files = list(&BTreeSet::from(["files".parse().unwrap()]), NameStyle::Plain);
    let names: Vec<_> = files.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["write_file", "edit_file_diff", "move_file", "delete_file"]);
    assert_eq!(ToolName::parse("read.text_file"), Some(ToolName::ReadTextFile));
    assert_eq!(ToolName::parse("list.edits"), Some(ToolName::ListEdits));
    assert_eq!(ToolName::parse("read text file"), None);
    assert_eq!("review".parse(), Ok(Toolset::Review));
    assert!("all".parse::<Toolset>().is_err());
}
