//! Images: what containers are started from.

use std::fmt;

use hashline_binary::FileHash;
use url::Url;

/// What Docker's own registry is called, which is meant where none is named.
const DOCKER_HUB: &str = "docker.io";

/// An image in a registry. Its digest is its identity: the hash of the manifest, which names all else by its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    registry: String,
    /// Where the registry is, unless it is Docker's.
    pub address: Option<Url>,
    /// What it is called there.
    pub repository: String,
    /// Which one of that name.
    pub reference: Reference,
}

/// Which image of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The one that has this tag; its publisher may give it to another.
    Tag(String),
    /// The one with this digest.
    Digest(FileHash),
}

impl Reference {
    /// As it is asked for.
    pub fn text(&self) -> String {
        match self {
            Self::Tag(tag) => tag.clone(),
            Self::Digest(digest) => digest.to_string(),
        }
    }
}

impl Image {
    /// Reads `NAME:TAG` or `NAME@DIGEST`; of both it is the digest that counts. Without either the version is the tag. None if the name
    /// is none, or the version.
    pub fn parse(text: &str, version: Option<&str>) -> Result<Self, NoImage> {
        let (text, digest) = match text.split_once('@') {
            Some((text, digest)) => (text, Some(digest.parse().map_err(|_| NoImage::Form)?)),
            None => (text, None),
        };
        // A colon before a slash is that of a port.
        let (name, tag) = match text.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (text, None),
        };
        let (registry, repository) = registry_and_rest(name).unwrap_or((DOCKER_HUB, name));
        if !repository.split('/').all(is_part) || !is_host(registry) {
            return Err(NoImage::Form);
        }
        let reference = match (digest, tag.or(version)) {
            (Some(digest), _) => Reference::Digest(digest),
            (None, Some(tag)) if is_tag(tag) && tag != "latest" => Reference::Tag(tag.to_owned()),
            _ => return Err(NoImage::Version),
        };
        let (registry, address, repository) = match registry {
            DOCKER_HUB | "index.docker.io" | "registry-1.docker.io" if !repository.contains('/') => {
                (DOCKER_HUB, None, format!("library/{repository}"))
            }
            DOCKER_HUB | "index.docker.io" | "registry-1.docker.io" => {
                (DOCKER_HUB, None, repository.to_owned())
            }
            host => {
                let address = Url::parse(&format!("https://{host}")).map_err(|_| NoImage::Form)?;
                (host, Some(address), repository.to_owned())
            }
        };
        Ok(Self { registry: registry.to_owned(), address, repository, reference })
    }
}

/// What a text that names no image lacks.
#[derive(Clone, Copy, Debug)]
pub enum NoImage {
    /// It has no such form.
    Form,
    /// It names no one image.
    Version,
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        match &self.reference {
            Reference::Tag(tag) => write!(f, ":{tag}"),
            Reference::Digest(digest) => write!(f, "@{digest}"),
        }
    }
}

/// The registry that the name of an image begins with, and what follows.
pub fn registry_and_rest(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').filter(|(host, _)| host.contains(['.', ':']) || *host == "localhost")
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    host.split('.').all(is_label)
        && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A part of the name of an image: in lower case, and beginning and ending with a letter or a digit.
fn is_part(part: &str) -> bool {
    let is_inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    part.starts_with(is_inner)
        && part.ends_with(is_inner)
        && part.len() <= 255
        && part.chars().all(|letter| is_inner(letter) || "._-".contains(letter))
}

fn is_tag(tag: &str) -> bool {
    tag.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        && tag.len() <= 128
        && tag.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_one_name() {
        let digest = format!("sha256:{}", "a".repeat(64));
        for (text, version, expected) in [
            ("nginx:1.0", None, "docker.io/library/nginx:1.0"),
            ("a/b", Some("1.0.0"), "docker.io/a/b:1.0.0"),
            ("a/b:2", Some("1.0.0"), "docker.io/a/b:2"),
            ("index.docker.io/a/b:2", None, "docker.io/a/b:2"),
            ("ghcr.io/a/b/c:v1.0_x", None, "ghcr.io/a/b/c:v1.0_x"),
            ("localhost:5000/a:1", None, "localhost:5000/a:1"),
            (&format!("ghcr.io/a/b@{digest}"), None, &format!("ghcr.io/a/b@{digest}")),
            (&format!("ghcr.io/a/b:1@{digest}"), Some("2"), &format!("ghcr.io/a/b@{digest}")),
        ] {
            let image = Image::parse(text, version).unwrap();
            assert_eq!(image.to_string(), expected);
            assert_eq!(Image::parse(expected, None).unwrap(), image);
        }
    }
}
