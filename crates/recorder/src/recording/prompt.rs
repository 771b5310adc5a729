//! Makes patterns from the prompts that programs showed.

use regex::escape;

const COLOURS: &str = r"\x1b\[[0-9;?]*[A-Za-z]";
/// Largest number of characters, from the end of a prompt, that its pattern contains.
const MOST_PATTERN_CHARS: usize = 40;

/// Whether a prompt looks like a shell's: it ends with `$`, `#`, `%` or an arrow.
pub(crate) fn is_shell_like(prompt: &str) -> bool {
    prompt.trim_end().ends_with(['$', '#', '%', '❯', '➜'])
}

/// A pattern that finds a prompt again at the end of the output. The screen showed it as `shown`, from the printed `bytes`.
///
/// Any number matches a number in the prompt. Of a shell's prompt, only the last sign counts, because the rest names the host
/// and the directory. `None` for a prompt without text.
pub(crate) fn pattern_of(shown: &str, bytes: &[u8]) -> Option<String> {
    if shown.trim().is_empty() {
        return None;
    }
    let printed = String::from_utf8_lossy(bytes);
    let bare = without_last_colours(&printed);
    let after = if bare.len() < printed.len() { format!("(?:{COLOURS})*") } else { String::new() };
    let common = common_end(shown, bare);
    if common.trim().is_empty() && common.len() < shown.len() {
        return Some(numbers_vary(&colours_vary(&printed)));
    }
    let literal = if is_shell_like(common) { shell_sign(common) } else { numbers_vary(&escape(common)) };
    Some(format!("{literal}{after}"))
}

fn shell_sign(prompt: &str) -> String {
    let sign = prompt.trim_end();
    let blanks = &prompt[sign.len()..];
    match sign.chars().next_back() {
        Some('$' | '#' | '%') => format!("[$#%]{blanks}"),
        Some(other) => format!("{}{blanks}", escape(&other.to_string())),
        None => escape(prompt),
    }
}

/// The longest common end of both texts, at most `MOST_PATTERN_CHARS`.
fn common_end<'a>(shown: &'a str, bare: &str) -> &'a str {
    let same = shown.chars().rev().zip(bare.chars().rev()).take(MOST_PATTERN_CHARS).take_while(|(left, right)| left == right);
    let length: usize = same.map(|(char, _)| char.len_utf8()).sum();
    &shown[shown.len() - length..]
}

fn without_last_colours(printed: &str) -> &str {
    let mut rest = printed;
    while let Some(escape) = rest.rfind('\x1b') {
        let body = rest[escape + 1..].strip_prefix('[').unwrap_or("");
        let parameters = body.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if body.len() != parameters.len() + 1 || !parameters.bytes().all(|byte| byte.is_ascii_digit() || b";?".contains(&byte)) {
            break;
        }
        rest = &rest[..escape];
    }
    rest
}

/// A pattern of the printed text that matches any colours where the text has some.
fn colours_vary(printed: &str) -> String {
    let mut pattern = String::new();
    let mut unread = printed.trim_start_matches('\r');
    while let Some(at) = unread.find("\x1b[") {
        pattern.push_str(&escape(&unread[..at]));
        let body = &unread[at + 2..];
        let end = body.find(|c: char| c.is_ascii_alphabetic()).map_or(body.len(), |end| end + 1);
        if !pattern.ends_with(COLOURS) {
            pattern.push_str(COLOURS);
        }
        unread = &body[end..];
    }
    pattern + &escape(unread)
}

fn numbers_vary(pattern: &str) -> String {
    let mut out = String::new();
    let mut digits = false;
    for char in pattern.replace(COLOURS, "\0").chars() {
        match char {
            '0'..='9' if digits => {}
            '0'..='9' => out.push_str("[0-9]+"),
            char => out.push(char),
        }
        digits = char.is_ascii_digit();
    }
    out.replace('\0', COLOURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(shown: &str, learnt_from: &str, later: &str) -> bool {
        let pattern = pattern_of(shown, learnt_from.as_bytes()).expect("a prompt");
        regex::Regex::new(&format!("(?:{pattern})\\z")).expect("it compiles").is_match(later)
    }

    #[test]
    fn a_learnt_pattern_finds_the_prompt_again() {
        assert!(matches(">>> ", ">>> ", "3\r\n>>> "));
        assert!(!matches(">>> ", ">>> ", "3\r\n... "));
        assert!(matches("In [3]: ", "In [3]: ", "In [12]: "));
        assert!(matches("sqlite> ", "\x1b[?2004hsqlite> \x1b[K", "\x1b[?2004hsqlite> "));
        assert!(matches(">>> ", "\x1b[1;32m>>>\x1b[0m ", "\x1b[35m>>>\x1b[0m "));
    }

    #[test]
    fn a_shells_prompt_is_found_in_another_directory() {
        assert!(matches("ann@here:~$ ", "ann@here:~$ ", "bob@there:/tmp$ "));
        assert!(matches("# ", "# ", "$ "));
    }
}
