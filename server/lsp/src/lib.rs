//! The editors' face: document sync, and review as code actions and workspace edits.
