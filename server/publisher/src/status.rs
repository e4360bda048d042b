//! `status`: what a publisher says of versions.

use std::process::ExitCode;

use hashline_terminal::{Failure, Screen, tell};

use crate::account::publisher;
use crate::arguments::Status;
use crate::work::wait_for;
use crate::{messages, publish};

/// Says it to the registry.
pub fn run(options: &Status, screen: Screen) -> Result<ExitCode, Failure> {
    let (publisher, _) = publisher(&options.registry, options.fetch_https_only)?;
    let version = options.version.as_deref();
    let changed = wait_for(async {
        Ok(publisher
            .set_status(&options.name, version, options.status.into(), options.message.as_deref())
            .await)
    })?;
    let changed = publish::told(changed, screen)?;
    screen.print_json(&changed)?;
    tell(&messages::status_changed(changed["updatedCount"].as_u64().unwrap_or(1)));
    Ok(ExitCode::SUCCESS)
}
