//! Settings of a workspace: how edits are treated, by whether the document is open, by agent and by path, in all folders or in one.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::disk::HardLinks;
use crate::document::Mode;

/// How edits are treated.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For open documents.
    pub open: Mode,
    /// For documents that are not open.
    pub disk: Mode,
    /// Exceptions; the last that matches wins.
    pub rules: Vec<Rule>,
    /// Files whose edits are held whatever the mode, besides those that programs act on by themselves ([`Obeyed`](crate::Obeyed)).
    pub hold: Vec<Hold>,
    /// Whether agents are served files that have more than one name.
    pub hard_links: HardLinks,
    /// Whether held hunks are also shown as diagnostics.
    pub diagnostics: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            open: Mode::Propose,
            disk: Mode::Apply,
            rules: Vec::new(),
            hold: Vec::new(),
            hard_links: HardLinks::Served,
            diagnostics: true,
        }
    }
}

/// An exception for some agents or some paths.
#[derive(Clone, Debug)]
pub struct Rule {
    agent: Option<String>,
    glob: Option<GlobMatcher>,
    mode: Mode,
}

/// Files whose edits are held whatever the mode.
#[derive(Clone, Debug)]
pub struct Hold(GlobMatcher);

/// A pattern that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the glob {glob:?} cannot be read: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

impl BadGlob {
    fn of(glob: &str, error: &globset::Error) -> Self {
        Self { glob: glob.to_owned(), why: error.kind().to_string() }
    }
}

impl Hold {
    /// The files whose paths, relative to their root, the glob matches, in any case.
    ///
    /// # Errors
    ///
    /// [`BadGlob`].
    pub fn new(glob: &str) -> Result<Self, BadGlob> {
        let compiled = GlobBuilder::new(glob).case_insensitive(true).build();
        compiled.map(|compiled| Self(compiled.compile_matcher())).map_err(|error| BadGlob::of(glob, &error))
    }
}

impl Rule {
    /// A rule for the agent of this name, or for all, and for the paths (relative to their root) that the glob matches, or for
    /// all.
    ///
    /// # Errors
    ///
    /// [`BadGlob`].
    pub fn new(agent: Option<String>, glob: Option<&str>, mode: Mode) -> Result<Self, BadGlob> {
        let compile = |glob: &str| {
            let compiled = Glob::new(glob);
            compiled.map(|glob| glob.compile_matcher()).map_err(|error| BadGlob::of(glob, &error))
        };
        Ok(Self { agent, glob: glob.map(compile).transpose()?, mode })
    }

    fn fits(&self, agent: &str, relative: &Path) -> bool {
        self.agent.as_ref().is_none_or(|wanted| wanted == agent)
            && self.glob.as_ref().is_none_or(|glob| glob.is_match(relative))
    }
}

impl Settings {
    /// How an edit of this agent is treated in a document whose path, relative to its root, is this one.
    #[must_use]
    pub fn mode(&self, agent: &str, relative: &Path, open: bool) -> Mode {
        let default = if open { self.open } else { self.disk };
        self.rules.iter().rev().find(|rule| rule.fits(agent, relative)).map_or(default, |rule| rule.mode)
    }
}

/// The settings of a workspace, where folders have their own.
#[derive(Clone, Debug, Default)]
pub struct SettingsByFolder {
    /// For what lies in no folder that has its own.
    pub everywhere: Settings,
    /// By the folder, with all links followed.
    pub of_folders: Vec<(PathBuf, Settings)>,
}

impl From<Settings> for SettingsByFolder {
    fn from(everywhere: Settings) -> Self {
        Self { everywhere, of_folders: Vec::new() }
    }
}

impl SettingsByFolder {
    /// Those of a file: of the innermost folder that holds it.
    #[must_use]
    pub fn of(&self, file: &Path) -> &Settings {
        self.innermost(file).map_or(&self.everywhere, |(_, settings)| settings)
    }

    /// How an edit of this agent is treated in a file. Where its folder has settings of its own, globs are relative to that folder,
    /// else to the root, whose way to the file is `relative`.
    #[must_use]
    pub fn mode(&self, agent: &str, file: &Path, relative: &Path, open: bool) -> Mode {
        let (settings, relative) = match self.innermost(file) {
            Some((folder, settings)) => (settings, file.strip_prefix(folder).unwrap_or(relative)),
            None => (&self.everywhere, relative),
        };
        settings.mode(agent, relative, open)
    }

    /// Whether edits of a file are held whatever the mode. Globs are relative as in [`mode`](Self::mode); `root` is the root of the file.
    #[must_use]
    pub fn holds(&self, file: &Path, root: &Path) -> bool {
        let (settings, folder) = match self.innermost(file) {
            Some((folder, settings)) => (settings, folder),
            None => (&self.everywhere, root),
        };
        let relative = file.strip_prefix(folder).unwrap_or(file);
        settings.hold.iter().any(|hold| hold.0.is_match(relative))
    }

    /// Whether agents are served files that have more than one name: such a file may have its other name in any folder, so where one
    /// folder refuses them all do.
    #[must_use]
    pub fn hard_links(&self) -> HardLinks {
        let of_folders = self.of_folders.iter().map(|(_, settings)| settings.hard_links);
        of_folders.fold(self.everywhere.hard_links, HardLinks::and)
    }

    fn innermost(&self, file: &Path) -> Option<(&Path, &Settings)> {
        let holding = self.of_folders.iter().filter(|(folder, _)| file.starts_with(folder));
        holding
            .max_by_key(|(folder, _)| folder.components().count())
            .map(|(folder, settings)| (folder.as_path(), settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_settings_of_the_innermost_folder() {
        let glob = |mode| Rule::new(None, Some("docs/**"), mode).unwrap();
        let inner = Settings { rules: vec![glob(Mode::Apply)], ..Settings::default() };
        let outer = Settings { rules: vec![glob(Mode::Propose)], open: Mode::Apply, ..Settings::default() };
        let settings = SettingsByFolder {
            everywhere: Settings { open: Mode::Apply, ..Settings::default() },
            of_folders: vec![("/a".into(), outer), ("/a/b".into(), inner)],
        };
        let mode =
            |file: &str, relative: &str| settings.mode("any", Path::new(file), Path::new(relative), true);
        assert_eq!(mode("/a/x.md", "x.md"), Mode::Apply);
        assert_eq!(mode("/a/docs/x.md", "docs/x.md"), Mode::Propose);
        assert_eq!(mode("/a/b/x.md", "b/x.md"), Mode::Propose);
        assert_eq!(mode("/a/b/docs/x.md", "b/docs/x.md"), Mode::Apply, "the glob is of the inner folder");
        assert_eq!(mode("/ab/x.md", "x.md"), Mode::Apply);
        assert_eq!(mode("", ""), Mode::Apply, "a document without a file");
    }

    #[test]
    fn the_last_rule_that_fits_wins() {
        let rule = |agent: Option<&str>, glob, mode| Rule::new(agent.map(str::to_owned), glob, mode).unwrap();
        let settings = Settings {
            rules: vec![rule(None, Some("docs/**"), Mode::Apply), rule(Some("careful"), None, Mode::Propose)],
            ..Settings::default()
        };
        assert_eq!(settings.mode("any", Path::new("src/a.rs"), true), Mode::Propose);
        assert_eq!(settings.mode("any", Path::new("src/a.rs"), false), Mode::Apply);
        assert_eq!(settings.mode("any", Path::new("docs/a/b.md"), true), Mode::Apply);
        assert_eq!(settings.mode("careful", Path::new("docs/a/b.md"), true), Mode::Propose);
        assert!(Rule::new(None, Some("a["), Mode::Apply).is_err());
    }
}
