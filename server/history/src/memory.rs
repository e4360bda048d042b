//! A record in memory.

use std::sync::{Mutex, PoisonError};

use crate::record::{History, HistoryError, Record, Sequence};

/// A history that ends with the process.
#[derive(Debug, Default)]
pub struct Memory {
    records: Mutex<Vec<Record>>,
}

impl Memory {
    /// All records, in order.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl History for Memory {
    fn append(&self, record: Record) -> Result<Sequence, HistoryError> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.push(record);
        Ok(Sequence(records.len() as u64))
    }
}
