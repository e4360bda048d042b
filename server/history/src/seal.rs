//! Seals: which lines of a record this user's own processes have written.
//!
//! A record lies in a folder that may come from anywhere, so what stands in it is believed only where it carries a seal: a MAC over the line
//! and the id of its record, by a key that never lies in such a folder. Nothing in it depends on where the folder is: it may be moved,
//! copied and restored, as long as the key is the same.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

type Keyed = Hmac<Sha256>;

/// What stands before a seal, at the end of its line.
const BEFORE: &[u8] = br#","seal":""#;
/// What stands behind it.
const BEHIND: &[u8] = br#""}"#;
/// How many bytes of the MAC are written.
const BYTES: usize = 16;

/// Signs what a user's processes record, and tells it from what others wrote. Clones have one key.
#[derive(Clone)]
pub struct Signer(Arc<Inner>);

struct Inner {
    find: Box<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>,
    found: OnceLock<Keyed>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(..)")
    }
}

impl Signer {
    /// Signs with the key that `find` finds. It is looked for when it is first needed, and again as long as it is not found.
    #[must_use]
    pub fn new(find: impl Fn() -> Result<Vec<u8>, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { find: Box::new(find), found: OnceLock::new() }))
    }

    /// Finds the key, or says why it cannot be used.
    pub(crate) fn find(&self) -> Result<(), String> {
        self.keyed().map(drop)
    }

    fn keyed(&self) -> Result<&Keyed, String> {
        if let Some(found) = self.0.found.get() {
            return Ok(found);
        }
        let key = (self.0.find)()?;
        let keyed = Keyed::new_from_slice(&key).map_err(|error| error.to_string())?;
        Ok(self.0.found.get_or_init(|| keyed))
    }

    fn mac(&self, record: &str, unsealed: &[u8]) -> Result<Keyed, String> {
        // A line begins with a brace and an id does not, so no header reads as another record's line.
        Ok(self.keyed()?.clone().chain_update(record).chain_update(unsealed))
    }

    /// A line of a record, with its newline, sealed.
    pub(crate) fn seal(&self, record: &str, line: &[u8]) -> Result<Vec<u8>, String> {
        let Some(open) = line.strip_suffix(b"}\n") else { return Err("it is no object".to_owned()) };
        let mac = self.mac(record, open)?.finalize().into_bytes();
        let mut sealed = Vec::with_capacity(line.len() + BEFORE.len() + 2 * BYTES + BEHIND.len());
        sealed.extend(open);
        sealed.extend(BEFORE);
        sealed.extend(mac.iter().take(BYTES).flat_map(|byte| format!("{byte:02x}").into_bytes()));
        sealed.extend(BEHIND);
        sealed.push(b'\n');
        Ok(sealed)
    }

    /// Whether a line, with its newline or without, carries the seal that it is to have in a record.
    pub(crate) fn has_sealed(&self, record: &str, line: &[u8]) -> bool {
        let Some((open, seal)) = parts(line) else { return false };
        self.mac(record, open).is_ok_and(|mac| mac.verify_truncated_left(&seal).is_ok())
    }
}

/// A line as it was before it was sealed, with its newline; none of one that is no object.
pub(crate) fn unsealed(line: &[u8]) -> Option<Vec<u8>> {
    let open = match parts(line) {
        Some((open, _)) => open,
        None => line.strip_suffix(b"}\n")?,
    };
    Some([open, b"}\n"].concat())
}

/// What is sealed of a line, which is all before its last brace, and its seal.
fn parts(line: &[u8]) -> Option<(&[u8], [u8; BYTES])> {
    let rest = line.strip_suffix(b"\n").unwrap_or(line).strip_suffix(BEHIND)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(2 * BYTES)?)?;
    let mut seal = [0; BYTES];
    for (byte, two) in seal.iter_mut().zip(digits.chunks(2)) {
        let two = std::str::from_utf8(two).ok().filter(|two| !two.starts_with('+'))?;
        *byte = u8::from_str_radix(two, 16).ok()?;
    }
    Some((rest.strip_suffix(BEFORE)?, seal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(key: u8) -> Signer {
        Signer::new(move || Ok(vec![key; 32]))
    }

    #[test]
    fn a_seal_is_that_of_its_key_record_and_line() {
        let line = b"{\"a\":1}\n";
        let sealed = signer(1).seal("r", line).unwrap();
        assert!(sealed.starts_with(b"{\"a\":1,\"seal\":\"") && sealed.ends_with(b"\"}\n"));
        assert!(signer(1).has_sealed("r", &sealed) && signer(1).has_sealed("r", sealed.trim_ascii_end()));
        assert!(!signer(2).has_sealed("r", &sealed) && !signer(1).has_sealed("s", &sealed));
        assert!(!signer(1).has_sealed("r", line));
        for at in 0..sealed.len() - 1 {
            let mut other = sealed.clone();
            other[at] ^= 1;
            assert!(!signer(1).has_sealed("r", &other), "byte {at}");
        }
        assert_eq!(unsealed(&sealed).unwrap(), line);
        assert_eq!(unsealed(line).unwrap(), line);
        assert_eq!(unsealed(b"half a li"), None);
    }

    #[test]
    fn a_key_that_is_not_found_is_looked_for_again() {
        use std::sync::atomic::{AtomicBool, Ordering};
        static THERE: AtomicBool = AtomicBool::new(false);
        let signer = Signer::new(|| match THERE.load(Ordering::Relaxed) {
            true => Ok(vec![1; 32]),
            false => Err("it is locked".to_owned()),
        });
        assert_eq!(signer.find().unwrap_err(), "it is locked");
        THERE.store(true, Ordering::Relaxed);
        signer.find().unwrap();
    }
}
