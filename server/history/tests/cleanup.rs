//! Forgetting changes nothing of what stays.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::time::Duration;

use common::*;
use hashline_history::{Decision, Draft, Forget, OwnerChange, Pin, Status, Store};

#[test]
fn a_cleanup_changes_no_document() {
    let (mut went, mut runs) = (0, 0);
    for seed in seeds(80) {
        let _replays = Replays(seed);
        runs += 1;
        let mut rng = Rng::new(seed);
        let folder = common::folder();
        let kind = endings(&mut rng);
        let store = Store::new(folder.path(), "a process");
        let other = Store::new(folder.path(), "another process");
        let mut documents: Vec<Live> = (0..3)
            .map(|at| Live::new(name_in(folder.path(), &format!("{at}.txt")), &text(&mut rng, kind, 12)))
            .collect();
        let mut count = 0;
        for round in 0..3 {
            for _ in 0..8 {
                let live = &mut documents[rng.below(3)];
                let mut session = store.session(&NoFiles).unwrap();
                let lines = live.weave.agent().line_count();
                let changes = changes(&mut rng, kind, lines);
                count += 1;
                let conversation = format!("conv{}", rng.below(4));
                let Some(edit) = live.edit(&format!("e{count}"), &conversation, &changes, rng.chance(50))
                else {
                    continue;
                };
                session.append(&live.draft(Some(edit))).unwrap();
                for at in 0..live.hunks.len() {
                    if rng.chance(60) {
                        let decision = *rng.pick(&[Decision::Accepted, Decision::Rejected]);
                        let (decisions, locations) = live.decide(at, decision, None);
                        session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
                    }
                }
                let (span, new) = typing(&mut rng, live.weave.buffer());
                live.type_at(span, &new);
                session.append(&live.draft(None)).unwrap();
            }
            std::thread::sleep(Duration::from_millis(2));
            other.documents().unwrap();
            let whole = files(folder.path());
            let by = if rng.chance(50) { &store } else { &other };
            let planned = by.session(&NoFiles).unwrap().cleanup(&Forget::default(), true, &|_| true).unwrap();
            assert_same_files(&files(folder.path()), &whole);
            let cleaned =
                by.session(&NoFiles).unwrap().cleanup(&Forget::default(), false, &|_| true).unwrap();
            assert_eq!(planned, cleaned, "a dry run says what a real one does");
            let again = by.session(&NoFiles).unwrap().cleanup(&Forget::default(), false, &|_| true).unwrap();
            assert!(again.iter().all(|one| one.gone.is_empty()), "{again:?}");
            for one in &cleaned {
                went += one.gone.len();
                let live = documents.iter_mut().find(|live| live.name == one.document).unwrap();
                for gone in &one.gone {
                    live.hunks.retain(|hunk| hunk.edit != *gone);
                }
                match store.document(&live.name) {
                    Ok(document) => {
                        assert_same(&live.weave, document.weave().unwrap());
                        assert_eq!(document.edits.len(), one.kept);
                        let names: Vec<_> = document.hunks.iter().flatten().cloned().collect();
                        assert_eq!(names, live.hunks);
                        for hunk in &live.hunks {
                            assert_eq!(document.hunk(hunk).unwrap().decision, live.decisions[hunk].0);
                        }
                        match one.pin.as_ref().unwrap() {
                            Pin::Undecided(edit) => {
                                assert_eq!(document.edit(edit).unwrap().status(), Status::Pending);
                            }
                            pin => panic!("{pin}"),
                        }
                    }
                    Err(error) => {
                        assert_eq!((one.kept, &one.pin), (0, &None), "{error}");
                        // The owner begins anew.
                        *live = Live::new(live.name.clone(), &live.weave.buffer().to_string());
                    }
                }
            }
            let mut session = by.session(&NoFiles).unwrap();
            assert_eq!(session.repairs(), Vec::<String>::new());
            assert_eq!(session.check().unwrap(), Vec::<String>::new(), "round {round}");
            drop(session);
            let listing = store.list(None, 0, |_| true).unwrap();
            let kept: usize = cleaned.iter().map(|one| one.kept).sum();
            assert_eq!(listing.total, kept);
            let diffs = files(folder.path())
                .iter()
                .filter(|(path, _)| path.extension().is_some_and(|end| end == "diff"))
                .count();
            assert_eq!(diffs, kept);
        }
    }
    assert!(went > runs, "{went} edits in {runs} runs");
}

#[test]
fn what_is_young_stays() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\n");
    let change = hashline_weave::Change { lines: 0..1, new: vec![line("1")] };
    let edit = live.edit("e", "conv", &[change], false);
    let mut session = store.session(&NoFiles).unwrap();
    session.append(&live.draft(edit)).unwrap();
    let (decisions, locations) = live.decide(0, Decision::Rejected, None);
    session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
    let cleaned = session
        .cleanup(&Forget { older_than: Duration::from_secs(3600), down_to: None }, false, &|_| true)
        .unwrap();
    assert!(matches!(cleaned[0].pin, Some(Pin::Young(_))), "{cleaned:?}");
    assert_eq!((cleaned[0].gone.len(), cleaned[0].kept), (0, 1));
    std::thread::sleep(Duration::from_millis(2));
    let cleaned = session.cleanup(&Forget::default(), false, &|_| true).unwrap();
    assert_eq!((cleaned[0].gone.len(), cleaned[0].kept), (1, 0));
    drop(session);
    assert!(store.documents().unwrap().is_empty());
    let left: Vec<_> =
        files(folder.path()).into_iter().map(|(path, _)| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(left, [".gitignore", "decisions.log", "derived", "lock"]);
    // Numbers are not given twice.
    let mut live = Live::new(live.name, "one\n");
    let change = hashline_weave::Change { lines: 0..1, new: vec![line("1")] };
    let edit = live.edit("e", "conv", &[change], false);
    assert_eq!(store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap().sequence.0, 3);
}

/// A conversation that replaced a line of a file of its own by one of so many letters, and was decided, or not.
fn converse(store: &Store, folder: &std::path::Path, name: &str, letters: usize, decided: bool) {
    let mut live = Live::new(name_in(folder, &format!("{name}.txt")), "one\n");
    let mut session = store.session(&NoFiles).unwrap();
    append_line(&mut session, &mut live, name, letters, decided);
}

fn append_line(
    session: &mut hashline_history::Session,
    live: &mut Live,
    name: &str,
    letters: usize,
    decided: bool,
) {
    let change = hashline_weave::Change { lines: 0..1, new: vec![line(&"x".repeat(letters))] };
    let edit = live.edit(name, &format!("conv-{name}"), &[change], true);
    session.append(&live.draft(edit)).unwrap();
    if decided {
        let at = live.hunks.len() - 1;
        let (decisions, locations) = live.decide(at, Decision::Accepted, None);
        session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
    }
}

#[test]
fn the_oldest_go_until_the_history_is_small_enough() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let names: Vec<String> = (0..8).map(|at| format!("e{at}")).collect();
    for (at, name) in names.iter().enumerate() {
        // The third is undecided, and keeps nothing but its own file.
        converse(&store, folder.path(), name, 1000 + 500 * (at % 3), at != 2);
    }
    let within = |most: u64, dry: bool| {
        let forget = Forget { down_to: Some(most), ..Forget::default() };
        let mut session = store.session(&NoFiles).unwrap();
        let cleaned = session.cleanup(&forget, dry, &|_| true).unwrap();
        let gone: Vec<String> = cleaned.iter().flat_map(|one| &one.gone).map(ToString::to_string).collect();
        (gone, cleaned, session.size().unwrap())
    };
    let whole = store.session(&NoFiles).unwrap().size().unwrap();
    assert_eq!(within(whole, false).0, Vec::<String>::new());
    assert_eq!(within(whole, false).2, whole);
    let order = ["e0", "e1", "e3", "e4", "e5", "e6", "e7"];
    let mut size = whole;
    for (at, name) in order.iter().enumerate() {
        // One byte too many, and the next has to go; whatever else there is stays.
        let (gone, planned, same) = within(size - 1, true);
        assert_eq!((gone.as_slice(), same), (&[(*name).to_owned()][..], size));
        let (done, cleaned, left) = within(size - 1, false);
        assert_eq!((done, &cleaned), (gone, &planned), "a dry run says what a real one does");
        let freed: u64 = cleaned.iter().map(|one| one.freed).sum();
        assert!(left < size && left.abs_diff(size - freed) < 20, "{left} of {size}, {freed} freed");
        for one in cleaned.iter().filter(|one| one.kept > 0) {
            let undecided = one.document == name_in(folder.path(), "e2.txt");
            let spared = matches!(one.pin, Some(Pin::Spared(_)));
            assert!(if undecided { matches!(one.pin, Some(Pin::Undecided(_))) } else { spared }, "{one:?}");
        }
        assert_eq!(store.list(None, 0, |_| true).unwrap().total, names.len() - 1 - at);
        size = left;
    }
    // What is undecided stays, whatever is asked for.
    assert_eq!(within(0, false).0, Vec::<String>::new());
    assert_eq!(store.list(None, 0, |_| true).unwrap().total, 1);
}

#[test]
fn what_is_to_be_small_keeps_the_order_of_each_file_and_what_is_young() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "shared.txt"), "one\n");
    {
        let mut session = store.session(&NoFiles).unwrap();
        append_line(&mut session, &mut live, "a", 4000, true);
        append_line(&mut session, &mut live, "b", 4000, false);
        append_line(&mut session, &mut live, "c", 4000, true);
    }
    let forget = Forget { down_to: Some(0), older_than: Duration::from_secs(3600) };
    let cleaned = store.session(&NoFiles).unwrap().cleanup(&forget, false, &|_| true).unwrap();
    assert!(cleaned[0].gone.is_empty() && matches!(cleaned[0].pin, Some(Pin::Young(_))), "{cleaned:?}");
    let forget = Forget { down_to: Some(0), ..Forget::default() };
    let cleaned = store.session(&NoFiles).unwrap().cleanup(&forget, false, &|_| true).unwrap();
    assert_eq!(cleaned[0].gone, ["a".into()], "what comes behind an undecided edit stays with it");
    assert_eq!((cleaned[0].kept, &cleaned[0].pin), (2, &Some(Pin::Undecided("b".into()))));
    let document = store.document(&live.name).unwrap();
    assert_same(&live.weave, document.weave().unwrap());
    assert_eq!(document.edits.len(), 2);
}

#[test]
fn a_claim_keeps_edits_as_long_as_its_process_runs() {
    let folder = common::folder();
    let store = Store::new(folder.path(), "a process");
    let mut live = Live::new(name_in(folder.path(), "a.txt"), "one\n");
    let change = hashline_weave::Change { lines: 0..1, new: vec![line("1")] };
    let edit = live.edit("e", "conv", &[change], false);
    let mut session = store.session(&NoFiles).unwrap();
    let owner = Some(OwnerChange::Claimed("a sidecar".to_owned()));
    session.append(&Draft { owner, ..live.draft(edit) }).unwrap();
    let (decisions, locations) = live.decide(0, Decision::Rejected, None);
    session.append(&Draft { decisions, locations, ..live.draft(None) }).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    let cleaned = session.cleanup(&Forget::default(), false, &|owner| owner == "a sidecar").unwrap();
    assert_eq!(cleaned[0].pin, Some(Pin::Owned("a sidecar".to_owned())));
    assert_eq!((cleaned[0].gone.len(), cleaned[0].kept), (0, 1));
    let cleaned = session.cleanup(&Forget::default(), false, &|_| false).unwrap();
    assert_eq!((cleaned[0].gone.len(), cleaned[0].kept), (1, 0));
}
