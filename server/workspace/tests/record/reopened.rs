//! What was decided and not saved is asked for again; what was saved stays decided (rule W16).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once};

use hashline_history::{Allow, Decision, Location, Probe, Status, Step};
use hashline_text::{DocVersion, Encoding};
use hashline_workspace::agent::{FileAction, FileRequest};
use hashline_workspace::disk::{DiskError, Roots};
use hashline_workspace::document::{Cause, Choice, ContentChange, HunkState, Mode, Reports, Target};
use hashline_workspace::{Histories, OpenElsewhere, Others, Refusal, Settings, Workspace};

use crate::desk::{Desk, Op, agent, request};
use crate::faults::{Breaks, Fault};
use crate::strangers::Strangers;

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n";
const ASKED_AGAIN: &str = "had not been saved";

fn desk() -> Desk {
    Desk::new(&[("a.txt", FILE)])
}

const TWO: Op<'static> = Op::Replace(1, 2, "2");

#[tokio::test]
async fn an_acceptance_that_was_closed_unsaved_is_asked_for_again() {
    let mut desk = desk();
    desk.open("a.txt");
    let edit = desk.edit("a.txt", &[TWO]).await;
    assert_eq!(desk.accept(&edit).await, []);
    assert_eq!(desk.text("a.txt"), EDITED);
    desk.settle();
    assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer));
    desk.close("a.txt");
    desk.settle();
    assert_eq!(desk.state(&edit), None, "it may be opened again in a moment");
    desk.until("the question", |desk| desk.state(&edit) == Some((HunkState::Held, Decision::Undecided)))
        .await;
    assert!(desk.was_told(ASKED_AGAIN));
    desk.until("its record", |desk| desk.recorded("a.txt", &edit) == (Decision::Undecided, Location::None))
        .await;
    assert_eq!(desk.stored("a.txt"), FILE);
    // And it can be decided.
    assert_eq!(desk.accept(&edit).await, []);
    assert_eq!(desk.stored("a.txt"), EDITED);
}

#[tokio::test]
async fn an_acceptance_whose_editor_vanished_is_asked_for_again() {
    for recorded in [true, false] {
        for opened in [true, false] {
            let breaks = Arc::new(Breaks::default());
            let histories = Histories::of("a test").with_probe(breaks.clone());
            let mut desk = Desk::with(&[("a.txt", FILE)], histories);
            desk.open("a.txt");
            let edit = desk.edit("a.txt", &[TWO]).await;
            let accept = request(Choice::Accept, Target::Edit(edit.edit.to_string()));
            assert_eq!(desk.workspace.decide(None, &accept).await.refused, []);
            if !recorded {
                // That it is wanted is recorded by now.
                breaks.arm(Fault::From(std::io::ErrorKind::Other), 0);
            }
            assert!(desk.deliver("a.txt"));
            desk.settle();
            assert_eq!(desk.recorded("a.txt", &edit).0 == Decision::Accepted, recorded);
            let mut desk = match opened {
                false => desk.restarted(),
                true => {
                    let mut next = desk.restarted();
                    next.open("a.txt");
                    next
                }
            };
            assert_eq!(desk.state(&edit), Some((HunkState::Held, Decision::Undecided)));
            // Of what nobody recorded nobody can tell.
            assert_eq!(desk.was_told(ASKED_AGAIN), recorded);
            assert_eq!(desk.stored("a.txt"), FILE);
            assert_eq!(desk.status("a.txt", &edit), Status::Pending);
            assert_eq!(desk.accept(&edit).await, []);
            match opened {
                true => assert_eq!(desk.text("a.txt"), EDITED),
                false => assert_eq!(desk.stored("a.txt"), EDITED),
            }
        }
    }
}

#[tokio::test]
async fn a_rejection_in_the_buffer_that_was_not_saved_is_asked_for_again() {
    for by_edit_of_disk in [true, false] {
        let mut desk = desk();
        let edit;
        if by_edit_of_disk {
            edit = desk.edit("a.txt", &[TWO]).await;
            assert_eq!(desk.stored("a.txt"), EDITED);
            desk.open("a.txt");
        } else {
            desk.workspace.set_settings(Settings { open: Mode::Apply, ..Settings::default() });
            desk.open("a.txt");
            edit = desk.edit("a.txt", &[TWO]).await;
            desk.deliver("a.txt");
            desk.save("a.txt");
        }
        assert_eq!(desk.state(&edit), Some((HunkState::InText, Decision::Undecided)));
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Undecided, Location::Disk));
        assert_eq!(desk.reject(&edit).await, []);
        assert_eq!(desk.text("a.txt"), FILE);
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Rejected, Location::None));
        let mut desk = desk.restarted();
        assert_eq!(desk.state(&edit), Some((HunkState::InText, Decision::Undecided)));
        assert!(desk.was_told(ASKED_AGAIN));
        assert_eq!(desk.stored("a.txt"), EDITED);
        assert_eq!(desk.reject(&edit).await, []);
        assert_eq!(desk.stored("a.txt"), FILE);
        let desk = desk.restarted();
        assert_eq!(desk.state(&edit), None);
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Rejected, Location::None));
    }
}

#[tokio::test]
async fn what_was_saved_stays_decided_whatever_is_checked_out() {
    for open in [true, false] {
        let mut desk = desk();
        desk.open("a.txt");
        let taken = desk.edit("a.txt", &[TWO]).await;
        let refused = desk.edit("a.txt", &[Op::Replace(6, 7, "7")]).await;
        assert_eq!(desk.accept(&taken).await, []);
        assert_eq!(desk.reject(&refused).await, []);
        desk.save("a.txt");
        assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Disk));
        if !open {
            desk.close_for_good("a.txt").await;
        }
        for (stored, restart) in [(FILE, false), (EDITED, false), (FILE, true), (EDITED, true)] {
            desk.write("a.txt", stored);
            if restart {
                desk = desk.restarted();
                if open {
                    desk.open("a.txt");
                }
            } else if open {
                // The editor reloads it.
                desk.close("a.txt");
                desk.open("a.txt");
            }
            let read = desk.read("a.txt").await.0.to_string();
            assert_eq!(read, stored, "{open} {restart}: agents see what there is");
            desk.settle();
            let left = desk.workspace.reviews();
            assert_eq!(left.len(), 0, "{open} {restart} {stored:?} {left:?} {:?}", desk.told());
            assert_eq!(desk.status("a.txt", &taken), Status::Accepted);
            assert_eq!(desk.status("a.txt", &refused), Status::Rejected);
            assert_eq!(desk.stored("a.txt"), stored);
            assert!(!desk.was_told(ASKED_AGAIN));
        }
        // It can be had again, all the same.
        if !open {
            desk.write("a.txt", FILE);
            assert_eq!(desk.accept(&taken).await, []);
            assert_eq!(desk.stored("a.txt"), EDITED);
            assert_eq!(desk.reject(&taken).await, []);
            assert_eq!(desk.stored("a.txt"), FILE);
            let desk = desk.restarted();
            assert_eq!(desk.status("a.txt", &taken), Status::Rejected);
        }
    }
}

#[tokio::test]
async fn edits_go_and_come_with_the_branch_that_they_were_made_on() {
    let mut desk = desk();
    let pending = desk.edit("a.txt", &[TWO]).await;
    let taken = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    assert_eq!(desk.accept(&taken).await, []);
    let both = desk.stored("a.txt");
    let other = "another\nbranch\nwith\nother lines\n";
    for restart in [false, true, false] {
        desk.write("a.txt", other);
        if restart {
            desk = desk.restarted();
        }
        assert_eq!(desk.read("a.txt").await.0.to_string(), other);
        assert_eq!(desk.stored("a.txt"), other);
        desk.write("a.txt", &both);
        if restart {
            desk = desk.restarted();
        }
        assert_eq!(desk.read("a.txt").await.0.to_string(), both);
        desk.settle();
        assert_eq!(desk.state(&pending), Some((HunkState::InText, Decision::Undecided)), "{:?}", desk.told());
        assert_eq!(desk.status("a.txt", &taken), Status::Accepted);
    }
    assert_eq!(desk.reject(&pending).await, []);
    assert_eq!(desk.reject(&taken).await, []);
    assert_eq!(desk.stored("a.txt"), FILE);
    assert_eq!(desk.accept(&taken).await, []);
    assert_eq!(desk.accept(&pending).await, []);
    assert_eq!(desk.stored("a.txt"), both);
}

#[tokio::test]
async fn a_held_edit_that_the_file_shows_is_accepted() {
    for restart in [true, false] {
        let mut desk = desk();
        desk.open("a.txt");
        let edit = desk.edit("a.txt", &[TWO]).await;
        let other = desk.edit("a.txt", &[Op::Replace(6, 7, "7")]).await;
        if restart {
            desk.write("a.txt", EDITED);
            desk = desk.restarted();
        } else {
            desk.close("a.txt");
            desk.write("a.txt", EDITED);
            desk.read("a.txt").await;
            desk.settle();
        }
        assert_eq!(desk.state(&edit), None);
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Disk));
        assert_eq!(desk.state(&other), Some((HunkState::Held, Decision::Undecided)));
        assert_eq!(desk.reject(&edit).await, []);
        assert_eq!(desk.stored("a.txt"), FILE);
    }
}

#[tokio::test]
async fn a_reload_changes_nothing() {
    let mut desk = desk();
    desk.open("a.txt");
    let taken = desk.edit("a.txt", &[TWO]).await;
    let held = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    assert_eq!(desk.accept(&taken).await, []);
    for _ in 0..3 {
        desk.close("a.txt");
        desk.open_as("a.txt", EDITED);
    }
    desk.settle();
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    desk.settle();
    assert_eq!(desk.state(&taken), None);
    assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Buffer));
    assert_eq!(desk.state(&held), Some((HunkState::Held, Decision::Undecided)));
    assert!(!desk.was_told(ASKED_AGAIN));
    desk.save("a.txt");
    assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Disk));
    // A reload that throws the unsaved text away is another thing.
    assert_eq!(desk.reject(&taken).await, []);
    desk.close("a.txt");
    desk.open("a.txt");
    desk.settle();
    assert_eq!(desk.state(&taken), Some((HunkState::InText, Decision::Undecided)), "{:?}", desk.told());
}

#[tokio::test]
async fn an_editor_that_kept_its_unsaved_text_goes_on_where_it_was() {
    // What was typed is recorded with the acceptance, or lost with the process.
    for (offered, recorded) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut desk = desk();
        desk.open("a.txt");
        let taken = desk.edit("a.txt", &[TWO]).await;
        let held = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
        assert_eq!(desk.accept(&taken).await, []);
        let typed = format!("typed\n{EDITED}");
        if !recorded {
            desk.settle();
        }
        desk.becomes("a.txt", &typed);
        desk.settle();
        let mut desk = match offered {
            true => desk.restarted(),
            false => {
                let (folder, settings) = (desk.folder.clone(), desk.settings.clone());
                drop(desk);
                let mut next = Desk::over(folder, settings, Histories::of("a test"));
                next.open_as("a.txt", &typed);
                next
            }
        };
        if offered {
            desk.open_as("a.txt", &typed);
        }
        desk.settle();
        assert_eq!(desk.text("a.txt"), typed);
        assert_eq!(desk.state(&taken), None, "{offered} {:?}", desk.told());
        assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Buffer));
        assert_eq!(desk.state(&held), Some((HunkState::Held, Decision::Undecided)));
        assert_eq!(desk.accept(&held).await, []);
        assert_eq!(desk.text("a.txt"), "typed\none\n2\nthree\nfour\n5\nsix\nseven\neight\n");
        desk.save("a.txt");
        assert_eq!(desk.recorded("a.txt", &held), (Decision::Accepted, Location::Disk));
        assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Disk));
    }
}

#[tokio::test]
async fn what_is_opened_while_its_file_is_looked_at_is_not_judged_by_the_file() {
    let mut desk = desk();
    desk.open("a.txt");
    let taken = desk.edit("a.txt", &[TWO]).await;
    assert_eq!(desk.accept(&taken).await, []);
    desk.settle();
    let roots = Roots::open([desk.folder.path()]).unwrap();
    let (next, _events) = Workspace::new(roots.clone(), Settings::default(), Histories::of("the next"));
    let (workspace, uri, once) = (next.clone(), desk.uri("a.txt"), Once::new());
    // The editor opens it with the text that it has kept, just when it is asked who has the file.
    next.mind(Arc::new(Strangers(move |_: &Path| {
        once.call_once(|| workspace.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, EDITED));
        OpenElsewhere::No
    })));
    next.set_roots(roots);
    next.settle_record();
    next.settle_record();
    assert_eq!(next.text_of(&desk.uri("a.txt")).unwrap().1.to_string(), EDITED);
    assert_eq!(next.reviews().len(), 0);
    assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Buffer));
}

/// Does something in the very moment in which something is recorded.
#[derive(Default)]
struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Probe for Meanwhile {
    fn step(&self, step: Step, path: &str) -> Allow {
        if matches!(step, Step::Write(_)) && path.contains("decisions.log") {
            let act = self.0.lock().unwrap().take();
            act.into_iter().for_each(|act| act());
        }
        Allow::All
    }
}

#[tokio::test]
async fn a_text_that_is_read_again_while_another_one_comes_back_is_looked_up() {
    let mut desk = desk();
    desk.open("a.txt");
    let refused = desk.edit("a.txt", &[TWO]).await;
    for decision in [Choice::Accept, Choice::Reject] {
        assert_eq!(desk.decides(decision, Target::Edit(refused.edit.to_string())).await, []);
        desk.save("a.txt");
    }
    let held = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    desk.settle();
    let meanwhile = Arc::new(Meanwhile::default());
    let mut desk = desk.restarted_with(Histories::of("a test").with_probe(meanwhile.clone()));
    desk.workspace.set_reports(Reports::Causes);
    let (workspace, uri, path) = (desk.workspace.clone(), desk.uri("a.txt"), desk.path("a.txt"));
    *meanwhile.0.lock().unwrap() = Some(Box::new(move || {
        std::fs::write(path, EDITED).unwrap();
        let change = ContentChange { span: None, text: EDITED.to_owned() };
        workspace.did_cause(&uri, DocVersion(2), Cause::Reload);
        workspace.did_change(&uri, DocVersion(2), &[change]).unwrap();
    }));
    desk.open("a.txt");
    assert_eq!(desk.workspace.text_of(&desk.uri("a.txt")).unwrap().1.to_string(), EDITED);
    // What is in a text that is found is not rejected.
    let again = Some((HunkState::InText, Decision::Undecided));
    desk.until("the question", |desk| desk.state(&refused) == again).await;
    assert_eq!(desk.state(&held), Some((HunkState::Held, Decision::Undecided)));
}

/// Another process that has every file open.
struct HasAll;

impl Others for HasAll {
    fn has(&self, _: &Path) -> OpenElsewhere {
        OpenElsewhere::Yes
    }

    fn answer_for(&self, _: &Path) -> bool {
        true
    }

    fn roots(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn own_name(&self) -> Option<&str> {
        None
    }

    fn editor_of(&self, _: &str) -> Option<String> {
        None
    }
}

#[tokio::test]
async fn what_another_process_has_open_is_not_judged_by_its_file() {
    let mut desk = desk();
    desk.open("a.txt");
    let taken = desk.edit("a.txt", &[TWO]).await;
    let held = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    assert_eq!(desk.accept(&taken).await, []);
    desk.settle();
    let roots = Roots::open([desk.folder.path()]).unwrap();
    let (other, _events) = Workspace::new(roots.clone(), Settings::default(), Histories::of("another"));
    other.mind(Arc::new(HasAll));
    other.set_roots(roots);
    other.settle_record();
    other.settle_record();
    assert!(other.reviews().is_empty());
    assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Buffer));
    desk.save("a.txt");
    assert_eq!(desk.recorded("a.txt", &taken), (Decision::Accepted, Location::Disk));
    assert_eq!(desk.state(&held), Some((HunkState::Held, Decision::Undecided)));
}

#[tokio::test]
async fn what_was_saved_stays_decided_though_the_save_was_not_recorded() {
    for opened in [true, false] {
        let mut desk = desk();
        desk.open("a.txt");
        let edit = desk.edit("a.txt", &[TWO]).await;
        assert_eq!(desk.accept(&edit).await, []);
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Buffer));
        // The editor writes the file, and everything ends before it can tell.
        desk.write("a.txt", EDITED);
        let mut desk = desk.restarted();
        match opened {
            true => desk.open("a.txt"),
            false => drop(desk.read("a.txt").await),
        }
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Accepted, Location::Disk), "{opened}");
        // Days later, a checkout.
        desk.write("a.txt", FILE);
        let mut desk = desk.restarted();
        desk.read("a.txt").await;
        desk.settle();
        assert_eq!(desk.status("a.txt", &edit), Status::Accepted, "{opened}");
        assert!(!desk.was_told(ASKED_AGAIN), "{opened}");
    }
}

#[tokio::test]
async fn what_something_else_writes_accepts_nothing_that_was_refused() {
    for withdrawn in [false, true] {
        let mut desk = desk();
        let edit = desk.edit("a.txt", &[TWO]).await;
        let refused = match withdrawn {
            true => {
                desk.workspace.withdraw(&agent("tester"), edit.edit.as_str()).await.unwrap();
                Decision::Withdrawn
            }
            false => {
                assert_eq!(desk.reject(&edit).await, []);
                Decision::Rejected
            }
        };
        assert_eq!(desk.stored("a.txt"), FILE);
        desk.write("a.txt", format!("{EDITED}nine\n"));
        let desk = desk.restarted();
        desk.read("a.txt").await;
        desk.settle();
        assert_eq!(desk.recorded("a.txt", &edit).0, refused);
    }
}

#[tokio::test]
async fn a_file_that_something_else_removed_is_not_there() {
    let mut desk = desk();
    // Only what has not just been written is known by its stamp.
    let old = desk.path("a.txt");
    let age = move || std::fs::metadata(&old).unwrap().modified().unwrap().elapsed().unwrap_or_default();
    desk.until("an old file", |_| age() > std::time::Duration::from_millis(2100)).await;
    desk.read("a.txt").await;
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    let path = desk.path("a.txt").display().to_string();
    assert!(!desk.workspace.has_file(&agent("tester"), &path).await.unwrap());
    assert!(matches!(desk.try_read("a.txt").await, Err(Refusal::Disk(DiskError::NotFound { .. }))));
    let again = FileRequest {
        path,
        change: FileAction::Create(FILE.into()),
        conversation: None,
        tool: "write_file".into(),
        reason: None,
    };
    desk.workspace.change_file(&agent("tester"), again).await.unwrap();
    assert_eq!(desk.stored("a.txt"), FILE);
}

/// What its agent takes back of an open text leaves it when the editor has carried that out. Nobody writes a file that was closed before that:
/// the withdrawal waits until it is opened again, or its agent asks again.
#[tokio::test]
async fn a_withdrawal_outlives_the_window_that_it_was_for() {
    for opened in [true, false] {
        let mut desk = desk();
        desk.workspace.set_settings(Settings { open: Mode::Apply, ..Settings::default() });
        desk.open("a.txt");
        let edit = desk.edit("a.txt", &[TWO]).await;
        assert!(desk.deliver("a.txt"));
        desk.save("a.txt");
        desk.workspace.withdraw(&agent("tester"), edit.edit.as_str()).await.unwrap();
        desk.close_for_good("a.txt").await;
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Undecided, Location::Disk));
        assert_eq!(desk.stored("a.txt"), EDITED);
        if opened {
            desk.open("a.txt");
            assert!(desk.deliver("a.txt"));
            desk.save("a.txt");
        } else {
            desk.workspace.withdraw(&agent("tester"), edit.edit.as_str()).await.unwrap();
        }
        assert_eq!(desk.recorded("a.txt", &edit), (Decision::Withdrawn, Location::None));
        assert_eq!(desk.stored("a.txt"), FILE);
    }
}
