//! The list of tools: every client reads it, and its models pay for it in every turn.

use std::collections::BTreeSet;

use hashline_mcp::{NameStyle, ToolName, Toolset, instructions, list};
use serde_json::json;

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
        json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema })
            .to_string()
    };
    for (sets, most) in [(&Toolset::DEFAULT[..], 2_000), (&[Toolset::Text], 1_200)] {
        let tools = list(&sets.iter().copied().collect(), NameStyle::Plain);
        let tools: Vec<String> = tools.iter().map(seen).collect();
        for tool in &tools {
            assert!(tokens(tool) < 500, "{tool}");
        }
        let all = tokens(&tools.join(",\n"));
        println!("{all} tokens of {} tools", tools.len());
        assert!(all < most, "{all} tokens");
    }
    let instructions = tokens(&instructions(&BTreeSet::from(Toolset::DEFAULT), NameStyle::Plain));
    println!("{instructions} tokens of instructions");
    assert!(instructions < 600);
}

#[test]
fn every_tool_has_what_clients_ask_for() {
    for tool in all() {
        let name = tool.name.as_ref();
        assert!(name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{name}");
        let hints = tool.annotations.as_ref().unwrap();
        let destructive = ["delete_file", "file_remove"].contains(&name);
        assert_eq!(hints.destructive_hint, Some(destructive), "{name}");
        assert_eq!(hints.open_world_hint, Some(false), "{name}");
        assert_eq!(hints.idempotent_hint, Some(false), "{name}");
        let reads =
            ["read_text_file", "list_edits", "await_review", "search_text", "list_documents", "text_read"];
        let writes = !reads.contains(&name);
        assert_eq!(hints.read_only_hint, Some(!writes), "{name}");
        let result = tool.output_schema.as_ref().map(|schema| schema["required"].clone());
        let expected = match name {
            "file_create" => Some(json!(["hash"])),
            "text_read" => Some(json!(["content", "hash", "total_lines"])),
            "text_replace" | "text_insert" | "text_append" => Some(json!(["hash", "total_lines"])),
            _ => None,
        };
        assert_eq!(result, expected, "{name}: clients would hide the text");
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
    for (style, names) in [
        (NameStyle::Plain, "file_create file_remove text_read text_replace text_insert text_append"),
        (NameStyle::Dotted, "file.create file.remove text.read text.replace text.insert text.append"),
    ] {
        let text = list(&BTreeSet::from([Toolset::Text]), style);
        let listed: Vec<_> = text.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(listed.join(" "), names);
        assert!(text.iter().all(|tool| ToolName::parse(&tool.name).is_some()));
    }
    let dotted = list(&BTreeSet::from(Toolset::DEFAULT), NameStyle::Dotted);
    assert!(dotted.iter().all(|tool| !tool.name.contains('.')), "the interface documents have no others");
    assert!(!Toolset::DEFAULT.contains(&Toolset::Text), "it is listed when it is asked for");
    assert_eq!(ToolName::parse("read.text_file"), Some(ToolName::ReadTextFile));
    assert_eq!(ToolName::parse("list.edits"), Some(ToolName::ListEdits));
    assert_eq!(ToolName::parse("read text file"), None);
    assert_eq!("review".parse(), Ok(Toolset::Review));
    assert!("all".parse::<Toolset>().is_err());
}
