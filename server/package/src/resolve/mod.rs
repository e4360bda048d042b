//! From an identifier to the files behind it: their addresses, and what the index of their kind says about them.

mod cargo;
mod go;
mod npm;
mod nuget;
mod oci;
mod pypi;

use std::fmt;

use url::Url;

use crate::fetch::{Budget, FetchError, Fetcher, Request};
use crate::hash::IndexHash;
use crate::identifier::{Asset, Identifier, is_plain};
use crate::image::Image;

/// The registry of npm that everybody uses.
pub const NPM: &str = "https://registry.npmjs.org";
/// PyPI.
pub const PYPI: &str = "https://pypi.org";
/// GitHub.
pub const GITHUB: &str = "https://github.com";
/// Where crates.io is read by people, who give it as the registry of a crate.
const CRATES_IO: &str = "https://crates.io";
/// The index of crates.io.
pub const CRATES_INDEX: &str = "https://index.crates.io";
/// The archives of crates.io.
pub const CRATES: &str = "https://static.crates.io/crates";
/// The packages of NuGet.
pub const NUGET: &str = "https://api.nuget.org/v3-flatcontainer";
/// The proxy of Go's modules.
pub const GO: &str = "https://proxy.golang.org";
/// Docker's registry of images.
pub const DOCKER: &str = "https://registry-1.docker.io";
/// What it is called in the names of images, and by Docker itself.
const DOCKER_HUB: [&str; 3] = ["https://docker.io", "https://index.docker.io", "https://index.docker.io/v1"];

/// Where each kind of package comes from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The registry of npm.
    pub npm: Url,
    /// PyPI.
    pub pypi: Url,
    /// GitHub.
    pub github: Url,
    /// The index of crates.
    pub crates_index: Url,
    /// Where crates are downloaded.
    pub crates: Url,
    /// The folder of packages of NuGet.
    pub nuget: Url,
    /// The proxy of Go's modules.
    pub go: Url,
    /// Docker's registry of images; of the others each image names its own.
    pub docker: Url,
}

/// A file that can be downloaded.
#[derive(Clone, Debug)]
pub struct RemoteFile {
    /// What it is called, if it is one of several.
    pub identifier: Identifier,
    /// Where it is, and how it is asked for.
    pub request: Request,
    /// What the index says that its hash is.
    pub indexed: Option<Indexed>,
}

/// The hash that a file has by somebody else's word.
#[derive(Clone, Debug)]
pub struct Indexed {
    /// It.
    pub hash: IndexHash,
    /// Whose word that is.
    pub by: String,
}

/// The registries of a package, any of which may stand beside its name. What a name means must not depend on who looks.
pub struct Bases<'a> {
    /// Those that everybody uses.
    public: Vec<String>,
    /// Whether more may stand behind their names, which is for their clients. Behind that of a registry of images it would be a part of
    /// the name of the image.
    may_go_on: bool,
    /// The one that it is fetched from here, which may be one of several at its address.
    here: Option<&'a Url>,
}

impl Bases<'_> {
    /// Whether an address is that of one of them.
    pub fn accept(&self, address: &str) -> bool {
        // What is published is the text: everybody who reads it has to find the same host in it.
        if !address.starts_with("https://") && !address.starts_with("http://") || !is_plain(address) {
            return false;
        }
        let Ok(url) = Url::parse(address) else { return false };
        let is_bare = url.username().is_empty() && url.password().is_none();
        let bare = |url: &Url| url.as_str().trim_end_matches('/').to_owned();
        let public = if self.may_go_on { origin(&url) } else { bare(&url) };
        is_bare && (self.public.contains(&public) || self.here.is_some_and(|here| bare(here) == bare(&url)))
    }
}

impl fmt::Display for Bases<'_> {
    /// For everybody: where a mirror is, and how one becomes known to it, is for those who have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.public.join(" or "))?;
        match self.here {
            Some(here) if !self.public.contains(&origin(here)) => {
                f.write_str(" or the mirror that is used here")
            }
            _ => Ok(()),
        }
    }
}

impl Sources {
    /// Those that everybody uses.
    pub fn public() -> Result<Self, url::ParseError> {
        Ok(Self {
            npm: Url::parse(NPM)?,
            pypi: Url::parse(PYPI)?,
            github: Url::parse(GITHUB)?,
            crates_index: Url::parse(CRATES_INDEX)?,
            crates: Url::parse(CRATES)?,
            nuget: Url::parse(NUGET)?,
            go: Url::parse(GO)?,
            docker: Url::parse(DOCKER)?,
        })
    }

    /// Where a package is.
    pub fn bases(&self, identifier: &Identifier) -> Bases<'_> {
        let (public, here): (&[&str], _) = match identifier {
            Identifier::Npm(_) => (&[NPM], &self.npm),
            Identifier::Pypi { .. } => (&[PYPI], &self.pypi),
            Identifier::Github(_) => (&[GITHUB], &self.github),
            Identifier::Cargo(_) => (&[CRATES_IO, CRATES_INDEX], &self.crates_index),
            Identifier::Nuget(_) => (&[NUGET], &self.nuget),
            Identifier::Go(_) => (&[GO], &self.go),
            Identifier::Url(address) => {
                return Bases { public: vec![origin(&address.url)], may_go_on: true, here: None };
            }
            Identifier::Oci(Image { address: Some(address), .. }) => {
                return Bases { public: vec![origin(address)], may_go_on: false, here: None };
            }
            Identifier::Oci(_) => {
                let public = DOCKER_HUB.into_iter().chain([DOCKER]).map(str::to_owned).collect();
                return Bases { public, may_go_on: false, here: Some(&self.docker) };
            }
        };
        // Of some it is a folder, which is not all of them.
        let public = public.iter().filter_map(|url| Url::parse(url).ok()).map(|url| origin(&url)).collect();
        Bases { public, may_go_on: true, here: Some(here) }
    }

    /// The files of a package, at least one.
    pub async fn files(
        &self,
        fetcher: &Fetcher,
        budget: &Budget,
        identifier: &Identifier,
    ) -> Result<Vec<RemoteFile>, FetchError> {
        let one = |url: Url, indexed| {
            vec![RemoteFile { identifier: identifier.clone(), request: url.into(), indexed }]
        };
        Ok(match identifier {
            Identifier::Npm(package) => {
                let (url, indexed) = npm::tarball(&self.npm, fetcher, budget, package).await?;
                one(url, indexed)
            }
            Identifier::Pypi { release, file } => {
                pypi::files(&self.pypi, fetcher, budget, release, file.as_deref()).await?
            }
            Identifier::Github(Asset { owner, repo, tag, file }) => {
                let path = [owner.as_str(), repo, "releases", "download"]
                    .into_iter()
                    .chain(tag.split('/'))
                    .chain([file.as_str()]);
                one(below(&self.github, path), None)
            }
            Identifier::Url(address) => one(address.url.clone(), None),
            Identifier::Cargo(package) => {
                let (url, indexed) =
                    cargo::archive(&self.crates_index, &self.crates, fetcher, budget, package).await?;
                one(url, Some(indexed))
            }
            Identifier::Nuget(package) => one(nuget::archive(&self.nuget, package), None),
            Identifier::Go(module) => one(go::archive(&self.go, module), None),
            Identifier::Oci(image) => {
                let (request, indexed) = oci::manifest(&self.docker, fetcher, budget, image).await?;
                vec![RemoteFile { identifier: identifier.clone(), request, indexed }]
            }
        })
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// An address below another. Nothing in the parts leads out of it or means more than a name.
fn below<'a>(base: &Url, parts: impl IntoIterator<Item = &'a str>) -> Url {
    let mut url = base.clone();
    // Addresses without a path are none of http's.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(parts);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_needs_no_index_has_its_address_by_its_name() {
        let fetcher = Fetcher::new(crate::fetch::Limits::default()).unwrap();
        let github = Url::parse("https://mirror.example/github/").unwrap();
        let sources = Sources { github, ..Sources::public().unwrap() };
        for (identifier, expected) in [
            ("github:o/r/v1/a b.zip", "https://mirror.example/github/o/r/releases/download/v1/a%20b.zip"),
            (
                "github:o/r/tools/v1#2/a?.zip",
                "https://mirror.example/github/o/r/releases/download/tools/v1%232/a%3F.zip",
            ),
            ("https://example.com/a?b=c", "https://example.com/a?b=c"),
            (
                "nuget:Foo.Bar@1.0.0-Beta",
                "https://api.nuget.org/v3-flatcontainer/foo.bar/1.0.0-beta/foo.bar.1.0.0-beta.nupkg",
            ),
            (
                "go:github.com/BurntSushi/toml@v1.4.0",
                "https://proxy.golang.org/github.com/!burnt!sushi/toml/@v/v1.4.0.zip",
            ),
        ] {
            let files =
                sources.files(&fetcher, &fetcher.budget(), &identifier.parse().unwrap()).await.unwrap();
            assert_eq!(files[0].request.url.as_str(), expected);
        }
    }

    #[test]
    fn a_package_may_name_its_own_registry_and_no_other() {
        let npm = Url::parse("https://mirror.example/npm").unwrap();
        let sources = Sources { npm, ..Sources::public().unwrap() };
        for (identifier, base, is_its_own) in [
            ("npm:a@1.0.0", "https://registry.npmjs.org", true),
            ("npm:a@1.0.0", "https://registry.npmjs.org/", true),
            ("npm:a@1.0.0", "http://registry.npmjs.org", false),
            ("npm:a@1.0.0", "https://registry.npmjs.org.example", false),
            ("npm:a@1.0.0", "https://user@registry.npmjs.org", false),
            ("npm:a@1.0.0", "https://mirror.example/npm/", true),
            ("npm:a@1.0.0", "https://mirror.example/other", false),
            ("npm:a@1.0.0", "nonsense", false),
            // Others read another host, or none.
            ("npm:a@1.0.0", r"https://registry.npmjs.org\@evil.example/", false),
            ("npm:a@1.0.0", "https://registry.npmjs\t.org", false),
            ("npm:a@1.0.0", "https://registry.npmjs.org\n", false),
            ("npm:a@1.0.0", " https://registry.npmjs.org", false),
            ("npm:a@1.0.0", "https:registry.npmjs.org", false),
            ("npm:a@1.0.0", "https:/registry.npmjs.org", false),
            ("npm:a@1.0.0", "", false),
            ("pypi:a==1.0", "https://pypi.org/simple", true),
            ("pypi:a==1.0", "https://mirror.example/npm", false),
            ("github:o/r/v1/f", "https://github.com", true),
            ("github:o/r/v1/f", "https://gitlab.com", false),
            ("cargo:a@1.0.0", "https://crates.io", true),
            ("cargo:a@1.0.0", "https://index.crates.io", true),
            ("nuget:a@1.0.0", "https://api.nuget.org/v3/index.json", true),
            ("nuget:a@1.0.0", "https://nuget.example/v3/index.json", false),
            ("go:a.b/c@v1.0.0", "https://proxy.golang.org", true),
            ("oci:ghcr.io/o/r:1", "https://ghcr.io", true),
            ("oci:ghcr.io/o/r:1", "https://docker.io", false),
            ("oci:docker.io/o/r:1", "https://docker.io", true),
            ("oci:docker.io/o/r:1", "https://registry-1.docker.io/", true),
            ("oci:docker.io/o/r:1", "https://index.docker.io", true),
            ("oci:docker.io/o/r:1", "https://index.docker.io/v1/", true),
            // It would be a part of the name.
            ("oci:docker.io/o/r:1", "https://docker.io/o", false),
            ("oci:docker.io/o/r:1", "https://docker.io?o", false),
            ("oci:ghcr.io/o/r:1", "https://ghcr.io/o", false),
            // Its identifier is the whole address.
            ("https://example.com/a.mcpb", "https://example.com", true),
            ("https://example.com/a.mcpb", "https://other.example", false),
        ] {
            let bases = sources.bases(&identifier.parse().unwrap());
            assert_eq!(bases.accept(base), is_its_own, "{identifier} {base}");
            assert!(!is_its_own || !bases.to_string().is_empty());
        }
    }
}
