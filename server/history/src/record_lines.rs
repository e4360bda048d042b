//! Lines of the record: reading what those of a file say.

use crate::document::{Document, Misfit, Unread, replay};
use crate::error::{Result, StoreError};
use crate::folder::{Folder, Opened};
use crate::id::FileId;
use crate::layout;
use crate::ledger::{Ledger, Line};
use crate::record::Sequence;
use crate::transaction::Transaction;

/// The transactions of a file, up to one of them.
pub(crate) fn read_transactions(
    ledger: &Ledger,
    log: &mut Opened,
    file: FileId,
    until: Option<Sequence>,
) -> Result<Vec<Unread>> {
    let Some(tracked) = ledger.files.get(&file) else { return Ok(Vec::new()) };
    let mut transactions = Vec::with_capacity(tracked.lines.len());
    for line in tracked.lines.iter().filter_map(|at| ledger.lines.get(*at)) {
        if until.is_some_and(|until| line.sequence > until) {
            break;
        }
        transactions.push(read_line(ledger, log, line)?);
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
    ledger.read(&bytes).map_err(|why| StoreError::Io { path: log.path().to_path_buf(), action: "read", why })
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
