//! The binary hashline: see the library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    hashline_cli::hashline()
}
