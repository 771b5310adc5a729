//! Computes a line in one scan from left to right.
//!
//! `line = name '=' sum | sum`, `sum = product (('+'|'-') product)*`, `product = sign (('*'|'/') sign)*`,
//! `sign = '-' sign | number | name | '(' sum ')'`; division rounds towards zero.

use crate::names::Names;
use std::fmt;

/// Largest number of parentheses and signs that may be open at once, which bounds the stack. Chosen by hand.
const MOST_NESTED_SIGNS: u32 = 100;

/// The result of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No reply: the line is empty, or its result was stored under a name.
    Silent,
    /// A result to print.
    Value(i64),
    /// The user typed `quit`.
    Quit,
}

/// The reason why a line has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble<'a> {
    /// A division by zero.
    Division,
    /// A number or result that does not fit in 64 bits.
    Overflow,
    /// A name that has no value.
    Unknown(&'a [u8]),
    /// A name that is too long, or a new one when the table of names is full.
    NoRoom(&'a [u8]),
    /// More than [`MOST_NESTED_SIGNS`] parentheses or signs are open.
    TooDeep,
    /// A syntax error at this byte, counted from 1.
    Unreadable(usize),
}

impl fmt::Display for Trouble<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Division => write!(f, "division by zero"),
            Trouble::Overflow => write!(f, "overflow"),
            Trouble::Unknown(name) => write!(f, "no value named {}", shortened(name)),
            Trouble::NoRoom(name) => write!(f, "no room for the name {}", shortened(name)),
            Trouble::TooDeep => write!(f, "too many parentheses"),
            Trouble::Unreadable(position) => write!(f, "cannot read this at character {position}"),
        }
    }
}

/// The first 40 characters of a name, so that every reply is short. Names are ASCII.
fn shortened(name: &[u8]) -> &str {
    std::str::from_utf8(&name[..name.len().min(40)]).unwrap_or("?")
}

/// Computes `line`, which has no newline. A result that the line gives a name is stored in `names`.
///
/// # Errors
/// The reason why the line has no value; `names` is then unchanged.
pub fn answer<'a>(line: &'a [u8], names: &mut Names) -> Result<Answer, Trouble<'a>> {
    let mut scan = Scan { line, at: 0, depth: 0, names };
    scan.skip_blanks();
    if scan.at == line.len() {
        return Ok(Answer::Silent);
    }
    let name = scan.name();
    if name == b"quit" && scan.is_at_end() {
        return Ok(Answer::Quit);
    }
    if name.is_empty() || name == b"quit" || !scan.takes(b'=') {
        scan.at = 0;
        return scan.whole_sum().map(Answer::Value);
    }
    let value = scan.whole_sum()?;
    if names.set(name, value) { Ok(Answer::Silent) } else { Err(Trouble::NoRoom(name)) }
}

/// A line with the position of the scan, and the names that it may use.
struct Scan<'a, 'n> {
    line: &'a [u8],
    at: usize,
    depth: u32,
    names: &'n Names,
}

impl<'a> Scan<'a, '_> {
    /// Computes a sum that takes the rest of the line.
    fn whole_sum(&mut self) -> Result<i64, Trouble<'a>> {
        let sum = self.sum()?;
        if self.is_at_end() { Ok(sum) } else { Err(Trouble::Unreadable(self.at + 1)) }
    }

    fn sum(&mut self) -> Result<i64, Trouble<'a>> {
        let mut sum = self.product()?;
        loop {
            let next = if self.takes(b'+') {
                sum.checked_add(self.product()?)
            } else if self.takes(b'-') {
                sum.checked_sub(self.product()?)
            } else {
                return Ok(sum);
            };
            sum = next.ok_or(Trouble::Overflow)?;
        }
    }

    fn product(&mut self) -> Result<i64, Trouble<'a>> {
        let mut product = self.sign()?;
        loop {
            let next = if self.takes(b'*') {
                product.checked_mul(self.sign()?)
            } else if self.takes(b'/') {
                let divisor = self.sign()?;
                if divisor == 0 {
                    return Err(Trouble::Division);
                }
                product.checked_div(divisor)
            } else {
                return Ok(product);
            };
            product = next.ok_or(Trouble::Overflow)?;
        }
    }

    fn sign(&mut self) -> Result<i64, Trouble<'a>> {
        self.depth += 1;
        if self.depth > MOST_NESTED_SIGNS {
            return Err(Trouble::TooDeep);
        }
        let signed = if self.takes(b'-') {
            self.sign()?.checked_neg().ok_or(Trouble::Overflow)?
        } else if self.takes(b'(') {
            let sum = self.sum()?;
            if !self.takes(b')') {
                return Err(Trouble::Unreadable(self.at + 1));
            }
            sum
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(signed)
    }

    fn operand(&mut self) -> Result<i64, Trouble<'a>> {
        let begin = self.at;
        let mut number = Some(0i64);
        while let Some(digit) = self.line.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            number = number.and_then(|number| number.checked_mul(10)?.checked_add(i64::from(digit - b'0')));
            self.at += 1;
        }
        if self.at > begin {
            return number.ok_or(Trouble::Overflow);
        }
        match self.name() {
            b"" => Err(Trouble::Unreadable(self.at + 1)),
            name => self.names.get(name).ok_or(Trouble::Unknown(name)),
        }
    }

    /// Scans a name, and returns it; empty if none begins here.
    fn name(&mut self) -> &'a [u8] {
        let remaining = &self.line[self.at..];
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
        if !remaining.first().is_some_and(is_letter) {
            return b"";
        }
        let length = remaining.iter().take_while(|byte| is_letter(byte) || byte.is_ascii_digit()).count();
        self.at += length;
        &remaining[..length]
    }

    /// Skips `byte` and the blanks around it if `byte` is next. Returns whether it was.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.line.get(self.at) == Some(&byte);
        if is_next {
            self.at += 1;
        }
        self.skip_blanks();
        is_next
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.line.len()
    }

    fn skip_blanks(&mut self) {
        while self.line.get(self.at).is_some_and(|byte| b" \t\r".contains(byte)) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to the last of `lines`, which share their names.
    fn last_answer(lines: &[&'static str]) -> Result<Answer, Trouble<'static>> {
        let mut names = Names::default();
        let mut last = Ok(Answer::Silent);
        for line in lines {
            last = answer(line.as_bytes(), &mut names);
        }
        last
    }

    #[test]
    fn products_come_before_sums() {
        assert_eq!(last_answer(&["2 + 3 * 4 - 6 / 2"]), Ok(Answer::Value(11)));
    }

    #[test]
    fn parentheses_and_signs_come_first() {
        assert_eq!(last_answer(&["-(2 + 3) * - 4"]), Ok(Answer::Value(20)));
        assert_eq!(last_answer(&["--5"]), Ok(Answer::Value(5)));
    }

    #[test]
    fn division_rounds_towards_zero() {
        assert_eq!(last_answer(&["-7 / 2"]), Ok(Answer::Value(-3)));
    }

    #[test]
    fn a_partial_result_is_stored_without_a_reply() {
        assert_eq!(last_answer(&["a = 3 * 7"]), Ok(Answer::Silent));
        assert_eq!(last_answer(&["a = 3 * 7", "a = a + 1"]), Ok(Answer::Silent));
        assert_eq!(last_answer(&["a = 3 * 7", "a = a + 1", "a/2"]), Ok(Answer::Value(11)));
    }

    #[test]
    fn a_line_that_cannot_be_computed_has_a_reason() {
        assert_eq!(last_answer(&["1 / (2 - 2)"]), Err(Trouble::Division));
        assert_eq!(last_answer(&["9223372036854775807 + 1"]), Err(Trouble::Overflow));
        assert_eq!(last_answer(&["9223372036854775808"]), Err(Trouble::Overflow));
        assert_eq!(last_answer(&["(-9223372036854775807 - 1) / -1"]), Err(Trouble::Overflow));
        assert_eq!(last_answer(&["b + 1"]), Err(Trouble::Unknown(b"b")));
        assert_eq!(last_answer(&["2 +"]), Err(Trouble::Unreadable(4)));
        assert_eq!(last_answer(&["2 3"]), Err(Trouble::Unreadable(3)));
        assert_eq!(last_answer(&["(2"]), Err(Trouble::Unreadable(3)));
        assert_eq!(last_answer(&["quit = 3"]), Err(Trouble::Unknown(b"quit")));
    }

    #[test]
    fn a_failed_line_keeps_the_old_value() {
        assert_eq!(last_answer(&["a = 5", "a = 1 / 0"]), Err(Trouble::Division));
        assert_eq!(last_answer(&["a = 5", "a = 1 / 0", "a"]), Ok(Answer::Value(5)));
    }

    #[test]
    fn an_empty_line_is_silent_and_quit_ends() {
        assert_eq!(last_answer(&["  "]), Ok(Answer::Silent));
        assert_eq!(last_answer(&[" quit "]), Ok(Answer::Quit));
    }

    #[test]
    fn nesting_and_names_are_bounded() {
        let deep = "(".repeat(100_000);
        assert_eq!(answer(deep.as_bytes(), &mut Names::default()), Err(Trouble::TooDeep));
        let mut names = Names::default();
        for number in 0..64 {
            assert_eq!(answer(format!("n{number} = {number}").as_bytes(), &mut names), Ok(Answer::Silent));
        }
        assert_eq!(answer(b"more = 1", &mut names), Err(Trouble::NoRoom(b"more")));
        assert_eq!(answer(b"n63 = 1", &mut names), Ok(Answer::Silent));
        assert_eq!(answer(b"a_name_that_is_too_long = 1", &mut Names::default()).map_err(|_| ()), Err(()));
    }
}
