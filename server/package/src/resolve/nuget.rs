//! NuGet: one archive for each version, in a folder in lower case.

use url::Url;

use super::below;
use crate::identifier::Named;

/// Where the archive is.
pub fn archive(packages: &Url, package: &Named) -> Url {
    let [name, version] = [&package.name, &package.version].map(|text| text.to_ascii_lowercase());
    below(packages, [name.as_str(), &version, &format!("{name}.{version}.nupkg")])
}
