//! How an edit of one line grows with the document, beside SHA-256 of the same text.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use sha2::{Digest, Sha256};

use crate::bench::Bench;
use crate::report::{Goal, Report, Row};
use crate::rows::edits::{change, spread};
use crate::sample::{Samples, Work, interleave, show};

/// Runs it.
pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let sizes: &[usize] =
        if bench.quick { &[1_000, 10_000, 100_000] } else { &[1_000, 10_000, 100_000, 1_000_000] };
    let mut measured: Vec<[Samples; 3]> = Vec::new();
    for &lines in sizes {
        measured.push(at(bench, lines)?);
    }
    let cells: Vec<Vec<String>> = sizes
        .iter()
        .zip(&measured)
        .map(|(lines, [hash, live, disk])| {
            let of_hash = |samples: &Samples| format!("{:.2}x", samples.median() / hash.median());
            vec![
                lines.to_string(),
                show(hash.median()),
                show(live.median()),
                of_hash(live),
                show(disk.median()),
                of_hash(disk),
            ]
        })
        .collect();
    let head = ["lines", "SHA-256", "edit in the buffer", "to SHA-256", "edit on disk", "to SHA-256"];
    report.table("Growth of an edit of one line (at the socket; on disk over stdio)", &head, &cells);
    let (Some(small), Some(large)) = (measured.first(), measured.last()) else { return Ok(()) };
    let grown = |of: usize| large[of].median() - small[of].median();
    for (of, name, goal) in [(1, "in the buffer", Goal::AtMost(1.0)), (2, "on disk", Goal::None)] {
        report.row(Row {
            work: format!("growth of an edit {name}, {} to {} lines", sizes[0], sizes[sizes.len() - 1]),
            goal,
            ratio: grown(of) / grown(0),
            ours: format!("+{}", show(grown(of))),
            other: format!("+{} SHA-256 of the text", show(grown(0))),
        });
    }
    Ok(())
}

/// SHA-256 of the text, an edit in the buffer and one on disk, for one size.
fn at(bench: &Bench, lines: usize) -> Result<[Samples; 3]> {
    let (open, closed) = (bench.place(lines)?, bench.place(lines)?);
    let mut desk = bench.desk(&open, "propose")?;
    let mut agent = bench.direct(&open, &desk)?;
    let mut disk = bench.stdio(&closed)?;
    let (mut live_count, mut disk_count) = (0, 0);
    let mut works: Vec<Work<'_>> = vec![
        Box::new(|| {
            let began = Instant::now();
            black_box(Sha256::digest(black_box(open.text.as_bytes())));
            Ok(began.elapsed())
        }),
        Box::new(|| {
            live_count += 1;
            let took = change(&mut agent, spread(live_count, lines), live_count)?;
            desk.editor.wait_for_offer()?;
            desk.editor.decide_all("accept")?;
            open.rest();
            Ok(took)
        }),
        Box::new(|| {
            disk_count += 1;
            change(&mut disk, spread(disk_count, lines), disk_count)
        }),
    ];
    let rounds = if lines >= 1_000_000 { bench.times(4, 2) } else { bench.times(10, 3) };
    let all = interleave(rounds, 4, &mut works)?;
    Ok(std::array::from_fn(|index| all[index].clone()))
}
