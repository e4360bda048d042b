//! server.json: a server as its publisher describes it. Two forms name its packages: `package_location`, and the list `packages`.
//! Everything else in it is kept as it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::identifier::{Identifier, NoIdentifier};
use crate::image;
use crate::issue::Issue;
use crate::resolve::Sources;
use crate::{FileHash, Hashes};

/// A server.json, and every member of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerJson {
    members: Map<String, Value>,
}

/// What can be downloaded: one package of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Where it stands in the document.
    pub path: String,
    /// Its files, or the release that has them.
    pub identifiers: Vec<Identifier>,
    /// The hash in `fileSha256`, as it is written there.
    pub file_sha256: Option<String>,
}

/// A text that is no server.json.
#[derive(Debug, thiserror::Error)]
pub enum NoServerJson {
    /// It is no text.
    #[error("it is not UTF-8 (byte {0}); save it as UTF-8")]
    NotUtf8(usize),
    /// It is no JSON.
    #[error("it is no JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// It is JSON, but no object.
    #[error("it is no JSON object; `mcp-publisher init` writes one to begin with")]
    NotObject,
}

impl ServerJson {
    /// Reads it. A byte-order mark before it is none of its content.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoServerJson> {
        let text = std::str::from_utf8(bytes).map_err(|error| NoServerJson::NotUtf8(error.valid_up_to()))?;
        match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))? {
            Value::Object(members) => Ok(Self { members }),
            _ => Err(NoServerJson::NotObject),
        }
    }

    /// A member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.members.get(key)
    }

    /// A member that is a text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.members.get(key)?.as_str()
    }

    /// The whole document.
    #[must_use]
    pub fn value(&self) -> Value {
        Value::Object(self.members.clone())
    }

    /// The hashes that it has, as they are written. None if it has none.
    pub fn file_hashes(&self) -> Result<Option<BTreeMap<String, String>>, Issue> {
        let Some(value) = self.members.get("file_hashes") else { return Ok(None) };
        serde_json::from_value(value.clone()).map(Some).map_err(|_| {
            Issue::schema(
                "file_hashes",
                "it is no object whose values are texts; `mcp-publisher hash-gen` prints one",
            )
        })
    }

    /// The document with these hashes of its packages: in `file_hashes`, and in `fileSha256` of each package that is one file.
    #[must_use]
    pub fn with_hashes(&self, hashes: &Hashes, packages: &[Package]) -> Self {
        let mut members = self.members.clone();
        let written =
            hashes.iter().map(|(file, hash)| (file.to_string(), Value::String(hash.to_string()))).collect();
        members.insert("file_hashes".into(), Value::Object(written));
        let listed = members.get_mut("packages").and_then(Value::as_array_mut).into_iter().flatten();
        for (at, package) in listed.enumerate() {
            let (path, package) = (place_in_list(at), package.as_object_mut());
            let found = packages.iter().find(|found| found.path == path);
            let (Some(package), Some(Package { identifiers, .. })) = (package, found) else { continue };
            // Who fetches an image compares its digest by itself; there is no file of it that a hash could be compared with.
            if matches!(identifiers.as_slice(), [Identifier::Oci(_)]) {
                continue;
            }
            let of_package = |file: &Identifier| identifiers.iter().any(|identifier| identifier.covers(file));
            let files: Vec<FileHash> =
                hashes.iter().filter(|(file, _)| of_package(file)).map(|(_, hash)| *hash).collect();
            if let [hash] = files.as_slice() {
                package.remove("file_sha256");
                package.insert("fileSha256".into(), Value::String(hash.hex()));
            }
        }
        Self { members }
    }

    /// Its packages, and what is wrong with the way in which it names them. They are where these sources have them.
    #[must_use]
    pub fn packages(&self, sources: &Sources) -> (Vec<Package>, Vec<Issue>) {
        let version = self.text("version");
        let mut packages = Vec::new();
        let mut issues = Vec::new();
        let mut found = |path: String, file_sha256, identifiers: Result<_, String>| match identifiers {
            Ok(identifiers) => packages.push(Package { path, identifiers, file_sha256 }),
            Err(words) => issues.push(Issue::semantic(path, words)),
        };
        match self.members.get("package_location") {
            None => {}
            Some(Value::Object(location)) => {
                found("package_location".into(), None, located(location, version, sources));
            }
            Some(_) => found("package_location".into(), None, Err("it is no object".into())),
        }
        match self.members.get("packages") {
            None => {}
            Some(Value::Array(list)) => {
                for (at, package) in list.iter().enumerate() {
                    let path = place_in_list(at);
                    match package {
                        Value::Object(package) => {
                            let hash = text_of(package, &["fileSha256", "file_sha256"]).map(str::to_owned);
                            found(path, hash, listed(package, version, sources));
                        }
                        _ => found(path, None, Err("it is no object".into())),
                    }
                }
            }
            Some(_) => found("packages".into(), None, Err("it is no list".into())),
        }
        (packages, issues)
    }
}

/// Where a package stands in the document.
fn place_in_list(at: usize) -> String {
    format!("packages[{at}]")
}

/// The first member of these names that is a text. The names of before September 2025 are read, too.
fn text_of<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| object.get(*name)?.as_str())
}

/// The files that a `package_location` names.
fn located(
    location: &Map<String, Value>,
    version: Option<&str>,
    sources: &Sources,
) -> Result<Vec<Identifier>, String> {
    let kind = text_of(location, &["type"])
        .ok_or("it has no type; write \"type\": \"npm\", \"pypi\", \"github\" or \"url\"")?;
    let name = text_of(location, &["package_name"]);
    let urls = match (location.get("url"), location.get("urls")) {
        (None, None) => Vec::new(),
        (Some(Value::String(url)), None) => vec![url.as_str()],
        (None, Some(Value::Array(urls))) if !urls.is_empty() && urls.iter().all(Value::is_string) => {
            urls.iter().filter_map(Value::as_str).collect()
        }
        _ => {
            return Err(
                "it has no usable address; write \"url\": an address, or \"urls\": a list of them".into()
            );
        }
    };
    let identifiers = match (kind, name) {
        ("url", None) if !urls.is_empty() => addresses(&urls),
        ("url", _) => Err("a package of type url has \"url\" or \"urls\", and no package_name".into()),
        ("github", None) if !urls.is_empty() => addresses(&urls),
        (_, Some(name)) if urls.is_empty() => Ok(vec![of_kind(kind, name, version)?]),
        (_, Some(_)) => Err("it has both a package_name and an address; leave one of them out".into()),
        (_, None) => Err(format!("a package of type {kind} has a package_name")),
    }?;
    at_base(base_of(location)?, identifiers, sources)
}

/// The files that a member of `packages` names.
fn listed(
    package: &Map<String, Value>,
    version: Option<&str>,
    sources: &Sources,
) -> Result<Vec<Identifier>, String> {
    let kind = text_of(package, &["registryType", "registry_type", "registry_name"])
        .ok_or("it has no registryType; write \"registryType\": \"npm\", for example")?;
    let name = text_of(package, &["identifier", "name"])
        .ok_or("it has no identifier; write the name of the package")?;
    let base = base_of(package)?;
    let version = text_of(package, &["version"]).or(version);
    let identifiers = match kind {
        "mcpb" => addresses(&[name])?,
        "oci" | "docker" => vec![image(base, name, version)?],
        _ => vec![of_kind(kind, name, version)?],
    };
    at_base(base, identifiers, sources)
}

/// The registry that stands beside the name of a package, in either spelling.
fn base_of(package: &Map<String, Value>) -> Result<Option<&str>, String> {
    let mut base = None;
    for given in ["registryBaseUrl", "registry_base_url"].iter().filter_map(|name| package.get(*name)) {
        match given.as_str() {
            Some(text) if base.is_none_or(|base| base == text) => base = Some(text),
            _ => return Err("its registryBaseUrl is not one address; write one, or leave it out".into()),
        }
    }
    Ok(base)
}

/// The files, if they are where their package says.
fn at_base(
    base: Option<&str>,
    identifiers: Vec<Identifier>,
    sources: &Sources,
) -> Result<Vec<Identifier>, String> {
    for (base, identifier) in base.iter().flat_map(|base| identifiers.iter().map(move |file| (base, file))) {
        let bases = sources.bases(identifier);
        if !bases.accept(base) {
            // It is not told: it may hold a user's name or password.
            return Err(format!(
                "its registryBaseUrl is not where {identifier} is: that is {bases}; write so, leave it out, or give the address of the \
                 file with registryType mcpb"
            ));
        }
    }
    Ok(identifiers)
}

/// An image, whose registry may stand in its name or beside it.
fn image(base: Option<&str>, name: &str, version: Option<&str>) -> Result<Identifier, String> {
    let host = base.and_then(|base| base.strip_prefix("https://")).map(|host| host.trim_end_matches('/'));
    match host.filter(|host| !host.contains('/') && image::registry_and_rest(name).is_none()) {
        Some(host) => of_kind("oci", &format!("{host}/{name}"), version),
        None => of_kind("oci", name, version),
    }
}

fn of_kind(kind: &str, name: &str, version: Option<&str>) -> Result<Identifier, String> {
    let identifier = match kind {
        "npm" => Identifier::npm(name, version),
        "pypi" => Identifier::pypi(name, version),
        "github" => Identifier::github(name, version),
        "cargo" => Identifier::cargo(name, version),
        "nuget" => Identifier::nuget(name, version),
        "go" => Identifier::go(name, version),
        "oci" => Identifier::oci(name, version),
        _ => {
            return Err(format!(
                "{kind:?} is no type of package; it is npm, pypi, github, url, cargo, nuget, go, oci or mcpb"
            ));
        }
    };
    identifier.map_err(|error: NoIdentifier| error.to_string())
}

fn addresses(urls: &[&str]) -> Result<Vec<Identifier>, String> {
    urls.iter().map(|url| Identifier::url(url).map_err(|error| error.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn server(value: &Value) -> ServerJson {
        ServerJson::parse(value.to_string().as_bytes()).unwrap()
    }

    fn named(server: &ServerJson) -> Vec<String> {
        let (packages, issues) = server.packages(&Sources::public().unwrap());
        assert_eq!(issues, []);
        packages.iter().flat_map(|package| &package.identifiers).map(ToString::to_string).collect()
    }

    /// "Parse package_location from server.json"; and the list that today's registries have.
    #[test]
    fn both_forms_name_the_same_files() {
        for (value, files) in [
            (
                json!({"package_location": {"type": "npm", "package_name": "@a/b@1.0.0"}}),
                vec!["npm:@a/b@1.0.0"],
            ),
            (
                json!({"version": "2.0.0", "package_location": {"type": "npm", "package_name": "@a/b"}}),
                vec!["npm:@a/b@2.0.0"],
            ),
            (
                json!({"package_location": {"type": "pypi", "package_name": "foo==1.0"}}),
                vec!["pypi:foo==1.0"],
            ),
            (
                json!({"package_location": {"type": "github", "package_name": "o/r/v1/f.zip"}}),
                vec!["github:o/r/v1/f.zip"],
            ),
            (
                json!({"package_location": {"type": "github", "urls": ["https://github.com/o/r/releases/download/v1/f"]}}),
                vec!["https://github.com/o/r/releases/download/v1/f"],
            ),
            (
                json!({"package_location": {"type": "url", "url": "https://example.com/a"}}),
                vec!["https://example.com/a"],
            ),
            (
                json!({"package_location": {"type": "url", "urls": ["https://example.com/a", "https://example.com/b"]}}),
                vec!["https://example.com/a", "https://example.com/b"],
            ),
            (
                json!({"version": "2.0.0", "packages": [
                    {"registryType": "npm", "identifier": "@a/b", "version": "1.0.0"},
                    {"registry_type": "pypi", "identifier": "foo"},
                    {"registry_name": "npm", "name": "c", "version": "3.0.0"},
                    {"registryType": "mcpb", "identifier": "https://example.com/a.mcpb"},
                    {"registryType": "oci", "identifier": "docker.io/a/b:1"},
                    {"registryType": "oci", "identifier": "e/f", "registryBaseUrl": "https://ghcr.io", "version": "2"},
                    {"registryType": "oci", "identifier": "ghcr.io/e/f:3", "registryBaseUrl": "https://ghcr.io"},
                    {"registryType": "cargo", "identifier": "d", "registryBaseUrl": "https://crates.io/"},
                ]}),
                vec![
                    "npm:@a/b@1.0.0",
                    "pypi:foo==2.0.0",
                    "npm:c@3.0.0",
                    "https://example.com/a.mcpb",
                    "oci:docker.io/a/b:1",
                    "oci:ghcr.io/e/f:2",
                    "oci:ghcr.io/e/f:3",
                    "cargo:d@2.0.0",
                ],
            ),
            (json!({"remotes": [{"type": "sse", "url": "https://example.com/sse"}]}), vec![]),
        ] {
            assert_eq!(named(&server(&value)), files);
        }
    }

    /// "Error handling", where a package is named.
    #[test]
    fn a_package_that_cannot_be_found_is_refused_with_what_to_write() {
        for (value, path, words) in [
            (json!({"package_location": "npm"}), "package_location", "no object"),
            (json!({"package_location": {}}), "package_location", "no type"),
            (json!({"package_location": {"type": "npm"}}), "package_location", "has a package_name"),
            (
                json!({"package_location": {"type": "npm", "package_name": "a"}}),
                "package_location",
                "no exact version",
            ),
            (
                json!({"version": "1.0.0", "package_location": {"type": "ftp", "package_name": "a"}}),
                "package_location",
                "npm, pypi, github, url",
            ),
            (json!({"package_location": {"type": "url"}}), "package_location", "\"url\" or \"urls\""),
            (
                json!({"package_location": {"type": "url", "urls": []}}),
                "package_location",
                "no usable address",
            ),
            (
                json!({"package_location": {"type": "url", "url": "a"}}),
                "package_location",
                "an address with https",
            ),
            (
                json!({"package_location": {"type": "url", "url": "https://a", "urls": ["https://b"]}}),
                "package_location",
                "no usable address",
            ),
            (
                json!({"package_location": {"type": "npm", "package_name": "a@1.0.0", "url": "https://a"}}),
                "package_location",
                "leave one",
            ),
            (json!({"packages": {}}), "packages", "no list"),
            (json!({"packages": [1]}), "packages[0]", "no object"),
            (json!({"packages": [{"identifier": "a"}]}), "packages[0]", "no registryType"),
            (json!({"packages": [{"registryType": "npm"}]}), "packages[0]", "no identifier"),
            (
                json!({"packages": [{"registryType": "npm", "identifier": "a@1.0.0", "registryBaseUrl": "http://169.254.169.254"}]}),
                "packages[0]",
                "that is https://registry.npmjs.org;",
            ),
            (
                json!({"packages": [{"registry_type": "pypi", "identifier": "a==1.0", "registry_base_url": "https://b.example"}]}),
                "packages[0]",
                "that is https://pypi.org;",
            ),
            (
                json!({"packages": [{"registryType": "npm", "identifier": "a@1.0.0", "registryBaseUrl": 1}]}),
                "packages[0]",
                "not one address",
            ),
            (
                json!({"packages": [{
                    "registryType": "npm", "identifier": "a@1.0.0",
                    "registryBaseUrl": "https://registry.npmjs.org", "registry_base_url": "https://b.example"
                }]}),
                "packages[0]",
                "not one address",
            ),
            (
                json!({"packages": [{"registryType": "npm", "identifier": "a@1.0.0", "registryBaseUrl": "https://user:secret@b.example"}]}),
                "packages[0]",
                "that is https://registry.npmjs.org;",
            ),
            (
                json!({"packages": [{"registryType": "mcpb", "identifier": "https://a.example/a", "registryBaseUrl": "https://b.example"}]}),
                "packages[0]",
                "that is https://a.example;",
            ),
            (
                json!({"packages": [{"registryType": "oci", "identifier": "ghcr.io/a/b:1", "registryBaseUrl": "https://docker.io"}]}),
                "packages[0]",
                "that is https://ghcr.io;",
            ),
            (
                json!({"packages": [{"registryType": "oci", "identifier": "a/b:1", "registryBaseUrl": "http://ghcr.io"}]}),
                "packages[0]",
                "that is https://docker.io or",
            ),
            (
                json!({"packages": [{"registryType": "oci", "identifier": "b:1", "registryBaseUrl": "https://ghcr.io/a"}]}),
                "packages[0]",
                "that is https://docker.io or",
            ),
            (
                json!({"packages": [{"registryType": "oci", "identifier": "b:1", "registryBaseUrl": "https://docker.io/a"}]}),
                "packages[0]",
                "that is https://docker.io or",
            ),
            (
                json!({"package_location": {"type": "npm", "package_name": "a@1.0.0", "registry_base_url": "https://b.example"}}),
                "package_location",
                "that is https://registry.npmjs.org;",
            ),
        ] {
            let (packages, issues) = server(&value).packages(&Sources::public().unwrap());
            assert_eq!(packages, [], "{value}");
            let [issue] = issues.as_slice() else { panic!("{value}: {issues:?}") };
            assert!(issue.path == path && issue.message.contains(words), "{value}: {issue:?}");
            assert!(!issue.message.contains("secret"), "{issue:?}");
        }
    }

    /// "Structure", and what it is in today's form: both are written.
    #[test]
    fn spec_structure() {
        let server = server(&json!({
            "name": "a/b", "x": {"kept": [1, null]}, "version": "1.0.0",
            "package_location": {"type": "url", "urls": ["https://example.com/a", "https://example.com/b"]},
            "packages": [
                {"registryType": "npm", "identifier": "c", "file_sha256": "old"},
                {"registryType": "pypi", "identifier": "d"},
                {"registryType": "oci", "identifier": "e"},
            ],
        }));
        let hash = |text: &str| FileHash::of(text.as_bytes()).unwrap();
        let hashes: Hashes = [
            "https://example.com/a",
            "https://example.com/b",
            "npm:c@1.0.0",
            "pypi:d==1.0.0/f",
            "pypi:d==1.0.0/g",
            "oci:docker.io/library/e:1.0.0",
        ]
        .into_iter()
        .map(|file| crate::Hashed {
            file: file.parse().unwrap(),
            hash: hash(file),
            from: url::Url::parse("https://example.com").unwrap(),
        })
        .collect();
        let (packages, _) = server.packages(&Sources::public().unwrap());
        let written = server.with_hashes(&hashes, &packages).value();
        assert_eq!(
            written["file_hashes"],
            json!({
                "https://example.com/a": hash("https://example.com/a").to_string(),
                "https://example.com/b": hash("https://example.com/b").to_string(),
                "npm:c@1.0.0": hash("npm:c@1.0.0").to_string(),
                "pypi:d==1.0.0/f": hash("pypi:d==1.0.0/f").to_string(),
                "pypi:d==1.0.0/g": hash("pypi:d==1.0.0/g").to_string(),
                "oci:docker.io/library/e:1.0.0": hash("oci:docker.io/library/e:1.0.0").to_string(),
            })
        );
        assert_eq!(
            written["packages"],
            json!([
                {"registryType": "npm", "identifier": "c", "fileSha256": hash("npm:c@1.0.0").hex()},
                {"registryType": "pypi", "identifier": "d"},
                {"registryType": "oci", "identifier": "e"},
            ])
        );
        assert_eq!(written["x"], json!({"kept": [1, null]}));
    }

    #[test]
    fn what_is_no_server_json_is_told() {
        for (bytes, words) in [
            (&b"\xff{}"[..], "not UTF-8 (byte 0)"),
            (b"{\"a\": \"\\ud800\"}", "no JSON"),
            (b"{", "no JSON"),
            (b"[]", "mcp-publisher init"),
        ] {
            assert!(ServerJson::parse(bytes).unwrap_err().to_string().contains(words), "{words}");
        }
        assert!(ServerJson::parse(b"\xef\xbb\xbf{}").is_ok());
    }
}
