//! File hashes of server packages: those who publish a server say what its files are, and everyone else can check it.
//!
//! - A [`ServerJson`] names packages, and each package its files by an [`Identifier`].
//! - A [`Hasher`] fetches those files, within [`Limits`] and from public addresses only, and hashes them or compares their hashes.
//! - A [`Publisher`] sends it to a registry, as the [`Account`] that a person has there.
//! - A [`Registry`] compares what it is sent with the files, and keeps it in a [`Store`].
//!
//! # Invariants
//! - Only bytes that agree with the index of their own kind are hashed: a mirror that was tampered with is never vouched for.
//! - Memory stays flat whatever the size of a file, and nothing of a download outlives it.
//! - Nothing that a stranger names leads to an address that is not public, at no redirection.
//!
//! # Limitations
//! - A hash tells that a file is the one that was published, not who published it.
//! - Where a proxy fetches, it is the proxy that looks names up. What this machine knows to be private is refused nevertheless, and
//!   this machine itself is never asked of a proxy.
//!
//! # Example
//! ```
//! use hashline_package::*;
//!
//! let server = ServerJson::parse(br#"{
//!     "name": "io.github.someone/server",
//!     "version": "1.0.0",
//!     "package_location": { "type": "npm", "package_name": "@someone/server" }
//! }"#).unwrap();
//! let (packages, issues) = server.packages(&Sources::public().unwrap());
//! assert!(issues.is_empty());
//! assert_eq!(packages[0].identifiers[0].to_string(), "npm:@someone/server@1.0.0");
//! ```

#![forbid(unsafe_code)]

mod account;
mod fetch;
mod hash;
mod hashes;
mod identifier;
mod image;
mod issue;
mod publisher;
mod registry;
mod resolve;
mod server_json;
mod store;
mod validate;

pub use account::{ACCOUNT_FILE, Account, AccountError};
pub use fetch::{
    Budget, Download, FetchError, Fetcher, Limits, MAX_REDIRECTIONS, NotPublic, Progress, Refusal, Request,
};
pub use hash::IndexHash;
pub use hashes::{
    Agreement, HashError, HashFailure, HashFailures, HashStatus, Hashed, Hasher, Hashes, Watch,
};
pub use hashline_binary::{FileHash, NoFileHash};
pub use identifier::{Address, Asset, Identifier, Named, NoIdentifier};
pub use image::{Image, Reference};
pub use issue::{Issue, IssueKind, Severity};
pub use publisher::{PublishError, Publisher};
pub use registry::{Auth, Registry, RegistryLimits};
pub use resolve::{CRATES, CRATES_INDEX, DOCKER, GITHUB, GO, Indexed, NPM, NUGET, PYPI, RemoteFile, Sources};
pub use server_json::{NoServerJson, Package, ServerJson};
pub use store::{
    Kept, NewVersion, PostgresStore, SqliteStore, StatusChange, Store, StoreError, StoredVersion,
    VersionStatus, Wanted, Which,
};
pub use validate::{MAX_FILES, YOUR_NAME, is_publishable, issues, validate};
