//! The steps that lead from one tree of files to another, and how far they were gone: pure, from what each file is before and after.
//!
//! The steps are the same whenever they are planned for the same files, and after each of them the tree is another. So whoever finds a tree in
//! which a process has ended knows by the hashes alone which of them were made.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::path::{Path, PathBuf};

use hashline_text::FileHash;

use crate::name::DocumentName;
use crate::record::Sequence;
use crate::transaction::Effect;

/// A file under a name.
pub(crate) type There = (PathBuf, FileHash);

/// A file before and after; none where there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub from: Option<There>,
    pub to: Option<There>,
}

/// One change of one file, which either is made or is not: it is made where there is nothing before, removed where there is nothing after,
/// written where the name stays, and renamed else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The part that it is of, by its place.
    pub part: usize,
    pub from: Option<There>,
    pub to: Option<There>,
}

/// What becomes of names in a switch, each of which may be in several hands.
#[derive(Default)]
pub(crate) struct Net {
    before: HashMap<DocumentName, FileHash>,
    after: HashMap<DocumentName, FileHash>,
}

impl Net {
    pub(crate) fn of<'a>(effects: impl IntoIterator<Item = &'a Effect>) -> Self {
        let mut net = Self::default();
        for effect in effects {
            net.before.extend(effect.before.map(|hash| (effect.name.clone(), hash)));
            net.after.extend(effect.after.map(|hash| (effect.name.clone(), hash)));
        }
        net
    }

    /// The effect on a name with all that the others do to it.
    pub(crate) fn whole(&self, effect: &Effect) -> Effect {
        let of = |names: &HashMap<DocumentName, FileHash>| names.get(&effect.name).copied();
        Effect {
            name: effect.name.clone(),
            before: effect.before.or_else(|| of(&self.before)),
            after: effect.after.or_else(|| of(&self.after)),
        }
    }
}

impl Part {
    /// What effects come to that are all of one file; none if they are not.
    pub(crate) fn of(effects: &[Effect]) -> Option<Self> {
        let path = |effect: &Effect| effect.name.as_path().to_path_buf();
        let before = |effect: &Effect| effect.before.map(|hash| (path(effect), hash));
        let after = |effect: &Effect| effect.after.map(|hash| (path(effect), hash));
        match effects {
            [there] => Some(Self { from: before(there), to: after(there) }),
            [left, there] if left.after.is_none() && there.before.is_none() && left.name != there.name => {
                Some(Self { from: before(left), to: after(there) })
            }
            _ => None,
        }
    }

    fn leaves(&self) -> Option<&Path> {
        let (from, _) = self.from.as_ref()?;
        self.to.as_ref().is_none_or(|(to, _)| to != from).then_some(from)
    }

    fn comes_to(&self) -> Option<&Path> {
        let (to, _) = self.to.as_ref()?;
        self.from.as_ref().is_none_or(|(from, _)| to != from).then_some(to)
    }
}

impl Step {
    fn writes(&self) -> bool {
        self.from.as_ref().zip(self.to.as_ref()).is_some_and(|((from, _), (to, _))| from == to)
    }

    fn names(&self) -> impl Iterator<Item = &Path> {
        self.from.iter().chain(&self.to).map(|(path, _)| path.as_path())
    }
}

/// The steps from before to after, in an order in which every name is free when a file comes to it; none if two of the files have one name.
/// A file that is in the way of itself is set aside, under a name that `salt` makes.
pub(crate) fn plan(parts: &[Part], salt: Sequence) -> Option<Vec<Step>> {
    let mut leaves: BTreeMap<&Path, usize> = BTreeMap::new();
    for (is_after, name) in [
        (false, (|part: &Part| part.from.as_ref().map(|(path, _)| path)) as fn(&Part) -> Option<&PathBuf>),
        (true, |part: &Part| part.to.as_ref().map(|(path, _)| path)),
    ] {
        let mut names: Vec<&PathBuf> = parts.iter().filter_map(name).collect();
        names.sort_unstable();
        // After all of it no file is in a file.
        let collide = |two: &[&PathBuf]| two[0] == two[1] || (is_after && two[1].starts_with(two[0]));
        if names.windows(2).any(collide) {
            return None;
        }
    }
    for (at, part) in parts.iter().enumerate() {
        leaves.extend(part.leaves().map(|from| (from, at)));
    }
    // What has to have left first: the file of the name, those that stand where its folders are to be, and those in a folder of its name.
    let in_its_way = |at: usize| -> Vec<usize> {
        let Some(to) = parts[at].comes_to() else { return Vec::new() };
        let above = to.ancestors().filter_map(|name| leaves.get(name));
        let behind = leaves.range::<&Path, _>((Excluded(&to), Unbounded));
        let below = behind.take_while(|(name, _)| name.starts_with(to)).map(|(_, at)| at);
        above.chain(below).copied().collect()
    };
    let taken: BTreeSet<&Path> = parts.iter().filter_map(Part::comes_to).collect();
    let mut steps = Vec::new();
    let mut aside: Vec<Option<There>> = vec![None; parts.len()];
    let mut begun = vec![false; parts.len()];
    let mut ended = vec![false; parts.len()];
    for first in 0..parts.len() {
        let mut open = if begun[first] { Vec::new() } else { vec![(first, in_its_way(first))] };
        begun[first] = true;
        while let Some((at, waits_for)) = open.last_mut() {
            let at = *at;
            match waits_for.pop() {
                Some(other) if !begun[other] => {
                    begun[other] = true;
                    open.push((other, in_its_way(other)));
                }
                Some(other) if !ended[other] && aside[other].is_none() => {
                    if let Some((from, hash)) = parts[other].from.clone() {
                        let kept = (name_aside(&from, &taken, salt), hash);
                        steps.push(Step { part: other, from: Some((from, hash)), to: Some(kept.clone()) });
                        aside[other] = Some(kept);
                    }
                }
                Some(_) => {}
                None => {
                    let Part { from, to } = &parts[at];
                    let from = aside[at].clone().or_else(|| from.clone());
                    steps.extend(way(at, from, to.clone()));
                    ended[at] = true;
                    open.pop();
                }
            }
        }
    }
    Some(steps)
}

/// The steps of one file by itself.
fn way(part: usize, from: Option<There>, to: Option<There>) -> Vec<Step> {
    match (from, to) {
        (Some((old, was)), Some((new, hash))) => {
            let mut steps = Vec::new();
            if old != new {
                steps.push(Step { part, from: Some((old, was)), to: Some((new.clone(), was)) });
            }
            if was != hash {
                steps.push(Step { part, from: Some((new.clone(), was)), to: Some((new, hash)) });
            }
            steps
        }
        (None, None) => Vec::new(),
        (from, to) => vec![Step { part, from, to }],
    }
}

/// What a file is called while it is out of the way. It lies where it was, or beside the outermost of its folders whose name a file is to have.
fn name_aside(path: &Path, taken: &BTreeSet<&Path>, salt: Sequence) -> PathBuf {
    let mut key = path.as_os_str().as_encoded_bytes().to_vec();
    key.extend(salt.0.to_le_bytes());
    let hash = FileHash::of(&key).to_hex();
    let outermost = path.ancestors().filter(|above| taken.contains(above)).last().unwrap_or(path);
    outermost.with_file_name(format!(".hashline-{}.aside", &hash[..32]))
}

/// How far steps were gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// So many were made.
    pub made: usize,
    /// The names that hold something which they hold after none of the steps: somebody else has changed that.
    pub foreign: BTreeSet<PathBuf>,
}

/// The names that steps are about.
pub(crate) fn names(parts: &[Part], steps: &[Step]) -> BTreeSet<PathBuf> {
    let of_parts =
        parts.iter().flat_map(|part| part.from.iter().chain(&part.to)).map(|(path, _)| path.clone());
    of_parts.chain(steps.iter().flat_map(Step::names).map(Path::to_path_buf)).collect()
}

/// How far steps were gone, by what the names hold now; none if that is no tree that they lead through, whatever somebody else may have
/// changed. Where several are alike, the last.
pub(crate) fn progress(
    parts: &[Part],
    steps: &[Step],
    now: &HashMap<PathBuf, Option<FileHash>>,
) -> Option<Progress> {
    let there = |path: &Path| now.get(path).copied().flatten();
    let mut tree: HashMap<&Path, Option<FileHash>> = now.keys().map(|path| (path.as_path(), None)).collect();
    tree.extend(
        parts.iter().filter_map(|part| part.from.as_ref()).map(|(path, hash)| (&**path, Some(*hash))),
    );
    let mut met: BTreeSet<&Path> = BTreeSet::new();
    met.extend(tree.iter().filter(|(path, hash)| there(path) == **hash).map(|(path, _)| *path));
    let mut others = tree.len() - met.len();
    // How many names differ from what they hold after each of the steps.
    let mut differ = vec![others];
    for step in steps {
        // A name that is written is not empty in between.
        let left = step.from.iter().filter(|_| !step.writes()).map(|(path, _)| (path.as_path(), None));
        let taken = step.to.iter().map(|(path, hash)| (path.as_path(), Some(*hash)));
        for (path, hash) in left.chain(taken) {
            let before = tree.insert(path, hash).flatten();
            others = others + usize::from(there(path) != hash) - usize::from(there(path) != before);
            if there(path) == hash {
                met.insert(path);
            }
        }
        differ.push(others);
    }
    let foreign: BTreeSet<PathBuf> =
        now.keys().filter(|path| !met.contains(path.as_path())).cloned().collect();
    let made = differ.iter().rposition(|count| *count == foreign.len())?;
    Some(Progress { made, foreign })
}

/// Of steps those that can be made where some names are somebody else's: not what touches such a name, nor what rests on a step that is left
/// out.
pub(crate) fn around(steps: &[Step], foreign: &BTreeSet<PathBuf>) -> Vec<Step> {
    let mut closed: BTreeSet<&Path> = foreign.iter().map(PathBuf::as_path).collect();
    let mut open = Vec::new();
    for step in steps {
        // What stands where its folder is to be is in the way as well, and what lies in a folder of its name.
        let is_in_the_way = |to: &Path| {
            let mut behind = closed.range::<Path, _>((Excluded(to), Unbounded));
            to.ancestors().any(|above| closed.contains(above))
                || behind.next().is_some_and(|next| next.starts_with(to))
        };
        let to = step.to.as_ref().map(|(to, _)| to.as_path());
        if step.names().any(|name| closed.contains(name)) || to.is_some_and(is_in_the_way) {
            closed.extend(step.names());
        } else {
            open.push(step.clone());
        }
    }
    open
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    type Tree = HashMap<PathBuf, Option<FileHash>>;

    fn there(name: &str, holds: &str) -> Option<There> {
        (!name.is_empty()).then(|| (PathBuf::from(format!("/p/{name}")), FileHash::of(holds.as_bytes())))
    }

    /// From and to, as `a=1`: a name and what is there.
    fn part(from: &str, to: &str) -> Part {
        let read = |text: &str| {
            let (name, holds) = text.split_once('=').unwrap_or_default();
            there(name, holds)
        };
        Part { from: read(from), to: read(to) }
    }

    fn before(parts: &[Part], steps: &[Step]) -> Tree {
        let mut tree: Tree = names(parts, steps).into_iter().map(|name| (name, None)).collect();
        tree.extend(parts.iter().filter_map(|part| part.from.clone()).map(|(name, hash)| (name, Some(hash))));
        tree
    }

    fn after(parts: &[Part], steps: &[Step]) -> Tree {
        let mut tree: Tree = names(parts, steps).into_iter().map(|name| (name, None)).collect();
        tree.extend(parts.iter().filter_map(|part| part.to.clone()).map(|(name, hash)| (name, Some(hash))));
        tree
    }

    /// Makes a step as a disk does it: what it is about is there, and nobody has the name that it gives.
    fn make(tree: &mut Tree, step: &Step) {
        if let Some((from, hash)) = &step.from {
            assert_eq!(tree.insert(from.clone(), None), Some(Some(*hash)), "{step:?}");
        }
        if let Some((to, hash)) = &step.to {
            assert_eq!(tree.insert(to.clone(), Some(*hash)), Some(None), "{step:?}");
            let is_apart = |name: &Path| name == to || !(to.starts_with(name) || name.starts_with(to));
            assert!(tree.iter().all(|(name, there)| there.is_none() || is_apart(name)), "{step:?}");
        }
    }

    fn check(parts: &[Part]) {
        let steps = plan(parts, Sequence(7)).unwrap();
        assert_eq!(plan(parts, Sequence(7)).unwrap(), steps, "it is the same again");
        let mut tree = before(parts, &steps);
        let mut trees = vec![tree.clone()];
        for step in &steps {
            make(&mut tree, step);
            trees.push(tree.clone());
        }
        assert_eq!(tree, after(parts, &steps), "{parts:?}");
        for (at, tree) in trees.iter().enumerate() {
            let Progress { made, foreign } = progress(parts, &steps, tree).unwrap();
            assert!(foreign.is_empty() && made >= at && trees[made] == *tree, "{parts:?}: {made} for {at}");
            for (changed, other) in tree.keys().flat_map(|name| [(name, None), (name, Some("else"))]) {
                let mut tree = tree.clone();
                tree.insert(changed.clone(), other.map(|other| FileHash::of(other.as_bytes())));
                let Some(Progress { made, foreign }) = progress(parts, &steps, &tree) else {
                    assert!(other.is_none(), "what is foreign is seen to be");
                    continue;
                };
                assert!(other.is_none() || foreign.contains(changed));
                // What can be done is done, and nothing to what is foreign.
                let was = tree.clone();
                around(&steps[made..], &foreign).iter().for_each(|step| make(&mut tree, step));
                assert!(foreign.iter().all(|name| was[name] == tree[name]));
            }
        }
    }

    #[test]
    fn every_name_is_free_when_a_file_comes_to_it() {
        for parts in [
            vec![part("a=1", "b=1")],
            vec![part("a=1", "b=2")],
            vec![part("a=1", "a=2"), part("b=1", ""), part("", "c=1")],
            vec![part("a=1", "b=1"), part("b=2", "c=2"), part("c=3", "d=3")],
            vec![part("a=1", "b=1"), part("b=2", "a=2")],
            vec![part("a=1", "b=1"), part("b=1", "a=1")],
            vec![part("a=1", "b=4"), part("b=2", "c=5"), part("c=3", "a=6")],
            vec![part("a=1", "b=1"), part("b=1", ""), part("", "a=1")],
            vec![part("a=1", "a/b=1")],
            vec![part("a=1", "b=1"), part("", "a/x=2"), part("", "a/y/z=2")],
            vec![part("a=1", "b/c=1"), part("b=2", "a/c=2")],
            vec![part("x/a=1", ""), part("", "")],
            vec![part("a/b=1", "a=1")],
            vec![part("a/b/c=1", "a=1"), part("a/d=2", "e=2")],
            vec![part("a/x=1", "b=1"), part("b=2", "a=2")],
            vec![part("a=1", "b/b=1"), part("b=2", "a/a=2")],
            vec![part("a/x=1", ""), part("b=2", "a=2")],
        ] {
            check(&parts);
        }
    }

    #[test]
    fn files_that_would_have_one_name_have_no_steps() {
        for parts in [
            vec![part("a=1", "c=1"), part("b=1", "c=1")],
            vec![part("a=1", "c=1"), part("a=1", "d=1")],
            vec![part("", "c=1"), part("", "c/d=1")],
        ] {
            assert_eq!(plan(&parts, Sequence(1)), None, "{parts:?}");
        }
    }

    /// Any three files, some of which would lie in a folder of the name that another one has.
    #[test]
    fn files_take_the_names_of_folders_and_make_way_for_them() {
        let names = ["", "a", "a/x", "a/x/y", "a/z", "b"];
        let is_tree = |three: &[&str]| {
            let there: Vec<&Path> = three.iter().filter(|name| !name.is_empty()).map(Path::new).collect();
            let of_one = |one: &usize, other: &usize| one != other && there[*one].starts_with(there[*other]);
            !(0..there.len()).any(|one| (0..there.len()).any(|other| of_one(&one, &other)))
        };
        let count = names.len();
        let three = |at: usize| [at / count / count, at / count % count, at % count].map(|at| names[at]);
        let threes = || (0..count * count * count).map(three);
        let mut met = 0;
        for from in threes().filter(|three| is_tree(three)) {
            for to in threes() {
                for alike in [false, true] {
                    let holds = |at: usize| if alike { "same".to_owned() } else { at.to_string() };
                    let there = |name: &str, at: usize| there(name, &holds(at));
                    let parts: Vec<Part> =
                        (0..3).map(|at| Part { from: there(from[at], at), to: there(to[at], at) }).collect();
                    if is_tree(&to) {
                        check(&parts);
                        met += 1;
                    } else {
                        assert_eq!(plan(&parts, Sequence(7)), None, "{parts:?}");
                    }
                }
            }
        }
        assert!(met > 5000, "{met}");
    }

    /// All permutations of few names, with files that come, go, change and are alike.
    #[test]
    fn any_tree_leads_to_any_other() {
        let names = ["a", "b", "c", "d/e"];
        let mut orders = vec![Vec::new()];
        for _ in 0..names.len() {
            orders = orders
                .into_iter()
                .flat_map(|order: Vec<usize>| {
                    let left = (0..=names.len()).filter(|at| *at == names.len() || !order.contains(at));
                    left.map(|at| [&order[..], &[at]].concat()).collect::<Vec<_>>()
                })
                .collect();
        }
        assert!(orders.len() > 200);
        for order in &orders {
            for kind in 0..16_u32 {
                let parts: Vec<Part> = order
                    .iter()
                    .enumerate()
                    .map(|(at, to)| {
                        let holds = if kind & 1 == 0 { "same" } else { names[at] };
                        let changed = if kind & 2 == 0 { holds } else { "changed" };
                        let made = kind & 4 != 0 && at == 1;
                        let gone = kind & 8 != 0 && at == 2;
                        let to = names.get(*to).filter(|_| !gone).and_then(|name| there(name, changed));
                        Part { from: there(names[at], holds).filter(|_| !made), to }
                    })
                    .collect();
                check(&parts);
            }
        }
    }
}
