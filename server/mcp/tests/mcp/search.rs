//! Searching, and editing what was found.

use hashline_workspace::Caller;
use serde_json::json;

use crate::desk::{Answer, Desk, shows};
use crate::place::Place;
use crate::protocol::call;

/// The part of an answer about one file, as an answer of its own.
fn about(answer: &Answer, name: &str) -> Answer {
    let parts: Vec<&str> = answer.text.split("\n\n").collect();
    let part = parts.iter().find(|part| part.lines().next().is_some_and(|line| line.contains(name)));
    let part = part.unwrap_or_else(|| panic!("nothing of {name} in {}", answer.text));
    Answer { text: format!("{part}\n"), ..answer.clone() }
}

/// The files that an answer shows, in its order.
fn files(answer: &Answer) -> Vec<String> {
    let headings = answer.text.lines().filter(|line| line.starts_with('['));
    headings.map(|line| line.split(" · ").next().unwrap().rsplit('/').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_found_can_be_edited_at_once() {
    let desk = Desk::new();
    std::fs::create_dir(desk.folder.join("src")).unwrap();
    desk.write("src/a.rs", "fn one() {\n    todo!()\n}\n\nfn two() {\n    todo!()\n}\n");
    desk.write("b.txt", "nothing\r\n\u{feff}\r\nTODO: later\r\n");
    desk.write("c.txt", "nothing here\n");
    let found = desk.call("search_text", json!({ "pattern": "(?i)todo", "context": "1" })).await;
    shows!("search", desk, found.text);
    assert_eq!(found.meta["count"], 3);

    let part = about(&found, "a.rs");
    let operations = json!([{ "op": "replace", "anchor": part.tagged()[1], "content": "    1" }]);
    let done = desk.edit("src/a.rs", &part.hash(), operations).await;
    assert!(!done.failed, "{}", done.text);
    assert_eq!(desk.bytes("src/a.rs"), b"fn one() {\n    1\n}\n\nfn two() {\n    todo!()\n}\n");

    let none = desk.call("search_text", json!({ "pattern": "nowhere", "path": "src" })).await;
    shows!("search_none", desk, none.text);
    assert!(!none.failed);
}

#[tokio::test]
async fn open_documents_are_searched_as_agents_see_them() {
    let mut desk = Desk::new();
    desk.write("a.txt", "needle on the disk\n");
    desk.write("other.txt", "a needle\n");
    desk.open("a.txt", "one\nunsaved needle\nthree\n");
    let found = desk.call("search_text", json!({ "pattern": "needle" })).await;
    assert_eq!(about(&found, "a.txt").tagged(), ["2:44|unsaved needle"]);
    assert!(found.text.contains("Open in the editor."), "{}", found.text);

    // Lines that were found are seen: the edit is carried to where they are now.
    let part = about(&found, "a.txt");
    desk.types("a.txt", "typed\none\nunsaved needle\nthree\n");
    let replace =
        |content| json!([{ "op": "replace", "anchor": part.anchor("unsaved needle"), "content": content }]);
    let held = desk.edit("a.txt", &part.hash(), replace("found thread")).await;
    assert!(!held.failed && held.text.contains("3:"), "{}", held.text);

    // What is held is in what is searched, and the text that it replaces is not.
    let found = desk.call("search_text", json!({ "pattern": "thread|unsaved" })).await;
    assert_eq!(files(&found), ["a.txt"]);
    assert!(found.text.contains("|found thread") && found.text.contains("1 held change"), "{}", found.text);

    // A document without a file, and one that has none yet.
    desk.workspace.did_open(
        "untitled:One",
        "text",
        hashline_text::DocVersion(1),
        hashline_text::Encoding::Utf16,
        "thread\n",
    );
    desk.open("new.txt", "thread\n");
    let found = desk.call("search_text", json!({ "pattern": "^thread" })).await;
    assert_eq!(files(&found), ["new.txt", "[untitled:One"]);
    let found = desk.call("search_text", json!({ "pattern": "^thread", "path": "untitled:One" })).await;
    assert_eq!(files(&found), ["[untitled:One"]);
    let found = desk.call("search_text", json!({ "pattern": "^thread", "path": "new.txt" })).await;
    assert_eq!(files(&found), ["new.txt"]);
}

#[tokio::test]
async fn what_is_held_of_closed_files_is_searched() {
    let desk = Desk::with(hashline_workspace::Settings {
        disk: hashline_workspace::document::Mode::Propose,
        ..hashline_workspace::Settings::default()
    });
    desk.write("a.txt", "one\ntwo\n");
    let made = desk.call("write_file", json!({ "path": "b.txt", "content": "proposed\n" })).await;
    assert!(!made.failed, "{}", made.text);
    let read = desk.read("a.txt").await;
    let operations = json!([{ "op": "replace", "anchor": read.anchor("two"), "content": "proposed" }]);
    assert!(!desk.edit("a.txt", &read.hash(), operations).await.failed);
    // Another process finds them in the record.
    let roots = hashline_workspace::disk::Roots::open([&desk.folder]).unwrap();
    let (fresh, _) = hashline_workspace::Workspace::new(
        roots,
        hashline_workspace::Settings::default(),
        hashline_workspace::Histories::of("another"),
    );
    for toolbox in [desk.toolbox.clone(), hashline_mcp::Toolbox::new(fresh)] {
        let serde_json::Value::Object(given) = json!({ "pattern": "proposed|two" }) else { unreachable!() };
        let never = hashline_link::CancellationToken::new();
        let found = Answer::of(&toolbox.call(&desk.caller, "search_text", given, &never).await);
        assert_eq!(files(&found), ["a.txt", "b.txt"], "{}", found.text);
        assert!(!found.text.contains("|two"), "{}", found.text);
    }
    assert_eq!(desk.bytes("a.txt"), b"one\ntwo\n");
}

#[tokio::test]
async fn ignored_hidden_and_binary_files_are_searched_only_by_name() {
    let desk = Desk::new();
    for folder in ["target", ".git", ".mcp", "src"] {
        std::fs::create_dir(desk.folder.join(folder)).unwrap();
    }
    for name in ["target/a.txt", ".git/b.txt", ".mcp/c.txt", ".env", "src/d.txt"] {
        desk.write(name, "secret\n");
    }
    desk.write("binary", b"secret\n\0");
    desk.write("latin", b"secret \xe4\n");
    desk.write(".gitignore", "target\n!.mcp\n");
    let found = desk.call("search_text", json!({ "pattern": "secret" })).await;
    assert_eq!(files(&found), ["d.txt"]);
    assert!(found.text.contains("no UTF-8 text: 1 file."), "{}", found.text);
    for (path, name) in
        [("target", "a.txt"), ("target/a.txt", "a.txt"), (".env", ".env"), (".git/b.txt", "b.txt")]
    {
        let found = desk.call("search_text", json!({ "pattern": "secret", "path": path })).await;
        assert_eq!(files(&found), [name], "{path}: {}", found.text);
    }
    for path in [".mcp", ".mcp/c.txt", "..", "/etc", "gone", "latin"] {
        let refused = desk.call("search_text", json!({ "pattern": "secret", "path": path })).await;
        assert!(refused.failed, "{path}: {}", refused.text);
    }
}

#[tokio::test]
async fn a_glob_chooses_files() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.folder.join("src/deep")).unwrap();
    for name in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.ts"] {
        desk.write(name, "here\n");
    }
    for (given, expected) in [
        (json!({ "pattern": "here", "glob": "*.rs" }), vec!["a.rs", "b.rs", "c.rs"]),
        (json!({ "pattern": "here", "glob": "src/*" }), vec!["b.rs", "d.ts", "c.rs"]),
        (json!({ "pattern": "here", "glob": "deep/*.rs", "path": "src" }), vec!["c.rs"]),
        (json!({ "pattern": "here", "glob": "!*.rs" }), vec!["d.ts"]),
    ] {
        let found = desk.call("search_text", given.clone()).await;
        assert_eq!(files(&found), expected, "{given}");
    }
}

#[tokio::test]
async fn a_search_that_cannot_be_made_says_where_it_is_wrong() {
    let desk = Desk::new();
    for (given, words) in [
        (json!({}), "pattern is missing"),
        (json!({ "pattern": "" }), "pattern is empty"),
        (json!({ "pattern": "a(b" }), "\n    a(b\n     ^\nerror: unclosed group"),
        (json!({ "pattern": "a\nb" }), "line by line"),
        (json!({ "pattern": "a", "glob": "{a" }), "\"{a\" cannot be used"),
        (json!({ "pattern": "a", "context": 21 }), "from 0 to 20"),
        (json!({ "pattern": "a", "regex": true }), "there is no field \"regex\""),
    ] {
        let refused = desk.call("search_text", given.clone()).await;
        assert!(refused.failed && refused.text.contains(words), "{given}: {}", refused.text);
    }
}

#[tokio::test]
async fn more_than_fits_is_counted_and_the_first_line_says_how_to_narrow() {
    let desk = Desk::new();
    for number in 0..60 {
        desk.write(&format!("{number:02}.txt"), "many\n".repeat(if number == 0 { 100 } else { 1 }));
    }
    let found = desk.call("search_text", json!({ "pattern": "many" })).await;
    let first = found.text.lines().next().unwrap();
    assert_eq!(
        first,
        "159 matches in 60 files. Here are 99 of them, from 50 files: narrow pattern, path or glob to see others."
    );
    assert!(found.text.contains("00.txt · 100 matches, the first 50 here · file_hash"), "{}", found.text);
    assert_eq!(files(&found), (0..50).map(|number| format!("{number:02}.txt")).collect::<Vec<_>>());
    assert_eq!(found.text, desk.call("search_text", json!({ "pattern": "many" })).await.text);
    let one = desk.call("search_text", json!({ "pattern": "many", "path": "00.txt" })).await;
    assert_eq!(one.tagged().len(), 100);

    // Long lines are cut around what was found, and their hash is that of the whole line.
    let long = format!("{}needle{}", "é".repeat(3_000), "x".repeat(5_000));
    desk.write("long.txt", format!("{long}\n"));
    let found = desk.call("search_text", json!({ "pattern": "needle" })).await;
    let line = found.tagged()[0].to_owned();
    assert!(line.contains("éneedlex") && line.ends_with("line is 8006 characters]"), "{line}");
    assert!(line.chars().count() < 500, "{line}");
    let part = about(&found, "long.txt");
    let operations = json!([{ "op": "replace", "anchor": line, "content": "short" }]);
    let done = desk.edit("long.txt", &part.hash(), operations).await;
    assert!(!done.failed, "{}", done.text);

    // A client that shows less of an answer gets less.
    desk.write("wide.txt", format!("{}\n", format!("wide {}\n", "x".repeat(300)).repeat(150)));
    for (agent, limit) in [("tester", 40_000), ("codex-mcp-client", 11_500)] {
        let caller = Caller::anywhere(agent, "2");
        let found = desk.call_as(&caller, "search_text", json!({ "pattern": "wide" })).await;
        let chars = found.text.chars().count();
        assert!(chars <= limit && chars > limit - 1_500, "{agent}: {chars}");
        assert!(found.text.contains("narrow pattern, path or glob"), "{agent}");
    }
}

#[tokio::test]
async fn a_search_that_is_taken_back_ends() {
    let desk = Desk::new();
    desk.write("a.txt", "needle\n");
    let serde_json::Value::Object(given) = json!({ "pattern": "needle" }) else { unreachable!() };
    let cancel = hashline_link::CancellationToken::new();
    cancel.cancel();
    let told = Answer::of(&desk.toolbox.call(&desk.caller, "search_text", given, &cancel).await);
    assert!(told.failed && told.text.contains("taken back"), "{}", told.text);
}

#[tokio::test]
async fn every_editor_and_the_disk_are_searched_and_nothing_is_told_twice() {
    let place = Place::new();
    let inner = place.write("inner/a.txt", "needle\n");
    let deep = place.write("inner/deep/b.txt", "needle\n");
    place.write("inner/deep/closed.txt", "needle\n");
    let far = place.write("c.txt", "needle\n");
    let gone = place.write("d.txt", "needle\n");
    let agent = place.agent().await;
    let search = async |path: Option<&str>| {
        let given = match path {
            Some(path) => json!({ "pattern": "needle", "path": path }),
            None => json!({ "pattern": "needle" }),
        };
        call(&agent, "search_text", given).await
    };
    let all = ["c.txt", "d.txt", "a.txt", "b.txt", "closed.txt"];
    assert_eq!(files(&search(None).await), all);

    let outer = place.editor("nvim", &[&place.root.join("inner")]);
    outer.open(&inner, "nothing\nunsaved needle\n");
    let within = place.editor("code", &[&place.root.join("inner/deep")]);
    within.open(&deep, "unsaved needle\n");
    // An editor that has another folder open, and files of this one.
    let elsewhere = place.temp.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other = place.editor("helix", &[&elsewhere]);
    other.open(&far, "unsaved needle\n");
    other.open(&gone, "nothing any more\n");

    let found = search(None).await;
    assert_eq!(files(&found), ["c.txt", "a.txt", "b.txt", "closed.txt"], "{}", found.text);
    assert_eq!(found.meta["count"], 4);
    assert!(found.text.starts_with("4 matches in 4 files.\n"), "{}", found.text);
    for name in ["c.txt", "inner/a.txt", "b.txt"] {
        assert!(about(&found, name).text.contains("|unsaved needle"), "{}", found.text);
    }
    assert_eq!(files(&search(Some("inner/deep")).await), ["b.txt", "closed.txt"]);
    assert_eq!(files(&search(Some("inner/a.txt")).await), ["a.txt"]);
    assert_eq!(files(&search(Some("c.txt")).await), ["c.txt"]);
    assert!(search(Some("d.txt")).await.text.starts_with("No line matches"));

    // What was found in an editor is edited there.
    let part = about(&found, "inner/a.txt");
    let operations =
        json!([{ "op": "replace", "anchor": part.anchor("unsaved needle"), "content": "thread" }]);
    let given = json!({ "path": "inner/a.txt", "file_hash": part.hash(), "operations": operations });
    let held = call(&agent, "edit_text_file", given).await;
    assert!(held.text.contains("Held for the person"), "{}", held.text);
    for editor in [outer, within, other] {
        editor.sidecar.quit().await;
    }
}
