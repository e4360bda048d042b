//! What one file of Rust says: its modules, what it defines and imports, and every path that it names.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// The segments of a path.
pub(crate) type Path = Vec<String>;

/// A name that an import brings into scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// What it stands for.
    pub path: Path,
    /// It is handed on to others.
    pub is_public: bool,
}

/// What stands in a module, but for the modules in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    pub defined: BTreeSet<String>,
    pub imports: BTreeMap<String, Import>,
    pub globs: Vec<Path>,
    /// Every path in its code.
    pub paths: BTreeSet<Path>,
    /// The modules that are declared: in a file of their own, or with what stands in them.
    pub modules: Vec<(String, Option<Items>)>,
}

impl Items {
    pub(crate) fn of(items: &[Item]) -> Self {
        let mut found = Self::default();
        for item in items {
            found.define(item);
            found.visit_item(item);
        }
        found
    }

    fn define(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            _ => return,
        };
        self.defined.insert(name.to_string());
    }

    fn import(&mut self, tree: &UseTree, at: &mut Path, is_public: bool) {
        match tree {
            UseTree::Path(part) => {
                at.push(part.ident.to_string());
                self.import(&part.tree, at, is_public);
                at.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                let known = at.last().cloned().unwrap_or_default();
                self.imports.insert(known, Import { path: at.clone(), is_public });
            }
            UseTree::Name(name) => {
                self.import_as(&name.ident.to_string(), &name.ident.to_string(), at, is_public);
            }
            UseTree::Rename(name) => {
                self.import_as(&name.ident.to_string(), &name.rename.to_string(), at, is_public);
            }
            UseTree::Glob(_) => self.globs.push(at.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, at, is_public)),
        }
    }

    fn import_as(&mut self, name: &str, known: &str, at: &[String], is_public: bool) {
        let path = at.iter().cloned().chain([name.to_owned()]).collect();
        // What brings in a trait for its methods alone has no name.
        let known = if known == "_" { format!("_ {}", self.imports.len()) } else { known.to_owned() };
        self.imports.insert(known, Import { path, is_public });
    }

    /// Notes the paths in the arguments of a macro, which are no syntax until it is expanded.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        // How many colons stand behind the last segment.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.note(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.note(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.note_tokens(group.stream());
                    }
                }
            }
        }
        self.note(&mut path);
    }

    fn note(&mut self, path: &mut Path) {
        if !path.is_empty() {
            self.paths.insert(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let inside = item.content.as_ref().map(|(_, items)| Self::of(items));
        self.modules.push((item.ident.to_string(), inside));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, &mut Path::new(), is_public);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.note_tokens(call.tokens.clone());
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether something is there for tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let says_test = |list: &syn::MetaList| list.tokens.to_string() == "test";
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(says_test)
    })
}
