//! Programs that are started only as the very bytes that were published.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use crate::hash::FileHash;

/// A program, opened and hashed. Whatever is put under its name meanwhile, this is the file that was hashed.
#[derive(Debug)]
pub struct Binary {
    file: File,
    path: PathBuf,
    hash: FileHash,
}

/// A program that was to have another hash.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} is not the program that is meant: expected {expected}, actual {actual}", path.display())]
pub struct OtherBinary {
    /// Where it is.
    pub path: PathBuf,
    /// The hash that it was to have.
    pub expected: FileHash,
    /// The one that it has.
    pub actual: FileHash,
}

/// Why there is no program to start.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// It has another hash, and none with the right one was kept.
    #[error("{0}. It is not started; get it anew from those who publish it, and the hash, too")]
    Other(OtherBinary),
    /// It could not be read or kept.
    #[error("{}: {source}; check the file and its folder", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Binary {
    /// Opens a program and hashes it.
    pub fn open(path: &Path) -> Result<Self, BinaryError> {
        let is_file = |found: Metadata| match found.is_file() {
            true => Ok(()),
            false => Err(io::Error::other("it is no file")),
        };
        // A pipe would be waited for as soon as it is opened, and a folder has no bytes.
        let opened = std::fs::metadata(path).and_then(is_file).and_then(|()| {
            let file = File::open(path)?;
            is_file(file.metadata()?)?;
            let hash = FileHash::of(&file)?;
            Ok((file, hash))
        });
        let (file, hash) = opened.map_err(|source| BinaryError::Io { path: path.to_owned(), source })?;
        Ok(Self { file, path: path.to_owned(), hash })
    }

    /// The opened file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name that it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its hash.
    #[must_use]
    pub fn hash(&self) -> FileHash {
        self.hash
    }
}

/// Programs that were verified once, each below the digits of its hash. What takes the place of such a program elsewhere does not touch
/// it here.
#[derive(Clone, Debug)]
pub struct KeptBinaries {
    folder: PathBuf,
}

/// A program with the right hash.
#[derive(Debug)]
pub enum Verified {
    /// The one that was asked for. It is kept from now on.
    Given {
        /// It.
        binary: Binary,
        /// Why it could not be kept. It is the right one nevertheless.
        not_kept: Option<BinaryError>,
    },
    /// The one that was asked for has another hash. This is the one that was kept.
    Kept {
        /// The one with the right hash.
        binary: Binary,
        /// The other.
        instead_of: OtherBinary,
    },
}

impl KeptBinaries {
    /// Those in a folder, which is made for this user alone when the first is kept.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The program at a path if it has this hash, else the one of its name that was kept when it had it.
    pub fn verify(&self, path: &Path, expected: FileHash) -> Result<Verified, BinaryError> {
        let binary = Binary::open(path)?;
        if binary.hash == expected {
            return match self.keep(&binary) {
                Err(error @ BinaryError::Other(_)) => Err(error),
                kept => Ok(Verified::Given { binary, not_kept: kept.err() }),
            };
        }
        let other = OtherBinary { path: path.to_owned(), expected, actual: binary.hash };
        match Binary::open(&self.place(path, expected)) {
            Ok(binary) if binary.hash == expected => Ok(Verified::Kept { binary, instead_of: other }),
            _ => Err(BinaryError::Other(other)),
        }
    }

    /// Where a program is kept.
    fn place(&self, path: &Path, hash: FileHash) -> PathBuf {
        self.folder.join(hash.hex()).join(path.file_name().unwrap_or("program".as_ref()))
    }

    /// Copies it, unless that was done before and the copy is as it was.
    fn keep(&self, binary: &Binary) -> Result<(), BinaryError> {
        let place = self.place(&binary.path, binary.hash);
        if Binary::open(&place).is_ok_and(|kept| kept.hash == binary.hash) {
            return Ok(());
        }
        let wrong = |source| BinaryError::Io { path: place.clone(), source };
        let folder = place.parent().unwrap_or(&self.folder);
        private_folder(folder).map_err(wrong)?;
        let mut copy = tempfile::NamedTempFile::new_in(folder).map_err(wrong)?;
        let mut from = &binary.file;
        from.rewind().and_then(|()| io::copy(&mut from, &mut copy)).map_err(wrong)?;
        copy.flush().and_then(|()| copy.rewind()).map_err(wrong)?;
        // The file may have been written into since it was hashed.
        let actual = FileHash::of(copy.as_file()).map_err(wrong)?;
        if actual != binary.hash {
            let path = binary.path.clone();
            return Err(BinaryError::Other(OtherBinary { path, expected: binary.hash, actual }));
        }
        for_its_owner_to_run(copy.as_file()).and_then(|()| copy.as_file().sync_all()).map_err(wrong)?;
        copy.persist(&place).map_err(|error| wrong(error.error))?;
        Ok(())
    }
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn for_its_owner_to_run(file: &File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o500))
}

#[cfg(not(unix))]
fn for_its_owner_to_run(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(bytes: &[u8]) -> FileHash {
        FileHash::of(bytes).unwrap()
    }

    #[test]
    fn the_last_good_one_is_there_when_another_takes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("program"), KeptBinaries::new(folder.path().join("kept")));
        std::fs::write(&path, "good").unwrap();
        let Verified::Given { binary, not_kept: None } = kept.verify(&path, hash(b"good")).unwrap() else {
            panic!()
        };
        assert_eq!(binary.path(), path);
        let place = kept.place(&path, hash(b"good"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&place), mode(&folder.path().join("kept"))), (0o500, 0o700));
        }

        std::fs::write(&path, "bad").unwrap();
        let Verified::Kept { binary, instead_of } = kept.verify(&path, hash(b"good")).unwrap() else {
            panic!()
        };
        assert_eq!(binary.path(), place);
        let words = instead_of.to_string();
        for part in ["program", &hash(b"good").to_string(), &hash(b"bad").to_string()] {
            assert!(words.contains(part), "{words}");
        }

        // The kept one is hashed anew each time, too.
        std::fs::remove_file(&place).unwrap();
        std::fs::write(&place, "worse").unwrap();
        let error = kept.verify(&path, hash(b"good")).unwrap_err().to_string();
        assert!(error.contains("It is not started"), "{error}");
        // And replaced by a good one when there is one again.
        std::fs::write(&path, "good").unwrap();
        kept.verify(&path, hash(b"good")).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"good");
    }

    #[test]
    fn a_good_one_that_cannot_be_kept_is_good_nevertheless() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) =
            (folder.path().join("program"), KeptBinaries::new(folder.path().join("program/kept")));
        std::fs::write(&path, "good").unwrap();
        let verified = kept.verify(&path, hash(b"good")).unwrap();
        assert!(
            matches!(verified, Verified::Given { not_kept: Some(BinaryError::Io { .. }), .. }),
            "{verified:?}"
        );
    }

    /// Whoever starts it would wait for somebody who writes into it.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (sender, opened) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(Binary::open(&pipe).unwrap_err().to_string()));
        let error = opened.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
        assert!(error.contains("it is no file"), "{error}");
    }

    #[test]
    fn what_is_no_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptBinaries::new(folder.path().join("kept"));
        for path in [folder.path().to_owned(), folder.path().join("missing")] {
            let error = kept.verify(&path, hash(b"")).unwrap_err().to_string();
            assert!(
                error.contains(&path.display().to_string()) && error.contains("check the file"),
                "{error}"
            );
        }
        assert!(!folder.path().join("kept").exists());
    }
}
