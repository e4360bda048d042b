//! Folders that git takes for a repository: they are read and not written, and none is made.

use std::fs;
use std::os::unix::fs::symlink;

use super::House;
use crate::disk::{
    DiskError, Expect, PathRefusal, PathStyle, Place, Roots, create_folders, read, remove, rename, write,
};

fn is_refused(place: &Place) -> bool {
    matches!(place.check_write(), Err(PathRefusal::RepositoryWrite { .. }))
}

/// A bare repository, as `git init --bare` makes it.
fn bare(house: &House, name: &str) {
    for folder in ["hooks", "objects/info", "refs/heads"] {
        fs::create_dir_all(house.path(name).join(folder)).unwrap();
    }
    house.put(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
    house.put(&format!("{name}/config"), "[core]\n\tbare = true\n");
}

#[test]
fn a_bare_repository_is_read_and_not_written_under_any_name() {
    let house = House::new();
    bare(&house, "root/src/deep/bare.git");
    symlink("src/deep/bare.git/hooks", house.path("root/link")).unwrap();
    for given in [
        "src/deep/bare.git/hooks/post-checkout",
        "src/deep/bare.git/config",
        "src/deep/bare.git/HEAD",
        "src/deep/bare.git/new/below/x",
        "src/deep/x/../bare.git/hooks/x",
        "link/pre-commit",
    ] {
        let place = house.place(given);
        assert!(is_refused(&place), "{given}");
        for done in [write(&place, b"x", Expect::Absent).map(drop), create_folders(&place)] {
            let refusal = PathRefusal::RepositoryWrite {
                path: place.to_text(),
                folder: house.path("root/src/deep/bare.git").display().to_string(),
            };
            assert_eq!(done, Err(DiskError::Refused(refusal)), "{given}");
        }
    }
    let config = house.place("src/deep/bare.git/config");
    let there = read(&config).unwrap();
    assert_eq!(there.bytes, b"[core]\n\tbare = true\n");
    remove(&config, Expect::Same(&there)).unwrap_err();
    rename(&config, &house.place("config"), Expect::Same(&there)).unwrap_err();
    let a = house.place("a.txt");
    rename(&a, &house.place("src/deep/bare.git/hooks/x"), Expect::Same(&read(&a).unwrap())).unwrap_err();
    assert_eq!(house.names("root/src/deep/bare.git/hooks"), [""; 0]);
    for beside in ["src/deep/x", "src/deep/HEAD", "src/deep/objects/x"] {
        house.place(beside).check_write().unwrap_or_else(|error| panic!("{beside}: {error}"));
    }
}

#[test]
fn no_file_is_the_one_that_makes_a_folder_a_repository() {
    for (there, last) in [
        (["objects/a", "refs/a"], "HEAD"),
        (["objects/a", "refs/a"], "head"),
        (["HEAD", "refs/a"], "objects/a"),
        (["HEAD", "objects/a"], "refs/deep/a"),
        (["HEAD", "hooks/a"], "commondir"),
        (["commondir", "hooks/a"], "HEAD"),
    ] {
        let house = House::new();
        for name in there {
            let place = house.place(&format!("src/x/{name}"));
            create_folders(&place).unwrap();
            write(&place, b"x", Expect::Absent).unwrap();
        }
        let last = house.place(&format!("src/x/{last}"));
        assert!(is_refused(&last), "{there:?}, {}", last.to_text());
        create_folders(&last).unwrap_err();
        write(&last, b"x", Expect::Absent).unwrap_err();
        assert!(!is_refused(&house.place("src/x/config")), "{there:?} are no repository yet");
    }
}

#[test]
fn a_root_inside_a_bare_repository_is_not_written_but_a_working_tree_is() {
    let house = House::new();
    bare(&house, "outside/bare");
    let hooks = Roots::open([house.path("outside/bare/hooks")]).unwrap();
    assert!(is_refused(&hooks.resolve("x", PathStyle::Any).unwrap()));
    fs::create_dir_all(house.path("outside/bare/main/src")).unwrap();
    house.put("outside/bare/main/.git", "gitdir: ../worktrees/main\n");
    let tree = Roots::open([house.path("outside/bare/main")]).unwrap();
    for given in ["x", "src/x", "new/x"] {
        let place = tree.resolve(given, PathStyle::Any).unwrap();
        place.check_write().unwrap_or_else(|error| panic!("{given}: {error}"));
    }
}

#[test]
fn folders_of_such_names_are_no_repository_by_themselves() {
    let house = House::new();
    for folder in ["head", "objects", "refs", "HEAD"] {
        fs::create_dir_all(house.path("root/src").join(folder)).unwrap();
    }
    for given in ["src/objects/x.rs", "src/refs/x.rs", "src/x.rs"] {
        house.place(given).check_write().unwrap_or_else(|error| panic!("{given}: {error}"));
    }
}
