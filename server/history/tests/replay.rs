//! What is recorded and read again is what was there: after every transaction, in every process, as of every moment.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::process::Command;

use common::*;
use hashline_history::{Continuity, Decision, Draft, Sequence, Store};
use hashline_text::{Encoding, FileHash};

/// One random step of a document, recorded. False if nothing happened.
fn step(rng: &mut Rng, store: &Store, live: &mut Live, kind: Endings, count: &mut u32) -> Option<Sequence> {
    let mut session = store.session(&NoFiles).unwrap();
    let appended = match rng.below(10) {
        0..=3 => {
            let lines = live.weave.agent().line_count();
            let changes = changes(rng, kind, lines);
            *count += 1;
            let conversation = format!("conv_{}", rng.below(3));
            let apply = rng.chance(40);
            let edit = live.edit(&format!("edit-{count}"), &conversation, &changes, apply)?;
            session.append(&live.draft(Some(edit))).unwrap()
        }
        4..=6 if !live.hunks.is_empty() => {
            let at = rng.below(live.hunks.len());
            let decision = *rng.pick(&[
                Decision::Accepted,
                Decision::Rejected,
                Decision::Undecided,
                Decision::Withdrawn,
            ]);
            let reason = rng.chance(30).then_some("because \"I\"\nsay so");
            let (decisions, locations) = live.decide(at, decision, reason);
            session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap()
        }
        7 => {
            let saved = Some(live.hash());
            session.append(&Draft { saved, ..live.draft(None) }).unwrap()
        }
        8 if rng.chance(40) => {
            let mut text = live.weave.buffer().clone();
            for _ in 0..1 + rng.below(3) {
                let (span, new) = typing(rng, &text);
                let _ = text.apply(span, Encoding::Utf16, &new);
            }
            live.weave.unobserved(text);
            // As a delta, too, if the record should ever hold one.
            let continuity = *rng.pick(&[Continuity::Unobserved, Continuity::Follows]);
            session.append(&Draft { continuity, ..live.draft(None) }).unwrap()
        }
        8 if rng.chance(20) => {
            session.append(&Draft { continuity: Continuity::Unobserved, ..live.draft(None) }).unwrap()
        }
        _ => {
            for _ in 0..1 + rng.below(4) {
                let (span, new) = typing(rng, live.weave.buffer());
                live.type_at(span, &new);
            }
            session.append(&live.draft(None)).unwrap()
        }
    };
    assert_eq!(session.finish(), Vec::<String>::new());
    Some(appended.sequence)
}

#[test]
fn whatever_is_recorded_is_read_again() {
    for seed in seeds(60) {
        let _replays = Replays(seed);
        let mut rng = Rng::new(seed);
        let folder = common::folder();
        let kind = endings(&mut rng);
        let mut stores: Vec<Store> =
            (0..2).map(|at| Store::new(folder.path(), format!("process {at}"))).collect();
        let mut documents: Vec<Live> = (0..2)
            .map(|at| Live::new(name_in(folder.path(), &format!("d{at}/a.txt")), &text(&mut rng, kind, 12)))
            .collect();
        let mut moments: Vec<(usize, Sequence, Live)> = Vec::new();
        let mut count = 0;
        for _ in 0..6 + rng.below(25) {
            let at = rng.below(2);
            if rng.chance(15) {
                stores[at] = Store::new(folder.path(), format!("another process {at}"));
            }
            let which = rng.below(2);
            let live = &mut documents[which];
            let earlier: Vec<Sequence> =
                moments.iter().filter(|(of, ..)| *of == which).map(|(_, sequence, _)| *sequence).collect();
            if !earlier.is_empty() && rng.chance(10) {
                // The file is again as it was at some moment.
                let file = stores[at].document(&live.name).unwrap().file;
                let then = stores[at].file_as_of(file, *rng.pick(&earlier)).unwrap();
                let then = then.weave().unwrap();
                live.weave = live.weave.returned_to(then).unwrap();
                assert_eq!(live.weave.buffer().to_string(), then.buffer().to_string());
                stores[at].session(&NoFiles).unwrap().append(&live.draft(None)).unwrap();
            }
            if let Some(sequence) = step(&mut rng, &stores[at], live, kind, &mut count) {
                assert_recorded(&stores[rng.below(2)], live);
                moments.push((which, sequence, live.clone()));
            }
        }
        let store = Store::new(folder.path(), "the last process");
        for (which, sequence, live) in &moments {
            let Ok(now) = store.document(&documents[*which].name) else { continue };
            let then = store.file_as_of(now.file, *sequence).unwrap();
            assert_same(&live.weave, then.weave().unwrap());
            let recorded = now.recorded(&live.hash()).expect("every state is known by its hash");
            // What is saved is the buffer's text, here.
            let again = store.file_as_of(now.file, recorded.sequence).unwrap();
            assert_eq!(again.weave().unwrap().buffer().to_string(), live.weave.buffer().to_string());
        }
        let mut session = store.session(&NoFiles).unwrap();
        assert_eq!(session.repairs(), Vec::<String>::new(), "there was nothing to repair");
        assert_eq!(session.check().unwrap(), Vec::<String>::new(), "logs and diffs are as they should be");
        assert_eq!(store.damage().unwrap(), Vec::new());
    }
}

#[test]
fn logs_and_diffs_can_be_rendered_again() {
    for seed in seeds(40) {
        let _replays = Replays(seed);
        let mut rng = Rng::new(seed);
        let folder = common::folder();
        let kind = endings(&mut rng);
        let store = Store::new(folder.path(), "a process");
        let mut live = Live::new(name_in(folder.path(), "a b.txt"), &text(&mut rng, kind, 12));
        let mut count = 0;
        for _ in 0..12 {
            step(&mut rng, &store, &mut live, kind, &mut count);
        }
        let whole = files(folder.path());
        for (path, bytes) in whole.iter().filter(|(path, _)| {
            path.extension().is_some_and(|end| end == "log" || end == "diff")
                && !path.ends_with("decisions.log")
        }) {
            match rng.below(4) {
                0 => std::fs::remove_file(path).unwrap(),
                1 => std::fs::write(path, []).unwrap(),
                2 if path.extension().is_some_and(|end| end == "log") => {
                    std::fs::write(path, &bytes[..rng.below(bytes.len())]).unwrap();
                }
                _ => {}
            }
        }
        if rng.chance(50) {
            std::fs::create_dir_all(history(folder.path(), "logs")).unwrap();
            std::fs::write(history(folder.path(), "logs/stranger.log"), "{}\n").unwrap();
            std::fs::create_dir_all(history(folder.path(), "diffs/stranger")).unwrap();
            std::fs::write(history(folder.path(), "diffs/stranger/x.diff"), "?").unwrap();
        }
        Store::new(folder.path(), "another").session(&NoFiles).unwrap().check().unwrap();
        assert_same_files(&files(folder.path()), &whole);
    }
}

#[test]
fn diffs_are_what_git_and_patch_apply() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let mut applied = 0;
    for seed in seeds(60) {
        let _replays = Replays(seed);
        let mut rng = Rng::new(seed);
        let folder = common::folder();
        let kind = endings(&mut rng);
        let store = Store::new(folder.path(), "a process");
        let name = *rng.pick(&["a.txt", "a b.txt", "sub/é.txt"]);
        let mut live = Live::new(name_in(folder.path(), name), &text(&mut rng, kind, 25));
        for at in 0..4 {
            let before = live.form.to_bytes(live.weave.agent());
            let lines = live.weave.agent().line_count();
            let Some(edit) =
                live.edit(&format!("edit-{at}"), "conv", &changes(&mut rng, kind, lines), rng.chance(50))
            else {
                continue;
            };
            let after = live.form.to_bytes(live.weave.agent());
            assert_eq!(edit.hash_before, Some(FileHash::of(&before)));
            assert_eq!(edit.hash_after, Some(FileHash::of(&after)));
            let mut session = store.session(&NoFiles).unwrap();
            session.append(&live.draft(Some(edit))).unwrap();
            assert_eq!(session.finish(), Vec::<String>::new());
            let diff = store.diff(&"conv".into(), &format!("edit-{at}").as_str().into()).unwrap().unwrap();
            if before == after || live.form.bom {
                continue;
            }
            for (program, arguments) in [
                ("git", &["apply", "--unidiff-zero", "--whitespace=nowarn", "-"][..]),
                ("patch", &["-p1", "-s", "--binary"]),
            ] {
                if !has(program) {
                    continue;
                }
                let place = common::folder();
                let file = place.path().join(name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, &before).unwrap();
                std::fs::write(place.path().join("the.diff"), &diff).unwrap();
                let mut command = Command::new(program);
                command
                    .current_dir(place.path())
                    .args(arguments)
                    .env("GIT_CEILING_DIRECTORIES", place.path().parent().unwrap());
                command.stdin(std::fs::File::open(place.path().join("the.diff")).unwrap());
                let output = command.output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr).into_owned()
                    + &String::from_utf8_lossy(&output.stdout);
                assert!(
                    output.status.success(),
                    "{program}: {said}\n{diff:?}\n{:?}",
                    String::from_utf8_lossy(&before)
                );
                let found = std::fs::read(&file).unwrap_or_default();
                assert_eq!(
                    String::from_utf8_lossy(&found),
                    String::from_utf8_lossy(&after),
                    "{program}: {diff:?}"
                );
                applied += 1;
            }
        }
    }
    assert!(applied > 0 || !has("git") && !has("patch"), "no diff was applied");
}
