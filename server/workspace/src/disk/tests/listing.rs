//! What lies in a folder.

use super::*;
use crate::disk::{DiskError, EntryKind, MAX_ENTRIES};

impl House {
    /// The names in a folder by a path within the root, `/` behind those of folders, `@` behind links that lead nowhere.
    fn list(&self, given: &str) -> Result<Vec<String>, DiskError> {
        self.roots().list(given, PathStyle::WithinRoot, |_| true).map(|entries| {
            let shown = |entry: crate::disk::Entry| {
                let sign = match entry.kind {
                    EntryKind::Folder => "/",
                    EntryKind::File => "",
                    EntryKind::Link => "@",
                    EntryKind::Other => "|",
                };
                entry.name.to_string_lossy().into_owned() + sign
            };
            entries.into_iter().map(shown).collect()
        })
    }
}

#[test]
fn folders_come_first_and_each_kind_by_name() {
    let house = House::new();
    house.put("root/b.txt", "");
    fs::create_dir(house.path("root/empty")).unwrap();
    let top = [".git/", ".mcp/", "empty/", "src/", ".gitignore", ".mcp.json", "a.txt", "b.txt"];
    for given in ["", "/", ".", "src/..", "//./"] {
        assert_eq!(house.list(given).unwrap(), top, "{given:?}");
    }
    for given in ["src", "/src", "src/", "./src//", "empty/../src"] {
        assert_eq!(house.list(given).unwrap(), ["main.rs"], "{given:?}");
    }
    assert_eq!(house.list("empty").unwrap(), [""; 0]);
    assert_eq!(house.list(".git").unwrap(), ["hooks/", "config"]);
}

#[test]
fn what_cannot_be_listed_is_refused_with_the_next_step() {
    let house = House::new();
    for (given, word) in [
        ("missing", "does not exist"),
        ("missing/folder", "does not exist"),
        ("a.txt", "not a folder"),
        ("a.txt/", "not a folder"),
        ("a.txt/below", "not a folder"),
        ("..", "above the root"),
        ("src/../../outside", "above the root"),
        (".mcp", "lies in .mcp"),
        (".mcp/edit_history", "lies in .mcp"),
        (".MCP", "lies in .mcp"),
        ("C:\\Windows", "Windows path"),
        ("\\\\server\\share", "Windows path"),
        ("src\0", "NUL"),
        ("~", "starts with ~"),
        ("file:///etc", "is a URI"),
    ] {
        let refused = house.list(given).unwrap_err().to_string();
        assert!(refused.contains(word), "{given:?}: {refused}");
        assert_complete(&refused);
    }
}

#[test]
fn a_link_is_what_it_leads_to_if_that_is_served() {
    let house = House::new();
    fs::create_dir(house.path("root/links")).unwrap();
    for (target, name) in [
        ("../src", "folder"),
        ("../a.txt", "file"),
        ("../../outside", "out"),
        ("/etc/passwd", "passwd"),
        ("nothing", "broken"),
        ("../.mcp", "store"),
        ("circle", "circle"),
    ] {
        link(target, house.path("root/links").join(name));
    }
    assert_eq!(
        house.list("links").unwrap(),
        ["folder/", "broken@", "circle@", "file", "out@", "passwd@", "store@"]
    );
    assert_eq!(house.list("links/folder").unwrap(), ["main.rs"]);
    assert!(house.list("links/out").unwrap_err().to_string().contains("leads outside the roots"));
}

#[test]
fn a_link_to_what_is_not_shown_tells_nothing_of_it() {
    let house = House::new();
    fs::create_dir(house.path("root/links")).unwrap();
    for (target, name) in [
        ("../src", "folder"),
        ("../src/main.rs", "file"),
        ("../src/none", "nothing"),
        ("../src/main.rs/none", "no_folder"),
        ("../a.txt", "shown"),
        ("../b", "by_a_link"),
    ] {
        link(target, house.path("root/links").join(name));
    }
    link("src/main.rs", house.path("root/b"));
    let hidden = house.path("root/src");
    let roots = Roots::open([house.path("root")]).unwrap();
    let listed = roots.list("links", PathStyle::WithinRoot, |path| !path.starts_with(&hidden)).unwrap();
    let kinds: Vec<_> = listed.iter().map(|entry| (entry.name.to_str().unwrap(), entry.kind)).collect();
    let links = ["by_a_link", "file", "folder", "no_folder", "nothing"].map(|name| (name, EntryKind::Link));
    let mut expected = links.to_vec();
    expected.push(("shown", EntryKind::File));
    assert_eq!(kinds, expected);
}

#[test]
fn a_path_within_several_roots_begins_with_a_name() {
    let house = House::new();
    let roots = Roots::open([house.path("root/src"), house.path("root"), house.path("outside")]).unwrap();
    let names = |given: &str| -> Vec<String> {
        roots
            .list(given, PathStyle::WithinRoot, |_| true)
            .unwrap()
            .into_iter()
            .map(|entry| entry.name.into_string().unwrap())
            .collect()
    };
    for given in ["", "/", "src/.."] {
        assert_eq!(names(given), ["outside", "root", "src"], "{given:?}");
    }
    assert_eq!(names("src"), ["main.rs"]);
    assert_eq!(names("/outside/"), ["secret"]);
    let refused = roots.list("elsewhere", PathStyle::WithinRoot, |_| true).unwrap_err().to_string();
    assert!(refused.contains("root, outside"), "{refused}");
}

#[test]
fn a_folder_with_too_many_names_is_refused() {
    let house = House::new();
    fs::create_dir(house.path("root/many")).unwrap();
    let target = house.put("root/one", "");
    for number in 0..MAX_ENTRIES {
        fs::hard_link(&target, house.path("root/many").join(number.to_string())).unwrap();
    }
    assert_eq!(house.list("many").unwrap().len(), MAX_ENTRIES);
    house.put("root/many/one more", "");
    let refused = house.list("many").unwrap_err().to_string();
    assert!(refused.contains("more than 20000 names"), "{refused}");
    assert_complete(&refused);
}
