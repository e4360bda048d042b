//! The list of tools: every client reads it, and its models pay for it in every turn.

use std::collections::BTreeSet;

use hashline_mcp::{NameStyle, ToolName, Toolset, list};

fn all() -> Vec<rmcp::model::Tool> {
    list(&BTreeSet::from(Toolset::ALL), NameStyle::Plain)
}

/// What a text costs a model, by the tokeniser of a large family of them.
fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_with_special_tokens(text).len()
}

#[test]
fn it_stays_small() {
    // What the model gets of a tool: its name, its description and the schema of its arguments.
    let seen = |tool: &rmcp::model::Tool| {
        serde_json::json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema }).to_string()
    };
    let all: Vec<String> = all().iter().map(seen).collect();
    for tool in &all {
        println!("{:4} {}", tokens(tool), &tool[..tool.len().min(60)]);
        assert!(tokens(tool) < 500, "{tool}");
    }
    let all = tokens(&all.join(",\n"));
    println!("{all} tokens, and {} of instructions", tokens(hashline_mcp::INSTRUCTIONS));
    assert!(all < 2_000, "{all} tokens");
    assert!(tokens(hashline_mcp::INSTRUCTIONS) < 600);
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
