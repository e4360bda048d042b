//! The binary mcpdiff: the same as `hashline diff`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    hashline_cli::mcpdiff()
}
