//! The binary mcp-publisher: the same as `hashline package`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    hashline_cli::mcp_publisher()
}
