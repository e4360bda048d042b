//! crates.io: one archive for each version, and the index knows its hash.

use hashline_binary::FileHash;
use serde::Deserialize;
use url::Url;

use super::{Indexed, below};
use crate::fetch::{Budget, FetchError, Fetcher};
use crate::hash::IndexHash;
use crate::identifier::Named;

#[derive(Deserialize)]
struct Version {
    name: String,
    vers: String,
    cksum: String,
}

/// Where the archive is, and its hash.
pub async fn archive(
    index: &Url,
    crates: &Url,
    fetcher: &Fetcher,
    budget: &Budget,
    package: &Named,
) -> Result<(Url, Indexed), FetchError> {
    let page = below(index, place(&package.name.to_ascii_lowercase()).iter().map(String::as_str));
    let text = fetcher.text(&page.clone().into(), budget).await?;
    let unusable = |reason: String| FetchError::Index { url: page.clone(), reason };
    // One line for each version; later ones may have members that are not known here.
    let versions = text.lines().filter_map(|line| serde_json::from_str::<Version>(line).ok());
    let version = versions.into_iter().find(|version| version.vers == package.version);
    let version = version.ok_or_else(|| unusable(format!("the crate has no version {}", package.version)))?;
    let hash = FileHash::from_hex(&version.cksum)
        .ok_or_else(|| unusable(format!("its hash is {:?}", version.cksum)))?;
    let file = format!("{}-{}.crate", version.name, version.vers);
    let indexed = Indexed { hash: IndexHash::Sha256(hash), by: page.into() };
    Ok((below(crates, [version.name.as_str(), &file]), indexed))
}

/// Where the index keeps a crate: short names lie by their length, others by their first letters.
fn place(name: &str) -> Vec<String> {
    let mut place = match name.len() {
        1 | 2 => vec![name.len().to_string()],
        3 => vec!["3".into(), name[..1].into()],
        _ => vec![name[..2].into(), name[2..4].into()],
    };
    place.push(name.into());
    place
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn short_names_lie_by_their_length() {
        for (name, expected) in [("a", "1/a"), ("ab", "2/ab"), ("abc", "3/a/abc"), ("serde", "se/rd/serde")] {
            assert_eq!(place(name).join("/"), expected);
        }
    }
}
