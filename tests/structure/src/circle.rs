//! The arrows between the files of a crate, and the circles that they make.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use crate::modules::Modules;
use crate::names::Named;

/// One file names what another one defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The file that names it.
    pub from: PathBuf,
    /// The file that defines it.
    pub to: PathBuf,
    /// What it names there: one of several things.
    pub name: String,
}

/// Files of which each names, straight or through others of them, what each other defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The files, sorted.
    pub files: Vec<PathBuf>,
    /// What they name of each other.
    pub arrows: Vec<Arrow>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Arrow { from, to, name } in &self.arrows {
            writeln!(f, "    {} -> {}  by {name}", from.display(), to.display())?;
        }
        Ok(())
    }
}

/// The circles between the modules of a crate.
#[must_use]
pub fn circles(modules: &Modules) -> Vec<Circle> {
    let arrows = arrows(modules);
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        arrows.iter().map(|arrow| (&arrow.from, reached(&arrow.from, &arrows))).collect();
    let reaches = |from: &PathBuf, to: &PathBuf| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found: Vec<Circle> = Vec::new();
    for file in reached.keys() {
        if !reaches(file, file) || found.iter().any(|circle| circle.files.contains(file)) {
            continue;
        }
        let with = reached.keys().filter(|other| reaches(file, other) && reaches(other, file));
        let files: Vec<PathBuf> = with.map(|other| PathBuf::clone(other)).collect();
        let inside = |arrow: &&Arrow| files.contains(&arrow.from) && files.contains(&arrow.to);
        let arrows = arrows.iter().filter(inside).cloned().collect();
        found.push(Circle { files, arrows });
    }
    found
}

/// The files to which arrows lead from one, in one step or in several.
fn reached<'a>(from: &'a PathBuf, arrows: &'a [Arrow]) -> BTreeSet<&'a PathBuf> {
    let mut all = BTreeSet::new();
    let mut ends = vec![from];
    while let Some(end) = ends.pop() {
        let next = arrows.iter().filter(|arrow| arrow.from == *end).map(|arrow| &arrow.to);
        ends.extend(next.filter(|file| all.insert(*file)));
    }
    all
}

/// One arrow for each two files of which one names what the other defines.
fn arrows(modules: &Modules) -> Vec<Arrow> {
    let mut arrows = BTreeMap::new();
    for (at, module) in modules.all.iter().enumerate() {
        let handed_on = |import: &&crate::items::Import| !import.is_public;
        let imported = module.items.imports.values().filter(handed_on).map(|import| &import.path);
        for path in imported.chain(&module.items.paths) {
            let Some(Named::In(there)) = modules.find(at, path) else { continue };
            let to = &modules.all[there].file;
            if *to != module.file {
                arrows.entry((&module.file, to)).or_insert_with(|| path.join("::"));
            }
        }
    }
    let arrow = |((from, to), name): ((&PathBuf, &PathBuf), String)| Arrow {
        from: from.clone(),
        to: to.clone(),
        name,
    };
    arrows.into_iter().map(arrow).collect()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;

    /// The circles of a crate of these files, as their files in a line each.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let text = |file: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == file);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| io::Error::other("no such file"))
        };
        let modules = Modules::read_by(&text, Path::new("lib.rs")).unwrap();
        let names = |circle: Circle| {
            let names: Vec<String> = circle.files.iter().map(|file| file.display().to_string()).collect();
            names.join(" ")
        };
        circles(&modules).into_iter().map(names).collect()
    }

    #[test]
    fn files_that_import_each_other_are_a_circle_however_they_name_it() {
        let one = ("one.rs", "use crate::two::Two;\npub struct One(Two);");
        for two in [
            "use crate::one::One;\npub struct Two(Box<One>);",
            "use super::one;\npub struct Two(Box<one::One>);",
            "pub struct Two(Box<crate::one::One>);",
            "pub struct Two;\nfn say() { println!(\"{}\", size_of::<super::one::One>()); }",
            "use crate::one::*;\npub struct Two(Box<One>);",
            "use crate::One;\npub struct Two(Box<One>);",
            "mod inside { pub struct In(Box<crate::one::One>); }\npub struct Two;",
        ] {
            let files = [("lib.rs", "mod one;\nmod two;\npub use one::One;"), one, ("two.rs", two)];
            assert_eq!(found(&files), ["one.rs two.rs"], "{two}");
        }
    }

    #[test]
    fn what_is_handed_on_or_for_tests_alone_ties_nothing() {
        let one = ("one.rs", "use crate::two::Two;\npub struct One(Two);");
        for two in [
            "pub struct Two;",
            "pub use crate::one::One;\npub struct Two;",
            "pub struct Two;\n#[cfg(test)]\nmod tests { use crate::one::One; }",
            "use std::one::One;\npub struct Two(One);",
        ] {
            let files = [("lib.rs", "mod one;\nmod two;\npub use one::One;"), one, ("two.rs", two)];
            assert!(found(&files).is_empty(), "{two}");
        }
    }

    #[test]
    fn a_parent_that_uses_what_its_child_defines_may_define_nothing_for_that_child() {
        let child =
            ("house/room.rs", "use super::House;\nimpl House { fn enter(&self) {} }\npub struct Key;");
        let circle = "house/mod.rs house/room.rs";
        for (parent, expected) in [
            ("mod room;\npub use room::Key;\npub struct House;", &[][..]),
            ("mod room;\npub use room::Key;\npub struct House(Key);", &[circle]),
            ("mod room;\nuse room::Key;\npub struct House(Key);", &[circle]),
            ("mod room;\npub struct House(room::Key);", &[circle]),
        ] {
            let files = [("lib.rs", "mod house;"), ("house/mod.rs", parent), child];
            assert_eq!(found(&files), expected, "{parent}");
        }
    }
}
