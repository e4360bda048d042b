//! What a name stands for that is no regular file.

use cap_std::fs::Metadata;

/// What a name stands for that is no regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A folder.
    Folder,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A disk, a terminal and the like.
    Device,
    /// Something else.
    Other,
}

impl std::fmt::Display for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FileKind::Folder => "folder",
            FileKind::Fifo => "FIFO (named pipe)",
            FileKind::Socket => "socket",
            FileKind::Device => "device",
            FileKind::Other => "special file",
        })
    }
}

impl FileKind {
    pub(super) fn hint(self) -> &'static str {
        if self == FileKind::Folder { ", such as one that lies in it" } else { "" }
    }

    pub(super) fn of(metadata: &Metadata) -> FileKind {
        #[cfg(unix)]
        {
            use cap_fs_ext::FileTypeExt;
            let kind = metadata.file_type();
            if kind.is_fifo() {
                return FileKind::Fifo;
            }
            if kind.is_socket() {
                return FileKind::Socket;
            }
            if kind.is_block_device() || kind.is_char_device() {
                return FileKind::Device;
            }
        }
        if metadata.is_dir() { FileKind::Folder } else { FileKind::Other }
    }
}
