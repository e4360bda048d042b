//! A history that was damaged, forged or locked away: nothing outside is touched, and the person is told in plain words.

use std::os::unix::fs::{PermissionsExt, symlink};

use hashline_history::{Decision, Status};
use hashline_workspace::document::{Choice, HunkState, Target, Why};
use hashline_workspace::{Histories, Refusal};

use crate::desk::{Desk, Op, request};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";
const TWO: Op<'static> = Op::Replace(1, 2, "2");

fn desk() -> Desk {
    Desk::new(&[("a.txt", FILE), ("b.txt", FILE)])
}

/// Rewrites the record, line by line.
fn rewrite(desk: &Desk, with: impl Fn(usize, &str) -> Option<String>) {
    let record = desk.history().join("decisions.log");
    let lines = std::fs::read_to_string(&record).unwrap();
    let lines: String =
        lines.lines().enumerate().filter_map(|(at, line)| with(at, line)).map(|line| line + "\n").collect();
    std::fs::write(record, lines).unwrap();
}

#[tokio::test]
async fn a_damaged_line_costs_what_rests_on_it_and_nothing_else() {
    for damage in ["{\"seq\":2,", "nonsense", "", "\u{0}\u{0}\u{0}\u{0}"] {
        let desk = desk();
        let edit = desk.edit("a.txt", &[TWO]).await;
        let other = desk.edit("b.txt", &[TWO]).await;
        desk.workspace.settle_record();
        let count = std::fs::read_to_string(desk.history().join("decisions.log")).unwrap().lines().count();
        assert!(count >= 5);
        // The first transaction of a.txt.
        rewrite(&desk, |at, line| Some(if at == 1 { damage.to_owned() } else { line.to_owned() }));
        let mut desk = desk.restarted();
        let stored = desk.stored("a.txt");
        assert_ne!(desk.reject(&edit).await, [], "{damage:?}");
        assert_eq!(desk.stored("a.txt"), stored, "{damage:?}");
        // The other file is as before, and this one can be read and edited.
        assert_eq!(desk.reject(&other).await, [], "{damage:?}");
        assert_eq!(desk.stored("b.txt"), FILE, "{damage:?}");
        assert_eq!(desk.try_read("a.txt").await.unwrap().0.to_string(), stored, "{damage:?}");
        let again = desk.try_edit("a.txt", &[Op::Replace(3, 4, "4")]).await;
        if let Err(refused) = &again {
            assert!(refused.to_string().contains("a.txt"), "{damage:?}: {refused}");
        }
        let store = hashline_history::Store::new(desk.folder.path(), "a look");
        assert!(!store.damage().unwrap().is_empty(), "{damage:?}");
        assert!(desk.was_told("is damaged") && desk.was_told("line 2"), "{damage:?}: {:?}", desk.told());
    }
}

#[tokio::test]
async fn half_a_line_is_cut_off_and_told() {
    let desk = desk();
    let own = desk.edit("a.txt", &[TWO]).await;
    let record = desk.history().join("decisions.log");
    let mut bytes = std::fs::read(&record).unwrap();
    bytes.extend_from_slice(b"{\"seq\":99,\"time\":\"2026-");
    std::fs::write(&record, bytes).unwrap();
    let mut desk = desk.restarted();
    assert_eq!(desk.reject(&own).await, []);
    assert_eq!(desk.stored("a.txt"), FILE);
    assert!(desk.was_told("half a line"), "{:?}", desk.told());
}

#[tokio::test]
async fn a_write_that_broke_off_is_told_at_the_next_start() {
    let mut desk = desk();
    desk.edit("b.txt", &[TWO]).await;
    let edit = desk.edit("a.txt", &[TWO]).await;
    assert_eq!(desk.accept(&edit).await, []);
    // The process ended after its intent and before its write.
    let last = desk.edit("a.txt", &[Op::Replace(4, 5, "5")]).await;
    let lines = std::fs::read_to_string(desk.history().join("decisions.log")).unwrap().lines().count();
    rewrite(&desk, |at, line| (at + 1 < lines).then(|| line.to_owned()));
    let stored = desk.stored("a.txt");
    desk.write("a.txt", stored.replace("\n5\n", "\nfive\n"));
    let mut desk = desk.restarted();
    desk.until("the repair", |desk| desk.was_told("was taken back")).await;
    assert_eq!(desk.stored("a.txt"), "one\n2\nthree\nfour\nfive\nsix\n");
    assert_eq!(desk.status("a.txt", &edit), Status::Accepted);
    assert_eq!(desk.past("a.txt").edit(&last.edit).unwrap().hunks[0].decision, Decision::Withdrawn);
    assert_eq!(desk.state(&last), None);
    assert_eq!(desk.reject(&edit).await, []);
    assert_eq!(desk.stored("a.txt"), FILE);
}

#[tokio::test]
async fn forged_paths_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, FILE.replace("two", "2")).unwrap();
    for forged in [
        secret.display().to_string(),
        "../secret.txt".into(),
        ".mcp/edit_history/decisions.log".into(),
        "link/secret.txt".into(),
        ".git/config".into(),
    ] {
        let desk = desk();
        symlink(outside.path(), desk.path("link")).unwrap();
        std::fs::create_dir(desk.path(".git")).unwrap();
        std::fs::write(desk.path(".git/config"), FILE.replace("two", "2")).unwrap();
        let edit = desk.edit("a.txt", &[TWO]).await;
        desk.workspace.settle_record();
        rewrite(&desk, |_, line| Some(line.replace("\"a.txt\"", &format!("{forged:?}"))));
        let config = std::fs::read(desk.path(".git/config")).unwrap();
        let mut desk = desk.restarted();
        assert_ne!(desk.reject(&edit).await, [], "{forged}");
        assert_ne!(desk.accept(&edit).await, [], "{forged}");
        let _ = desk.try_edit("a.txt", &[Op::Replace(3, 4, "4")]).await;
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), FILE.replace("two", "2"), "{forged}");
        assert_eq!(std::fs::read(desk.path(".git/config")).unwrap(), config, "{forged}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "{forged}");
    }
}

#[tokio::test]
async fn a_hostile_conversation_is_refused() {
    let desk = desk();
    let read = desk.read("a.txt").await;
    for id in ["../../a", "a/b", "..", "", ".hidden", "a\\b", "a\u{0}", "C:x", &"x".repeat(200)] {
        let refused = desk.edit_as("tester", Some(id), "a.txt", &read, &[TWO]).await;
        assert!(matches!(refused, Err(Refusal::BadConversation(_))), "{id:?}: {refused:?}");
    }
    assert_eq!(desk.stored("a.txt"), FILE);
    assert!(!desk.path(".mcp").exists(), "nothing was recorded");
}

#[tokio::test]
async fn a_link_in_place_of_the_history_is_not_followed() {
    for way in [".mcp", ".mcp/edit_history", ".mcp/edit_history/decisions.log", ".mcp/edit_history/logs"] {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("target");
        if way.ends_with(".log") {
            std::fs::write(&target, "theirs\n").unwrap();
        } else {
            std::fs::create_dir(&target).unwrap();
        }
        let mut desk = desk();
        std::fs::create_dir_all(desk.path(way).parent().unwrap()).unwrap();
        symlink(&target, desk.path(way)).unwrap();
        let done = desk.try_edit("a.txt", &[TWO]).await;
        match done {
            Err(refused) => {
                assert!(refused.to_string().contains("is not what belongs there"), "{way}: {refused}");
                assert_eq!(desk.stored("a.txt"), FILE, "{way}");
            }
            // The logs are for readers; what cannot be written there is told.
            Ok(_) => assert!(
                way.ends_with("logs") && desk.was_told("is not what belongs there"),
                "{way}: {:?}",
                desk.told()
            ),
        }
        if target.is_dir() {
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "{way}");
        } else {
            assert_eq!(std::fs::read_to_string(&target).unwrap(), "theirs\n", "{way}");
        }
        // An open document says so as well, and can still be read.
        desk.open("b.txt");
        assert_eq!(desk.read("b.txt").await.0.to_string(), FILE, "{way}");
        if way != ".mcp/edit_history/logs" {
            let refused = desk.try_edit("b.txt", &[TWO]).await.unwrap_err().to_string();
            assert!(refused.contains("is not what belongs there"), "{way}: {refused}");
            assert!(desk.workspace.reviews().is_empty(), "{way}");
        }
    }
}

#[tokio::test]
async fn a_history_that_may_not_be_written_refuses_and_can_be_read() {
    let desk = desk();
    let edit = desk.edit("a.txt", &[TWO]).await;
    let folder = desk.history();
    let lock = |mode: u32, file_mode: u32| {
        for entry in std::fs::read_dir(&folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            std::fs::set_permissions(entry.path(), PermissionsExt::from_mode(file_mode)).unwrap();
        }
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
    };
    lock(0o500, 0o400);
    if std::fs::write(folder.join("try"), "").is_ok() {
        // Who may do everything is not kept out: the steps that fail are played elsewhere.
        std::fs::remove_file(folder.join("try")).unwrap();
        lock(0o700, 0o600);
        return;
    }
    let mut desk = desk.restarted_with(Histories::of("a test"));
    assert_eq!(desk.state(&edit), Some((HunkState::InText, Decision::Undecided)));
    let refused = desk.decide(&request(Choice::Reject, Target::Edit(edit.edit.to_string()))).await.refused;
    assert_eq!(refused[0].why, Why::Failed);
    assert!(refused[0].message.contains("read-only"), "{}", refused[0].message);
    assert!(desk.try_edit("b.txt", &[TWO]).await.unwrap_err().to_string().contains("read-only"));
    assert_eq!(desk.stored("b.txt"), FILE);
    lock(0o700, 0o600);
    assert_eq!(desk.reject(&edit).await, []);
    assert_eq!(desk.stored("a.txt"), FILE);
}

#[tokio::test]
async fn lines_that_read_well_and_cannot_be_so_cost_their_document_and_nothing_else() {
    type Forge = fn(&mut serde_json::Value);
    // What a hunk removes, who made its lines, and which they are.
    let forgeries: [Forge; 3] = [
        |run| {
            if run[2].is_null() {
                run[3] = serde_json::json!([0]);
            }
        },
        |run| run[2] = serde_json::json!(0),
        |run| run[3] = serde_json::json!([]),
    ];
    for (which, forge) in forgeries.into_iter().enumerate() {
        let mut desk = desk();
        desk.open("a.txt");
        desk.edit("a.txt", &[TWO]).await;
        let other = desk.edit("b.txt", &[TWO]).await;
        desk.settle();
        rewrite(&desk, |_, line| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            if value["document"].to_string().contains("b.txt") {
                return Some(line.to_owned());
            }
            for way in ["/delta/runs", "/base/weave/runs"] {
                let runs = value.pointer_mut(way).and_then(|runs| runs.as_array_mut()).into_iter().flatten();
                runs.filter(|run| run.as_array().is_some_and(|run| run.len() == 5)).for_each(forge);
            }
            Some(value.to_string())
        });
        let mut desk = desk.restarted();
        desk.open("a.txt");
        assert!(desk.was_told("cannot be shown"), "{which}: {:?}", desk.told());
        assert_eq!(desk.read("a.txt").await.0.to_string(), FILE, "{which}");
        desk.edit("a.txt", &[Op::Replace(3, 4, "4")]).await;
        assert_eq!(desk.reject(&other).await, [], "{which}");
        assert_eq!(desk.stored("b.txt"), FILE, "{which}");
    }
}
