//! Which version is newer, as a text that any database can compare.

use std::fmt::Write;

/// A text for a version: of two of them the greater one, byte by byte, is that of the newer version. Semantic versions come in their own
/// order, and after all others; those come as they were published.
pub fn sort_key(version: &str, published_at: &str) -> String {
    let Ok(version) = semver::Version::parse(version) else { return format!("0{published_at}") };
    let mut key = format!("1{:020}{:020}{:020}", version.major, version.minor, version.patch);
    if version.pre.is_empty() {
        // After everything that stands for a part of a pre-release.
        key.push('~');
    }
    for part in version.pre.split('.').filter(|part| !part.is_empty()) {
        // Writing to a string cannot fail. The mark before a part comes before all letters that a part can have.
        let _ = match part.bytes().all(|digit| digit.is_ascii_digit()) {
            // Of any length, and without zeros before it: longer is more.
            true => write!(key, "!0{:03}{part}", part.len()),
            false => write!(key, "!1{part}"),
        };
    }
    // Whatever goes on is newer than what ends here.
    key.push(' ');
    key.push_str(&version.build);
    key
}

#[cfg(test)]
mod tests {
    use super::sort_key;
    use proptest::prelude::*;

    #[test]
    fn versions_come_in_their_own_order() {
        let order = [
            "2024.1",
            "1.0.0-0",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-99999999999999999999999",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-alpha-1",
            "1.0.0-beta",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.9.0",
            "1.10.0",
            "10.0.0",
            "18446744073709551615.0.0",
        ];
        let keys: Vec<String> =
            order.iter().map(|version| sort_key(version, "2026-01-01T00:00:00.000Z")).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:#?}");
        assert!(sort_key("x", "2026-01-01T00:00:00.000Z") < sort_key("a", "2026-01-01T00:00:00.001Z"));
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_semantic_versions(
            a in "[0-9]{1,2}\\.[0-3]\\.[0-3](-[a-c0-2-]{1,2}(\\.[a-c0-2-]{1,2}){0,2})?",
            b in "[0-9]{1,2}\\.[0-3]\\.[0-3](-[a-c0-2-]{1,2}(\\.[a-c0-2-]{1,2}){0,2})?",
        ) {
            if let (Ok(first), Ok(second)) = (semver::Version::parse(&a), semver::Version::parse(&b)) {
                prop_assert_eq!(sort_key(&a, "").cmp(&sort_key(&b, "")), first.cmp(&second), "{} {}", a, b);
            }
        }
    }
}
