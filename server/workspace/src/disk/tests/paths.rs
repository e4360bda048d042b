//! How paths are spelled, with what each spelling comes to.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{DiskError, PathRefusal, PathStyle, Place, Roots, identity, path_of_file_uri, read};
use super::{House, assert_complete, link};

use PathStyle::{Any, WithinRoot};

/// The variant of a refusal, for tables.
fn name(refusal: &PathRefusal) -> String {
    let shown = format!("{refusal:?}");
    shown.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

#[test]
fn good_spellings_lead_to_one_place() {
    let house = House::new();
    let root = house.path("root");
    let root = root.to_str().unwrap();
    house.put("root/with space.txt", "");
    house.put("root/naïve#1?.txt", "");
    house.put("root/main.rs:12", "");
    house.put("root/notes:2024", "");
    house.put("root/back\\slash", "");
    house.put("root/~tilde", "");
    let table: Vec<(PathStyle, String, &str)> = vec![
        (Any, "a.txt".into(), "a.txt"),
        (Any, "./a.txt".into(), "a.txt"),
        (Any, ".//.///a.txt".into(), "a.txt"),
        (Any, "src/../a.txt".into(), "a.txt"),
        (Any, "not/there/../../a.txt".into(), "a.txt"),
        (Any, "src/./main.rs".into(), "src/main.rs"),
        (Any, "src//main.rs".into(), "src/main.rs"),
        (Any, "src/new.rs".into(), "src/new.rs"),
        (Any, "new/folder/file".into(), "new/folder/file"),
        (Any, "src".into(), "src"),
        (Any, "src/".into(), "src"),
        (Any, "src/.".into(), "src"),
        (Any, ".".into(), ""),
        (Any, "./".into(), ""),
        (Any, "src/..".into(), ""),
        (Any, root.into(), ""),
        (Any, format!("{root}/"), ""),
        (Any, format!("{root}/a.txt"), "a.txt"),
        (Any, format!("/{root}//a.txt"), "a.txt"),
        (Any, format!("{root}/../root/a.txt"), "a.txt"),
        (Any, format!("{root}/../outside/../root/a.txt"), "a.txt"),
        (Any, format!("/../..{root}/a.txt"), "a.txt"),
        (Any, format!("file://{root}/a.txt"), "a.txt"),
        (Any, format!("file:{root}/a.txt"), "a.txt"),
        (Any, format!("FILE://localhost{root}/a.txt"), "a.txt"),
        (Any, format!("file://LOCALHOST{root}/a.txt"), "a.txt"),
        (Any, format!("file://{root}/src/../a.txt"), "a.txt"),
        (Any, format!("file://{root}/src/%2e%2E/a.txt"), "a.txt"),
        (Any, format!("file://{root}/src%2Fmain.rs"), "src/main.rs"),
        (Any, format!("file://{root}/with%20space.txt"), "with space.txt"),
        (Any, format!("file://{root}/with space.txt"), "with space.txt"),
        (Any, format!("file://{root}/na%C3%AFve%231%3F.txt"), "naïve#1?.txt"),
        (Any, "naïve#1?.txt".into(), "naïve#1?.txt"),
        (Any, "main.rs:12".into(), "main.rs:12"),
        (Any, "./notes:2024".into(), "notes:2024"),
        (Any, "back\\slash".into(), "back\\slash"),
        (Any, "~tilde".into(), "~tilde"),
        (Any, ".git/config".into(), ".git/config"),
        (Any, ".gitignore".into(), ".gitignore"),
        (Any, ".mcp.json".into(), ".mcp.json"),
        (Any, ".mcp/../a.txt".into(), "a.txt"),
        (WithinRoot, "a.txt".into(), "a.txt"),
        (WithinRoot, "/a.txt".into(), "a.txt"),
        (WithinRoot, "//a.txt".into(), "a.txt"),
        (WithinRoot, "/".into(), ""),
        (WithinRoot, "/src/../a.txt".into(), "a.txt"),
        (WithinRoot, "/etc/passwd".into(), "etc/passwd"),
        (WithinRoot, "./notes:2024".into(), "notes:2024"),
    ];
    let roots = house.roots();
    for (style, given, relative) in table {
        let place = roots.resolve(&given, style).unwrap_or_else(|e| panic!("{given}: {e}"));
        assert_eq!(place.relative(), Path::new(relative), "{given}");
        assert_eq!(place.absolute(), house.path("root").join(relative), "{given}");
        assert_eq!(place.root_index(), 0);
    }
}

#[test]
fn bad_spellings_are_refused_in_their_own_words() {
    let house = House::new();
    let root = house.path("root");
    let root = root.to_str().unwrap();
    let outside = house.path("outside/secret");
    let outside = outside.to_str().unwrap();
    let table: Vec<(PathStyle, String, &str)> = vec![
        (Any, String::new(), "Empty"),
        (Any, "  \t\n".into(), "Empty"),
        (WithinRoot, String::new(), "Empty"),
        (Any, "a.txt\0".into(), "Nul"),
        (Any, "\0".into(), "Nul"),
        (Any, format!("{root}/a.txt\0.png"), "Nul"),
        (Any, format!("file://{root}/a%00.txt"), "Nul"),
        (WithinRoot, "/a\0b".into(), "Nul"),
        (Any, "C:\\Windows\\win.ini".into(), "WindowsForm"),
        (Any, "c:/Windows/win.ini".into(), "WindowsForm"),
        (Any, "C:a.txt".into(), "WindowsForm"),
        (Any, "C:".into(), "WindowsForm"),
        (Any, "z:..\\..\\x".into(), "WindowsForm"),
        (Any, "\\\\server\\share\\x".into(), "WindowsForm"),
        (Any, "\\\\?\\C:\\x".into(), "WindowsForm"),
        (Any, "\\\\.\\pipe\\x".into(), "WindowsForm"),
        (Any, "file:///C:/Windows/win.ini".into(), "WindowsForm"),
        (Any, "file:///c%3A/Windows/win.ini".into(), "WindowsForm"),
        (WithinRoot, "C:\\x".into(), "WindowsForm"),
        (Any, "src\\main.rs".into(), "Backslash"),
        (Any, "..\\..\\etc\\passwd".into(), "Backslash"),
        (Any, "\\etc\\passwd".into(), "Backslash"),
        (Any, ".mcp\\edit_history\\log".into(), "Backslash"),
        (Any, format!("file://{root}/src%5Cnew.rs"), "Backslash"),
        (Any, "~".into(), "HomeSign"),
        (Any, "~/a.txt".into(), "HomeSign"),
        (Any, "untitled:Untitled-1".into(), "NotAFile"),
        (Any, "http://localhost/a.txt".into(), "NotAFile"),
        (Any, "vscode-notebook-cell:/a.txt".into(), "NotAFile"),
        (Any, "git:/a.txt".into(), "NotAFile"),
        (Any, "data:text/plain,x".into(), "NotAFile"),
        (Any, "notes:2024".into(), "NotAFile"),
        (WithinRoot, "untitled:Untitled-1".into(), "UriNotTaken"),
        (WithinRoot, format!("file://{root}/a.txt"), "UriNotTaken"),
        (Any, "file:a.txt".into(), "BadFileUri"),
        (Any, "file:".into(), "BadFileUri"),
        (Any, "file://".into(), "BadFileUri"),
        (Any, "file:../a.txt".into(), "BadFileUri"),
        (Any, "file://localhost".into(), "BadFileUri"),
        (Any, format!("file://{root}/a%2.txt"), "BadFileUri"),
        (Any, format!("file://{root}/a%zz.txt"), "BadFileUri"),
        (Any, format!("file://{root}/a%"), "BadFileUri"),
        (Any, format!("file://{root}/a.txt?x=1"), "BadFileUri"),
        (Any, format!("file://{root}/a.txt#L1"), "BadFileUri"),
        (Any, format!("file://server{root}/a.txt"), "OtherHost"),
        (Any, format!("file://127.0.0.1{root}/a.txt"), "OtherHost"),
        (Any, "..".into(), "AboveRoot"),
        (Any, "../outside/secret".into(), "AboveRoot"),
        (Any, "../root/a.txt".into(), "AboveRoot"),
        (Any, "./../outside/secret".into(), "AboveRoot"),
        (Any, "src/../../outside/secret".into(), "AboveRoot"),
        (Any, "src/./..//../outside/secret".into(), "AboveRoot"),
        (Any, "a/b/c/../../../../x".into(), "AboveRoot"),
        (WithinRoot, "/..".into(), "AboveRoot"),
        (WithinRoot, "/../outside/secret".into(), "AboveRoot"),
        (WithinRoot, "..//outside/secret".into(), "AboveRoot"),
        (WithinRoot, "/src/../../outside/secret".into(), "AboveRoot"),
        (Any, "/etc/passwd".into(), "OutsideRoots"),
        (Any, "//etc/passwd".into(), "OutsideRoots"),
        (Any, "/".into(), "OutsideRoots"),
        (Any, "/not/there".into(), "OutsideRoots"),
        (Any, outside.into(), "OutsideRoots"),
        (Any, format!("{root}/../outside/secret"), "OutsideRoots"),
        (Any, format!("{root}/src/../../outside/secret"), "OutsideRoots"),
        (Any, format!("{root}x/a.txt"), "OutsideRoots"),
        (Any, format!("{root}/.."), "OutsideRoots"),
        (Any, format!("file://{outside}"), "OutsideRoots"),
        (Any, format!("file://{root}/../outside/secret"), "OutsideRoots"),
        (Any, format!("file://{root}/%2e%2e/outside/secret"), "OutsideRoots"),
        (Any, format!("file://{root}/..%2Foutside%2Fsecret"), "OutsideRoots"),
        (Any, ".mcp".into(), "Store"),
        (Any, ".mcp/".into(), "Store"),
        (Any, ".mcp/edit_history/log".into(), "Store"),
        (Any, ".mcp/new/file".into(), "Store"),
        (Any, "./src/../.mcp/edit_history/log".into(), "Store"),
        (Any, "src/.mcp/x".into(), "Store"),
        (Any, "not/there/.mcp/x".into(), "Store"),
        (Any, ".MCP/edit_history/log".into(), "Store"),
        (Any, ".Mcp/x".into(), "Store"),
        (Any, ".mcp./x".into(), "Store"),
        (Any, ".mcp /x".into(), "Store"),
        (Any, ".mcp . ./x".into(), "Store"),
        (Any, "./.mcp::$INDEX_ALLOCATION/x".into(), "Store"),
        (Any, ".m\u{200c}cp/x".into(), "Store"),
        (Any, "\u{feff}.mcp/x".into(), "Store"),
        (Any, format!("{root}/.mcp/edit_history/log"), "Store"),
        (Any, format!("file://{root}/.mcp/edit_history/log"), "Store"),
        (Any, format!("file://{root}/%2emcp/edit_history/log"), "Store"),
        (Any, format!("file://{root}/.%4dCP/edit_history/log"), "Store"),
        (WithinRoot, "/.mcp/edit_history/log".into(), "Store"),
        (WithinRoot, "/.MCP".into(), "Store"),
        (Any, "a.txt/b".into(), "NotAFolder"),
        (Any, "src/main.rs/x/y".into(), "NotAFolder"),
        (Any, "a.txt/".into(), "FinalSlash"),
        (Any, "new/".into(), "FinalSlash"),
        (Any, "x".repeat(300), "TooLong"),
        (Any, format!("src/{}/a.txt", "é".repeat(128)), "TooLong"),
        (Any, "d/".repeat(2_100), "TooLong"),
        (WithinRoot, "d/".repeat(400_000), "TooLong"),
        (Any, format!("file://{root}/{}", "%64/".repeat(2_100)), "TooLong"),
        (Any, format!("file://{root}/{}", "d".repeat(20_000)), "TooLong"),
    ];
    assert!(table.len() >= 60);
    let roots = house.roots();
    for (style, given, variant) in table {
        let refusal = roots.resolve(&given, style).expect_err(&given);
        assert_eq!(name(&refusal), variant, "{given:?}: {refusal}");
        assert_complete(&refusal.to_string());
    }
    let refusal = roots.resolve("/etc/passwd", Any).unwrap_err().to_string();
    assert!(refusal.contains(root), "names the roots: {refusal}");
}

#[test]
fn git_is_read_and_not_written() {
    let house = House::new();
    for given in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git",
        ".GIT/config",
        ".Git/x",
        "src/.git/x",
        ".git./x",
        ".g\u{200d}it/x",
    ] {
        let refusal = house.place(given).check_write().expect_err(given);
        assert!(matches!(refusal, PathRefusal::GitWrite { .. }), "{given}");
        assert_complete(&refusal.to_string());
    }
    for given in [".gitignore", ".github/workflows/x.yml", ".gitmodules", "git/x", "a.git", "src/main.rs"] {
        house.place(given).check_write().unwrap_or_else(|e| panic!("{given}: {e}"));
    }
    assert_eq!(read(&house.place(".git/config")).unwrap().bytes, b"[core]\n");
    // A root that lies in .git itself is no way round it.
    let roots = Roots::open([house.path("root/.git")]).unwrap();
    roots.resolve("hooks/pre-commit", Any).unwrap().check_write().unwrap_err();
}

#[test]
fn roots_have_names_and_are_told_apart() {
    let house = House::new();
    for folder in ["x/lib", "y/lib", "z/lib-2"] {
        fs::create_dir_all(house.path(folder)).unwrap();
    }
    let roots =
        Roots::open(["x/lib", "z/lib-2", "y/lib", "x/../x/lib"].map(|folder| house.path(folder))).unwrap();
    let names = |roots: &Roots| roots.iter().map(|root| root.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&roots), ["lib", "lib-2", "lib-3"]);
    // Whatever comes first, a folder that is called so keeps its name.
    let others = Roots::open(["x/lib", "y/lib", "z/lib-2"].map(|folder| house.path(folder))).unwrap();
    assert_eq!(names(&others), ["lib", "lib-3", "lib-2"]);
    for (given, at) in
        [("lib/f", "x/lib/f"), ("/lib-2/f", "z/lib-2/f"), ("/lib-3/g/../f", "y/lib/f"), ("/lib-3", "y/lib")]
    {
        assert_eq!(roots.resolve(given, WithinRoot).unwrap().absolute(), house.path(at));
    }
    for given in ["f", "/", "/nowhere/f", "lib-4/f"] {
        let refusal = roots.resolve(given, WithinRoot).unwrap_err();
        assert!(matches!(refusal, PathRefusal::UnknownRootName { .. }), "{given}");
        assert!(refusal.to_string().contains("lib, lib-2, lib-3"), "{refusal}");
    }
    // Segments go back above the root they name, too.
    let above = roots.resolve("lib/../../x", WithinRoot).unwrap_err();
    assert!(matches!(above, PathRefusal::AboveRoot { .. }));
    assert!(above.to_string().contains("above the root /lib."), "as paths are named here: {above}");
    let named = roots.resolve("lib/../lib-2/f", WithinRoot).unwrap();
    assert_eq!(named.absolute(), house.path("z/lib-2/f"));
    // The other style: relative to the first root, absolute in any.
    assert_eq!(roots.resolve("f", Any).unwrap().absolute(), house.path("x/lib/f"));
    let absolute = house.path("y/lib/f");
    assert_eq!(roots.resolve(absolute.to_str().unwrap(), Any).unwrap().root_index(), 2);
}

#[test]
fn a_root_that_is_none_is_refused() {
    let house = House::new();
    for path in [house.path("not there"), house.path("root/a.txt"), house.path("root/.mcp/edit_history")] {
        let error = Roots::open([&path]).unwrap_err();
        assert!(matches!(error, DiskError::BadRoot { .. }), "{path:?}: {error}");
        assert_complete(&error.to_string());
    }
    let none = Roots::default();
    assert!(matches!(none.resolve("a.txt", Any), Err(PathRefusal::NoRoots { .. })));
    assert!(none.identify(&house.path("root/a.txt")).is_none());
}

#[test]
fn nested_roots_give_one_place() {
    let house = House::new();
    let roots = Roots::open([house.path("root"), house.path("root/src")]).unwrap();
    let by_outer = roots.resolve("src/main.rs", Any).unwrap();
    let by_inner = roots.resolve("/src/main.rs", WithinRoot).unwrap();
    assert_eq!(by_outer, by_inner);
    assert_eq!((by_inner.root_index(), by_inner.relative()), (0, Path::new("src/main.rs")));
}

#[test]
fn a_callers_roots_only_narrow() {
    let house = House::new();
    link(house.path("root/src"), house.path("alias"));
    link(house.path("outside"), house.path("root/out"));
    fs::create_dir_all(house.path("second")).unwrap();
    let own = Roots::open([house.path("root"), house.path("second")]).unwrap();
    let all = house.path("");
    // what the caller has, and what is left of it
    let table: Vec<(Vec<PathBuf>, Vec<&str>)> = vec![
        (vec![], vec![]),
        (vec![house.path("root")], vec!["root"]),
        (vec![house.path("root/src")], vec!["root/src"]),
        (vec![all.clone()], vec!["root", "second"]),
        (vec![PathBuf::from("/")], vec!["root", "second"]),
        (vec![house.path("second"), house.path("root")], vec!["second", "root"]),
        (vec![house.path("root/src"), all], vec!["root/src", "root", "second"]),
        (vec![house.path("alias")], vec!["root/src"]),
        (vec![house.path("outside")], vec![]),
        (vec![house.path("root/out")], vec![]),
        (vec![house.path("root/../outside")], vec![]),
        (vec![house.path("root/a.txt")], vec![]),
        (vec![house.path("root/not there")], vec![]),
        (vec![house.path("root/.mcp")], vec![]),
        (vec![house.path("root/.mcp/edit_history")], vec![]),
        (vec![PathBuf::from("/not there")], vec![]),
    ];
    for (folders, left) in table {
        let narrowed = own.narrowed_to(&folders);
        let paths: Vec<_> = narrowed.iter().map(|root| root.path().to_path_buf()).collect();
        assert_eq!(paths, left.iter().map(|name| house.path(name)).collect::<Vec<_>>(), "{folders:?}");
    }
    let narrowed = own.narrowed_to(&[house.path("alias")]);
    assert_eq!(narrowed.resolve("main.rs", Any).unwrap().absolute(), house.path("root/src/main.rs"));
    let alias = house.path("alias/main.rs");
    assert_eq!(narrowed.resolve(alias.to_str().unwrap(), Any).unwrap().relative(), Path::new("main.rs"));
    let sibling = house.path("root/a.txt");
    assert!(matches!(
        narrowed.resolve(sibling.to_str().unwrap(), Any),
        Err(PathRefusal::OutsideRoots { .. })
    ));
    assert_eq!(read(&narrowed.resolve("main.rs", Any).unwrap()).unwrap().bytes, b"fn main() {}\n");
}

#[test]
fn every_name_of_a_root_is_taken() {
    let house = House::new();
    link(house.path("root"), house.path("alias"));
    link(house.path("root/src"), house.path("deep"));
    let given_by_link = Roots::open([house.path("alias")]).unwrap();
    for name in ["root/src/main.rs", "alias/src/main.rs", "deep/main.rs"] {
        for roots in [&given_by_link, &house.roots()] {
            let path = house.path(name);
            let place = roots.resolve(path.to_str().unwrap(), Any).unwrap();
            assert_eq!(place.absolute(), house.path("root/src/main.rs"));
            assert_eq!(roots.identify(&path), Some(place));
            assert_eq!(identity(&path), house.path("root/src/main.rs"));
        }
    }
}

#[test]
fn an_editors_document_has_the_place_of_its_file() {
    let house = House::new();
    let roots = house.roots();
    for (path, relative) in [
        ("root/a.txt", Some("a.txt")),
        ("root/src/../a.txt", Some("a.txt")),
        ("root/new/file", Some("new/file")),
        ("root/a.txt/deep/file", Some("a.txt/deep/file")),
        ("root/odd:name\\here", Some("odd:name\\here")),
        ("root/.git/config", Some(".git/config")),
        ("root/.mcp/edit_history/log", None),
        ("outside/secret", None),
        ("root/../outside/secret", None),
    ] {
        let found = roots.identify(&house.path(path));
        assert_eq!(found.as_ref().map(Place::relative), relative.map(Path::new), "{path}");
        if let Some(place) = found {
            assert_eq!(identity(&house.path(path)), place.absolute());
        }
    }
    assert!(roots.identify(Path::new("a.txt")).is_none());
    assert_eq!(path_of_file_uri("file:///a%20b/c"), Ok(PathBuf::from("/a b/c")));
    assert!(path_of_file_uri("untitled:x").is_err());
}
