//! What the system says, and what agents are told.

use std::io;
use std::path::Path;

use super::super::{Action, DiskError};
use super::assert_complete;

#[test]
fn the_systems_errors_have_our_words() {
    use io::ErrorKind as K;
    // kind, action, and how the variant begins
    let table = [
        (K::StorageFull, Action::Write, "DiskFull"),
        (K::QuotaExceeded, Action::Write, "DiskFull"),
        (K::StorageFull, Action::MakeFolder, "DiskFull"),
        (K::ReadOnlyFilesystem, Action::Write, "ReadOnlyFolder"),
        (K::PermissionDenied, Action::Write, "ReadOnlyFolder"),
        (K::PermissionDenied, Action::Remove, "ReadOnlyFolder"),
        (K::PermissionDenied, Action::Read, "Denied"),
        (K::PermissionDenied, Action::OpenRoot, "Denied"),
        (K::NotFound, Action::Read, "NotFound"),
        (K::InvalidData, Action::Read, "Io"),
        (K::Other, Action::Look, "Io"),
        (K::StaleNetworkFileHandle, Action::OpenFolder, "Io"),
    ];
    for (kind, action, variant) in table {
        let path = Path::new("/project/src/main.rs");
        let error = DiskError::from_io(path, action, &io::Error::from(kind));
        assert!(format!("{error:?}").starts_with(variant), "{kind} {action}: {error:?}");
        assert!(error.to_string().contains("/project/src/main.rs"), "no path: {error}");
        assert_complete(&error.to_string());
    }
}
