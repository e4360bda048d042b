//! Following a name to the module that defines it.

use crate::items::Path;
use crate::modules::Modules;

/// How many imports are followed for one name; more are a name that stands for itself.
const FAR: usize = 32;

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A module itself.
    Module(usize),
    /// Something that this module defines.
    In(usize),
}

impl Modules {
    /// What a path that stands in a module names; none if it is another crate's, or has no name of a module's.
    pub(crate) fn find(&self, from: usize, path: &Path) -> Option<Named> {
        self.find_within(from, path, FAR)
    }

    fn find_within(&self, from: usize, path: &[String], far: usize) -> Option<Named> {
        let (first, rest) = path.split_first()?;
        let first = match first.as_str() {
            "crate" => Named::Module(0),
            "self" => Named::Module(from),
            "super" => Named::Module(self.all[from].parent?),
            name => self.child(from, name, far)?,
        };
        self.descend(first, rest, far)
    }

    fn descend(&self, mut named: Named, rest: &[String], far: usize) -> Option<Named> {
        for name in rest {
            // Behind what is no module come its variants and the like.
            let Named::Module(at) = named else { return Some(named) };
            named = match name.as_str() {
                "self" => named,
                "super" => Named::Module(self.all[at].parent?),
                // What is not found there, a macro has defined.
                name => self.child(at, name, far).unwrap_or(Named::In(at)),
            };
        }
        Some(named)
    }

    /// What a name stands for in a module.
    fn child(&self, at: usize, name: &str, far: usize) -> Option<Named> {
        let far = far.checked_sub(1)?;
        let module = &self.all[at];
        if let Some(child) = module.children.get(name) {
            return Some(Named::Module(*child));
        }
        if module.items.defined.contains(name) {
            return Some(Named::In(at));
        }
        if let Some(import) = module.items.imports.get(name) {
            return self.find_within(at, &import.path, far);
        }
        let mut globs = module.items.globs.iter();
        globs.find_map(|glob| match self.find_within(at, glob, far)? {
            Named::Module(of) if of != at => self.child(of, name, far),
            _ => None,
        })
    }
}
