//! Writing: whole or not at all, and only what is as the caller saw it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::super::content::FileContent;
use super::super::file::Folder;
use super::super::write::{Temporary, mode_to_set, write_with};
use super::super::{
    DiskError, Expect, PathRefusal, PathStyle, Roots, create_folders, is_temporary, read, remove,
    remove_leftovers, stamp, write,
};
use super::{House, assert_complete, link};

#[test]
fn a_write_replaces_the_file_and_leaves_nothing_else() {
    let house = House::new();
    let place = house.place("src/main.rs");
    let file = read(&place).unwrap();
    let before = house.names("root/src");
    let new = write(&place, b"fn other() {}\n", Expect::Unchanged(file.stamp)).unwrap();
    assert_eq!(house.text("root/src/main.rs"), "fn other() {}\n");
    assert_eq!(house.names("root/src"), before);
    assert_eq!(stamp(&place).unwrap(), new, "the stamp returned is the one the next write may expect");
    write(&place, b"", Expect::Unchanged(new)).unwrap();
    assert_eq!(house.text("root/src/main.rs"), "");
}

#[test]
fn a_new_file_takes_the_place_of_nothing() {
    let house = House::new();
    let place = house.place("src/new.rs");
    let new = write(&place, b"new\n", Expect::Absent).unwrap();
    assert_eq!(stamp(&place).unwrap(), new);
    assert_eq!(house.path("root/src/new.rs").metadata().unwrap().nlink(), 1);
    assert_eq!(house.names("root/src"), ["main.rs", "new.rs"]);
    // As any other new file of this user.
    File::create(house.path("root/plain")).unwrap();
    let mode = |name| house.path(name).metadata().unwrap().mode();
    assert_eq!(mode("root/src/new.rs"), mode("root/plain"));
    let error = write(&place, b"again\n", Expect::Absent).unwrap_err();
    assert!(matches!(error, DiskError::AlreadyThere { .. }), "{error}");
    assert_complete(&error.to_string());
    assert_eq!(house.text("root/src/new.rs"), "new\n");
}

#[test]
fn what_changed_meanwhile_is_left_alone() {
    let house = House::new();
    let path = house.path("root/a.txt");
    let outside = house.path("outside/secret");
    let others: [(&str, &dyn Fn()); 5] = [
        ("in place", &|| fs::write(&path, "other\n").unwrap()),
        ("replaced", &|| {
            fs::write(house.path("root/tmp"), "b\n").unwrap();
            fs::rename(house.path("root/tmp"), &path).unwrap();
        }),
        ("removed", &|| fs::remove_file(&path).unwrap()),
        ("folder", &|| {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        }),
        ("link", &|| {
            fs::remove_file(&path).unwrap();
            link(&outside, &path);
        }),
    ];
    for (what, change) in others {
        for before_the_write in [true, false] {
            for by_bytes in [true, false] {
                fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).ok();
                house.put("root/a.txt", "a\n");
                let place = house.place("a.txt");
                let file = read(&place).unwrap();
                let expect = if by_bytes { Expect::Same(&file) } else { Expect::Unchanged(file.stamp) };
                let result = if before_the_write {
                    change();
                    write(&place, b"ours\n", expect)
                } else {
                    write_with(&place, b"ours\n", expect, None, change)
                };
                let error = result.expect_err(what);
                let told = matches!(
                    error,
                    DiskError::ChangedMeanwhile { .. }
                        | DiskError::NotRegular { .. }
                        | DiskError::PathChanged { .. }
                );
                assert!(told, "{what}: {error}");
                assert_complete(&error.to_string());
                assert!(house.names("root").iter().all(|name| !is_temporary(name)), "{what}");
                assert!(!path.is_file() || fs::read(&path).unwrap() != b"ours\n", "{what}");
            }
        }
    }
    assert_eq!(house.text("outside/secret"), "secret\n");
}

#[test]
fn a_new_file_that_came_meanwhile_is_left_alone() {
    let house = House::new();
    let place = house.place("new");
    let error = write_with(&place, b"ours\n", Expect::Absent, None, || {
        house.put("root/new", "theirs\n");
    });
    assert!(matches!(error, Err(DiskError::AlreadyThere { .. })));
    assert_eq!(house.text("root/new"), "theirs\n");
    assert!(house.names("root").iter().all(|name| !is_temporary(name)));
}

#[test]
fn a_new_file_that_comes_after_the_last_look_is_left_alone() {
    let house = House::new();
    let place = house.place("a.txt");
    let folder = Folder::of(&place).unwrap();
    let mut temporary = Temporary::create(folder.dir(), false).unwrap();
    let error = temporary.become_new(folder.name).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    drop(temporary);
    assert_eq!(house.text("root/a.txt"), "a\n");
    assert!(house.names("root").iter().all(|name| !is_temporary(name)));
}

#[test]
fn same_bytes_are_the_same_file_and_same_stamps_of_a_young_one_are_not() {
    let house = House::new();
    let place = house.place("a.txt");
    // Touched, but not changed.
    let file = read(&place).unwrap();
    fs::write(house.path("root/a.txt"), "a\n").unwrap();
    write(&place, b"b\n", Expect::Same(&file)).unwrap();
    // Changed within one tick: the stamp is the one that was read, and the bytes are not.
    let mut file = read(&place).unwrap();
    file.settled = false;
    file.bytes = FileContent::with_room(2).unwrap();
    file.bytes.read(&b"X\n"[..]).unwrap();
    assert!(matches!(write(&place, b"c\n", Expect::Same(&file)), Err(DiskError::ChangedMeanwhile { .. })));
    assert_eq!(house.text("root/a.txt"), "b\n");
    // What is trusted needs no second read.
    file.settled = true;
    write(&place, b"c\n", Expect::Same(&file)).unwrap();
}

#[test]
fn a_folder_that_was_moved_away_gets_nothing() {
    let house = House::new();
    let place = house.place("src/main.rs");
    let file = read(&place).unwrap();
    for (what, put) in [("nothing", None), ("a link", Some(true)), ("another folder", Some(false))] {
        let result = write_with(&place, b"ours\n", Expect::Same(&file), None, || {
            fs::rename(house.path("root/src"), house.path("outside/src")).unwrap();
            match put {
                Some(true) => link(house.path("outside/src"), house.path("root/src")),
                Some(false) => {
                    fs::create_dir(house.path("root/src")).unwrap();
                    house.put("root/src/main.rs", "fn main() {}\n");
                }
                None => {}
            }
        });
        assert!(
            matches!(result, Err(DiskError::PathChanged { .. } | DiskError::FolderMissing { .. })),
            "{what}: {result:?}"
        );
        assert_eq!(house.text("outside/src/main.rs"), "fn main() {}\n", "{what}");
        assert_eq!(house.names("outside/src"), ["main.rs"], "{what}");
        let back = house.path("root/src");
        fs::remove_file(&back).or_else(|_| fs::remove_dir_all(&back)).ok();
        fs::rename(house.path("outside/src"), back).unwrap();
    }
}

#[test]
fn mode_bits_are_kept_but_those_that_give_the_rights_of_others() {
    let house = House::new();
    let place = house.place("a.txt");
    for mode in [0o600, 0o644, 0o664, 0o755, 0o777, 0o640, 0o4755, 0o2755, 0o1644] {
        fs::set_permissions(house.path("root/a.txt"), Permissions::from_mode(mode)).unwrap();
        let file = read(&place).unwrap();
        write(&place, b"x\n", Expect::Same(&file)).unwrap();
        let now = house.path("root/a.txt").metadata().unwrap().mode() & 0o7777;
        assert_eq!(now, mode & 0o1777, "{mode:o} became {now:o}");
    }
    // old mode, group kept, new mode
    let table = [
        (0o100_644, true, 0o644),
        (0o106_755, true, 0o755),
        (0o106_755, false, 0o755),
        (0o100_660, false, 0o600),
        (0o100_664, false, 0o644),
        (0o100_646, false, 0o646),
        (0o100_606, false, 0o606),
        (0o101_777, true, 0o1777),
    ];
    for (old, group, new) in table {
        assert_eq!(mode_to_set(old, group), new, "{old:o} {group}");
    }
}

#[test]
fn the_owner_is_kept_by_root() {
    let house = House::new();
    let path = house.path("root/a.txt");
    // Only root can give files away; others have nothing to keep here but their own.
    let uid = path.metadata().unwrap().uid();
    let other = if uid == 0 { 65_534 } else { uid };
    std::os::unix::fs::chown(&path, Some(other), None).unwrap();
    let place = house.place("a.txt");
    let file = read(&place).unwrap();
    write(&place, b"x\n", Expect::Same(&file)).unwrap();
    assert_eq!(path.metadata().unwrap().uid(), other);
}

#[test]
fn other_hard_links_keep_the_old_content() {
    let house = House::new();
    fs::hard_link(house.path("root/a.txt"), house.path("root/twin")).unwrap();
    let place = house.place("a.txt");
    let file = read(&place).unwrap();
    write(&place, b"new\n", Expect::Same(&file)).unwrap();
    assert_eq!((house.text("root/a.txt"), house.text("root/twin")), ("new\n".into(), "a\n".into()));
}

#[test]
fn git_is_not_written() {
    let house = House::new();
    for given in [".git/config", ".git/hooks/pre-commit", ".GIT/x"] {
        let place = house.place(given);
        for error in [
            write(&place, b"x", Expect::Absent).unwrap_err(),
            remove(&place, Expect::Absent).unwrap_err(),
            create_folders(&place).unwrap_err(),
        ] {
            assert!(matches!(error, DiskError::Refused(PathRefusal::GitWrite { .. })), "{given}: {error}");
        }
    }
    assert_eq!(house.names("root/.git"), ["config", "hooks"]);
}

#[test]
fn folders_are_made_on_demand() {
    let house = House::new();
    let place = house.place("new/deep/file");
    let error = write(&place, b"x\n", Expect::Absent).unwrap_err();
    assert!(matches!(error, DiskError::FolderMissing { .. }), "{error}");
    assert_complete(&error.to_string());
    create_folders(&place).unwrap();
    create_folders(&place).unwrap();
    write(&place, b"x\n", Expect::Absent).unwrap();
    assert_eq!(house.text("root/new/deep/file"), "x\n");
    // A link that came since the path was resolved is not followed.
    let place = house.place("later/deep/file");
    link(house.path("outside"), house.path("root/later"));
    assert!(matches!(create_folders(&place), Err(DiskError::PathChanged { .. })));
    assert_eq!(house.names("outside"), ["secret"]);
}

#[test]
fn files_are_removed_as_they_were_seen() {
    let house = House::new();
    let place = house.place("a.txt");
    let file = read(&place).unwrap();
    house.put("root/a.txt", "other\n");
    assert!(matches!(remove(&place, Expect::Same(&file)), Err(DiskError::ChangedMeanwhile { .. })));
    remove(&place, Expect::Unchanged(stamp(&place).unwrap())).unwrap();
    assert!(!house.path("root/a.txt").exists());
    assert!(matches!(remove(&place, Expect::Absent), Err(DiskError::NotFound { .. })));
}

#[test]
fn what_a_crash_leaves_disturbs_nothing_and_is_swept_up() {
    let house = House::new();
    let left = ".hashline-0123456789abcdef0123456789abcdef.tmp";
    let fresh = ".hashline-0123456789abcdef0123456789abcdee.tmp";
    let others = [".hashline-x.tmp", ".hashline.tmp", "hashline-0123456789abcdef0123456789abcdef.tmp"];
    let old = SystemTime::now() - Duration::from_secs(7_200);
    for name in others.iter().chain([&left, &fresh]) {
        let path = house.put(&format!("root/{name}"), "half");
        if *name != fresh {
            File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
    }
    let place = house.place("a.txt");
    let file = read(&place).unwrap();
    write(&place, b"b\n", Expect::Same(&file)).unwrap();
    assert_eq!(remove_leftovers(&place, SystemTime::now()).unwrap(), 1);
    let names = house.names("root");
    assert!(!names.iter().any(|name| name == left));
    assert!(others.iter().chain([&fresh]).all(|name| names.iter().any(|n| n == name)), "{names:?}");
}

/// Permissions do not bind root, so where root runs the tests, this runs itself once more as another user.
#[test]
fn a_read_only_folder_or_file_is_told_of_and_left_alone() {
    if let Some(root) = std::env::var_os("HASHLINE_TEST_READ_ONLY_ROOT") {
        return check_read_only(Path::new(&root));
    }
    let house = House::new();
    fs::create_dir(house.path("root/closed")).unwrap();
    house.put("root/closed/file", "closed\n");
    house.put("root/src/locked", "locked\n");
    fs::set_permissions(house.path("root/src/locked"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(house.path("root/src"), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(house.path("root/closed"), Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(house.path(""), Permissions::from_mode(0o755)).unwrap();
    let as_root = house.path("root").metadata().unwrap().uid() == 0;
    if as_root {
        // A copy, as the folders above the test binary may be closed to others.
        let binary = house.path("test_binary");
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        let output = Command::new(binary)
            .args(["--exact", "disk::tests::writes::a_read_only_folder_or_file_is_told_of_and_left_alone"])
            .env("HASHLINE_TEST_READ_ONLY_ROOT", house.path("root"))
            .current_dir("/")
            .uid(65_534)
            .gid(65_534)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    } else {
        check_read_only(&house.path("root"));
    }
    assert_eq!(
        (house.text("root/closed/file"), house.text("root/src/locked")),
        ("closed\n".into(), "locked\n".into())
    );
    fs::set_permissions(house.path("root/closed"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(house.names("root/closed"), ["file"]);
}

#[test]
fn a_file_without_any_write_permission_is_left_alone_whoever_asks() {
    let house = House::new();
    let path = house.put("root/src/locked", "locked\n");
    let place = house.place("src/locked");
    let read_only = |mode| {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let error = write(&place, b"x", Expect::Same(&read(&place).unwrap())).unwrap_err();
        assert!(matches!(error, DiskError::ReadOnlyFile { .. }), "{error}");
        assert_complete(&error.to_string());
    };
    read_only(0o444);
    read_only(0o555);
    assert_eq!(house.text("root/src/locked"), "locked\n");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    write(&place, b"x", Expect::Same(&read(&place).unwrap())).unwrap();
    assert_eq!(house.text("root/src/locked"), "x");
}

fn check_read_only(root: &Path) {
    let roots = Roots::open([root]).unwrap();
    let place = |given| roots.resolve(given, PathStyle::Any).unwrap();
    let file = read(&place("closed/file")).unwrap();
    for error in [
        write(&place("closed/new"), b"x", Expect::Absent).unwrap_err(),
        create_folders(&place("closed/deep/new")).unwrap_err(),
        remove(&place("closed/file"), Expect::Same(&file)).unwrap_err(),
    ] {
        assert!(matches!(error, DiskError::ReadOnlyFolder { .. }), "{error}");
        assert_complete(&error.to_string());
    }
    let read_only_either_way = write(&place("closed/file"), b"x", Expect::Same(&file)).unwrap_err();
    assert!(
        matches!(read_only_either_way, DiskError::ReadOnlyFolder { .. } | DiskError::ReadOnlyFile { .. }),
        "{read_only_either_way}"
    );
    let locked = read(&place("src/locked")).unwrap();
    let error = write(&place("src/locked"), b"x", Expect::Same(&locked)).unwrap_err();
    assert!(matches!(error, DiskError::ReadOnlyFile { .. }), "{error}");
    assert_complete(&error.to_string());
}
