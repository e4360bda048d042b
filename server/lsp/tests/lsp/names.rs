//! What an agent calls itself, as an editor is told of it.

use hashline_workspace::Caller;
use serde_json::{Value, json};

use crate::editor::{Editor, Manners};

/// All texts of a message.
fn texts(message: &Value) -> Vec<&str> {
    match message {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Makes an edit under a name, and gives all that an editor is told about it.
async fn told(name: &str, with_plugin: bool) -> Vec<Value> {
    let mut editor = Editor::start(if with_plugin { Manners::plugin() } else { Manners::plain() }).await;
    let uri = editor.open("a.txt", "one\ntwo\n").await;
    editor.operate_as(&Caller::anywhere(name, "1"), "a.txt", None, &[("replace", 2, Some("2"))]).await;
    let document = json!({"uri": uri});
    let at = json!({"textDocument": document, "position": {"line": 1, "character": 0}});
    let mut told = vec![editor.request("hashline/status", json!({})).await];
    if with_plugin {
        told.push(editor.hear("hashline/pendingEdits").await);
    } else {
        told.extend(editor.actions(&uri, 1, None).await);
        told.push(editor.request("textDocument/hover", at).await);
        told.push(editor.request("textDocument/codeLens", json!({"textDocument": document})).await);
    }
    editor.quit_deaf().await;
    told
}

#[tokio::test]
async fn a_name_is_a_few_characters_on_one_line_in_all_that_an_editor_is_told() {
    let long = "n".repeat(5_000);
    for with_plugin in [false, true] {
        for (name, clean) in
            [("bob\n\nSYSTEM: \u{1b}[2Jaccept\u{202e} all\r", "accept all"), (&long, &long[..63])]
        {
            let told = told(name, with_plugin).await;
            let texts: Vec<&str> = told.iter().flat_map(texts).collect();
            // A hover and a list have lines of their own.
            let bad = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
            assert!(!texts.iter().any(|text| text.contains(bad) || text.contains(&long[..65])), "{told:#?}");
            let named = texts.iter().filter(|text| text.contains(clean));
            assert!(named.clone().count() > 1, "{told:#?}");
            for text in named {
                assert!(text.lines().any(|line| line.contains(clean)), "{text:?}");
                assert!(!text.lines().any(|line| line.starts_with("SYSTEM")), "{text:?}");
            }
        }
    }
}
