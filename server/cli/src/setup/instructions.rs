//! What an agent's instructions say of these tools: a marked block, which is kept up to date and taken out as a whole.

const BEGIN: &str = "<!-- hashline: begin. Written by `hashline setup`; with --remove it is taken out. -->";
const END: &str = "<!-- hashline: end -->";
/// What the first line begins with, whatever else a later version writes there.
const BEGINS: &str = "<!-- hashline: begin";

const ADVICE: &str = "\
## Reading and changing files

Read, search and change text files with the tools of the MCP server hashline (read_text_file, search_text, edit_text_file,
write_file, edit_file_diff, move_file, delete_file), not with other file tools or the shell. They see the text that is in the
person's editor, unsaved work included. The person decides about each of their edits and can take it back; a write of any
other tool goes past both.

An edit of a file that is open in the editor is held until the person accepts it: until then the disk, builds and tests do not
have it. Call await_review before you rely on it.";

/// The block.
pub fn block() -> String {
    format!("{BEGIN}\n{ADVICE}\n{END}\n")
}

/// The text with the block in it: where it stands already, else at the end.
pub fn with(text: Option<&str>) -> Result<Option<String>, String> {
    let text = text.unwrap_or_default();
    let (before, after) = match find(text)? {
        Some((start, end)) => (text[..start].to_owned(), &text[end..]),
        None if text.trim().is_empty() => (String::new(), ""),
        None => (format!("{}{}", text.trim_end(), "\n\n".replace('\n', ending(text))), ""),
    };
    Ok(Some(format!("{before}{}{after}", block().replace('\n', ending(text)))))
}

/// The text without it; none if nothing else is in it.
pub fn without(text: Option<&str>) -> Result<Option<String>, String> {
    let Some(text) = text else { return Ok(None) };
    let Some((start, end)) = find(text)? else { return Ok(Some(text.to_owned())) };
    let (before, after) = (&text[..start], &text[end..]);
    // The blank line that was put before it goes with it.
    let blank = ending(text).repeat(2);
    let before = before
        .strip_suffix(&blank)
        .map_or_else(|| before.to_owned(), |kept| format!("{kept}{}", ending(text)));
    let left = format!("{before}{after}");
    Ok((!left.trim().is_empty()).then_some(left))
}

/// Where the block stands, its last line ending included.
fn find(text: &str) -> Result<Option<(usize, usize)>, String> {
    let Some(start) = text.find(BEGINS) else { return Ok(None) };
    let Some(end) = text[start..].find(END).map(|at| start + at + END.len()) else {
        return Err(format!("the block of hashline begins in it and has no end ({END})"));
    };
    let rest = &text[end..];
    let ended = ["\r\n", "\n"].into_iter().find(|ending| rest.starts_with(ending)).map_or(0, str::len);
    Ok(Some((start, end + ended)))
}

fn ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn the_block_is_put_at_the_end_kept_up_to_date_and_taken_out() {
        for text in ["", "# Mine\n\nDo this.\n", "# Mine\r\n\r\nDo this.\r\n", "no final newline"] {
            let made = with(Some(text)).unwrap().unwrap();
            assert!(made.starts_with(text.trim_end()), "{made:?}");
            assert_eq!(with(Some(&made)).unwrap().as_deref(), Some(made.as_str()), "again");
            assert_eq!(made.contains("\r\n"), text.contains("\r\n"));
            let left = without(Some(&made)).unwrap();
            assert_eq!(left.unwrap_or_default().trim_end(), text.trim_end());
        }
        let old = format!("above\n{BEGINS} of long ago -->\nold words\n{END}\nbelow\n");
        assert_eq!(with(Some(&old)).unwrap().unwrap(), format!("above\n{}below\n", block()));
        assert_eq!(without(Some(&old)).unwrap().unwrap(), "above\nbelow\n");
        assert_eq!(without(Some("mine\n")).unwrap().unwrap(), "mine\n");
        assert_eq!(without(None), Ok(None));
    }

    #[test]
    fn a_block_without_an_end_is_left_alone() {
        let broken = format!("{BEGINS} -->\nand then the person's own words\n");
        assert!(with(Some(&broken)).unwrap_err().contains("no end"));
        assert!(without(Some(&broken)).is_err());
    }
}
