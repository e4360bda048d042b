//! Lines of a record in which something is other than it should be, and lines that are none: nothing falls over, what cannot be read stays
//! where it is and is named, and no other line is lost by it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../../text/tests/text/cases.rs"]
mod cases;
mod common;

use cases::fuzz;
use common::*;
use hashline_history::Store;
use hashline_weave::Change;
use proptest::prelude::*;
use proptest::sample::Index;

/// What is done to one line.
#[derive(Clone, Debug)]
enum Mutation {
    /// Some bytes become others, go or come.
    Bytes(Vec<(Index, u8, u8)>),
    /// A member of it, or a member of that, becomes something else.
    Member(Vec<Index>, Stranger),
    /// Another line stands there.
    Line(Vec<u8>),
    Cut(Index),
}

#[derive(Clone, Debug)]
enum Stranger {
    Gone,
    Is(serde_json::Value),
}

fn stranger() -> impl Strategy<Value = Stranger> {
    use serde_json::json;
    let value = prop_oneof![
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("../../x")),
        Just(json!("\u{0}\u{202e}")),
        Just(json!(1e300)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        (0..9_u64).prop_map(|number| json!(number)),
        ".{0,9}".prop_map(|words| json!(words)),
        prop::collection::vec(prop::collection::vec(any::<u64>(), 0..4), 0..4).prop_map(|runs| json!(runs)),
    ];
    prop_oneof![1 => Just(Stranger::Gone), 5 => value.prop_map(Stranger::Is)]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let bytes = prop::collection::vec((any::<Index>(), any::<u8>(), any::<u8>()), 1..5);
    let line = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[\\[\\]{}\",:0-9a-z]{0,40}".prop_map(String::into_bytes)
    ];
    prop_oneof![
        3 => bytes.prop_map(Mutation::Bytes),
        5 => (prop::collection::vec(any::<Index>(), 1..6), stranger()).prop_map(|(way, to)| Mutation::Member(way, to)),
        1 => line.prop_map(Mutation::Line),
        1 => any::<Index>().prop_map(Mutation::Cut),
    ]
}

/// Puts something else where a way leads, which ends where there is nothing further.
fn put(value: &mut serde_json::Value, way: &[Index], to: &Stranger) {
    let Some((first, rest)) = way.split_first() else { return };
    let length = value.as_object().map(serde_json::Map::len).or(value.as_array().map(Vec::len)).unwrap_or(0);
    if length == 0 {
        if let Stranger::Is(to) = to {
            value.clone_from(to);
        }
        return;
    }
    let at = first.index(length);
    if rest.is_empty() {
        match (value, to) {
            (serde_json::Value::Object(members), to) => {
                let key = members.keys().nth(at).unwrap().clone();
                match to {
                    Stranger::Gone => drop(members.remove(&key)),
                    Stranger::Is(to) => drop(members.insert(key, to.clone())),
                }
            }
            (serde_json::Value::Array(items), Stranger::Gone) => drop(items.remove(at)),
            (serde_json::Value::Array(items), Stranger::Is(to)) => items[at].clone_from(to),
            _ => {}
        }
        return;
    }
    let inner = match value {
        serde_json::Value::Object(members) => members.values_mut().nth(at),
        serde_json::Value::Array(items) => items.get_mut(at),
        _ => None,
    };
    put(inner.unwrap(), rest, to);
}

/// The line as it is then; it stays one line.
fn mutated(line: &[u8], mutation: &Mutation) -> Vec<u8> {
    let mut line = line.to_vec();
    match mutation {
        Mutation::Bytes(changes) => {
            for (at, how, byte) in changes {
                let place = at.index(line.len() + 1);
                match how % 3 {
                    0 if place < line.len() => line[place] = *byte,
                    1 if place < line.len() => drop(line.remove(place)),
                    _ => line.insert(place, *byte),
                }
            }
        }
        Mutation::Member(way, to) => {
            let mut value = serde_json::from_slice(&line).unwrap();
            put(&mut value, way, to);
            line = value.to_string().into_bytes();
        }
        Mutation::Line(other) => line.clone_from(other),
        Mutation::Cut(at) => line.truncate(at.index(line.len() + 1)),
    }
    line.retain(|byte| *byte != b'\n');
    line
}

/// A history in which `a.txt` and `b.txt` take turns, with edits, decisions and typing.
fn history_in(folder: &std::path::Path) -> [Live; 2] {
    let store = Store::new(folder, "a process");
    let mut both = ["a.txt", "b.txt"].map(|name| Live::new(name_in(folder, name), "one\ntwo\nthree\n"));
    for at in 0..3 {
        for (name, live) in ["a", "b"].into_iter().zip(&mut both) {
            let change = Change { lines: at..at + 1, new: vec![line(&format!("line {at}"))] };
            let edit = live.edit(&format!("{name}{at}"), "conv", &[change], at == 1);
            let mut session = store.session(&NoFiles).unwrap();
            session.append(&live.draft(edit)).unwrap();
            live.type_line(0, "typed\n");
            session.append(&live.draft(None)).unwrap();
        }
    }
    both
}

#[test]
fn bytes_that_are_no_text_are_damage_where_nothing_reads_them_too() {
    let around = common::folder();
    history_in(around.path());
    let path = history(around.path(), "decisions.log");
    let mut record = std::fs::read(&path).unwrap();
    let member = 2 + record.iter().position(|byte| *byte == b'\n').unwrap();
    record.splice(member..member, b"\"unknown\":\"\x80\",".iter().copied());
    std::fs::write(&path, record).unwrap();

    let damage = Store::new(around.path(), "another").damage().unwrap();
    assert!(damage.iter().any(|damage| damage.line == 2), "{damage:?}");
}

#[test]
fn a_line_that_was_changed_costs_no_other() {
    fuzz(file!(), (any::<Index>(), mutation()), |(at, mutation)| {
        let around = common::folder();
        let folder = around.path().join("project");
        std::fs::create_dir(&folder).unwrap();
        let documents = history_in(&folder);
        let path = history(&folder, "decisions.log");
        let record = std::fs::read(&path).unwrap();
        let mut lines: Vec<Vec<u8>> =
            record.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let count = lines.len();
        // Not the header.
        let at = 1 + at.index(count - 1);
        let about: serde_json::Value = serde_json::from_slice(&lines[at]).unwrap();
        let mut changed = mutated(&lines[at][..lines[at].len() - 1], &mutation);
        let is_same = serde_json::from_slice::<serde_json::Value>(&changed).is_ok_and(|now| now == about);
        let is_json = serde_json::from_slice::<serde_json::Value>(&changed).is_ok();
        changed.push(b'\n');
        lines[at] = changed.clone();
        std::fs::write(&path, lines.concat()).unwrap();

        let store = Store::new(&folder, "another");
        let damage = store.damage().unwrap();
        if !is_json {
            // Those that rest on it are named with it, and they are of the same file.
            let named: Vec<usize> = damage.iter().map(|damage| damage.line - 1).collect();
            // What lies in a delta shows when the document is read.
            let is_broken = documents.iter().any(|live| store.document(&live.name).is_err());
            prop_assert!(named.contains(&at) || is_broken, "{:?}", damage);
            let file_of =
                |line: &Vec<u8>| serde_json::from_slice::<serde_json::Value>(line).unwrap()["file"].clone();
            prop_assert!(
                named.iter().all(|line| *line == at || file_of(&lines[*line]) == about["file"]),
                "{:?}",
                damage
            );
        }
        // A line that says something else may be one that the others do not go together with; those are named then.
        prop_assert!(!is_same || damage.is_empty(), "{:?}", damage);
        let mut session = store.session(&NoFiles).unwrap();
        session.check().unwrap();
        let _ = session.finish();
        let now = std::fs::read(&path).unwrap();
        prop_assert!(now.starts_with(&lines.concat()), "every line stays, the unreadable one as well");
        for live in &documents {
            let read = store.document(&live.name);
            let other = about["document"]["path"]
                != serde_json::json!(live.name.as_os_str().to_str().unwrap().rsplit('/').next().unwrap());
            // The record of one file is no matter of another's, unless the line lies of which it is.
            if other && !is_json {
                prop_assert_eq!(
                    read.unwrap().weave().unwrap().buffer().to_string(),
                    live.weave.buffer().to_string()
                );
                assert_recorded(&store, live);
            } else if let Ok(read) = read {
                let _ = read.weave().map(|weave| weave.buffer().to_string());
            }
        }
        Ok(())
    });
}
