//! PyPI: a release has a source archive, wheels, or both, and the index knows the hash of each.
//!
//! An index tells of one release, or, as mirrors often do, only of all files of a project (PEP 691): then their names tell which
//! release each is of.

use std::str::FromStr;

use hashline_binary::FileHash;
use pep440_rs::Version;
use reqwest::StatusCode;
use serde::Deserialize;
use url::Url;

use super::{Indexed, RemoteFile, below};
use crate::fetch::{Budget, FetchError, Fetcher, Request};
use crate::hash::IndexHash;
use crate::identifier::{Identifier, Named, normal_name};

/// The form of a project's files that is read here.
const SIMPLE: &str = "application/vnd.pypi.simple.v1+json";

#[derive(Deserialize)]
struct Release {
    urls: Vec<File>,
}

#[derive(Deserialize)]
struct Project {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    /// Where it is, as seen from the index.
    url: String,
    #[serde(alias = "hashes", default)]
    digests: Digests,
    #[serde(default)]
    yanked: Yanked,
}

/// Some indexes know none, or only others.
#[derive(Default, Deserialize)]
struct Digests {
    sha256: Option<String>,
}

/// Why it should not be used. Some indexes tell no more than that.
#[derive(Deserialize)]
#[serde(untagged)]
enum Yanked {
    Known(bool),
    Because(String),
}

impl Default for Yanked {
    fn default() -> Self {
        Self::Known(false)
    }
}

/// The files of a release, or one of them.
pub async fn files(
    pypi: &Url,
    fetcher: &Fetcher,
    budget: &Budget,
    release: &Named,
    only: Option<&str>,
) -> Result<Vec<RemoteFile>, FetchError> {
    let (index, mut found) = listed(pypi, fetcher, budget, release).await?;
    let unusable = |reason: String| FetchError::Index { url: index.clone(), reason };
    // In one order, whatever the index has: hashes are compared and shown.
    found.sort_by(|a, b| a.filename.cmp(&b.filename));
    let mut files = Vec::with_capacity(found.len());
    for File { filename, url, digests, yanked } in found {
        if only.is_some_and(|only| only != filename) {
            continue;
        }
        match yanked {
            Yanked::Known(false) => {}
            Yanked::Known(true) => tracing::warn!(file = %filename, "its publisher advises against it"),
            Yanked::Because(why) => tracing::warn!(file = %filename, why, "its publisher advises against it"),
        }
        let url = index.join(&url).map_err(|error| unusable(format!("{filename} is at {url:?}: {error}")))?;
        let indexed = match digests.sha256 {
            None => None,
            Some(hex) => {
                let hash = FileHash::from_hex(&hex)
                    .ok_or_else(|| unusable(format!("the hash of {filename} is {hex:?}")))?;
                Some(Indexed { hash: IndexHash::Sha256(hash), by: index.to_string() })
            }
        };
        let identifier = Identifier::pypi(&format!("{}=={}/{filename}", release.name, release.version), None)
            .map_err(|error| unusable(error.to_string()))?;
        files.push(RemoteFile { identifier, request: url.into(), indexed });
    }
    match only {
        Some(only) if files.is_empty() => Err(unusable(format!("the release has no file {only:?}"))),
        None if files.is_empty() => Err(unusable(format!("it has no files of {}", release.version))),
        _ => Ok(files),
    }
}

/// What the index has of a release, and the page that says so.
async fn listed(
    pypi: &Url,
    fetcher: &Fetcher,
    budget: &Budget,
    release: &Named,
) -> Result<(Url, Vec<File>), FetchError> {
    let name = normal_name(&release.name);
    let of_release = below(pypi, ["pypi", &name, &release.version, "json"]);
    let missing = match fetcher.json(&of_release.clone().into(), budget).await {
        Ok(Release { urls }) => return Ok((of_release, urls)),
        Err(error @ FetchError::Status { status: StatusCode::NOT_FOUND, .. }) => error,
        Err(error) => return Err(error),
    };
    let of_project = below(pypi, ["simple", &name, ""]);
    let request = Request { accept: SIMPLE, ..of_project.clone().into() };
    match fetcher.json(&request, budget).await {
        Ok(Project { mut files }) => {
            files.retain(|file| is_of(&file.filename, &name, &release.version));
            Ok((of_project, files))
        }
        // It knows neither.
        Err(FetchError::Status { status: StatusCode::NOT_FOUND, .. }) => Err(missing),
        Err(error) => Err(error),
    }
}

/// Whether a file is one of this version of a project, by its name.
fn is_of(file: &str, project: &str, version: &str) -> bool {
    // In wheels and eggs there is more behind the version.
    let (stem, is_source) =
        match [".tar.gz", ".zip", ".tar.bz2"].iter().find_map(|end| file.strip_suffix(end)) {
            Some(stem) => (stem, true),
            None => match [".whl", ".egg"].iter().find_map(|end| file.strip_suffix(end)) {
                Some(stem) => (stem, false),
                None => return false,
            },
        };
    // Older source archives have hyphens in their project's name.
    let behind = stem.match_indices('-').find(|(at, _)| normal_name(&stem[..*at]) == project);
    let Some((at, hyphen)) = behind else { return false };
    let rest = &stem[at + hyphen.len()..];
    let found = if is_source { rest } else { rest.split('-').next().unwrap_or_default() };
    // Wheels have other letters for what a file's name cannot hold.
    let same = |found: &str| match (Version::from_str(found), Version::from_str(version)) {
        (Ok(found), Ok(version)) => found == version,
        _ => found == version,
    };
    same(found) || same(&found.replacen('_', "+", 1))
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn a_file_tells_its_version_by_its_name() {
        for (file, project, version, expected) in [
            ("six-1.16.0-py2.py3-none-any.whl", "six", "1.16.0", true),
            ("six-1.16.0.tar.gz", "six", "1.16.0", true),
            ("six-1.16.0.tar.gz", "six", "1.16", true),
            ("six-1.16.0.tar.gz", "six", "1.1", false),
            ("six-1.16.0.tar.gz", "six", "v1.16.0", true),
            ("six-1.16.0rc1.tar.gz", "six", "1.16.0", false),
            ("six-1.16.0rc1.tar.gz", "six", "1.16.0-rc.1", true),
            ("six-1.16.0.post1-py3-none-any.whl", "six", "1.16.0", false),
            ("foo_bar-1.0-1-py3-none-any.whl", "foo-bar", "1.0", true),
            ("Foo.Bar-1.0.tar.gz", "foo-bar", "1.0", true),
            ("foo-bar-1.0.zip", "foo-bar", "1.0", true),
            // Another project, whose name begins in the same way.
            ("foo-bar-1.0.zip", "foo", "1.0", false),
            ("foo-1.0+local-py3-none-any.whl", "foo", "1.0+local", true),
            ("foo-1.0_local-py3-none-any.whl", "foo", "1.0+local", true),
            ("foo-1.0-py2.7.egg", "foo", "1.0", true),
            ("foo-2004d.tar.gz", "foo", "2004d", true),
            ("foo-1.0.exe", "foo", "1.0", false),
            ("foo.tar.gz", "foo", "1.0", false),
        ] {
            assert_eq!(is_of(file, project, version), expected, "{file} {project} {version}");
        }
    }
}
