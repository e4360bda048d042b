//! Histories that are not this user's: how they are told, and what a person does with one: look at it, take it over, or set it aside.

use std::path::PathBuf;

use crate::derive::{Render, forget_derived};
use crate::error::{Result, StoreError, none_if_foreign};
use crate::folder::{Folder, Open};
use crate::layout;
use crate::ledger::{Header, Ledger};
use crate::seal::{Signer, unsealed};
use crate::store::{Glance, Store};

/// How long the first line of a record can be, at most.
const LONGEST_HEADER: u64 = 4096;

impl Store {
    /// Sees to it that the history is this user's, or that nothing is recorded yet.
    ///
    /// # Errors
    ///
    /// [`StoreError::Foreign`], [`StoreError::NoKey`], and that it cannot be read.
    pub fn check_owner(&self) -> Result<()> {
        self.checked_folder().map(drop)
    }

    /// The folder, if something is recorded in it; none of a foreign one.
    pub(crate) fn own_folder(&self) -> Result<Option<Folder>> {
        none_if_foreign(self.checked_folder())
    }

    /// The same, or why it is not this user's. Looks at the header alone, which is quick.
    fn checked_folder(&self) -> Result<Option<Folder>> {
        let Some(folder) = Folder::open(self.folder(), self.probe().as_ref())? else { return Ok(None) };
        let Some(mut log) = folder.file(layout::RECORD, Open::Read)? else { return Ok(None) };
        let beginning = log.read_at(0, LONGEST_HEADER)?;
        let header = match memchr::memchr(b'\n', &beginning) {
            Some(end) => beginning.get(..end).unwrap_or_default(),
            None if (beginning.len() as u64) < LONGEST_HEADER => return Ok(None),
            None => &beginning,
        };
        let mut ledger = Ledger::new(self.folder(), self.signer().cloned());
        ledger.take(header).map_err(|refused| refused.of(self.folder()))?;
        Ok(Some(folder))
    }

    /// The same history with all that stands in it, whoever wrote that: to show it to a person who is asked whether to believe it.
    #[must_use]
    pub fn unbelieved(&self) -> Self {
        Self::new(self.folder(), self.process())
    }

    /// Makes a history that is not this user's their own, as it was shown. What a process left unfinished in it is finished by the next
    /// session.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`], and whatever the disk says; the history is as it was then.
    pub fn adopt(&self, shown: Option<Glance>) -> Result<()> {
        let Some(signer) = self.signer() else { return Ok(()) };
        let (_gate, folder, _lock) = self.enter()?;
        let record = folder.read(layout::RECORD)?.filter(|_| self.glance() == shown);
        let record = record.ok_or_else(|| StoreError::Changed { folder: self.folder().to_path_buf() })?;
        let sealed = self.sealed_anew(&record, signer)?;
        // Only the record was shown. What others made from it may say something else.
        forget_derived(&folder)?;
        folder.write_whole(layout::RECORD, &sealed, true)?;
        // It is this user's by now; what cannot be made from it here is made by the next session.
        let _ = self.render_anew(&folder);
        Ok(())
    }

    fn render_anew(&self, folder: &Folder) -> Result<()> {
        let Some(mut log) = folder.file(layout::RECORD, Open::Append)? else { return Ok(()) };
        let mut known = self.known();
        known.refresh(self, &mut log)?;
        Render { folder, log: &mut log, ledger: &known.ledger }.catch_up().map(drop)
    }

    /// Gives a history that is not this user's another name beside, where nobody looks for one, so that a new one can begin. Returns where
    /// it lies.
    ///
    /// # Errors
    ///
    /// The disk refuses.
    pub fn set_aside(&self) -> Result<PathBuf> {
        let (_gate, _, _lock) = self.enter()?;
        Folder::set_aside(self.folder(), self.probe().as_ref())
    }

    /// A record with the seals of a signer on all of its lines that could be read with them.
    fn sealed_anew(&self, record: &[u8], signer: &Signer) -> Result<Vec<u8>> {
        let no_key = |why| StoreError::NoKey { why };
        let mut lines = record.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let header = Header::of(lines.next().unwrap_or_default());
        let header = header.map_err(|refused| refused.of(self.folder()))?;
        let header = header.unwrap_or_else(Header::newest).made_anew();
        let mut sealed = header.to_line(Some(signer))?;
        for line in lines {
            match unsealed(line) {
                Some(line) => sealed.extend(signer.seal(header.id(), &line).map_err(no_key)?),
                // It could not be read before either.
                None => sealed.extend(line),
            }
        }
        Ok(sealed)
    }
}
