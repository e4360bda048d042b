//! `verify-binary`: of "Consumers", "Verify downloaded files match provided hashes" and "Decide trust policy when hashes are absent".
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::program::{Ran, hash, run};

/// A folder with a program in it, and what verifies that.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Puts a program there, in the place of another.
    fn put(&self, bytes: &[u8]) -> PathBuf {
        let (path, new) = (self.folder.path().join("server"), self.folder.path().join("new"));
        std::fs::write(&new, bytes).unwrap();
        std::fs::set_permissions(&new, PermissionsExt::from_mode(0o700)).unwrap();
        std::fs::rename(new, &path).unwrap();
        path
    }

    fn kept(&self, bytes: &[u8]) -> PathBuf {
        self.folder.path().join("state/binaries").join(&hash(bytes)[7..]).join("server")
    }

    async fn verify(&self, path: &Path, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-publisher"));
        command.arg("verify-binary").arg(path);
        command.arg("--state-dir").arg(self.folder.path().join("state")).args(arguments);
        run(command).await
    }
}

const GOOD: &[u8] = b"#!/bin/sh\necho good $0 \"$@\"\nexit 7\n";
const BAD: &[u8] = b"#!/bin/sh\necho bad\n";

#[tokio::test]
async fn spec_verify_downloaded_files_match_provided_hashes() {
    let desk = Desk::new();
    let path = desk.put(GOOD);
    let good = hash(GOOD);
    let told = desk.verify(&path, &["--hash", &good]).await;
    assert_eq!(
        (told.code, told.json()),
        (0, json!({"file": path, "hash": good, "verified": true})),
        "{told:?}"
    );
    assert_eq!(std::fs::read(desk.kept(GOOD)).unwrap(), GOOD);
    // It becomes the program, and its end is the program's.
    let ran = desk.verify(&path, &["--hash", &good, "--run", "--", "--flag", "a b"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (7, ""), "{ran:?}");
    assert!(ran.out.starts_with("good ") && ran.out.ends_with(" --flag a b\n"), "{ran:?}");
    // By the file that was opened, and not by its name.
    #[cfg(target_os = "linux")]
    assert!(ran.out.starts_with("good /proc/self/fd/"), "{ran:?}");
}

/// "Hashes verify integrity": one changed byte is enough, and what was good is there for the next start.
#[tokio::test]
async fn a_tampered_program_is_not_started() {
    let desk = Desk::new();
    let (good, bad) = (hash(GOOD), hash(BAD));
    let path = desk.put(BAD);
    let refused = desk.verify(&path, &["--hash", &good, "--run"]).await;
    assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{refused:?}");
    for part in [path.to_str().unwrap(), &good, &bad, "It is not started"] {
        assert!(refused.err.contains(part), "{refused:?}");
    }
    // Every policy is about programs without a hash: it lets none through that has the wrong one.
    let allowed = desk.verify(&path, &["--hash", &good, "--policy", "allow", "--run"]).await;
    assert_eq!((allowed.code, allowed.out.as_str()), (1, ""), "{allowed:?}");

    desk.put(GOOD);
    assert_eq!(desk.verify(&path, &["--hash", &good]).await.code, 0);
    desk.put(BAD);
    let last = desk.verify(&path, &["--hash", &good, "--run", "--", "again"]).await;
    assert!(last.code == 7 && last.out.starts_with("good "), "{last:?}");
    for part in [&good, &bad, "The last good one is used instead", desk.kept(GOOD).to_str().unwrap()] {
        assert!(last.err.contains(part), "{last:?}");
    }
    // What was kept is hashed at each start, too.
    std::fs::remove_file(desk.kept(GOOD)).unwrap();
    std::fs::write(desk.kept(GOOD), BAD).unwrap();
    assert_eq!(desk.verify(&path, &["--hash", &good, "--run"]).await.code, 1);
}

/// A compiled program, which the system starts without an interpreter.
#[tokio::test]
async fn a_compiled_program_is_started_byte_for_byte_or_not_at_all() {
    let desk = Desk::new();
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_mcp-publisher")).unwrap();
    let good = hash(&bytes);
    let path = desk.put(&bytes);
    let ran = desk.verify(&path, &["--hash", &good, "--run", "--", "--version"]).await;
    assert!(ran.code == 0 && ran.out.starts_with("mcp-publisher "), "{ran:?}");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::remove_file(desk.folder.path().join("state/binaries").join(&good[7..]).join("server")).unwrap();
    desk.put(&bytes);
    let refused = desk.verify(&path, &["--hash", &good, "--run", "--", "--version"]).await;
    assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{refused:?}");
}

#[tokio::test]
async fn spec_decide_trust_policy_when_hashes_are_absent() {
    let desk = Desk::new();
    let path = desk.put(GOOD);
    for (policy, code, told) in [
        (&[][..], 1, "--policy warn"),
        (&["--policy", "require"], 1, "It is not started"),
        (&["--policy", "warn"], 7, "no expected hash is given"),
        (&["--policy", "allow"], 7, ""),
    ] {
        let ran = desk.verify(&path, &[policy, &["--run"]].concat()).await;
        assert_eq!((ran.code, ran.out.starts_with("good ")), (code, code == 7), "{ran:?}");
        assert!(ran.err.contains(told) && ran.err.is_empty() == told.is_empty(), "{ran:?}");
    }
    let allowed = desk.verify(&path, &["--policy", "allow"]).await;
    assert_eq!(allowed.json(), json!({"file": path, "hash": hash(GOOD), "verified": false}));
    for wrong in [&["--hash", "ba78"][..], &["--", "an argument without --run"]] {
        assert_eq!(desk.verify(&path, wrong).await.code, 2);
    }
    let gone = desk.verify(&desk.folder.path().join("gone"), &["--hash", &hash(GOOD)]).await;
    assert!(gone.code == 1 && gone.err.contains("check the file"), "{gone:?}");
}

/// The plugins look for the last good one where it is kept here.
#[test]
fn the_plugins_know_where_programs_are_kept() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for plugin in ["nvim/lua/hashline/pinned_binary.lua", "vscode-extension/src/pinnedBinary.ts"] {
        let text = std::fs::read_to_string(repository.join(plugin)).unwrap();
        assert!(text.contains("\".hashline\", \"binaries\")"), "{plugin}");
    }
}
