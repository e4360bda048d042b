//! The hashes of a server's files: made from the files themselves, and compared with what somebody says that they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};
use hashline_binary::FileHash;
use serde::Serialize;
use serde::ser::SerializeMap;
use url::Url;

use crate::fetch::{Budget, FetchError, Fetcher};
use crate::hash::IndexHash;
use crate::identifier::Identifier;
use crate::resolve::{Indexed, RemoteFile, Sources};
use crate::server_json::{Package, ServerJson};

/// Files that are downloaded at one time.
const SIDE_BY_SIDE: usize = 4;

/// Hashes by the file that each is of, in the order in which the server names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashes(Vec<Hashed>);

/// A file that was hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// What it is called.
    pub file: Identifier,
    /// Its hash.
    pub hash: FileHash,
    /// Where it was fetched.
    pub from: Url,
}

impl Hashes {
    /// Each file with its hash.
    pub fn iter(&self) -> impl Iterator<Item = (&Identifier, &FileHash)> {
        self.0.iter().map(|hashed| (&hashed.file, &hashed.hash))
    }

    /// Compares what a server says already with these hashes of its files.
    pub fn agree_with(&self, server: &ServerJson, packages: &[Package]) -> Result<(), HashFailures> {
        let mut failures = BTreeMap::new();
        for (key, claim) in claims(server, packages) {
            let (status, actual, words) = match &claim.file {
                Err((status, words)) => (*status, None, words.clone()),
                Ok(file) => match self.0.iter().find(|hashed| hashed.file.covers(file)) {
                    Some(hashed) if hashed.hash.to_string() == claim.expected => continue,
                    Some(hashed) => {
                        (HashStatus::Mismatch, Some(hashed.hash.to_string()), stale(&claim, hashed))
                    }
                    None => (
                        HashStatus::UnknownIdentifier,
                        None,
                        format!("{file} is not one file; leave its hash out"),
                    ),
                },
            };
            failures.insert(key, HashFailure { expected: claim.expected, actual, status, words });
        }
        if failures.is_empty() { Ok(()) } else { Err(HashFailures(failures)) }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Hashed> for Hashes {
    fn from_iter<I: IntoIterator<Item = Hashed>>(hashes: I) -> Self {
        Self(hashes.into_iter().collect())
    }
}

/// Hashes that are those of their files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// They.
    pub hashes: Hashes,
    /// Whether no file of any package is left without one.
    pub of_all_files: bool,
}

impl Serialize for Hashes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (file, hash) in self.iter() {
            map.serialize_entry(&file.to_string(), &hash.to_string())?;
        }
        map.end()
    }
}

/// Why a file has no hash here.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// It could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// It is not what its own index says.
    #[error(
        "{} is not the file that its index tells of: expected {} ({}), actual {actual} ({}); do not use it, and ask those who run the index",
        .hashed.file, .indexed.hash, .indexed.by, .hashed.from
    )]
    IndexMismatch {
        /// The file as it was fetched.
        hashed: Box<Hashed>,
        /// What the index says of it.
        indexed: Box<Indexed>,
        /// Its hash of the kind that the index has.
        actual: IndexHash,
    },
}

/// Told what happens to a file while it is fetched.
pub trait Watch: Send + Sync {
    /// So many of its bytes are there, of so many if that is known.
    fn fetched(&self, file: &Identifier, bytes: u64, of: Option<u64>);
    /// It is there, with this hash.
    fn hashed(&self, file: &Identifier, hash: &FileHash);
}

/// Watches nothing.
impl Watch for () {
    fn fetched(&self, _: &Identifier, _: u64, _: Option<u64>) {}
    fn hashed(&self, _: &Identifier, _: &FileHash) {}
}

/// Fetches files and hashes them.
#[derive(Clone, Debug)]
pub struct Hasher {
    fetcher: Arc<Fetcher>,
    sources: Arc<Sources>,
}

/// What has become of one hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HashStatus {
    /// The file has another one.
    Mismatch,
    /// The file could not be fetched.
    Unreachable,
    /// It is larger than the limit.
    TooLarge,
    /// The rules do not allow to fetch it.
    Refused,
    /// What is written is no hash.
    InvalidHash,
    /// The key names no file, or none of this server.
    UnknownIdentifier,
    /// The file is not what its own index says.
    IndexMismatch,
}

impl HashStatus {
    /// Of a file that could not be fetched.
    fn of(error: &FetchError) -> Self {
        match error {
            FetchError::Refused { .. } => Self::Refused,
            FetchError::TooLarge { .. } | FetchError::TooLargeTogether { .. } => Self::TooLarge,
            _ => Self::Unreachable,
        }
    }
}

/// One hash that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HashFailure {
    /// What was written.
    pub expected: String,
    /// What the file has, where it could be fetched.
    pub actual: Option<String>,
    /// Why it fails.
    pub status: HashStatus,
    /// For people.
    #[serde(skip)]
    pub words: String,
}

/// The hashes that are not what they should be, by their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashFailures(pub BTreeMap<String, HashFailure>);

impl HashFailures {
    /// Whether none of them was told wrong, and it was only that files could not be fetched.
    #[must_use]
    pub fn only_unfetched(&self) -> bool {
        self.0.values().all(|failure| {
            matches!(failure.status, HashStatus::Unreachable | HashStatus::TooLarge | HashStatus::Refused)
        })
    }
}

/// The document that the specification has for it.
impl Serialize for HashFailures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("error", "Hash validation failed")?;
        map.serialize_entry("details", &self.0)?;
        map.end()
    }
}

impl Hasher {
    /// With this fetcher, from these sources.
    #[must_use]
    pub fn new(fetcher: Fetcher, sources: Sources) -> Self {
        Self { fetcher: Arc::new(fetcher), sources: Arc::new(sources) }
    }

    /// Where packages come from.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The hashes of all files of these packages: all of them or none.
    pub async fn hash_all(&self, packages: &[Package], watch: &dyn Watch) -> Result<Hashes, HashError> {
        let budget = &self.fetcher.budget();
        let mut files = Vec::new();
        for identifier in packages.iter().flat_map(|package| &package.identifiers) {
            let mut found = self.sources.files(&self.fetcher, budget, identifier).await?;
            // The one file of a package is called by the package's name.
            if let [file] = found.as_mut_slice() {
                file.identifier = identifier.clone();
            }
            files.extend(found);
        }
        let hashed = stream::iter(files).map(|file| async move { self.hash(&file, budget, watch).await });
        hashed.buffered(SIDE_BY_SIDE).try_collect().await.map(Hashes)
    }

    /// Compares each hash that a server has with the file that it is of.
    pub async fn verify(
        &self,
        server: &ServerJson,
        packages: &[Package],
        watch: &dyn Watch,
    ) -> Result<Agreement, HashFailures> {
        let budget = &self.fetcher.budget();
        let claims = claims(server, packages);
        let found = self.found(packages, &claims, budget).await;
        let compared = stream::iter(claims).map(|(key, claim)| {
            let found = &found;
            async move {
                let compared = self.compare(&claim, found, budget, watch).await;
                (key, claim.expected, compared)
            }
        });
        let mut hashes = Vec::new();
        let mut failures = BTreeMap::new();
        let mut compared = compared.buffered(SIDE_BY_SIDE);
        while let Some((key, expected, compared)) = compared.next().await {
            match compared {
                Ok(hash) => hashes.push(hash),
                Err((status, actual, words)) => {
                    failures.insert(key, HashFailure { expected, actual, status, words });
                }
            }
        }
        if !failures.is_empty() {
            return Err(HashFailures(failures));
        }
        let has_hash =
            |file: &RemoteFile| hashes.iter().any(|hashed: &Hashed| hashed.file.covers(&file.identifier));
        let of_all_files = found.iter().all(|found| match &found.files {
            Some(Ok(files)) => files.iter().all(has_hash),
            Some(Err(_)) | None => false,
        });
        Ok(Agreement { hashes: Hashes(hashes), of_all_files })
    }

    /// The files of each package of which there is a hash: for the others nothing is fetched.
    async fn found(
        &self,
        packages: &[Package],
        claims: &BTreeMap<String, Claim>,
        budget: &Budget,
    ) -> Vec<Found> {
        let mut wanted = Vec::new();
        for package in packages.iter().flat_map(|package| &package.identifiers) {
            let mut files = claims.values().filter_map(|claim| claim.file.as_ref().ok());
            wanted.push((package.clone(), files.any(|file| package.covers(file))));
        }
        let found = stream::iter(wanted).map(|(package, has_hash)| async move {
            let files = match has_hash {
                true => Some(self.sources.files(&self.fetcher, budget, &package).await),
                false => None,
            };
            Found { package, files }
        });
        found.buffered(SIDE_BY_SIDE).collect().await
    }

    async fn compare(
        &self,
        claim: &Claim,
        found: &[Found],
        budget: &Budget,
        watch: &dyn Watch,
    ) -> Result<Hashed, (HashStatus, Option<String>, String)> {
        let file = match &claim.file {
            Ok(file) => file,
            Err((status, words)) => return Err((*status, None, words.clone())),
        };
        let wanted: FileHash = (claim.expected.parse())
            .map_err(|error| (HashStatus::InvalidHash, None, format!("{file}: {error}")))?;
        let of_package = found.iter().find(|found| found.package.covers(file));
        let files = match of_package.and_then(|found| found.files.as_ref()) {
            Some(Ok(files)) => files.as_slice(),
            Some(Err(error)) => return Err((HashStatus::of(error), None, error.to_string())),
            None => &[],
        };
        let meant: Vec<&RemoteFile> = files.iter().filter(|remote| file.covers(&remote.identifier)).collect();
        let remote = match meant.as_slice() {
            [remote] => RemoteFile { identifier: file.clone(), ..(*remote).clone() },
            meant => return Err((HashStatus::UnknownIdentifier, None, not_one_file(file, meant))),
        };
        let failure = match self.hash(&remote, budget, watch).await {
            Ok(hashed) if hashed.hash == wanted => return Ok(hashed),
            Ok(hashed) => (HashStatus::Mismatch, Some(hashed.hash.to_string()), stale(claim, &hashed)),
            Err(HashError::Fetch(error)) => (HashStatus::of(&error), None, error.to_string()),
            Err(ref error @ HashError::IndexMismatch { ref hashed, .. }) => {
                (HashStatus::IndexMismatch, Some(hashed.hash.to_string()), error.to_string())
            }
        };
        Err(failure)
    }

    async fn hash(&self, file: &RemoteFile, budget: &Budget, watch: &dyn Watch) -> Result<Hashed, HashError> {
        let progress = |bytes, of| watch.fetched(&file.identifier, bytes, of);
        let download = self.fetcher.download(&file.request, budget, &progress).await?;
        let indexed = file.indexed.clone();
        let hashed = tokio::task::spawn_blocking(move || {
            use std::io::Seek;
            let mut bytes = download.file;
            let hash = FileHash::of(&bytes)?;
            bytes.rewind()?;
            let other = match indexed {
                None => None,
                Some(indexed) => {
                    let actual = indexed.hash.same_kind(&bytes)?;
                    (actual != indexed.hash).then_some((indexed, actual))
                }
            };
            std::io::Result::Ok((hash, other))
        });
        let (hash, other) =
            hashed.await.map_err(std::io::Error::other).flatten().map_err(FetchError::Temporary)?;
        let hashed = Hashed { file: file.identifier.clone(), hash, from: file.request.url.clone() };
        if let Some((indexed, actual)) = other {
            let (hashed, indexed) = (Box::new(hashed), Box::new(indexed));
            return Err(HashError::IndexMismatch { hashed, indexed, actual });
        }
        watch.hashed(&file.identifier, &hash);
        Ok(hashed)
    }
}

fn stale(claim: &Claim, hashed: &Hashed) -> String {
    format!(
        "{} is another file than the one that was hashed: expected {} ({}), actual {} ({}); if its publisher has changed it, it has \
         to be published as a new version",
        hashed.file, claim.expected, claim.source, hashed.hash, hashed.from
    )
}

fn not_one_file(release: &Identifier, files: &[&RemoteFile]) -> String {
    match files.first() {
        Some(file) => {
            format!("{release} has {} files; name one of them, as in {}", files.len(), file.identifier)
        }
        None => format!("the release has no file that is called {release}; leave its hash out"),
    }
}

/// The files of a package, if there is a hash of it.
struct Found {
    package: Identifier,
    files: Option<Result<Vec<RemoteFile>, FetchError>>,
}

/// What a server says of one file.
struct Claim {
    expected: String,
    /// Where it says so.
    source: String,
    /// Which file it is, or why that cannot be told.
    file: Result<Identifier, (HashStatus, String)>,
}

/// Everything that a server says about hashes, in both forms.
fn claims(server: &ServerJson, packages: &[Package]) -> BTreeMap<String, Claim> {
    let mut claims = BTreeMap::new();
    // That they are no texts was told before anything is compared.
    for (key, expected) in server.file_hashes().ok().flatten().unwrap_or_default() {
        let unknown = |words| (HashStatus::UnknownIdentifier, words);
        let file = key.parse::<Identifier>().map_err(|error| unknown(error.to_string())).and_then(|file| {
            let mut named = packages.iter().flat_map(|package| &package.identifiers);
            if named.any(|identifier| identifier.covers(&file)) {
                Ok(file)
            } else {
                // Else a server would seem checked by the hash of a file of somebody else's.
                Err(unknown(format!(
                    "{file} is no file of this server's packages; name its package, or leave its hash out"
                )))
            }
        });
        claims.insert(key, Claim { expected, source: "file_hashes".into(), file });
    }
    for package in packages {
        let (Some(hex), [identifier]) = (&package.file_sha256, package.identifiers.as_slice()) else {
            continue;
        };
        let (expected, source) = (format!("sha256:{hex}"), format!("{}.fileSha256", package.path));
        let same =
            claims.iter().find(|(_, claim)| claim.file.as_ref().is_ok_and(|file| file.covers(identifier)));
        match same {
            Some((_, claim)) if claim.expected == expected => {}
            Some((key, claim)) => {
                let words = format!(
                    "{key} has two hashes: {expected} ({source}) and {} ({}); leave one of them out",
                    claim.expected, claim.source
                );
                let (key, expected, source) = (key.clone(), claim.expected.clone(), claim.source.clone());
                claims.insert(key, Claim { expected, source, file: Err((HashStatus::InvalidHash, words)) });
            }
            None => {
                let file = Ok(identifier.clone());
                claims.insert(identifier.to_string(), Claim { expected, source, file });
            }
        }
    }
    claims
}
