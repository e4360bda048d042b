//! Identifiers: which file of which package a hash is of. They are the keys of `file_hashes`.

use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::image::{Image, NoImage};

/// One file, or all files of a release where the kind of package has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identifier {
    /// `npm:NAME@VERSION`
    Npm(Named),
    /// `pypi:NAME==VERSION`, and `/FILE` where the release has several files.
    Pypi {
        /// The release.
        release: Named,
        /// One of its files.
        file: Option<String>,
    },
    /// `github:OWNER/REPO/TAG/ASSET`
    Github(Asset),
    /// An address, as it was given.
    Url(Address),
    /// `cargo:NAME@VERSION`
    Cargo(Named),
    /// `nuget:NAME@VERSION`
    Nuget(Named),
    /// `go:MODULE@VERSION`
    Go(Named),
    /// `oci:REGISTRY/NAME:TAG`, or `@sha256:…` for the tag. Its file is its manifest.
    Oci(Image),
}

/// A package and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What it is called.
    pub name: String,
    /// The one version.
    pub version: String,
}

/// A file of a release on GitHub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Whose repository.
    pub owner: String,
    /// Which one.
    pub repo: String,
    /// The release; it may hold slashes.
    pub tag: String,
    /// The file.
    pub file: String,
}

/// An address, in the words in which it was given: those are the key.
#[derive(Clone, Debug)]
pub struct Address {
    given: String,
    /// What it means.
    pub url: Url,
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for Address {}

/// A text that names no file.
#[derive(Debug, thiserror::Error)]
pub enum NoIdentifier {
    /// It begins with nothing that is known.
    #[error(
        "{0:?} names no file: write npm:NAME@VERSION, pypi:NAME==VERSION, github:OWNER/REPO/TAG/FILE or an address with https"
    )]
    Kind(String),
    /// It names no exact version.
    #[error("{0:?} names no exact version: write {1}")]
    Version(String, &'static str),
    /// An address with what nobody else is to know. It is not told either.
    #[error(
        "the address holds a user's name or password, which everybody could read; publish files that need none"
    )]
    Credentials,
    /// It has no such form.
    #[error("{0:?} is not written as {1}")]
    Form(String, &'static str),
}

/// How each kind is written.
mod form {
    pub const NPM: &str = "npm:NAME@VERSION";
    pub const PYPI: &str = "pypi:NAME==VERSION";
    pub const GITHUB: &str = "github:OWNER/REPO/TAG/FILE";
    pub const CARGO: &str = "cargo:NAME@VERSION";
    pub const NUGET: &str = "nuget:NAME@VERSION";
    pub const GO: &str = "go:MODULE@VERSION";
    pub const OCI: &str = "oci:REGISTRY/NAME:TAG or oci:REGISTRY/NAME@sha256:DIGEST";
    pub const URL: &str = "an address with https";
}

impl Identifier {
    /// A package of npm. Its version may stand in its name; else it is the one given beside it.
    pub fn npm(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        let (name, own) = split_at_sign(text);
        let wrong = || NoIdentifier::Form(format!("npm:{text}"), form::NPM);
        let (scope, base) = match name.strip_prefix('@') {
            Some(scoped) => scoped.split_once('/').ok_or_else(wrong)?,
            None => ("x", name),
        };
        let is_part = |part: &str| is_word(part, "-._~") && part.len() <= 214;
        if !is_part(scope) || !is_part(base) {
            return Err(wrong());
        }
        Ok(Self::Npm(exact_semver(name, own.or(version), "npm:", form::NPM)?))
    }

    /// A release of PyPI, or a file of it.
    pub fn pypi(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        let wrong = || NoIdentifier::Form(format!("pypi:{text}"), form::PYPI);
        let (release, file) =
            text.split_once('/').map_or((text, None), |(release, file)| (release, Some(file)));
        let (name, own) = release.split_once("==").map_or((release, None), |(name, own)| (name, Some(own)));
        if !is_word(name, "-._") || file.is_some_and(|file| !is_word(file, "-._+!")) {
            return Err(wrong());
        }
        let version =
            own.or(version).ok_or_else(|| NoIdentifier::Version(format!("pypi:{text}"), form::PYPI))?;
        if !is_word(version, ".!+-_")
            || !version.starts_with(|letter: char| letter.is_ascii_digit() || letter == 'v')
        {
            return Err(NoIdentifier::Version(format!("pypi:{text}"), form::PYPI));
        }
        let release = Named { name: name.to_owned(), version: version.to_owned() };
        Ok(Self::Pypi { release, file: file.map(str::to_owned) })
    }

    /// A file of a release on GitHub. Without a tag in the text it is the one that the version is released under: with a `v` before it.
    pub fn github(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        let wrong = || NoIdentifier::Form(format!("github:{text}"), form::GITHUB);
        let parts: Vec<&str> = text.split('/').collect();
        // A tag is whatever git takes for one, but for what somebody on the way could take for a part of the path.
        let is_tag_part = |part: &str| {
            !part.is_empty()
                && !matches!(part, "." | "..")
                && !part.contains(|c: char| c.is_control() || c == '\\')
                && !holds_code(part)
        };
        let (owner, repo, tag, file) = match parts.as_slice() {
            [owner, repo, file] => {
                let version =
                    version.ok_or_else(|| NoIdentifier::Version(format!("github:{text}"), form::GITHUB))?;
                let tag = if version.starts_with('v') { version.to_owned() } else { format!("v{version}") };
                (owner, repo, tag, file)
            }
            [owner, repo, tag @ .., file] if !tag.is_empty() => (owner, repo, tag.join("/"), file),
            _ => return Err(wrong()),
        };
        let is_repo = |part: &str| {
            !part.is_empty()
                && !matches!(part, "." | "..")
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        };
        if !is_word(owner, "-_") || !is_repo(repo) || !tag.split('/').all(is_tag_part) || !is_tag_part(file) {
            return Err(wrong());
        }
        Ok(Self::Github(Asset { owner: (*owner).into(), repo: (*repo).into(), tag, file: (*file).into() }))
    }

    /// An address.
    pub fn url(text: &str) -> Result<Self, NoIdentifier> {
        let url = Url::parse(text).map_err(|_| NoIdentifier::Form(text.to_owned(), form::URL))?;
        if !matches!(url.scheme(), "https" | "http") || !url.has_host() || !is_plain(text) {
            return Err(NoIdentifier::Form(text.to_owned(), form::URL));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NoIdentifier::Credentials);
        }
        Ok(Self::Url(Address { given: text.to_owned(), url }))
    }

    /// A crate.
    pub fn cargo(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        let (name, own) = split_at_sign(text);
        if !is_word(name, "-_") {
            return Err(NoIdentifier::Form(format!("cargo:{text}"), form::CARGO));
        }
        Ok(Self::Cargo(exact_semver(name, own.or(version), "cargo:", form::CARGO)?))
    }

    /// A package of NuGet.
    pub fn nuget(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        let (name, own) = split_at_sign(text);
        if !is_word(name, "-._") {
            return Err(NoIdentifier::Form(format!("nuget:{text}"), form::NUGET));
        }
        // Older packages have four numbers.
        let version = own.or(version).filter(|version| {
            is_word(version, ".-") && version.starts_with(|letter: char| letter.is_ascii_digit())
        });
        let version = version.ok_or_else(|| NoIdentifier::Version(format!("nuget:{text}"), form::NUGET))?;
        Ok(Self::Nuget(Named { name: name.to_owned(), version: version.to_owned() }))
    }

    /// A module of Go.
    pub fn go(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        let (name, own) = split_at_sign(text);
        if !name.split('/').all(|part| is_word(part, "-._~")) {
            return Err(NoIdentifier::Form(format!("go:{text}"), form::GO));
        }
        let version = own.or(version).map(|version| version.strip_prefix('v').unwrap_or(version));
        let Named { name, version } = exact_semver(name, version, "go:", form::GO)?;
        Ok(Self::Go(Named { name, version: format!("v{version}") }))
    }

    /// An image.
    pub fn oci(text: &str, version: Option<&str>) -> Result<Self, NoIdentifier> {
        Image::parse(text, version).map(Self::Oci).map_err(|wrong| match wrong {
            NoImage::Form => NoIdentifier::Form(format!("oci:{text}"), form::OCI),
            NoImage::Version => NoIdentifier::Version(format!("oci:{text}"), form::OCI),
        })
    }

    /// Whether another identifier names this file, or one of the files of this release.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pypi { release, file }, Self::Pypi { release: other, file: others }) => {
                release.version == other.version
                    && normal_name(&release.name) == normal_name(&other.name)
                    && (file.is_none() || file == others)
            }
            // The same file, named in the other way.
            (Self::Github(asset), Self::Url(address)) | (Self::Url(address), Self::Github(asset)) => {
                github_asset(&address.url).is_some_and(|other| other == *asset)
            }
            (Self::Nuget(named), Self::Nuget(other)) => {
                named.name.eq_ignore_ascii_case(&other.name)
                    && named.version.eq_ignore_ascii_case(&other.version)
            }
            _ => self == other,
        }
    }
}

/// Whether an address holds nothing that some readers of addresses pass over and some do not: they would not reach the same place.
pub(crate) fn is_plain(address: &str) -> bool {
    !address.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '\\')
}

/// What PyPI takes for the same name.
pub(crate) fn normal_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            letter => normal.push(letter.to_ascii_lowercase()),
        }
    }
    normal
}

/// The asset that an address on GitHub leads to.
fn github_asset(url: &Url) -> Option<Asset> {
    if url.host_str() != Some("github.com") {
        return None;
    }
    let path = percent_encoding::percent_decode_str(url.path()).decode_utf8().ok()?;
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts.as_slice() {
        [owner, repo, "releases", "download", tag @ .., file] if !tag.is_empty() => Some(Asset {
            owner: (*owner).to_owned(),
            repo: (*repo).to_owned(),
            tag: tag.join("/"),
            file: (*file).to_owned(),
        }),
        _ => None,
    }
}

/// Letters, digits and some other characters; it begins with a letter, a digit or an underscore, so that it is no part of a path
/// that means something else.
fn is_word(text: &str, also: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        && text.len() <= 255
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || also.contains(letter))
}

/// Whether it holds a percent sign and two hex digits, which some decode.
fn holds_code(text: &str) -> bool {
    text.as_bytes().windows(3).any(|code| code[0] == b'%' && code[1..].iter().all(u8::is_ascii_hexdigit))
}

/// The name and the version; a name may begin with the sign.
fn split_at_sign(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => (name, Some(version)),
        _ => (text, None),
    }
}

fn exact_semver(
    name: &str,
    version: Option<&str>,
    kind: &str,
    form: &'static str,
) -> Result<Named, NoIdentifier> {
    let version = version.filter(|version| semver::Version::parse(version).is_ok());
    let version = version.ok_or_else(|| NoIdentifier::Version(format!("{kind}{name}"), form))?;
    Ok(Named { name: name.to_owned(), version: version.to_owned() })
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Npm(Named { name, version }) => write!(f, "npm:{name}@{version}"),
            Self::Pypi { release: Named { name, version }, file } => {
                write!(f, "pypi:{name}=={version}")?;
                file.as_ref().map_or(Ok(()), |file| write!(f, "/{file}"))
            }
            Self::Github(Asset { owner, repo, tag, file }) => write!(f, "github:{owner}/{repo}/{tag}/{file}"),
            Self::Url(address) => f.write_str(&address.given),
            Self::Cargo(Named { name, version }) => write!(f, "cargo:{name}@{version}"),
            Self::Nuget(Named { name, version }) => write!(f, "nuget:{name}@{version}"),
            Self::Go(Named { name, version }) => write!(f, "go:{name}@{version}"),
            Self::Oci(image) => write!(f, "oci:{image}"),
        }
    }
}

impl FromStr for Identifier {
    type Err = NoIdentifier;

    fn from_str(text: &str) -> Result<Self, NoIdentifier> {
        match text.split_once(':') {
            Some(("npm", rest)) => Self::npm(rest, None),
            Some(("pypi", rest)) => Self::pypi(rest, None),
            // Without its tag it names nothing for sure.
            Some(("github", rest)) => Self::github(rest, None),
            Some(("cargo", rest)) => Self::cargo(rest, None),
            Some(("nuget", rest)) => Self::nuget(rest, None),
            Some(("go", rest)) => Self::go(rest, None),
            Some(("oci", rest)) => Self::oci(rest, None),
            Some(("https" | "http", _)) => Self::url(text),
            _ => Err(NoIdentifier::Kind(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Identifiers by Package Type", "Generate consistent identifiers", "Identifier generation": the four examples of the specification, and ours in the same manner.
    #[test]
    fn spec_identifiers_by_package_type() {
        for text in [
            "npm:@modelcontextprotocol/server-postgres@0.6.2",
            "pypi:mcp-server-postgres==0.6.2",
            "github:owner/repo/v1.0.0/server.tar.gz",
            "https://example.com/packages/server-v1.0.0.tar.gz",
            "npm:left-pad@1.3.0",
            "npm:_under@1.0.0-rc.1+build",
            "pypi:Foo.Bar==1!2.0rc1+local",
            "pypi:foo==1.0/foo-1.0-py3-none-any.whl",
            "github:o/.github/tools/v1/a b.zip",
            "https://example.com",
            "http://127.0.0.1:8080/a?b=c",
            "cargo:serde_json@1.0.0",
            "nuget:Newtonsoft.Json@13.0.3",
            "nuget:Old@1.2.3.4",
            "go:github.com/BurntSushi/toml@v1.4.0",
            "oci:ghcr.io/o/r:v1.0.0",
            "oci:docker.io/o/r@sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ] {
            assert_eq!(text.parse::<Identifier>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_names_no_file_is_refused_with_what_to_write() {
        for (text, words) in [
            ("", "names no file"),
            ("npm", "names no file"),
            ("oops:a@1.0.0", "names no file"),
            ("file:///etc/passwd", "names no file"),
            ("npm:left-pad", "no exact version"),
            ("npm:left-pad@latest", "no exact version"),
            ("npm:left-pad@^1.0.0", "no exact version"),
            ("npm:@scope/name", "no exact version"),
            ("npm:@scope@1.0.0", "npm:NAME@VERSION"),
            ("npm:../../x@1.0.0", "npm:NAME@VERSION"),
            ("npm:@../x@1.0.0", "npm:NAME@VERSION"),
            ("npm:a/b@1.0.0", "npm:NAME@VERSION"),
            ("pypi:foo", "no exact version"),
            ("pypi:foo==", "no exact version"),
            ("pypi:foo==1.*", "no exact version"),
            ("pypi:foo>=1.0", "pypi:NAME==VERSION"),
            ("pypi:foo==1.0/../x", "pypi:NAME==VERSION"),
            ("github:owner/repo", "github:OWNER/REPO/TAG/FILE"),
            ("github:owner/repo/file", "no exact version"),
            ("github:owner/repo/../file", "github:OWNER/REPO/TAG/FILE"),
            ("github:owner/../v1/file", "github:OWNER/REPO/TAG/FILE"),
            ("github:owner/repo/v1/", "github:OWNER/REPO/TAG/FILE"),
            ("https://", "an address with https"),
            ("https://exa\nmple.com/a", "an address with https"),
            ("https://example.com/a\t", "an address with https"),
            ("https://user:secret@example.com/a", "everybody could read"),
            ("https://user@example.com/a", "everybody could read"),
            ("cargo:a@1", "no exact version"),
            ("nuget:a@latest", "no exact version"),
            ("go:a/../b@v1.0.0", "go:MODULE@VERSION"),
            ("go:a/b@main", "no exact version"),
            ("oci:ghcr.io/o/r", "no exact version"),
            ("oci:ghcr.io/o/r:latest", "no exact version"),
            ("oci:ghcr.io/o/r:a b", "no exact version"),
            ("oci:ghcr.io/O/R:1", "oci:REGISTRY/NAME:TAG"),
            ("oci:ghcr.io/../r:1", "oci:REGISTRY/NAME:TAG"),
            ("oci:gh_cr.io/o/r:1", "oci:REGISTRY/NAME:TAG"),
            ("oci:ghcr.io:x/o/r:1", "oci:REGISTRY/NAME:TAG"),
            ("oci:ghcr.io:99999/o/r:1", "oci:REGISTRY/NAME:TAG"),
            ("oci:user@ghcr.io/o/r:1", "oci:REGISTRY/NAME:TAG"),
            ("oci:ghcr.io/o/r@sha256:abc", "oci:REGISTRY/NAME:TAG"),
        ] {
            let error = text.parse::<Identifier>().unwrap_err().to_string();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }

    /// Whatever follows them, be it a server or what stands before it, might take them for a way to somewhere else.
    #[test]
    fn a_name_and_a_version_lead_nowhere_else() {
        type Of = fn(&str, Option<&str>) -> Result<Identifier, NoIdentifier>;
        let kinds: [(Of, &str, &str); 7] = [
            (Identifier::npm, "@a/WRONG", "@a/b"),
            (Identifier::pypi, "WRONG", "a"),
            (Identifier::github, "o/r/WRONG", "o/r/f"),
            (Identifier::cargo, "WRONG", "a"),
            (Identifier::nuget, "WRONG", "a"),
            (Identifier::go, "a.b/WRONG", "a.b/c"),
            (Identifier::oci, "ghcr.io/a/WRONG", "ghcr.io/a/b"),
        ];
        for wrong in [
            "..",
            "a\\b",
            "../b",
            "a/../b",
            "a\u{1b}b",
            "a\nb",
            "a\u{0}b",
            "a%2fb",
            "a%2F..%2Fb",
            "%2e%2e",
            "a%5cb",
        ] {
            for (of, name, good) in kinds {
                let named = of(&name.replace("WRONG", wrong), Some("1.0.0"));
                assert!(named.is_err(), "{named:?}");
                let version = format!("1.0.0/{wrong}");
                let named = of(good, Some(&version));
                assert!(named.is_err(), "{named:?}");
            }
            assert!(Identifier::github(&format!("o/r/{wrong}/f"), None).is_err(), "{wrong}");
            assert!(Identifier::pypi(&format!("a==1.0/{wrong}"), None).is_err(), "{wrong}");
        }
        for address in ["https://example.com\\@other.example/a", "https://example.com/a\\..\\b"] {
            assert!(Identifier::url(address).is_err(), "{address}");
        }
    }

    #[test]
    fn the_version_comes_from_the_name_else_from_the_server() {
        for (identifier, expected) in [
            (Identifier::npm("@a/b@1.0.0", Some("2.0.0")), "npm:@a/b@1.0.0"),
            (Identifier::npm("@a/b", Some("2.0.0")), "npm:@a/b@2.0.0"),
            (Identifier::pypi("foo==1.0", Some("2.0")), "pypi:foo==1.0"),
            (Identifier::pypi("foo", Some("2.0")), "pypi:foo==2.0"),
            (Identifier::github("o/r/v1/f", Some("2.0.0")), "github:o/r/v1/f"),
            (Identifier::github("o/r/f", Some("2.0.0")), "github:o/r/v2.0.0/f"),
            (Identifier::github("o/r/f", Some("v2.0.0")), "github:o/r/v2.0.0/f"),
            (Identifier::cargo("a", Some("2.0.0")), "cargo:a@2.0.0"),
            (Identifier::nuget("a", Some("2.0.0")), "nuget:a@2.0.0"),
            (Identifier::go("a.b/c", Some("2.0.0")), "go:a.b/c@v2.0.0"),
            (Identifier::oci("ghcr.io/a/b", Some("2.0.0")), "oci:ghcr.io/a/b:2.0.0"),
        ] {
            assert_eq!(identifier.unwrap().to_string(), expected);
        }
    }

    #[test]
    fn a_release_covers_its_files_and_no_others() {
        for (package, file, covers) in [
            ("npm:a@1.0.0", "npm:a@1.0.0", true),
            ("npm:a@1.0.0", "npm:a@1.0.1", false),
            ("pypi:Foo_Bar==1.0", "pypi:foo-bar==1.0/foo_bar-1.0.tar.gz", true),
            ("pypi:foo==1.0", "pypi:foo==1.0", true),
            ("pypi:foo==1.0", "pypi:foo==1.1", false),
            ("pypi:foo==1.0/a.whl", "pypi:foo==1.0/b.whl", false),
            ("github:o/r/v1/a.zip", "https://github.com/o/r/releases/download/v1/a.zip", true),
            ("https://github.com/o/r/releases/download/v%2F1/a.zip", "github:o/r/v/1/a.zip", true),
            ("github:o/r/v1/a.zip", "https://example.com/o/r/releases/download/v1/a.zip", false),
            ("https://example.com", "https://example.com/", true),
            ("https://example.com/a", "https://example.com/b", false),
            ("nuget:A@1.0.0", "nuget:a@1.0.0", true),
        ] {
            let [package, file] = [package, file].map(|text| text.parse::<Identifier>().unwrap());
            assert_eq!(package.covers(&file), covers, "{package} {file}");
        }
    }
}
