//! Go: the proxy has one archive for each version of a module.

use url::Url;

use super::below;
use crate::identifier::Named;

/// Where the archive is. Capital letters are written small with a mark before them, as the proxy's files may lie where case does not count.
pub fn archive(proxy: &Url, module: &Named) -> Url {
    let name = escaped(&module.name);
    let version = format!("{}.zip", escaped(&module.version));
    below(proxy, name.split('/').chain(["@v", &version]))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(letter.to_ascii_lowercase());
    }
    escaped
}
