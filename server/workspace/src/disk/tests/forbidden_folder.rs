//! The folder that nobody is served, wherever it lies and whatever leads there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use super::super::{DiskError, Opener, PathRefusal, PathStyle, Roots, identity, walk};
use super::{House, link};

const GIVEN: [&str; 6] =
    ["state/secrets/http", "state", "state/new", "src/../state/secrets", "l1/http", "l2/secrets/http"];

fn house() -> House {
    let house = House::new();
    fs::create_dir_all(house.path("root/state/secrets")).unwrap();
    house.put("root/state/secrets/http", "key\n");
    link("state/secrets", house.path("root/l1"));
    link(house.path("root/state"), house.path("root/l2"));
    house
}

fn refused(roots: &Roots, given: &str) -> bool {
    matches!(roots.resolve(given, PathStyle::Any), Err(PathRefusal::State { .. }))
}

#[test]
fn nothing_in_it_is_reached_by_any_way() {
    let house = house();
    let state = house.path("root/state");
    for closed in [state.clone(), house.path("root/l2")] {
        let roots = house.roots().closing(&closed).unwrap();
        for given in GIVEN {
            assert!(refused(&roots, given), "{given}");
        }
        assert!(roots.identify(&state.join("secrets/http")).is_none());
        assert!(roots.resolve("a.txt", PathStyle::Any).is_ok());
        // A caller's own folders open nothing.
        let narrowed = roots.narrowed_to(&[house.path("root")]);
        assert!(refused(&narrowed, "state/secrets/http"));
    }
    // Under another name it is the same.
    let roots = house.roots().closing(&state).unwrap();
    fs::rename(&state, house.path("root/moved")).unwrap();
    link(house.path("root/moved"), &state);
    assert!(refused(&roots, "moved/secrets/http") && refused(&roots, "state/secrets/http"));
}

#[test]
fn what_is_not_there_yet_is_not_made() {
    let house = House::new();
    let roots = house.roots().closing(&house.path("root/state")).unwrap();
    for given in ["state", "state/secrets/http", "State/secrets/http", "src/../state/x"] {
        assert!(refused(&roots, given), "{given}");
    }
    assert!(roots.resolve("stately/home", PathStyle::Any).is_ok());
}

#[test]
fn it_is_neither_listed_nor_searched() {
    let house = house();
    let roots = house.roots().closing(&house.path("root/state")).unwrap();
    let names = |shown: &Roots| -> BTreeSet<String> {
        let entries = shown.list("", PathStyle::Any, |_| true).unwrap();
        entries.into_iter().map(|entry| entry.name.into_string().unwrap()).collect()
    };
    assert!(names(&house.roots()).contains("state"));
    assert!(!names(&roots).contains("state") && names(&roots).contains("src"));
    assert!(roots.list("state", PathStyle::Any, |_| true).is_err());
    let found = Mutex::new(BTreeSet::new());
    let visitor = || {
        |path: &Path, _: &mut Opener| {
            found.lock().unwrap().insert(path.to_owned());
            true
        }
    };
    walk(&roots, &[house.path("root")], |_| true, visitor);
    let found = found.into_inner().unwrap();
    assert!(found.contains(&house.path("root/a.txt")));
    assert!(!found.iter().any(|path| path.ends_with("http")), "{found:?}");
}

/// What a caller spells may be as long as a message; each name costs a little, and none of them more than the last.
#[test]
fn a_path_of_any_length_is_looked_at() {
    let long = format!("/{}", "d/".repeat(400_000));
    assert_eq!(identity(Path::new(&long)), Path::new(&long));
    assert!(House::new().roots().identify(Path::new(&long)).is_none());
}

#[test]
fn no_root_lies_in_it() {
    let house = house();
    let state = house.path("root/state");
    for root in [state.clone(), state.join("secrets"), house.path("root/l1")] {
        let roots = Roots::open([&root]).unwrap();
        let refused = roots.closing(&state).unwrap_err();
        assert!(matches!(refused, DiskError::BadRoot { .. }), "{refused}");
        assert!(house.roots().closing(&state).unwrap().none().others([&root]).is_err());
    }
}
