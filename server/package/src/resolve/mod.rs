//! From an identifier to the files behind it: their addresses, and what the index of their kind says about them.

mod cargo;
mod go;
mod npm;
mod nuget;
mod oci;
mod pypi;

use url::Url;

use crate::fetch::{Budget, FetchError, Fetcher, Request};
use crate::hash::IndexHash;
use crate::identifier::{Asset, Identifier};

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

impl Sources {
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

/// Whether an address is on the registry that everybody uses for this kind of package: what a name means must not depend on who looks.
pub fn is_usual(kind: &str, address: &str) -> bool {
    let usual: &[&str] = match kind {
        "npm" => &[NPM],
        "pypi" => &[PYPI],
        "cargo" => &[CRATES_IO, CRATES_INDEX],
        "nuget" => &[NUGET],
        "go" => &[GO],
        _ => return true,
    };
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    let given = origin(address);
    given.is_some() && usual.iter().any(|usual| origin(usual) == given)
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
        let [npm, pypi, github, crates_index, crates, nuget, go, docker] =
            [NPM, PYPI, "https://mirror.example/github/", CRATES_INDEX, CRATES, NUGET, GO, DOCKER]
                .map(|text| Url::parse(text).unwrap());
        let sources = Sources { npm, pypi, github, crates_index, crates, nuget, go, docker };
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
    fn the_usual_registry_has_one_origin() {
        for (kind, address, usual) in [
            ("npm", "https://registry.npmjs.org", true),
            ("npm", "https://registry.npmjs.org/", true),
            ("npm", "http://registry.npmjs.org", false),
            ("npm", "https://registry.npmjs.org.example", false),
            ("npm", "nonsense", false),
            ("pypi", "https://pypi.org/simple", true),
            ("cargo", "https://crates.io", true),
            ("cargo", "https://index.crates.io", true),
            ("nuget", "https://api.nuget.org/v3/index.json", true),
            ("nuget", "https://nuget.example/v3/index.json", false),
            ("go", "https://proxy.golang.org", true),
            // Its identifier is the whole address.
            ("mcpb", "https://example.com", true),
        ] {
            assert_eq!(is_usual(kind, address), usual, "{kind} {address}");
        }
    }
}
