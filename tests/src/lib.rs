//! Tests across processes.
