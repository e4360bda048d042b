//! Finding sidecars and talking to them.
