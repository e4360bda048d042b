//! The protocol page, the Rust types and the plugins' mirrors say the same, and the transcripts are what all of them say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hashline_lsp::protocol::{self, MESSAGES, TYPES, VALUES};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Fields by message or type, results with " result" behind the name, and values by field.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    senders: BTreeMap<String, (String, String)>,
    fields: BTreeMap<String, Vec<String>>,
    values: BTreeMap<String, Vec<String>>,
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn rust() -> Said {
    let mut said = Said::default();
    for message in MESSAGES {
        let from = match message.from {
            protocol::From::Sidecar => "sidecar",
            protocol::From::Plugin => "plugin",
        };
        let kind = if message.result.is_some() { "request" } else { "notification" };
        said.senders.insert(message.name.to_owned(), (kind.to_owned(), from.to_owned()));
        said.fields.insert(message.name.to_owned(), owned(message.params));
        if let Some(result) = message.result {
            said.fields.insert(format!("{} result", message.name), owned(result));
        }
    }
    for (name, fields) in TYPES {
        said.fields.insert((*name).to_owned(), owned(fields));
    }
    for (name, values) in VALUES {
        said.values.insert((*name).to_owned(), owned(values));
    }
    said
}

/// What stands in backticks, in order.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Reads the page: headings name messages, bold words types, tables fields; `Result:` and a bold type may also stand in a line.
fn page() -> Said {
    let page = read("editors/PROTOCOL.md");
    let mut said = Said::default();
    let mut section = String::new();
    let mut table: Option<String> = None;
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section.clear();
            table = None;
            if let Some(name) = quoted(heading).into_iter().find(|name| name.starts_with("hashline/")) {
                let about = heading.split(['(', ')']).nth(1).unwrap();
                let (kind, from) = about.split_once(", ").unwrap();
                let from = from.split(' ').next().unwrap();
                said.senders.insert(name.clone(), (kind.to_owned(), from.to_owned()));
                said.fields.insert(name.clone(), Vec::new());
                table = Some(name.clone());
                section = name;
            } else if heading == "Announcing" {
                table = Some("Announcement".to_owned());
            }
        } else if let Some(rest) =
            line.strip_prefix("Result:").or_else(|| line.strip_prefix("No parameters. Result:"))
        {
            let name = format!("{section} result");
            // In one line, the fields are what stands before a bracket.
            let fields = inline_fields(rest);
            said.fields.insert(name.clone(), fields);
            table = Some(name);
        } else if let Some((name, rest)) = line.strip_prefix("**").and_then(|line| line.split_once("**")) {
            said.fields.insert(name.to_owned(), inline_fields(rest));
            table = Some(name.to_owned());
        } else if let Some(row) = line.strip_prefix("| `") {
            let (field, rest) = row.split_once('`').unwrap();
            let name = table.clone().unwrap_or_else(|| panic!("no name for the table of {line}"));
            said.fields.entry(name.clone()).or_default().push(field.to_owned());
            // The last column may list the only values that the field has.
            let about = rest.splitn(3, '|').nth(2).unwrap();
            if let Some(values) = listed(about) {
                said.values.insert(format!("{name}.{field}"), values);
            }
        }
    }
    // A closed set in a line.
    let refusal = page.split("**Refusal**").nth(1).unwrap().split("\n\n").next().unwrap();
    let sentence = refusal.replace('\n', " ");
    let why = sentence.split("`why` (string: ").nth(1).unwrap().split(')').next().unwrap();
    said.values.insert("Refusal.why".to_owned(), quoted(why));
    said.fields.insert("Refusal".to_owned(), inline_fields(&sentence));
    said
}

/// Fields in running text: what is in backticks and directly followed by a bracket.
fn inline_fields(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = parts.windows(2).enumerate().filter(|(at, _)| at % 2 == 1);
    pairs.filter(|(_, pair)| pair[1].starts_with(" (")).map(|(_, pair)| pair[0].to_owned()).collect()
}

/// The values of a description that begins with one: those before anything else is said.
fn listed(about: &str) -> Option<Vec<String>> {
    let about = about.trim();
    let about = match about.split_once(": `") {
        // "what to do …: `undo` (…) or `keep` (…)"
        Some((_, rest)) if !about.starts_with('`') => format!("`{rest}"),
        _ => about.to_owned(),
    };
    let mut values: Vec<String> = Vec::new();
    for value in quoted(&about) {
        // What is said about a value may name another.
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let plain = values.iter().all(|value| value.chars().all(char::is_alphanumeric));
    (about.starts_with('`') && values.len() > 1 && plain).then_some(values)
}

/// How a plugin's language writes what its mirror holds: three tables of plain literals, an entry a line.
struct Notation {
    /// Around the name of a table, in capitals or not.
    table: [&'static str; 2],
    /// Around the name of an entry.
    entry: [&'static str; 2],
    /// Between a key and its value.
    is: &'static str,
    /// Around a list.
    list: [char; 2],
    /// Before the protocol's version, and behind it.
    version: [&'static str; 2],
}

const LUA: Notation = Notation {
    table: ["M.", " = {"],
    entry: ["  [\"", "\"] = {"],
    is: " = ",
    list: ['{', '}'],
    version: ["M.version = ", ""],
};

const TYPESCRIPT: Notation = Notation {
    table: ["export const ", " = {"],
    entry: ["  \"", "\": "],
    is: ": ",
    list: ['[', ']'],
    version: ["export const PROTOCOL = ", ";"],
};

/// Reads a plugin's mirror.
fn mirror(path: &str, notation: &Notation) -> Said {
    let source = read(path);
    let mut said = Said::default();
    let mut table = String::new();
    let between = |line: &str, [before, behind]: [&str; 2]| {
        Some(line.strip_prefix(before)?.strip_suffix(behind)?.to_owned())
    };
    for line in source.lines() {
        if let Some(name) = between(line, notation.table) {
            table = name.to_lowercase();
        }
        let [before, behind] = notation.entry;
        let Some((name, rest)) = line.strip_prefix(before).and_then(|line| line.split_once(behind)) else {
            continue;
        };
        let strings =
            |text: &str| -> Vec<String> { text.split('"').skip(1).step_by(2).map(str::to_owned).collect() };
        let [opened, closed] = notation.list;
        let list = |key: &str| {
            let list = rest.split(&format!("{key}{}{opened}", notation.is)).nth(1)?.split(closed).next()?;
            Some(strings(list))
        };
        let word = |key: &str| {
            let value = rest.split(&format!("{key}{}\"", notation.is)).nth(1)?;
            value.split('"').next()
        };
        match table.as_str() {
            "messages" => {
                let (kind, from) = (word("kind").unwrap().to_owned(), word("from").unwrap().to_owned());
                said.senders.insert(name.to_owned(), (kind, from));
                said.fields.insert(name.to_owned(), list("params").unwrap());
                if let Some(result) = list("result") {
                    said.fields.insert(format!("{name} result"), result);
                }
            }
            "types" => drop(said.fields.insert(name.to_owned(), strings(rest))),
            "values" => drop(said.values.insert(name.to_owned(), strings(rest))),
            other => panic!("an entry of {other:?}: {line}"),
        }
    }
    let version = source.lines().find_map(|line| between(line, notation.version));
    assert_eq!(version, Some(protocol::PROTOCOL.to_string()), "{path}");
    said
}

#[test]
fn the_page_the_types_and_the_plugins_say_the_same() {
    let rust = rust();
    let page = page();
    for (name, fields) in &rust.fields {
        assert_eq!(page.fields.get(name), Some(fields), "{name} on the page");
    }
    assert_eq!(page, rust);
    assert_eq!(mirror("nvim/lua/hashline/protocol.lua", &LUA), rust);
    assert_eq!(mirror("vscode-extension/src/protocol.ts", &TYPESCRIPT), rust);
    let page = read("editors/PROTOCOL.md");
    assert!(page.contains(&format!("Protocol version: **{}**", protocol::PROTOCOL)));
    for command in ["accept", "reject", "keepMine", "takeTheirs", "keepBoth", "reopen", "comment"] {
        assert!(page.contains(&format!("`hashline.{command}`")));
    }
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// What a type writes has exactly the fields that are listed for it, and reads itself.
fn writes<T: Serialize + DeserializeOwned>(name: &str, value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), *value, "{name}");
    let mut listed = rust().fields[name].clone();
    listed.sort();
    let mut written = keys(value);
    written.sort();
    assert_eq!(written, listed, "{name}");
}

#[test]
fn the_types_write_the_fields_and_values_that_are_listed() {
    let lines = json!({"start": 1, "end": 2});
    let hunk = json!({"number": 1, "state": "held", "decision": "undecided", "reason": null, "deciding": false, "lines": lines,
        "removed": [], "proposed": ["x"], "partOf": null, "dependsOn": ["a:1"], "conflict": null,
        "file": null, "ways": ["accept", "reject"]});
    let edit = json!({"id": "a", "made": 1, "agent": "b", "connection": "e", "conversation": "c", "tool": "d", "reason": null, "mode": "propose",
        "status": "pending", "hunks": [hunk]});
    let pending = json!({"uri": "u", "version": null, "owner": null, "readOnly": false, "edits": [edit]});
    let decide = json!({"decision": "accept", "uri": null, "edit": null, "hunk": null, "conversation": null,
        "lines": null, "reason": null, "text": null, "edited": null, "withOthers": false});
    let refusal = json!({"hunk": "a:1", "why": "gone", "message": "m", "others": []});
    let place = json!({"hunk": "a:1", "lines": lines, "replaced": lines});
    let cause = json!({"uri": "u", "version": 2, "cause": "delivery", "delivery": 1});
    let status = json!({"version": "1", "roots": [], "documents": 0, "pending": 0, "conflicted": 0, "agents": [],
        "socket": null});
    writes::<protocol::Announcement>("Announcement", &json!({"protocol": 1, "version": "2"}));
    writes::<protocol::Lines>("Lines", &lines);
    writes::<protocol::Place>("Place", &place);
    writes::<protocol::Hunk>("Hunk", &hunk);
    writes::<protocol::Edit>("Edit", &edit);
    writes::<protocol::Refusal>("Refusal", &refusal);
    writes::<protocol::PendingEdits>("hashline/pendingEdits", &pending);
    writes::<protocol::Waiting>("hashline/waiting", &json!({"agents": ["claude-code"]}));
    writes::<protocol::Decide>("hashline/decide", &decide);
    writes::<protocol::Decided>("hashline/decide result", &json!({"queued": [], "refused": [refusal]}));
    writes::<protocol::ProposedText>("hashline/proposedText", &json!({"uri": "u"}));
    writes::<protocol::ProposedTextResult>(
        "hashline/proposedText result",
        &json!({"text": "", "version": 1, "places": [place]}),
    );
    writes::<protocol::History>("hashline/history", &json!({"uri": "u"}));
    writes::<protocol::HistoryResult>(
        "hashline/history result",
        &json!({"version": 1, "owner": null, "readOnly": false, "edits": [edit]}),
    );
    writes::<protocol::Cause>("hashline/cause", &cause);
    writes::<protocol::Status>("hashline/status result", &status);

    // Each value that is listed is one, and no other word is.
    for (field, values) in VALUES {
        let (whole, key): (&Value, &str) = match *field {
            "Edit.mode" | "Edit.status" => (&edit, &field[5..]),
            "Hunk.state" | "Hunk.decision" => (&hunk, &field[5..]),
            "hashline/decide.decision" | "hashline/decide.edited" => (&decide, &field[16..]),
            "hashline/cause.cause" => (&cause, "cause"),
            "Refusal.why" => (&refusal, "why"),
            other => panic!("{other} is not tried"),
        };
        let reads = |word: &str| {
            let mut changed = whole.clone();
            changed[key] = json!(word);
            match *field {
                "Edit.mode" | "Edit.status" => same::<protocol::Edit>(&changed),
                "Hunk.state" | "Hunk.decision" => same::<protocol::Hunk>(&changed),
                "hashline/cause.cause" => same::<protocol::Cause>(&changed),
                "Refusal.why" => same::<protocol::Refusal>(&changed),
                _ => same::<protocol::Decide>(&changed),
            }
        };
        for word in *values {
            assert!(reads(word), "{field}: {word}");
        }
        assert!(!reads("perhaps"), "{field}");
    }
}

/// The examples of the page, by the message that the heading above them names.
fn examples() -> BTreeMap<String, Vec<Value>> {
    let page = read("editors/PROTOCOL.md");
    let mut found = BTreeMap::new();
    for section in page.split("\n## ").skip(1) {
        let (heading, rest) = section.split_once('\n').unwrap();
        let name = quoted(heading).into_iter().next().unwrap_or_else(|| heading.to_owned());
        let blocks = rest.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
        let parsed = blocks.map(|block| {
            serde_json::from_str(block).unwrap_or_else(|error| panic!("{name}: {error}: {block}"))
        });
        let parsed = parsed.collect();
        found.insert(name, parsed);
    }
    found
}

#[test]
fn every_message_has_examples_that_are_messages_of_its_kind() {
    let examples = examples();
    for message in MESSAGES {
        let given = &examples[message.name];
        let result = |example: &Value| match message.name {
            protocol::DECIDE => same::<protocol::Decided>(example),
            protocol::PROPOSED_TEXT => same::<protocol::ProposedTextResult>(example),
            protocol::HISTORY => same::<protocol::HistoryResult>(example),
            protocol::STATUS => same::<protocol::Status>(example),
            other => panic!("{other} has no result"),
        };
        let params = |example: &Value| match message.name {
            protocol::PENDING_EDITS => same::<protocol::PendingEdits>(example),
            protocol::WAITING => same::<protocol::Waiting>(example),
            protocol::DECIDE => same::<protocol::Decide>(example),
            protocol::PROPOSED_TEXT => same::<protocol::ProposedText>(example),
            protocol::HISTORY => same::<protocol::History>(example),
            protocol::CAUSE => same::<protocol::Cause>(example),
            other => panic!("{other} has no parameters"),
        };
        // Of a notification all are.
        let asked = match message.result {
            None => given.len(),
            Some(_) => usize::from(!message.params.is_empty()),
        };
        assert!(
            given.len() >= asked + usize::from(message.result.is_some()),
            "{} has examples",
            message.name
        );
        assert!(given[..asked].iter().all(params), "{}: parameters", message.name);
        assert!(given[asked..].iter().all(result), "{}: results", message.name);
    }
    let announced = &examples["Announcing"][0]["experimental"]["hashline"];
    assert!(same::<protocol::Announcement>(announced), "{announced}");
    let mut command = examples["Commands"][0]["arguments"][0].clone();
    command["decision"] = json!("accept"); // the command's name says it
    assert!(serde_json::from_value::<protocol::Decide>(command.clone()).is_ok(), "{command}");
}

fn same<T: Serialize + DeserializeOwned>(value: &Value) -> bool {
    serde_json::from_value::<T>(value.clone()).is_ok_and(|read| serde_json::to_value(read).unwrap() == *value)
}

/// Every line of every transcript, with where it stands.
fn transcripts() -> Vec<(String, Value)> {
    let folder = repository().join("editors/transcripts");
    let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut lines = Vec::new();
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        for (number, line) in (1..).zip(std::fs::read_to_string(&path).unwrap().lines()) {
            let at = format!("{}:{number}", path.display());
            let said = serde_json::from_str(line).unwrap_or_else(|error| panic!("{at}: {error}"));
            lines.push((at, said));
        }
    }
    assert!(!lines.is_empty(), "there are transcripts");
    lines
}

/// What no transcript shows, and why.
const NOT_SHOWN: [(&str, &str); 5] = [
    // What an editor says in plain LSP is left out, and with it what brings that about, but for undo and redo.
    ("hashline/cause.cause", "delivery"),
    ("hashline/cause.cause", "reload"),
    ("hashline/cause.cause", "saveConflict"),
    ("Refusal.why", "edited"), // plugins ask what is to become of the person's lines before they say it
    ("Refusal.why", "readOnly"), // decisions about what is read-only are not offered
];

#[test]
fn the_transcripts_show_every_value() {
    let mut shown: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (_, said) in transcripts() {
        let mut see = |field: &'static str, value: &Value| {
            if let Some(value) = value.as_str() {
                shown.entry(field).or_default().push(value.to_owned());
            }
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for edit in list(&said["params"]["edits"]).into_iter().chain(list(&said["result"]["edits"])) {
            see("Edit.mode", &edit["mode"]);
            see("Edit.status", &edit["status"]);
            for hunk in list(&edit["hunks"]) {
                see("Hunk.state", &hunk["state"]);
                see("Hunk.decision", &hunk["decision"]);
            }
        }
        see("hashline/decide.decision", &said["params"]["decision"]);
        see("hashline/decide.edited", &said["params"]["edited"]);
        see("hashline/cause.cause", &said["params"]["cause"]);
        for refusal in list(&said["result"]["refused"]) {
            see("Refusal.why", &refusal["why"]);
        }
    }
    let mut missing = Vec::new();
    for (field, values) in VALUES {
        let seen = shown.get(field).map(Vec::as_slice).unwrap_or_default();
        missing.extend(
            values
                .iter()
                .filter(|value| !seen.iter().any(|seen| seen == *value))
                .map(|value| (*field, *value)),
        );
    }
    assert_eq!(missing, NOT_SHOWN);
}

#[test]
fn the_transcripts_are_read_and_written_without_loss() {
    for (at, said) in transcripts() {
        let (name, body, is_result) = match said.get("method") {
            Some(method) => (method.as_str().unwrap(), &said["params"], false),
            None => (said["to"].as_str().unwrap_or_else(|| panic!("{at}: to whom?")), &said["result"], true),
        };
        let message = MESSAGES.iter().find(|message| message.name == name);
        let message = message.unwrap_or_else(|| panic!("{at}: {name} is no message"));
        let asker = if message.from == protocol::From::Sidecar { "sidecar" } else { "plugin" };
        assert_eq!(said["from"] == asker, !is_result, "{at}: said by the wrong side");
        let kept = match (name, is_result) {
            (protocol::PENDING_EDITS, false) => same::<protocol::PendingEdits>(body),
            (protocol::WAITING, false) => same::<protocol::Waiting>(body),
            (protocol::DECIDE, false) => same::<protocol::Decide>(body),
            (protocol::DECIDE, true) => same::<protocol::Decided>(body),
            (protocol::PROPOSED_TEXT, false) => same::<protocol::ProposedText>(body),
            (protocol::PROPOSED_TEXT, true) => same::<protocol::ProposedTextResult>(body),
            (protocol::HISTORY, false) => same::<protocol::History>(body),
            (protocol::HISTORY, true) => same::<protocol::HistoryResult>(body),
            (protocol::CAUSE, false) => same::<protocol::Cause>(body),
            (protocol::STATUS, true) => same::<protocol::Status>(body),
            (protocol::STATUS, false) => body.is_null(),
            _ => panic!("{at}: {name} has no answer"),
        };
        assert!(kept, "{at}: does not survive: {said}");
    }
}
