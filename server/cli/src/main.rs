//! The binary hashline: see the library.

#![forbid(unsafe_code)]

/// The allocator. A sidecar and a server live for days, and one large request must not stay in their memory: the system's allocator keeps for each
/// thread what that thread has freed. For how long this one does, `.cargo/config.toml` says.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    hashline_cli::hashline()
}
