//! Lines of the record: reading what those of a file say.

use crate::document::{Document, Misfit, Unread, replay};
use crate::error::{Result, StoreError};
use crate::folder::{Folder, Opened};
use crate::id::FileId;
use crate::layout;
use crate::ledger::{Ledger, Line};
use crate::record::Sequence;
use crate::transaction::Transaction;

/// Lines that begin in the same so many bytes of the record are read together.
const PIECE: u64 = 64 << 10;

/// The transactions of a file, up to one of them.
pub(crate) fn read_transactions(
    ledger: &Ledger,
    log: &mut Opened,
    file: FileId,
    until: Option<Sequence>,
) -> Result<Vec<Unread>> {
    let Some(tracked) = ledger.files.get(&file) else { return Ok(Vec::new()) };
    let lines: Vec<&Line> = tracked.lines.iter().filter_map(|at| ledger.lines.get(*at)).collect();
    let wanted = lines.partition_point(|line| until.is_none_or(|until| line.sequence <= until));
    let mut transactions = Vec::with_capacity(wanted);
    for together in lines[..wanted].chunk_by(|line, next| line.offset / PIECE == next.offset / PIECE) {
        let (Some(first), Some(last)) = (together.first(), together.last()) else { continue };
        let piece = log.read_at(first.offset, last.offset + last.len - first.offset)?;
        for line in together {
            let begin = (line.offset - first.offset) as usize;
            let bytes = piece.get(begin..begin + line.len as usize).unwrap_or_default();
            transactions.push(transaction_in(ledger, log, bytes)?);
        }
    }
    Ok(transactions)
}

/// One transaction.
pub(crate) fn read_line<D: serde::de::DeserializeOwned>(
    ledger: &Ledger,
    log: &mut Opened,
    line: &Line,
) -> Result<Transaction<D>> {
    let bytes = log.read_at(line.offset, line.len)?;
    transaction_in(ledger, log, &bytes)
}

fn transaction_in<'a, D: serde::Deserialize<'a>>(
    ledger: &Ledger,
    log: &Opened,
    bytes: &'a [u8],
) -> Result<Transaction<D>> {
    ledger.read(bytes).map_err(|why| StoreError::Io { path: log.path().to_path_buf(), action: "read", why })
}

/// A document as of a moment, or as it is.
pub(crate) fn read_document(
    ledger: &Ledger,
    folder: &Folder,
    log: &mut Opened,
    file: FileId,
    until: Option<Sequence>,
) -> Result<Document> {
    let transactions = read_transactions(ledger, log, file, until)?;
    let Some(name) = ledger.files.get(&file).map(|tracked| tracked.name.clone()) else {
        return Err(StoreError::Unknown(format!("file {}", file.0)));
    };
    match replay(&transactions, &|way| checkpoint(folder, way)) {
        Ok(Some(document)) => Ok(document),
        Ok(None) => Err(StoreError::Forgotten { document: name, sequence: until.unwrap_or_default() }),
        Err(Misfit { sequence, why }) => Err(StoreError::Broken { document: name, sequence, why }),
    }
}

/// The bytes of a checkpoint.
pub(crate) fn checkpoint(folder: &Folder, way: &str) -> std::result::Result<Vec<u8>, String> {
    if !layout::is_checkpoint(way) {
        return Err(format!("{way:?} is no checkpoint"));
    }
    let bytes = folder.read(way).map_err(|error| error.to_string())?;
    bytes.ok_or_else(|| format!("its checkpoint {way} is missing"))
}
