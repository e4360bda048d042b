//! Links: followed inside the roots, and nowhere else.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::super::{DiskError, Expect, PathRefusal, PathStyle, Roots, identity, read, write};
use super::{House, assert_complete, link};

#[test]
fn links_inside_lead_to_the_place_of_their_target() {
    let house = House::new();
    let root = house.path("root");
    // where the link lies, what is in it, what is asked for, where that is
    let table: Vec<(&str, PathBuf, &str, &str)> = vec![
        ("l1", "a.txt".into(), "l1", "a.txt"),
        ("l2", "src".into(), "l2/main.rs", "src/main.rs"),
        ("src/l3", "../a.txt".into(), "src/l3", "a.txt"),
        ("src/l4", "./.././src/../a.txt".into(), "src/l4", "a.txt"),
        ("l5", "l1".into(), "l5", "a.txt"),
        ("l6", root.join("src"), "l6/main.rs", "src/main.rs"),
        ("l7", root.join("src/../a.txt"), "l7", "a.txt"),
        ("l8", "../root/a.txt".into(), "l8", "a.txt"),
        ("l9", "new.txt".into(), "l9", "new.txt"),
        ("l10", root.join("new.txt"), "l10", "new.txt"),
        ("l11", "new/folder".into(), "l11/file", "new/folder/file"),
        ("l12", ".".into(), "l12/l12/a.txt", "a.txt"),
        ("l13", ".git".into(), "l13/config", ".git/config"),
        ("l14", root.clone(), "l14/src/l3", "a.txt"),
        ("l15", "l2/../a.txt".into(), "l15", "a.txt"),
    ];
    for (at, target, _, _) in &table {
        link(target, root.join(at));
    }
    let roots = house.roots();
    for (at, _, given, leads_to) in &table {
        let place = house.resolve(given).unwrap_or_else(|e| panic!("{at}: {e}"));
        assert_eq!(place.absolute(), root.join(leads_to), "{at}");
        assert_eq!(roots.identify(&root.join(given)), Some(place.clone()), "{at}");
        assert_eq!(identity(&root.join(given)), place.absolute(), "{at}");
    }
    house.place("l13/hooks/x").check_write().unwrap_err();
}

#[test]
fn links_to_other_places_are_refused() {
    let house = House::new();
    let root = house.path("root");
    let table: Vec<(&str, PathBuf, &str, &str)> = vec![
        ("o1", "../outside/secret".into(), "o1", "LinkLeadsOut"),
        ("o2", "../outside".into(), "o2/secret", "LinkLeadsOut"),
        ("o3", house.path("outside"), "o3/secret", "LinkLeadsOut"),
        ("o4", "/etc/passwd".into(), "o4", "LinkLeadsOut"),
        ("o5", "o1".into(), "o5", "LinkLeadsOut"),
        ("o6", "..".into(), "o6/outside/secret", "LinkLeadsOut"),
        ("o7", "../../../../../../../../../etc/passwd".into(), "o7", "LinkLeadsOut"),
        ("o8", "/proc/self/root/etc/passwd".into(), "o8", "LinkLeadsOut"),
        ("o9", "src/../../outside/secret".into(), "o9", "LinkLeadsOut"),
        ("o10", "../not there".into(), "o10", "LinkLeadsOut"),
        ("o11", root.join("../outside/secret"), "o11", "LinkLeadsOut"),
        ("o12", "o12".into(), "o12", "LinkLoop"),
        ("o13", "o14".into(), "o13", "LinkLoop"),
        ("o14", "o13".into(), "o14/x", "LinkLoop"),
        ("o15", root.join("o15"), "o15", "LinkLoop"),
        ("o16", ".mcp".into(), "o16/edit_history/log", "Store"),
        ("o17", ".mcp/edit_history/log".into(), "o17", "Store"),
        ("o18", root.join(".mcp/edit_history"), "o18/log", "Store"),
        ("o19", "../root/.mcp".into(), "o19/edit_history/log", "Store"),
        ("o20", "o16/edit_history".into(), "o20/log", "Store"),
        ("o21", ".mcp/new".into(), "o21", "Store"),
        ("o23", "missing/../a.txt".into(), "o23", "Unreadable"),
        ("o24", "a.txt/../a.txt".into(), "o24", "NotAFolder"),
        ("o25", "a.txt".into(), "o25/x", "NotAFolder"),
    ];
    for (at, target, _, _) in &table {
        link(target, root.join(at));
    }
    for (at, _, given, variant) in &table {
        let refusal = house.resolve(given).expect_err(at);
        let shown = format!("{refusal:?}");
        assert!(shown.starts_with(variant), "{at}: {shown}");
        assert_complete(&refusal.to_string());
        let outside = house.path("outside");
        assert!(!refusal.to_string().contains(outside.to_str().unwrap()), "tells of the outside: {refusal}");
        assert!(house.roots().identify(&root.join(given)).is_none(), "{at}");
    }
}

#[test]
fn a_link_into_another_root_is_followed() {
    let house = House::new();
    fs::create_dir(house.path("second")).unwrap();
    house.put("second/b.txt", "b\n");
    link("../second/b.txt", house.path("root/to_b"));
    let roots = Roots::open([house.path("root"), house.path("second")]).unwrap();
    let place = roots.resolve("to_b", PathStyle::Any).unwrap();
    assert_eq!((place.root_index(), place.absolute()), (1, house.path("second/b.txt").as_path()));
    assert_eq!(read(&place).unwrap().bytes, b"b\n");
    // Narrowed to the first root, the same link leads out.
    let narrowed = roots.narrowed_to(&[house.path("root")]);
    assert!(matches!(narrowed.resolve("to_b", PathStyle::Any), Err(PathRefusal::LinkLeadsOut { .. })));
}

#[test]
fn a_link_stays_a_link_and_its_target_is_replaced() {
    let house = House::new();
    link("a.txt", house.path("root/relative"));
    link(house.path("root/a.txt"), house.path("root/absolute"));
    for (name, text) in [("relative", "one\n"), ("absolute", "two\n")] {
        let place = house.place(name);
        let file = read(&place).unwrap();
        write(&place, text.as_bytes(), Expect::Same(&file)).unwrap();
        assert!(house.path("root").join(name).symlink_metadata().unwrap().is_symlink());
        assert!(!house.path("root/a.txt").symlink_metadata().unwrap().is_symlink());
        assert_eq!(house.text("root/a.txt"), text);
    }
    // A link to nothing yet makes its target.
    link("new.txt", house.path("root/to_new"));
    write(&house.place("to_new"), b"new\n", Expect::Absent).unwrap();
    assert!(house.path("root/to_new").symlink_metadata().unwrap().is_symlink());
    assert_eq!(house.text("root/new.txt"), "new\n");
}

#[test]
fn a_link_that_has_come_since_is_not_followed() {
    // what becomes a link, what is in it, and what was resolved before
    for (name, target, given) in [
        ("src", ".mcp/edit_history", "src/log"),
        ("src", "other", "src/main.rs"),
        ("src", "../outside", "src/secret"),
        ("a.txt", ".mcp/edit_history/log", "a.txt"),
        ("a.txt", "src/main.rs", "a.txt"),
        ("a.txt", "../outside/secret", "a.txt"),
    ] {
        let house = House::new();
        let place = house.place(given);
        let old = place.absolute().exists().then(|| read(&place).unwrap());
        fs::rename(house.path("root").join(name), house.path("root/other")).unwrap();
        link(target, house.path("root").join(name));
        let expect = old.as_ref().map_or(Expect::Absent, Expect::Same);
        for error in [read(&place).unwrap_err(), write(&place, b"x\n", expect).unwrap_err()] {
            assert!(matches!(error, DiskError::PathChanged { .. }), "{name} {target}: {error}");
            assert_complete(&error.to_string());
        }
        assert_eq!(house.text("root/.mcp/edit_history/log"), "log\n");
        assert_eq!(house.text("outside/secret"), "secret\n");
    }
}

#[test]
fn a_name_that_is_no_text_is_told_from_others_like_it() {
    let house = House::new();
    let root = house.path("root");
    let uri = |name: &str| format!("file://{}/{name}", root.display());
    for (bytes, escaped) in [(&b"x\xff"[..], "x%FF"), (b"x\xfe", "x%fe"), (b"x\xef\xbf\xbd", "x%EF%BF%BD")] {
        let odd = root.join(OsString::from_vec(bytes.to_vec()));
        fs::create_dir(&odd).unwrap();
        fs::write(odd.join("file"), escaped).unwrap();
        link(&odd, root.join(format!("to {escaped}")));
        let place = house.resolve(&uri(&format!("{escaped}/file"))).unwrap();
        assert_eq!(place.absolute(), odd.join("file"));
        assert_eq!(read(&place).unwrap().bytes, escaped.as_bytes());
        assert_eq!(house.roots().identify(&odd.join("file")), Some(place.clone()));
        assert_eq!(house.resolve(&place.to_text()).unwrap(), place);
        assert_eq!(house.resolve(&format!("to {escaped}/file")).unwrap(), place);
    }
    assert!(matches!(house.resolve(&uri("x%FF/.mcp/y")), Err(PathRefusal::Store { .. })));
    assert!(matches!(
        house.resolve(&uri("x%FF/../../outside/secret")),
        Err(PathRefusal::OutsideRoots { .. })
    ));
}
