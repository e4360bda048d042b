//! A rope of lines: endings, byte-order mark, positions, file hash.
