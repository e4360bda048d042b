//! What a program shows to be let in.

use subtle::ConstantTimeEq;

/// 32 hexadecimal digits of chance, in lower case.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// A new one, from the system's generator.
    ///
    /// # Errors
    /// The system has no chance to give.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The digits, for the lock file.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// Whether this is what was shown. How much of it is right does not show in the time that this takes.
    pub fn is(&self, shown: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(shown).into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn a_token_is_32_digits_and_another_one_each_time() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(
            one.digits().len() == 32
                && one.digits().bytes().all(|digit| b"0123456789abcdef".contains(&digit))
        );
        assert!(one.is(one.digits().as_bytes()) && !one.is(other.digits().as_bytes()));
        assert!(!one.is(b"") && !one.is(&one.digits().as_bytes()[..31]), "nor a part of it");
    }
}
