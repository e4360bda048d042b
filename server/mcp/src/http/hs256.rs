//! HS256, the one algorithm that tokens are signed with. `jsonwebtoken` has what others need only together with all of them: RSA and
//! curves, which would be compiled for nothing.

use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use sha2::Sha256;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key: &EncodingKey| Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key: &DecodingKey| {
        Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?))
    },
    // Of public keys, which there are none of.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Has this process sign and verify tokens by it.
pub(crate) fn install() {
    // Whoever comes second finds it there.
    let _ = PROVIDER.install_default();
}

struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        Hmac::new_from_slice(key).map(Self).map_err(|_| ErrorKind::InvalidKeyFormat.into())
    }

    fn of(&self, message: &[u8]) -> Hmac<Sha256> {
        self.0.clone().chain_update(message)
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(self.of(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    /// In a time that tells nothing of how much of it is right.
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        self.of(message).verify_slice(signature).map_err(|_| Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    use super::*;

    /// RFC 7515, appendix A.1.
    const KEY: &str =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    const MESSAGE: &str = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const SIGNATURE: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

    #[test]
    fn it_signs_and_verifies_as_the_standard_has_it() {
        let key = BASE64_URL_SAFE_NO_PAD.decode(KEY).unwrap();
        let signature = BASE64_URL_SAFE_NO_PAD.decode(SIGNATURE).unwrap();
        let hs256 = Hs256::new(Algorithm::HS256, &key).unwrap();
        assert_eq!(hs256.try_sign(MESSAGE.as_bytes()).unwrap(), signature);
        assert!(hs256.verify(MESSAGE.as_bytes(), &signature).is_ok());
        for at in 0..signature.len() {
            let mut wrong = signature.clone();
            wrong[at] ^= 1;
            assert!(hs256.verify(MESSAGE.as_bytes(), &wrong).is_err());
            assert!(hs256.verify(MESSAGE.as_bytes(), &signature[..at].to_vec()).is_err());
        }
        assert!(hs256.verify(b"another", &signature).is_err());
    }

    #[test]
    fn no_other_algorithm_is_known() {
        for algorithm in
            [Algorithm::HS384, Algorithm::HS512, Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA]
        {
            assert!(Hs256::new(algorithm, b"key").is_err(), "{algorithm:?}");
        }
    }
}
