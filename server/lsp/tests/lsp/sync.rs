//! Following the editor: storms, encodings, endings, and what cannot be followed.

use serde_json::{Value, json};

use crate::editor::{Editor, Manners, SILENCE};

/// A generator of numbers, the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

/// A random change of a text, as positions in UTF-16.
fn random_change(editor: &Editor, dice: &mut Dice, text: &str) -> Value {
    let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let start = borders[dice.roll(borders.len())];
    let far = borders.iter().position(|at| *at == start).unwrap() + dice.roll(4);
    let end = if dice.roll(2) == 0 { start } else { borders[far.min(borders.len() - 1)] };
    let pieces = ["", "a", "naïve", "😀", "two\nlines", "\n", "fn x() {}\n"];
    let new = pieces[dice.roll(if text.len() > 20_000 { 1 } else { pieces.len() })];
    json!({
        "range": {"start": editor.position(text, start), "end": editor.position(text, end)},
        "text": new
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_changes_arrives_in_order() {
    const CHANGES: i64 = 10_000;
    let mut editor = Editor::start(Manners::plugin()).await;
    let first: String = (0..20).map(|line| format!("line {line} 😀\n")).collect();
    let uri = editor.open("a.txt", &first).await;
    // An agent's held edit makes the sidecar speak while it listens.
    editor.agent("a.txt", &[(3, "three")]).await;
    let mut dice = Dice(7);
    let mut text = first;
    let mut asked = Vec::new();
    // Worked out first, then piped in without a pause.
    let mut changes = Vec::new();
    for _ in 0..CHANGES {
        let change = random_change(&editor, &mut dice, &text);
        text = editor.applied(&text, &change);
        changes.push(change);
    }
    for (version, change) in (2..).zip(&changes) {
        editor.tell(&uri, version, std::slice::from_ref(change)).await;
        if version % 100 == 0 {
            let at = json!({"line": dice.roll(30), "character": 0});
            let asks = [
                ("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": at})),
                ("textDocument/codeLens", json!({"textDocument": {"uri": uri}})),
                ("hashline/proposedText", json!({"uri": uri})),
                ("hashline/status", Value::Null),
            ];
            let (method, params) = asks[dice.roll(asks.len())].clone();
            asked.push((editor.ask(method, params).await, version, method));
        }
    }
    editor.texts.insert(uri.clone(), (CHANGES + 1, text));
    for (id, version, method) in asked {
        let answer = editor.answer_to(id).await;
        assert!(answer.get("result").is_some(), "{answer}");
        if method == "hashline/proposedText" {
            assert_eq!(
                answer["result"]["version"], version,
                "a request sees the changes before it and no later one"
            );
        }
    }
    editor.in_step(&uri).await;
    let mut last = 0;
    for message in editor.heard("hashline/pendingEdits", SILENCE).await {
        let version = message["params"]["version"].as_i64().unwrap();
        assert!(version >= last, "version {version} is told after {last}");
        last = version;
    }
    assert_eq!(last, CHANGES + 1, "and the last word is about the last text");
    editor.quit().await;
}

#[tokio::test]
async fn positions_are_counted_as_the_client_counts() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut editor = Editor::start(Manners::plain().encoding(encoding)).await;
        assert_eq!(editor.initialized["capabilities"]["positionEncoding"], encoding);
        let uri = editor.open("a.txt", "a😀b\nnaïve 𝒳y\nlast").await;
        editor.replace(&uri, "b\n", "B\r\n").await;
        editor.replace(&uri, "𝒳", "x").await;
        editor.replace(&uri, "x", "😀😀").await;
        editor.in_step(&uri).await;
        // The append comes behind a line with characters of each length.
        editor.replace(&uri, "last", "läst 😀").await;
        editor.operate("a.txt", None, &[("insert_after", 3, Some("new 😀"))]).await;
        let action = editor.action(&uri, 2, "Accept").await;
        assert!(editor.choose(&action).await);
        assert_eq!(editor.text(&uri), "a😀B\r\nnaïve 😀😀y\nläst 😀\nnew 😀");
        editor.in_step(&uri).await;
        editor.quit().await;
    }
}

#[tokio::test]
async fn two_clients_count_differently() {
    let mut one = Editor::start(Manners::plain().encoding("utf-8")).await;
    let mut two = Editor::start(Manners::plain().encoding("utf-32")).await;
    for editor in [&mut one, &mut two] {
        let uri = editor.open("a.txt", "😀😀 here\n").await;
        editor.replace(&uri, "here", "there").await;
        editor.in_step(&uri).await;
    }
    one.quit().await;
    two.quit().await;
}

#[tokio::test]
async fn texts_of_every_form_are_edited_to_the_byte() {
    let forms = [
        ("", "insert_after", 0, "new", "new\n"),
        ("\n", "insert_after", 0, "new", "new\n"),
        ("one", "replace", 1, "1", "1"),
        ("one", "insert_after", 1, "two", "one\ntwo"),
        ("one\r\ntwo\r\n", "insert_after", 2, "three", "one\r\ntwo\r\nthree\r\n"),
        ("one\r\ntwo", "insert_after", 2, "three", "one\r\ntwo\r\nthree"),
        ("one\r\ntwo\nthree", "replace", 2, "2a\n2b", "one\r\n2a\n2b\nthree"),
        ("one\ntwo\n", "insert_after", 0, "zero", "zero\none\ntwo\n"),
    ];
    for (text, op, line, content, after) in forms {
        for by_action in [true, false] {
            let mut editor = Editor::start(Manners::plain()).await;
            let uri = editor.open("a.txt", text).await;
            editor.operate("a.txt", None, &[(op, line, Some(content))]).await;
            let action = editor.action(&uri, line.saturating_sub(1), "Accept").await;
            if by_action {
                assert!(editor.choose(&action).await, "{text:?}");
            } else {
                editor.command(&action["command"]).await;
                editor.deliver().await;
            }
            assert_eq!(editor.text(&uri), after, "{text:?} {op} {line}");
            editor.until("the acceptance", |workspace| workspace.reviews().is_empty()).await;
            editor.in_step(&uri).await;
            editor.quit().await;
        }
    }
}

#[tokio::test]
async fn an_old_helix_sends_whole_texts() {
    let helix = |version| Manners::plain().with("/clientInfo", json!({"name": "helix", "version": version}));
    let mut old = Editor::start(helix("25.01.1 (e7ac2fcd)")).await;
    assert_eq!(old.initialized["capabilities"]["textDocumentSync"]["change"], 1);
    let uri = old.open_at("a.txt", 0, "one\n").await;
    old.change(&uri, &[json!({"text": "one\ntwo\n"})]).await;
    old.in_step(&uri).await;
    old.quit().await;
    let new = Editor::start(helix("25.07.1 (a05c151b)")).await;
    assert_eq!(new.initialized["capabilities"]["textDocumentSync"]["change"], 2);
    new.quit().await;
}

/// An old Helix also sends whole texts out of order. One that was overtaken is not what the editor has, nor has the person undone what
/// it lacks.
#[tokio::test]
async fn a_whole_text_that_comes_late_is_not_the_text() {
    let helix = Manners::plain().with("/clientInfo", json!({"name": "helix", "version": "25.01.1"}));
    let mut editor = Editor::start(helix).await;
    let uri = editor.open_at("a.txt", 0, "one\ntwo\n").await;
    editor.agent("a.txt", &[(1, "ONE")]).await;
    let action = editor.action(&uri, 0, "Accept").await;
    let (before, typed) = (editor.text(&uri).to_owned(), "ONE\ntwo, mine\n");
    assert_eq!(before, "one\ntwo\n");
    // The editor makes the edit, types, and tells of the typing before it tells of an earlier state.
    editor.texts.insert(uri.clone(), (3, typed.to_owned()));
    editor.tell(&uri, 3, &[json!({"text": typed})]).await;
    editor.tell(&uri, 2, &[json!({"text": before})]).await;
    editor.in_step(&uri).await;
    editor.command(&action["command"]).await;
    editor.until("the acceptance", |workspace| workspace.reviews().is_empty()).await;
    // What comes after it is the text again.
    editor.change(&uri, &[json!({"text": "ONE\ntwo, mine\nthree\n"})]).await;
    editor.in_step(&uri).await;
    editor.quit().await;
}

/// Changes that cannot be those of this text: the person is told once, agents are kept out, the process lives, and a whole text or a new
/// open mends it.
#[tokio::test]
async fn a_change_that_does_not_fit_puts_the_document_out_of_step() {
    let at = |line: i64| {
        let position = json!({"line": line, "character": 0});
        json!({"range": {"start": position, "end": position}, "text": "x"})
    };
    let backwards = json!({
        "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 0}},
        "text": "x"
    });
    let wrong = [
        ("a line behind the end", 2, at(99)),
        ("a line that no text has", 2, at(4_294_967_295)),
        ("a negative line", 2, at(-1)),
        ("a line beyond all numbers", 2, at(1 << 40)),
        ("a range that ends before it starts", 2, backwards),
        ("a version that goes back", 0, at(0)),
        ("a version that stays", 1, at(0)),
        ("no text", 2, json!({"range": at(0)["range"]})),
        ("a text that is a number", 2, json!({"text": 7})),
    ];
    for (what, version, change) in wrong {
        let mut editor = Editor::start(Manners::plain()).await;
        let uri = editor.open("a.txt", "one\ntwo\n").await;
        editor.agent("a.txt", &[(1, "1")]).await;
        editor.tell(&uri, version, &[change]).await;
        let notice = editor.hear("window/showMessage").await;
        let message = notice["params"]["message"].as_str().unwrap();
        assert!(message.contains("lost step") && message.contains("close and open"), "{what}: {message}");
        let status = editor.request("hashline/status", Value::Null).await;
        assert_eq!(status["result"]["documents"], 1, "{what}");
        // Further changes are not believed, and not told of again.
        editor.tell(&uri, 3, &[at(0)]).await;
        assert!(editor.heard("window/showMessage", SILENCE / 3).await.is_empty(), "{what}");
        editor.texts.insert(uri.clone(), (3, String::new()));
        editor.change(&uri, &[json!({"text": "one\nthree\n"})]).await;
        editor.in_step(&uri).await;
        editor.replace(&uri, "three", "3").await;
        editor.in_step(&uri).await;
        editor.quit().await;
    }
}

#[tokio::test]
async fn characters_behind_the_end_of_a_line_are_its_end() {
    let mut editor = Editor::start(Manners::plain()).await;
    let uri = editor.open("a.txt", "one\r\ntwo").await;
    let far = |line: u32| json!({"line": line, "character": 9999});
    editor.change(&uri, &[json!({"range": {"start": far(0), "end": far(0)}, "text": "!"})]).await;
    assert_eq!(editor.text(&uri), "one!\r\ntwo");
    editor.in_step(&uri).await;
    editor.quit().await;
}

#[tokio::test]
async fn opening_again_mends_a_lost_step() {
    let mut editor = Editor::start(Manners::plain()).await;
    let uri = editor.open("a.txt", "one\n").await;
    editor.agent("a.txt", &[(1, "1")]).await;
    editor.tell(&uri, 1, &[json!({"text": 0})]).await;
    editor.hear("window/showMessage").await;
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
    editor.open("a.txt", "one\n").await;
    editor.in_step(&uri).await;
    let action = editor.action(&uri, 0, "Accept").await;
    assert!(editor.choose(&action).await);
    assert_eq!(editor.text(&uri), "1\n");
    editor.quit().await;
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_passed_over() {
    let mut editor = Editor::start(Manners::plain()).await;
    let uri = editor.open("a.txt", "one\n").await;
    let bad: [(&[u8], i64); 5] = [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[1, 2]", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": true, \"method\": \"shutdown\"}", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"method\": 5}", -32600),
    ];
    for (body, code) in bad {
        editor.send_raw(body).await;
        let answer = editor.wait_for(|message| message.get("error").is_some(), "an error").await;
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&Value::Null, Some(code)), "{answer}");
    }
    // Answers to questions that nobody asked, and notices that nobody knows.
    editor.send(json!({"jsonrpc": "2.0", "id": 77, "result": null})).await;
    editor.notify("$/setTrace", json!({"value": "off"})).await;
    editor.notify("textDocument/didOpen", json!({"textDocument": {"uri": "no uri"}})).await;
    editor.notify("textDocument/didChange", json!(null)).await;
    editor.notify("hashline/cause", json!({"uri": uri})).await;
    editor.notify("hashline/cause", json!({"uri": uri, "version": 2, "cause": "delivery"})).await;
    let answer = editor.request("textDocument/hover", json!({"textDocument": {"uri": uri}})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let answer = editor.request("hashline/nothing", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    editor.replace(&uri, "one", "two").await;
    editor.in_step(&uri).await;
    editor.quit().await;
}

#[tokio::test]
async fn documents_without_a_file_are_followed_too() {
    let mut editor = Editor::start(Manners::plain()).await;
    let uri = "untitled:Untitled-1".to_owned();
    editor.texts.insert(uri.clone(), (1, "one\n".to_owned()));
    let document = json!({"uri": uri, "languageId": "", "version": 1, "text": "one\n"});
    editor.notify("textDocument/didOpen", json!({"textDocument": document})).await;
    editor.replace(&uri, "one", "two").await;
    editor.in_step(&uri).await;
    editor.quit().await;
}
