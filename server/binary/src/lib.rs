//! Programs that are started only as the very bytes that were published: files with their hashes, and the last good ones, kept.
//!
//! ```no_run
//! use hashline_binary::{FileHash, KeptBinaries, Verified};
//!
//! let hash: FileHash = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".parse().unwrap();
//! let kept = KeptBinaries::new("/home/me/.hashline/binaries".into());
//! match kept.verify("/usr/bin/server".as_ref(), hash) {
//!     Ok(Verified::Given { binary, .. } | Verified::Kept { binary, .. }) => println!("start {}", binary.path().display()),
//!     Err(error) => println!("{error}"),
//! }
//! ```

#![forbid(unsafe_code)]

mod binary;
mod hash;

pub use binary::{Binary, BinaryError, KeptBinaries, OtherBinary, Verified};
pub use hash::{FileHash, NoFileHash, digest_of};
