//! Paths as text: for JSON, for messages between processes, for diffs and for people.
//!
//! On Unix a name is bytes, and not always UTF-8. A path that is UTF-8 and shows as it is, on one line, is its own text. Any other is
//! written as its `file:` URI, `file:///project/a%FF.txt`: no absolute path begins like that, so the text can be read back, and every tool
//! takes it for a path. So a name never breaks the line in which an agent or a person reads it, nor turns around or hides what stands there.
//! In diffs and tables such a name is quoted as git does it, `"a/a\377.txt"`.
//!
//! For serde, `#[serde(with = "hashline_history::path")]` writes a path, or several, or perhaps one, so.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize as _, Deserializer, Serialize, Serializer};

use crate::one_line::shows;

const FILE: &str = "file://";

/// What is written with a `%` besides everything that is not ASCII, as in URIs.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// An absolute path as a text that [`from_text`] reads back.
#[must_use]
pub fn to_text(path: &Path) -> Cow<'_, str> {
    match path.to_str().filter(|text| text.chars().all(shows)) {
        Some(text) => text.into(),
        None => format!("{FILE}{}", escape(path.as_os_str())).into(),
    }
}

/// The path that a text means; none if no file can be called so on this system.
#[must_use]
pub fn from_text(text: &str) -> Option<Cow<'_, Path>> {
    match text.strip_prefix(FILE) {
        Some(escaped) => unescape(escaped).map(|path| PathBuf::from(path).into()),
        None => Some(Path::new(text).into()),
    }
}

/// A name for people and in diffs, as git writes it: in quotes, with escapes, where it could not be read otherwise.
#[must_use]
pub fn quoted(name: &OsStr) -> Cow<'_, str> {
    let plain =
        |text: &&str| !text.contains(|letter: char| letter.is_control() || letter == '"' || letter == '\\');
    match name.to_str().filter(plain) {
        Some(text) => text.into(),
        None => in_quotes(name.as_encoded_bytes()).into(),
    }
}

fn in_quotes(name: &[u8]) -> String {
    let mut quoted = String::from("\"");
    let octal = |quoted: &mut String, bytes: &[u8]| {
        for byte in bytes {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\{byte:03o}");
        }
    };
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => quoted.extend(['\\', letter]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                letter if letter.is_control() => {
                    octal(&mut quoted, letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                letter => quoted.push(letter),
            }
        }
        octal(&mut quoted, chunk.invalid());
    }
    quoted.push('"');
    quoted
}

/// A path with `%` before what is no plain letter of a URI.
pub(crate) fn escape(path: &OsStr) -> String {
    percent_encode(path.as_encoded_bytes(), ESCAPED).to_string()
}

/// The opposite of [`escape`]; none if no file can be called so on this system.
pub(crate) fn unescape(text: &str) -> Option<OsString> {
    from_bytes(&percent_decode_str(text).collect::<Vec<u8>>())
}

/// A name that consists of these bytes; none if there can be no such name on this system: on Unix it is bytes, elsewhere it is text.
#[must_use]
pub fn from_bytes(bytes: &[u8]) -> Option<OsString> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStrExt::from_bytes(bytes)).map(|name: &OsStr| name.to_owned());
    #[cfg(not(unix))]
    return std::str::from_utf8(bytes).ok().map(OsString::from);
}

/// Something that consists of paths, and what it is as text.
pub trait Spell: Sized {
    /// The same with texts.
    type Text: Serialize + DeserializeOwned;
    /// Writes it.
    fn spell(&self) -> Self::Text;
    /// Reads it; none if no file can be called so on this system.
    fn read(text: Self::Text) -> Option<Self>;
}

impl Spell for PathBuf {
    type Text = String;

    fn spell(&self) -> String {
        to_text(self).into_owned()
    }

    fn read(text: String) -> Option<Self> {
        from_text(&text).map(Cow::into_owned)
    }
}

impl<T: Spell> Spell for Vec<T> {
    type Text = Vec<T::Text>;

    fn spell(&self) -> Self::Text {
        self.iter().map(T::spell).collect()
    }

    fn read(text: Self::Text) -> Option<Self> {
        text.into_iter().map(T::read).collect()
    }
}

impl<T: Spell> Spell for Option<T> {
    type Text = Option<T::Text>;

    fn spell(&self) -> Self::Text {
        self.as_ref().map(T::spell)
    }

    fn read(text: Self::Text) -> Option<Self> {
        text.map_or(Some(None), |text| T::read(text).map(Some))
    }
}

/// Writes paths, for serde.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<T: Spell, S: Serializer>(paths: &T, serializer: S) -> Result<S::Ok, S::Error> {
    paths.spell().serialize(serializer)
}

/// Reads paths, for serde.
///
/// # Errors
///
/// Those of the deserializer, and names that no file can have on this system.
pub fn deserialize<'de, T: Spell, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = T::Text::deserialize(deserializer)?;
    T::read(text).ok_or_else(|| D::Error::custom("a path that no file can have on this system"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        for (name, expected) in [
            ("src/a.rs", "src/a.rs"),
            ("a b", "a b"),
            ("é", "é"),
            ("a\nb", "\"a\\nb\""),
            ("a\"b", "\"a\\\"b\""),
            ("\u{1}", "\"\\001\""),
        ] {
            assert_eq!(quoted(OsStr::new(name)), expected);
        }
    }

    #[test]
    fn a_path_that_is_text_is_its_own_text() {
        for path in ["/a/b c.txt", "/é%41", "/\"a\"", "/می\u{200c}خواهم ❤\u{fe0f}", "/file:///a"] {
            assert_eq!(to_text(Path::new(path)), path);
            assert_eq!(from_text(path).unwrap(), Path::new(path));
        }
    }

    #[test]
    fn a_path_that_does_not_show_as_it_is_comes_on_one_line_and_is_read_back() {
        for (path, text) in [
            ("/p/a\nb", "file:///p/a%0Ab"),
            ("/p/\u{1b}[2J", "file:///p/%1B[2J"),
            ("/p/a\u{202e}txt.exe", "file:///p/a%E2%80%AEtxt.exe"),
            ("/p/a\u{e0041} b", "file:///p/a%F3%A0%81%81%20b"),
        ] {
            assert_eq!(to_text(Path::new(path)), text);
            assert_eq!(from_text(text).unwrap(), Path::new(path));
            // As it was written before.
            assert_eq!(from_text(path).unwrap(), Path::new(path));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_read_back_from_its_text() {
        let bytes = |bytes: &[u8]| PathBuf::from(from_bytes(bytes).unwrap());
        for (path, text, shown) in [
            (&b"/p/a\xff.txt"[..], "file:///p/a%FF.txt", "\"/p/a\\377.txt\""),
            (b"/\xff\xfe/%41 \xc3\xa9?#", "file:///%FF%FE/%2541%20%C3%A9%3F%23", "\"/\\377\\376/%41 é?#\""),
            (b"/\x80\n\"\\\x1b", "file:///%80%0A%22%5C%1B", "\"/\\200\\n\\\"\\\\\\033\""),
        ] {
            let path = bytes(path);
            assert_eq!(to_text(&path), text);
            assert_eq!(from_text(text).unwrap(), path);
            assert_eq!(quoted(path.as_os_str()), shown);
        }
    }
}
