//! A rope of lines: endings, byte-order mark, positions, file hash.
//!
//! [`Text`] is the text of one document. A clone costs O(1) and shares everything with its origin, so an agent
//! works on a snapshot while the person types on. A line ends at `\n`, `\r\n` or `\r` and at nothing else; which
//! of them is kept line by line, so that whatever is not edited keeps its bytes.
//!
//! ```
//! use hashline_text::{decode, Ending, Line, OwnedLine};
//!
//! let (mut text, form) = decode(b"one\r\ntwo\nthree").unwrap();
//! assert_eq!(text.line_count(), 3);
//! assert_eq!(text.line(Line(0)).unwrap().ending(), Some(Ending::CrLf));
//! assert!(!text.ends_with_newline());
//!
//! let new = [OwnedLine::new("TWO", Ending::Lf)];
//! text.replace_lines(Line(1)..Line(2), &new, false).unwrap();
//! assert_eq!(form.to_bytes(&text), b"one\r\nTWO\nthree");
//! ```
//!
//! # Invariants
//!
//! - A text is UTF-8 and has no byte-order mark of its own making: [`decode`] moves the mark of a file into its
//!   [`DiskForm`].
//! - Bytes outside a replaced range never change.
//! - An error changes nothing.
//! - No function panics, whatever it is given.
//!
//! # Limitations
//!
//! - Lines are counted in two ways. [`Text::line_count`] counts lines of content, as files do: `"a\n"` has one.
//!   [`Text::lsp_line_count`] counts as LSP does: `"a\n"` has two, the second empty.
//! - An empty last line without an ending cannot be told from no line: see [`Text::replace_lines`].
//! - Text that is not UTF-8 is refused, not converted.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bom_and_line_ending;
mod common_text;
mod difference;
mod ending;
mod error;
mod hash;
mod line;
mod lsp;
mod marks;
mod memory;
mod position;
mod splice;
mod text;
mod unit;

pub use bom_and_line_ending::{DiskForm, decode, decode_again};
pub use difference::Difference;
pub use ending::Ending;
pub use error::{OutOfText, SpanError, TextError};
pub use hash::{FileHash, HashError, HashPrefix};
pub use line::{LineRef, Lines, OwnedLine};
pub use position::{Encoding, Position, Span};
pub use text::Text;
pub use unit::{ByteOffset, DocVersion, Line};
