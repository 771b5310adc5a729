//! Marks in the style of OSC 133, which shells put into their prompts: `ESC ] 133 ; BODY BEL`, or `ESC \` at the end.
//!
//! The mark of a session of loadgo has the body `D;STATUS;aid=ID`, or `D;STATUS;t=MICROSECONDS;aid=ID` where the shell knows how
//! long the command line took. ESC is only at the head of a mark. A search for marks therefore looks for ESC, at memory speed,
//! and reads on from there with [`read`].

/// The first byte of a mark.
pub const ESCAPE_BYTE: u8 = 0x1b;
const BELL_BYTE: u8 = 7;
const HEAD: &[u8] = b"\x1b]133;";
/// Largest number of digits of a time in a mark: a clock that is set from 1970 to today while a line runs makes 16.
pub const MOST_TIME_DIGITS: usize = 16;

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

/// The body of a prompt's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptBody<'a> {
    /// The exit status of the command before the prompt.
    pub status: u8,
    /// The time that the shell measured from the reading of the command line to this prompt; `None` if it measured none.
    pub took_us: Option<u64>,
    /// The session's id.
    pub id: &'a [u8],
}

/// Reads the body of a prompt's mark.
pub fn read_prompt_body(body: &[u8]) -> Option<PromptBody<'_>> {
    let (status, rest) = number(body.strip_prefix(b"D;")?, 3)?;
    // A clock that was set back meanwhile makes a negative time, and no time is 0.
    let (took_us, rest) = match rest.strip_prefix(b";t=") {
        Some(timed) => {
            let (took_us, rest) = number(timed.strip_prefix(b"-").unwrap_or(timed), MOST_TIME_DIGITS)?;
            (Some(took_us).filter(|&took_us| took_us > 0 && timed[0] != b'-'), rest)
        }
        None => (None, rest),
    };
    Some(PromptBody { status: u8::try_from(status).ok()?, took_us, id: rest.strip_prefix(b";aid=")? })
}

/// The number of at most so many digits at the beginning of `text`, and what follows it.
fn number(text: &[u8], most_digits: usize) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = std::str::from_utf8(&text[..digits]).ok()?.parse().ok().filter(|_| digits <= most_digits)?;
    Some((value, &text[digits..]))
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
        let of = |body: &'static [u8]| read_prompt_body(body).map(|read| (read.status, read.took_us, read.id));
        assert_eq!(of(b"D;17;aid=77"), Some((17, None, &b"77"[..])));
        assert_eq!(of(b"D;17;t=4321;aid=77"), Some((17, Some(4321), &b"77"[..])));
        assert_eq!(of(b"D;17;t=0;aid=77"), Some((17, None, &b"77"[..])), "nothing was timed");
        assert_eq!(of(b"D;17;t=-3600000000;aid=77"), Some((17, None, &b"77"[..])), "the clock was set back");
        for body in [&b"D;17;t=;aid=77"[..], b"D;17;t=12345678901234567;aid=77", b"D;17;t=1", b"D;17;t=x;aid=77"] {
            assert_eq!(read_prompt_body(body), None, "{}", String::from_utf8_lossy(body));
        }
        for body in
            [&b"D;;aid=77"[..], b"D;256;aid=77", b"D;0017;aid=77", b"D;$?;aid=77", b"D;-1;aid=77", b"A;17;aid=77", b"D;17"]
        {
            assert_eq!(read_prompt_body(body), None, "{}", String::from_utf8_lossy(body));
        }
    }
}
