//! The person at a registry.

use std::path::PathBuf;

use hashline_package::{ACCOUNT_FILE, Account, Publisher};
use hashline_terminal::Failure;
use url::Url;

use crate::arguments::Registry;
use crate::messages;

/// Where the person's token is kept.
pub fn account_file() -> Result<PathBuf, Failure> {
    let home = dirs::home_dir().ok_or_else(|| Failure::broken(messages::NO_HOME))?;
    Ok(home.join(ACCOUNT_FILE))
}

/// The registry that is meant, and the person's token for it: one that was kept for another registry is not sent there.
pub fn publisher(options: &Registry, https_only: bool) -> Result<(Publisher, Url), Failure> {
    let account = Account::load(&account_file()?).map_err(Failure::broken)?;
    let kept = account.as_ref().and_then(|account| Url::parse(&account.registry).ok());
    let registry = options
        .registry
        .clone()
        .or_else(|| kept.clone())
        .ok_or_else(|| Failure::usage(messages::NO_REGISTRY))?;
    let of_account = account.filter(|account| kept.as_ref() == Some(&registry) && !account.token.is_empty());
    let token = options.token.as_deref().or(of_account.as_ref().map(|account| account.token.as_str()));
    let publisher = Publisher::new(registry.clone(), token, https_only).map_err(Failure::usage)?;
    Ok((publisher, registry))
}
