//! Sequences of notifications that no editor ought to send, and those that it does: the text is the editor's, or the document says that it
//! is out of step.

use hashline_workspace::Caller;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::fuzz;
use crate::editor::{Editor, Manners};

/// What an editor says, with numbers that are looked up in the text as it is then.
#[derive(Clone, Debug)]
enum Said {
    Open(String, i32),
    Change(i32, Vec<Change>),
    /// With half of a surrogate pair as its text.
    Half(i32),
    Save,
    Close,
}

/// A change: of the whole text if it has no places.
#[derive(Clone, Debug)]
struct Change {
    places: Option<[(u32, u32); 2]>,
    text: String,
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c ]{0,3}", 3 => Just("\n".to_owned()), 2 => Just("\r\n".to_owned()), 2 => Just("\r".to_owned()),
        1 => Just("😀".to_owned()), 1 => Just("é\u{301}".to_owned()), 1 => Just("\u{feff}".to_owned()),
        1 => Just("\u{2028}\u{85}\0".to_owned()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn change() -> impl Strategy<Value = Change> {
    let number = || prop_oneof![12 => 0..6_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    let places = [(number(), number()), (number(), number())];
    let places = (places, 0..10_u8).prop_map(|(mut places, reversed)| {
        // In order, most of the time.
        if reversed > 0 {
            places.sort_unstable();
        }
        places
    });
    (prop::option::weighted(0.85, places), text()).prop_map(|(places, text)| Change { places, text })
}

fn said() -> impl Strategy<Value = Said> {
    // By how much the version rises.
    let rise = || prop_oneof![12 => Just(1), 2 => 2..9, 1 => Just(0), 1 => -3..0];
    prop_oneof![
        2 => (text(), 0..9).prop_map(|(text, version)| Said::Open(text, version)),
        16 => (rise(), prop::collection::vec(change(), 0..4)).prop_map(|(rise, changes)| Said::Change(rise, changes)),
        1 => rise().prop_map(Said::Half),
        2 => Just(Said::Save),
        1 => Just(Said::Close),
    ]
}

/// The text as it would be if it were kept as a string.
struct Model {
    text: String,
    version: i32,
    in_step: bool,
}

/// The places at which lines begin, and where each ends before its ending.
fn lines(text: &str) -> Vec<(usize, usize)> {
    let (mut lines, mut start) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let next_is_lf = bytes.get(at + 1) == Some(&b'\n');
        if *byte == b'\n' || *byte == b'\r' && !next_is_lf {
            let pair = *byte == b'\n' && at > start && bytes[at - 1] == b'\r';
            lines.push((start, at - usize::from(pair)));
            start = at + 1;
        }
    }
    lines.push((start, text.len()));
    lines
}

fn byte_of(text: &str, (line, character): (u32, u32), encoding: &str) -> Option<usize> {
    let (start, end) = *lines(text).get(line as usize)?;
    let mut units = 0;
    for (at, char) in text[start..end].char_indices() {
        units += match encoding {
            "utf-8" => char.len_utf8(),
            "utf-16" => char.len_utf16(),
            _ => 1,
        };
        if units > character as usize {
            return Some(start + at);
        }
    }
    Some(end)
}

/// The text after a change; none if there is no such place.
fn changed(text: &str, change: &Change, encoding: &str) -> Option<String> {
    let Some([from, to]) = change.places else { return Some(change.text.clone()) };
    if from > to {
        return None;
    }
    let cut = |text: &str| {
        let (from, to) = (byte_of(text, from, encoding)?, byte_of(text, to, encoding)?);
        Some(format!("{}{}{}", &text[..from], change.text, &text[to..]))
    };
    if to != (u32::try_from(lines(text).len()).ok()?, 0) {
        return cut(text);
    }
    // Some editors count an ending behind the last line, which is not there.
    let ending = |text: &str| {
        let at = text.find(['\n', '\r'])?;
        let rest = &text[at..];
        ["\r\n", "\n", "\r"].into_iter().find(|ending| rest.starts_with(ending))
    };
    let text = format!("{text}{}", ending(&change.text).or(ending(text)).unwrap_or("\n"));
    let text = cut(&text)?;
    let whole = ["\r\n", "\n", "\r"].into_iter().find_map(|ending| text.strip_suffix(ending));
    Some(whole.unwrap_or(&text).to_owned())
}

impl Model {
    fn change(&mut self, version: i32, changes: &[Change], encoding: &str) {
        let whole = changes.iter().rposition(|change| change.places.is_none());
        if version <= self.version && whole.is_none() {
            self.in_step = false;
            return;
        }
        self.version = version;
        self.in_step |= whole.is_some();
        for change in &changes[whole.unwrap_or(0)..] {
            match changed(&self.text, change, encoding).filter(|_| self.in_step) {
                Some(text) => self.text = text,
                None => self.in_step = false,
            }
        }
    }
}

/// The change as it is sent.
fn sent(change: &Change) -> Value {
    let place = |(line, character): (u32, u32)| json!({"line": line, "character": character});
    match change.places {
        Some([from, to]) => json!({"range": {"start": place(from), "end": place(to)}, "text": change.text}),
        None => json!({"text": change.text}),
    }
}

async fn play(encoding: &str, held: bool, all: &[Said]) {
    let mut editor = Editor::start(Manners::plain().encoding(encoding)).await;
    editor.in_folder().await;
    let first = "one\ntwo 😀\r\nthree";
    let uri = editor.open("a.txt", first).await;
    editor.request("hashline/status", Value::Null).await;
    if held {
        editor.agent("a.txt", &[(2, "2")]).await;
    }
    let mut model = Some(Model { text: first.to_owned(), version: 1, in_step: true });
    for said in all {
        let known = model.as_ref().map_or(0, |model| model.version);
        match said {
            Said::Open(text, version) => {
                editor.open_at("a.txt", i64::from(*version), text).await;
                model = Some(Model { text: text.clone(), version: *version, in_step: true });
            }
            Said::Change(rise, changes) => {
                let all: Vec<Value> = changes.iter().map(sent).collect();
                editor.tell(&uri, i64::from(known + rise), &all).await;
                if let Some(model) = &mut model {
                    model.change(known + rise, changes, encoding);
                }
            }
            Said::Half(rise) => {
                let version = known + rise;
                let params = format!(
                    r#"{{"textDocument":{{"uri":"{uri}","version":{version}}},"contentChanges":[{{"text":"a\ud83d"}}]}}"#
                );
                let message =
                    format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{params}}}"#);
                editor.send_raw(message.as_bytes()).await;
                if let Some(model) = &mut model {
                    model.in_step = false;
                    model.version = model.version.max(version);
                }
            }
            Said::Save => editor.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}})).await,
            Said::Close => {
                editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
                model = None;
            }
        }
        // Answered when all before it has taken effect.
        editor.request("hashline/status", Value::Null).await;
        let now = editor.workspace.text_of(&uri).map(|(version, text)| (version.0, text.to_string()));
        let documents = editor.workspace.documents(&Caller::anywhere("a test", "a test"));
        let in_step = documents.iter().all(|document| document.out_of_step.is_none());
        assert_eq!(now.is_some(), model.is_some(), "{said:?}");
        if let (Some(model), Some((version, text))) = (&model, now) {
            assert_eq!((version, in_step), (model.version, model.in_step), "{said:?}");
            assert!(!in_step || text == model.text, "{said:?}: {text:?}, and not {:?}", model.text);
        }
    }
    // What it said besides is no matter here.
    editor.quit_deaf().await;
}

#[tokio::test]
async fn a_whole_text_with_a_change_behind_it_that_cannot_be_made_mends_nothing() {
    let beside = |to| Change { places: Some([(0, 0), to]), text: String::new() };
    let whole = Change { places: None, text: String::new() };
    play(
        "utf-8",
        true,
        &[Said::Change(1, vec![beside((9, 1))]), Said::Change(1, vec![whole, beside((1, 1))])],
    )
    .await;
}

#[test]
fn in_step_or_honestly_out_of_step() {
    let all = prop::collection::vec(said(), 1..25);
    fuzz(file!(), (0..3_usize, any::<bool>(), all), |(which, held, all)| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(["utf-8", "utf-16", "utf-32"][which], held, &all));
        Ok(())
    });
}
