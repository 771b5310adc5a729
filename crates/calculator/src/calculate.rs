//! One line of the calculator: scanned once from left to right, computed as it is scanned.
//!
//! `line = name '=' sum | sum`, `sum = product (('+'|'-') product)*`, `product = sign (('*'|'/') sign)*`,
//! `sign = '-' sign | number | name | '(' sum ')'`; division cuts towards zero.

use crate::names::Names;
use std::fmt;

/// Parentheses and signs that may be open at once.
const DEEPEST: u32 = 100;

/// What a line comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing to say: an empty line, or a result that was kept.
    Silent,
    /// A result to print.
    Value(i64),
    /// The user is done.
    Quit,
}

/// Why a line has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble<'a> {
    /// A division by zero.
    Division,
    /// A number or result that does not fit in 64 bits.
    Overflow,
    /// A name that nothing was kept under.
    Unknown(&'a [u8]),
    /// A name for which there is no room.
    NoRoom(&'a [u8]),
    /// Too many parentheses or signs at once.
    TooDeep,
    /// Something else was expected from this byte on, counted from 1.
    Unreadable(usize),
}

impl fmt::Display for Trouble<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Division => write!(f, "division by zero"),
            Trouble::Overflow => write!(f, "overflow"),
            Trouble::Unknown(name) => write!(f, "no value named {}", shown(name)),
            Trouble::NoRoom(name) => write!(f, "no room for the name {}", shown(name)),
            Trouble::TooDeep => write!(f, "too many parentheses"),
            Trouble::Unreadable(at) => write!(f, "cannot read this at character {at}"),
        }
    }
}

/// A name, which is ASCII, cut short so that a reply stays short whatever was typed.
fn shown(name: &[u8]) -> &str {
    std::str::from_utf8(&name[..name.len().min(40)]).unwrap_or("?")
}

/// The answer to `line`, which has no newline; results that are given a name go to `names`.
///
/// # Errors
/// Why it has no value; `names` is then as before.
pub fn answer<'a>(line: &'a [u8], names: &mut Names) -> Result<Answer, Trouble<'a>> {
    let mut scan = Scan { line, at: 0, depth: 0, names };
    scan.skip_blanks();
    if scan.at == line.len() {
        return Ok(Answer::Silent);
    }
    let name = scan.name();
    if name == b"quit" && scan.ends() {
        return Ok(Answer::Quit);
    }
    if name.is_empty() || name == b"quit" || !scan.takes(b'=') {
        scan.at = 0;
        return scan.whole().map(Answer::Value);
    }
    let value = scan.whole()?;
    if names.keep(name, value) { Ok(Answer::Silent) } else { Err(Trouble::NoRoom(name)) }
}

/// A line while it is scanned.
struct Scan<'a, 'n> {
    line: &'a [u8],
    at: usize,
    depth: u32,
    names: &'n Names,
}

impl<'a> Scan<'a, '_> {
    fn whole(&mut self) -> Result<i64, Trouble<'a>> {
        let value = self.sum()?;
        if self.ends() { Ok(value) } else { Err(Trouble::Unreadable(self.at + 1)) }
    }

    fn sum(&mut self) -> Result<i64, Trouble<'a>> {
        let mut value = self.product()?;
        loop {
            let next = if self.takes(b'+') {
                value.checked_add(self.product()?)
            } else if self.takes(b'-') {
                value.checked_sub(self.product()?)
            } else {
                return Ok(value);
            };
            value = next.ok_or(Trouble::Overflow)?;
        }
    }

    fn product(&mut self) -> Result<i64, Trouble<'a>> {
        let mut value = self.sign()?;
        loop {
            let next = if self.takes(b'*') {
                value.checked_mul(self.sign()?)
            } else if self.takes(b'/') {
                let divisor = self.sign()?;
                if divisor == 0 {
                    return Err(Trouble::Division);
                }
                value.checked_div(divisor)
            } else {
                return Ok(value);
            };
            value = next.ok_or(Trouble::Overflow)?;
        }
    }

    fn sign(&mut self) -> Result<i64, Trouble<'a>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Trouble::TooDeep);
        }
        let value = if self.takes(b'-') {
            self.sign()?.checked_neg().ok_or(Trouble::Overflow)?
        } else if self.takes(b'(') {
            let value = self.sum()?;
            if !self.takes(b')') {
                return Err(Trouble::Unreadable(self.at + 1));
            }
            value
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<i64, Trouble<'a>> {
        let begin = self.at;
        let mut value = Some(0i64);
        while let Some(digit) = self.line.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            value = value.and_then(|value| value.checked_mul(10)?.checked_add(i64::from(digit - b'0')));
            self.at += 1;
        }
        if self.at > begin {
            return value.ok_or(Trouble::Overflow);
        }
        match self.name() {
            b"" => Err(Trouble::Unreadable(self.at + 1)),
            name => self.names.get(name).ok_or(Trouble::Unknown(name)),
        }
    }

    /// The name that begins here; empty when none does.
    fn name(&mut self) -> &'a [u8] {
        let rest = &self.line[self.at..];
        let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
        if !rest.first().is_some_and(letter) {
            return b"";
        }
        let length = rest.iter().take_while(|byte| letter(byte) || byte.is_ascii_digit()).count();
        self.at += length;
        &rest[..length]
    }

    /// Whether `byte` is next; then it and the blanks around it are passed.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is = self.line.get(self.at) == Some(&byte);
        if is {
            self.at += 1;
        }
        self.skip_blanks();
        is
    }

    fn ends(&mut self) -> bool {
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

    fn said(lines: &[&'static str]) -> Result<Answer, Trouble<'static>> {
        let mut names = Names::default();
        lines.iter().map(|line| answer(line.as_bytes(), &mut names)).next_back().expect("a line")
    }

    #[test]
    fn products_come_before_sums() {
        assert_eq!(said(&["2 + 3 * 4 - 6 / 2"]), Ok(Answer::Value(11)));
    }

    #[test]
    fn parentheses_and_signs_come_first() {
        assert_eq!(said(&["-(2 + 3) * - 4"]), Ok(Answer::Value(20)));
        assert_eq!(said(&["--5"]), Ok(Answer::Value(5)));
    }

    #[test]
    fn division_cuts_towards_zero() {
        assert_eq!(said(&["-7 / 2"]), Ok(Answer::Value(-3)));
    }

    #[test]
    fn a_name_keeps_a_partial_result_in_silence() {
        assert_eq!(said(&["a = 3 * 7"]), Ok(Answer::Silent));
        let mut names = Names::default();
        assert_eq!(answer(b"a = 3 * 7", &mut names), Ok(Answer::Silent));
        assert_eq!(answer(b"a = a + 1", &mut names), Ok(Answer::Silent));
        assert_eq!(answer(b"a/2", &mut names), Ok(Answer::Value(11)));
    }

    #[test]
    fn what_cannot_be_computed_is_told_in_words() {
        assert_eq!(said(&["1 / (2 - 2)"]), Err(Trouble::Division));
        assert_eq!(said(&["9223372036854775807 + 1"]), Err(Trouble::Overflow));
        assert_eq!(said(&["9223372036854775808"]), Err(Trouble::Overflow));
        assert_eq!(said(&["(-9223372036854775807 - 1) / -1"]), Err(Trouble::Overflow));
        assert_eq!(said(&["b + 1"]), Err(Trouble::Unknown(b"b")));
        assert_eq!(said(&["2 +"]), Err(Trouble::Unreadable(4)));
        assert_eq!(said(&["2 3"]), Err(Trouble::Unreadable(3)));
        assert_eq!(said(&["(2"]), Err(Trouble::Unreadable(3)));
        assert_eq!(said(&["quit = 3"]), Err(Trouble::Unknown(b"quit")));
    }

    #[test]
    fn a_failed_line_keeps_the_old_value() {
        let mut names = Names::default();
        answer(b"a = 5", &mut names).expect("good");
        assert_eq!(answer(b"a = 1 / 0", &mut names), Err(Trouble::Division));
        assert_eq!(answer(b"a", &mut names), Ok(Answer::Value(5)));
    }

    #[test]
    fn an_empty_line_is_silent_and_quit_ends() {
        assert_eq!(said(&["  "]), Ok(Answer::Silent));
        assert_eq!(said(&[" quit "]), Ok(Answer::Quit));
    }

    #[test]
    fn depth_and_room_are_bounded() {
        let deep = "(".repeat(100_000);
        assert_eq!(answer(deep.as_bytes(), &mut Names::default()), Err(Trouble::TooDeep));
        let mut names = Names::default();
        for n in 0..64 {
            assert_eq!(answer(format!("n{n} = {n}").as_bytes(), &mut names), Ok(Answer::Silent));
        }
        assert_eq!(answer(b"more = 1", &mut names), Err(Trouble::NoRoom(b"more")));
        assert_eq!(answer(b"n63 = 1", &mut names), Ok(Answer::Silent));
        assert_eq!(answer(b"a_name_that_is_too_long = 1", &mut Names::default()).map_err(|_| ()), Err(()));
    }
}
