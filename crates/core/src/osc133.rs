//! Marks in the style of OSC 133, which shells put into their prompts: `ESC ] 133 ; BODY BEL`, or `ESC \` at the end.
//!
//! The mark of a session of loadgo has the body `D;STATUS;aid=ID`. ESC is only at the head of a mark. A search for marks
//! therefore looks for ESC, at memory speed, and reads on from there with [`read`].

/// The first byte of a mark.
pub const ESCAPE_BYTE: u8 = 0x1b;
const BELL_BYTE: u8 = 7;
const HEAD: &[u8] = b"\x1b]133;";

/// The result of reading bytes that begin with ESC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkRead<'a> {
    /// A mark with this body and this total length in bytes.
    Mark(&'a [u8], usize),
    /// The beginning of a mark, perhaps: more bytes decide.
    Open,
    /// No mark.
    None,
}

/// Reads the mark at the beginning of `bytes`. Bytes that go on for more than `longest` are no mark.
pub fn read(bytes: &[u8], longest: usize) -> MarkRead<'_> {
    let head_length = HEAD.len().min(bytes.len());
    if bytes[..head_length] != HEAD[..head_length] {
        return MarkRead::None;
    }
    let mut following = bytes.iter().enumerate().take(longest).skip(HEAD.len());
    while let Some((at, byte)) = following.next() {
        match byte {
            &BELL_BYTE => return MarkRead::Mark(&bytes[HEAD.len()..at], at + 1),
            &ESCAPE_BYTE => match following.next() {
                Some((end, b'\\')) => return MarkRead::Mark(&bytes[HEAD.len()..at], end + 1),
                Some(_) => return MarkRead::None,
                None => break,
            },
            0x20..=0x7e => {}
            _ => return MarkRead::None,
        }
    }
    if bytes.len() >= longest { MarkRead::None } else { MarkRead::Open }
}

/// The mark at the end of a session's prompt; `status` is the text that the shell replaces by the exit status.
pub fn prompt_mark(id: &str, status: &str) -> String {
    format!("\x1b]133;D;{status};aid={id}\x07")
}

/// Reads the exit status and the session's id from the body of a prompt's mark.
pub fn read_prompt_body(body: &[u8]) -> Option<(u8, &[u8])> {
    let body = body.strip_prefix(b"D;")?;
    let digits = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let status = std::str::from_utf8(&body[..digits]).ok()?.parse().ok().filter(|_| digits <= 3)?;
    Some((status, body[digits..].strip_prefix(b";aid=")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_open_until_its_last_byte_and_ends_in_one_of_two_ways() {
        for (mark, body) in [(&b"\x1b]133;A\x07"[..], &b"A"[..]), (b"\x1b]133;D;1\x1b\\", b"D;1")] {
            for length in 1..mark.len() {
                assert_eq!(read(&mark[..length], 99), MarkRead::Open, "{length}");
            }
            assert_eq!(read(&[mark, b"rest"].concat(), 99), MarkRead::Mark(body, mark.len()));
            assert_eq!(read(mark, mark.len() - 1), MarkRead::None, "too long");
        }
    }

    #[test]
    fn a_second_escape_or_a_control_character_makes_it_no_mark() {
        for bytes in [&b"\x1b[1m"[..], b"\x1b]133;D;\x1b]133;D;0\x07", b"\x1b]133;A\n"] {
            assert_eq!(read(bytes, 99), MarkRead::None, "{bytes:?}");
        }
    }

    #[test]
    fn the_body_of_a_prompts_mark_has_a_status_of_one_byte_and_an_id() {
        assert_eq!(read_prompt_body(b"D;17;aid=77"), Some((17, &b"77"[..])));
        for body in
            [&b"D;;aid=77"[..], b"D;256;aid=77", b"D;0017;aid=77", b"D;$?;aid=77", b"D;-1;aid=77", b"A;17;aid=77", b"D;17"]
        {
            assert_eq!(read_prompt_body(body), None, "{}", String::from_utf8_lossy(body));
        }
    }
}
