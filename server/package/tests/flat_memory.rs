//! "Stream large files to avoid memory issues", "Process files in chunks for memory efficiency". In a process of its own, as memory is
//! counted by process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs, reason = "a test may stop where it is")]

#[path = "package/file_server.rs"]
#[allow(dead_code, reason = "it is made for all tests")]
mod file_server;

use file_server::{Answer, FileServer};
use hashline_package::{Fetcher, FileHash, Limits};

/// The most memory that this process ever had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn a_large_file_takes_no_more_memory_than_a_small_one() {
    let server = FileServer::start().await;
    let fetcher =
        Fetcher::new(Limits { https_only: false, allow_private: true, ..Limits::default() }).unwrap();
    let mut peaks = Vec::new();
    for (path, size) in [("/small", 1 << 20), ("/large", 200 << 20)] {
        server.on(path, [Answer::Large(size)]);
        let download =
            fetcher.download(&server.url(path).into(), &fetcher.budget(), &|_, _| {}).await.unwrap();
        assert_eq!(download.size, size);
        FileHash::of(download.file).unwrap();
        peaks.push(peak());
    }
    assert!(
        peaks[1] - peaks[0] < 8 << 20,
        "{} MiB for 1 MiB, {} MiB for 200",
        peaks[0] >> 20,
        peaks[1] >> 20
    );
}
