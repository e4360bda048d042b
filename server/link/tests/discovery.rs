//! Announcing and finding sidecars: what is seen, what is skipped, what is removed and what is not.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cloned_ref_to_slice_refs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hashline_link::{Finder, Listener, Sidecar, SidecarId, StateDir, announce, discover};

struct Place {
    _temp: tempfile::TempDir,
    state: StateDir,
    run: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(&temp.path().join("state"))).unwrap();
        Self { run: temp.path().join("run"), state, _temp: temp }
    }

    fn sidecar(&self, roots: &[&str]) -> (Listener, Sidecar) {
        let id = SidecarId::random();
        let listener = Listener::bind_in(&self.run, &id).unwrap();
        let sidecar = Sidecar::new(id, &listener, "test", roots.iter().map(PathBuf::from).collect());
        (listener, sidecar)
    }

    fn file(&self, sidecar: &Sidecar) -> PathBuf {
        self.state.sidecars().join(format!("{}.json", sidecar.id))
    }

    /// Makes the folder look as if nothing had changed for a while.
    fn settle(&self) {
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(self.state.sidecars()).unwrap().set_modified(past).unwrap();
    }
}

fn ids(sidecars: &[Sidecar]) -> Vec<SidecarId> {
    sidecars.iter().map(|sidecar| sidecar.id.clone()).collect()
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let place = Place::new();
    assert!(discover(&place.state).is_empty());
    assert!(Finder::new(place.state.clone()).sidecars().is_empty());
    assert!(!place.state.path().exists(), "looking creates nothing");
}

#[tokio::test]
async fn a_sidecar_is_seen_from_its_announcement_to_its_end() {
    let place = Place::new();
    let (_listener, sidecar) = place.sidecar(&["/a"]);
    let announcement = announce(&place.state, sidecar.clone()).unwrap();
    assert_eq!(discover(&place.state), [sidecar.clone()]);

    announcement
        .update(|sidecar| {
            sidecar.roots.push("/b".into());
            sidecar.socket = "/elsewhere".into();
        })
        .unwrap();
    let found = discover(&place.state);
    assert_eq!(found[0].roots, [Path::new("/a"), Path::new("/b")]);
    assert_eq!(found[0].socket, sidecar.socket, "the socket cannot be changed");

    fs::remove_file(place.file(&sidecar)).unwrap();
    announcement.refresh().unwrap();
    assert_eq!(discover(&place.state), found);

    drop(announcement);
    assert!(discover(&place.state).is_empty());
    assert_eq!(fs::read_dir(place.state.sidecars()).unwrap().count(), 0);
}

#[tokio::test]
async fn closing_says_what_went_wrong_and_twice_is_fine() {
    let place = Place::new();
    let (_listener, sidecar) = place.sidecar(&[]);
    let announcement = announce(&place.state, sidecar.clone()).unwrap();
    fs::remove_file(place.file(&sidecar)).unwrap();
    announcement.close().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_the_users_alone() {
    use std::os::unix::fs::MetadataExt;

    let place = Place::new();
    let (_listener, sidecar) = place.sidecar(&[]);
    let announcement = announce(&place.state, sidecar.clone()).unwrap();
    announcement.update(|sidecar| sidecar.http = Some("127.0.0.1:1".to_owned())).unwrap();
    assert_eq!(fs::metadata(place.file(&sidecar)).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(place.state.sidecars()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(place.state.path()).unwrap().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_killed_sidecar_is_removed_with_its_socket_a_silent_one_is_not() {
    let place = Place::new();
    let (killed, killed_sidecar) = place.sidecar(&[]);
    let (_silent, silent_sidecar) = place.sidecar(&[]);
    // Neither file is removed by its process.
    std::mem::forget(announce(&place.state, killed_sidecar.clone()).unwrap());
    std::mem::forget(announce(&place.state, silent_sidecar.clone()).unwrap());
    drop(killed);
    // What a killed process leaves: a socket that nobody listens at.
    #[cfg(unix)]
    drop(std::os::unix::net::UnixListener::bind(&killed_sidecar.socket).unwrap());

    assert_eq!(ids(&discover(&place.state)), [silent_sidecar.id.clone()]);
    assert!(!place.file(&killed_sidecar).exists());
    assert!(!killed_sidecar.socket.exists());
    assert!(place.file(&silent_sidecar).exists());
}

#[tokio::test]
async fn the_file_of_another_machine_is_left_alone() {
    let place = Place::new();
    let (listener, mut sidecar) = place.sidecar(&[]);
    drop(listener);
    sidecar.host = "another".to_owned();
    std::mem::forget(announce(&place.state, sidecar.clone()).unwrap());

    assert!(discover(&place.state).is_empty(), "it cannot be reached");
    assert!(place.file(&sidecar).exists());

    let finder = Finder::new(place.state.clone());
    assert_eq!(ids(&finder.sidecars()), [sidecar.id.clone()]);
    finder.refused(&sidecar);
    assert!(finder.sidecars().is_empty());
    assert!(place.file(&sidecar).exists());
}

#[tokio::test]
async fn a_stale_file_never_costs_anything_but_a_socket() {
    let place = Place::new();
    let (listener, mut sidecar) = place.sidecar(&[]);
    drop(listener);
    let precious = place.state.folder("sidecars").unwrap().join("precious");
    fs::write(&precious, "text").unwrap();
    sidecar.socket.clone_from(&precious);
    std::mem::forget(announce(&place.state, sidecar.clone()).unwrap());
    let _ = discover(&place.state);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "text");
}

#[tokio::test]
async fn damaged_files_are_skipped_and_left() {
    let place = Place::new();
    let (_listener, sidecar) = place.sidecar(&[]);
    let _announcement = announce(&place.state, sidecar.clone()).unwrap();
    let folder = place.state.sidecars();
    let good = fs::read_to_string(place.file(&sidecar)).unwrap();

    fs::write(folder.join("empty-file.json"), "").unwrap();
    fs::write(folder.join("half-file.json"), &good[..good.len() / 2]).unwrap();
    fs::write(folder.join("other-name.json"), &good).unwrap();
    fs::write(folder.join("binary-file.json"), [0xff; 100]).unwrap();
    fs::write(folder.join(".tmp-file.json"), &good).unwrap();
    fs::write(folder.join("readme.txt"), &good).unwrap();
    let relative = good
        .replace(&sidecar.id.to_string(), "relative-socket")
        .replace(&serde_json::to_string(&sidecar.socket).unwrap(), "\"some.sock\"");
    fs::write(folder.join("relative-socket.json"), relative).unwrap();
    let outside = good.replace(&sidecar.id.to_string(), "../../outside");
    fs::write(folder.join("outside.json"), outside).unwrap();
    fs::create_dir(folder.join("folder.json")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.file(&sidecar), folder.join("link-file.json")).unwrap();
    let sparse = fs::File::create(folder.join("huge-file.json")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let before = fs::read_dir(&folder).unwrap().count();

    assert_eq!(discover(&place.state), [sidecar.clone()]);
    assert_eq!(*Finder::new(place.state.clone()).sidecars(), [sidecar]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), before);
}

#[cfg(unix)]
#[tokio::test]
async fn a_fifo_does_not_make_the_finder_wait() {
    let place = Place::new();
    let fifo = place.state.folder("sidecars").unwrap().join("fifo-file.json");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(discover(&place.state).is_empty());
}

#[tokio::test]
async fn fields_of_a_later_release_are_ignored_and_missing_ones_have_defaults() {
    let place = Place::new();
    let (_listener, sidecar) = place.sidecar(&[]);
    let mut json = serde_json::to_value(&sidecar).unwrap();
    let fields = json.as_object_mut().unwrap();
    fields.insert("colour".to_owned(), "red".into());
    fields.remove("http");
    let folder = place.state.folder("sidecars").unwrap();
    fs::write(folder.join(format!("{}.json", sidecar.id)), json.to_string()).unwrap();
    assert_eq!(discover(&place.state), [sidecar]);
}

#[tokio::test]
async fn the_finder_sees_each_change_and_keeps_its_list_otherwise() {
    let place = Place::new();
    let finder = Finder::new(place.state.clone());
    assert!(finder.sidecars().is_empty());

    let (_one, first) = place.sidecar(&["/a"]);
    let announced = announce(&place.state, first.clone()).unwrap();
    assert_eq!(ids(&finder.sidecars()), [first.id.clone()]);

    // Changes within one tick of the clock are seen as well.
    for n in 0..50 {
        announced.update(|sidecar| sidecar.roots = vec![format!("/{n}").into()]).unwrap();
        assert_eq!(finder.sidecars()[0].roots, [PathBuf::from(format!("/{n}"))]);
    }

    place.settle();
    let list = finder.sidecars();
    assert!(Arc::ptr_eq(&list, &finder.sidecars()));
    // Nothing is read while the folder stays the same: a file changed in place goes unseen.
    let file = place.file(&first);
    let text = fs::read_to_string(&file).unwrap().replace("\"test\"", "\"edited\"");
    fs::write(&file, text).unwrap();
    assert_eq!(finder.sidecars()[0].editor, "test");

    let (_two, second) = place.sidecar(&["/b"]);
    let _second = announce(&place.state, second.clone()).unwrap();
    assert_eq!(finder.sidecars().len(), 2);
    place.settle();
    assert_eq!(finder.sidecars().len(), 2);
    drop(announced);
    assert_eq!(ids(&finder.sidecars()), [second.id]);
}

#[tokio::test]
async fn the_finder_forgets_who_refused() {
    let place = Place::new();
    let (listener, sidecar) = place.sidecar(&[]);
    std::mem::forget(announce(&place.state, sidecar.clone()).unwrap());
    place.settle();
    let finder = Finder::new(place.state.clone());
    assert_eq!(finder.sidecars().len(), 1);
    drop(listener);
    assert_eq!(finder.sidecars().len(), 1, "nobody has tried it yet");
    finder.refused(&sidecar);
    assert!(finder.sidecars().is_empty());
    assert!(!place.file(&sidecar).exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_come_and_go_at_once() {
    let place = Arc::new(Place::new());
    let (_steady, steady) = place.sidecar(&[]);
    let _announcement = announce(&place.state, steady.clone()).unwrap();

    let coming = (0..8).map(|_| {
        let place = Arc::clone(&place);
        tokio::spawn(async move {
            for n in 0..25 {
                let (listener, sidecar) = place.sidecar(&["/a"]);
                let announcement = announce(&place.state, sidecar.clone()).unwrap();
                announcement.update(|sidecar| sidecar.roots.push(format!("/{n}").into())).unwrap();
                assert!(discover(&place.state).iter().any(|found| found.id == sidecar.id));
                // Half of them die, half of them leave.
                if n % 2 == 0 {
                    std::mem::forget(announcement);
                } else {
                    announcement.close().unwrap();
                }
                drop(listener);
                tokio::task::yield_now().await;
            }
        })
    });
    let coming: Vec<_> = coming.collect();
    let finder = Finder::new(place.state.clone());
    for task in coming {
        assert!(finder.sidecars().iter().any(|found| found.id == steady.id));
        task.await.unwrap();
    }
    assert_eq!(discover(&place.state), [steady]);
    assert_eq!(fs::read_dir(place.state.sidecars()).unwrap().count(), 1);
}

#[tokio::test]
async fn the_innermost_root_holds_a_path() {
    let place = Place::new();
    let (_listener, sidecar) = place.sidecar(&["/a", "/a/b", "/ab"]);
    for (path, root) in [("/a/x", Some("/a")), ("/a/b/x", Some("/a/b")), ("/abc", None), ("/ab", Some("/ab"))]
    {
        assert_eq!(sidecar.root_of(Path::new(path)), root.map(Path::new), "{path}");
    }
}

#[tokio::test]
async fn the_socket_lies_in_a_private_folder_that_the_file_names() {
    let place = Place::new();
    let id = SidecarId::random();
    let listener = Listener::bind(&place.state, &id).unwrap();
    let sidecar = Sidecar::new(id.clone(), &listener, "test", Vec::new());
    assert_eq!(sidecar.socket, listener.address());
    assert!(sidecar.socket.to_string_lossy().contains(&id.as_str()[..16]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let folder = fs::symlink_metadata(sidecar.socket.parent().unwrap()).unwrap();
        assert!(folder.is_dir());
        assert_eq!(folder.mode() & 0o777, 0o700);
    }
}

#[test]
fn ids_are_plain_words() {
    for bad in ["", "short", "../../../etc", "with space", "a/b/c/d/e/f", &"x".repeat(65)] {
        assert!(SidecarId::try_from(bad.to_owned()).is_err(), "{bad}");
    }
    assert!(SidecarId::try_from(SidecarId::random().to_string()).is_ok());
}
