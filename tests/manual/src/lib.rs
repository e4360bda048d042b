//! Links between pages written in Markdown: those that lead nowhere.
//!
//! A link to another file needs that file; one with a fragment also needs a heading there whose id it is. Addresses of the web are not
//! looked up. Ids are made as GitHub and mdBook make them of plain headings: lower case, a hyphen for each space, no punctuation. Two
//! headings of one page that read the same are not told apart.
//!
//! ```
//! assert_eq!(hashline_manual::id_of("History and `mcpdiff`"), "history-and-mcpdiff");
//! ```

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Why links were not checked.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}; a page that was listed has to be there", page.display())]
pub struct Error {
    page: PathBuf,
    source: io::Error,
}

/// A link that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken {
    /// The page that has it.
    pub page: PathBuf,
    /// What it names.
    pub link: String,
    /// What is not there.
    pub lacks: Lacks,
}

/// What a broken link lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// There is no such file.
    File,
    /// The file has no such heading.
    Heading,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lacks = match self.lacks {
            Lacks::File => "there is no such file",
            Lacks::Heading => "the page has no such heading",
        };
        write!(f, "{}: {}: {lacks}", self.page.display(), self.link)
    }
}

/// What a page links to, and the ids of its headings.
struct Page {
    links: Vec<String>,
    ids: Vec<String>,
}

/// The links of these pages that lead nowhere.
///
/// # Errors
/// If one of the pages, or one that is linked to with a fragment, cannot be read.
pub fn broken_links(pages: &[PathBuf]) -> Result<Vec<Broken>, Error> {
    let mut broken = Vec::new();
    for page in pages {
        for link in read(page)?.links {
            if let Some(lacks) = lacks(page, &link)? {
                broken.push(Broken { page: page.clone(), link, lacks });
            }
        }
    }
    Ok(broken)
}

/// The id of a heading.
pub fn id_of(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

fn lacks(page: &Path, link: &str) -> Result<Option<Lacks>, Error> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(None);
    }
    let (file, id) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        page.to_owned()
    } else {
        page.parent().unwrap_or_else(|| Path::new("")).join(file)
    };
    if !target.exists() {
        return Ok(Some(Lacks::File));
    }
    let is_there = id.is_empty() || read(&target)?.ids.iter().any(|heading| heading == id);
    Ok((!is_there).then_some(Lacks::Heading))
}

fn read(page: &Path) -> Result<Page, Error> {
    let text = fs::read_to_string(page).map_err(|source| Error { page: page.to_owned(), source })?;
    let mut read = Page { links: Vec::new(), ids: Vec::new() };
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                read.links.push(dest_url.to_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => read.ids.extend(heading.take().map(|text| id_of(&text))),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            _ => {}
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn a_link_needs_its_file_and_its_heading() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one.md"), folder.path().join("two.md"));
        let links = "# Its `own`\n[a](#its-own) [b](#other) [c](two.md) [d](two.md#there) [e](two.md#not) [f](three.md) [g](https://a.example/x)\n";
        fs::write(&one, links).unwrap();
        fs::write(&two, "## There\n").unwrap();
        let broken = |link: &str, lacks| Broken { page: one.clone(), link: link.to_owned(), lacks };
        let all = [
            broken("#other", Lacks::Heading),
            broken("two.md#not", Lacks::Heading),
            broken("three.md", Lacks::File),
        ];
        assert_eq!(broken_links(&[one.clone(), two]).unwrap(), all);
    }
}
