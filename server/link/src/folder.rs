//! What lies in the folder where sidecars tell of themselves: which files of it may be read.

use std::fs;
use std::path::Path;

use crate::state_dir;

/// Whether it is a file in the making.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// What a file of the folder is, if it may be read; none if it went away meanwhile.
pub(crate) fn own_file(path: &Path, limit: u64) -> Result<Option<fs::Metadata>, String> {
    // Nothing but a regular file is opened: a FIFO would wait for a writer.
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() || metadata.len() > limit {
        return Err("not a regular file of moderate size".to_owned());
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(&metadata) != state_dir::user() {
        return Err("belongs to another user".to_owned());
    }
    Ok(Some(metadata))
}
