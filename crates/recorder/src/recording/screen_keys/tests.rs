//! Programs that show, hide and mask what is typed to them.

use super::super::presses::presses_of;
use super::*;

/// A program that shows each character left of the cursor, or none.
struct Program {
    keys: ScreenKeys,
    left_of_cursor: String,
    now_ms: u64,
}

impl Program {
    fn new() -> Program {
        Program { keys: ScreenKeys::default(), left_of_cursor: String::new(), now_ms: 0 }
    }

    fn waits(&mut self, ms: u64) -> &mut Program {
        self.now_ms += ms;
        self
    }

    fn types(&mut self, typed: &str, shows: impl Fn(&mut String, char)) -> &mut Program {
        for press in presses_of(typed.as_bytes()) {
            self.now_ms += 100;
            if let Press::Character(character) = press {
                shows(&mut self.left_of_cursor, character);
            }
            self.keys.press(Instant(self.now_ms * 1_000_000), press);
            self.keys.see(Instant((self.now_ms + 10) * 1_000_000), self.left_of_cursor.clone());
        }
        self
    }

    fn lines(&mut self, ended: bool) -> Vec<String> {
        let part = |part: &KeysPart| if let KeysPart::Keys(text) = part { text.clone() } else { "(secret)".into() };
        self.keys.lines(ended).iter().map(|line| line.parts.iter().map(part).collect()).collect()
    }
}

fn shown(left: &mut String, character: char) {
    left.push(character);
}

fn hidden(_: &mut String, _: char) {}

fn masked(left: &mut String, _: char) {
    left.push('*');
}

#[test]
fn a_pause_and_the_keys_that_end_the_program_begin_a_line() {
    let mut vim = Program::new();
    vim.types("i", hidden).types("a < b\x1b", shown).waits(1500).types("dd", hidden).types(":wq\r", shown);
    assert_eq!(vim.lines(true), ["ia <lt> b<Esc>", "dd", ":wq<Enter>"]);
}

#[test]
fn a_key_that_ends_the_program_without_enter_is_a_line() {
    assert_eq!(Program::new().types("jjjq", hidden).lines(true), ["jjj", "q"]);
}

#[test]
fn what_the_screen_does_not_show_before_enter_is_a_secret() {
    for shows in [hidden, masked] {
        let mut form = Program::new();
        form.types("ann\t", shown).types("hunter\x7fr2\r", shows).types("y", shown);
        assert_eq!(form.lines(true), ["ann<Tab>(secret)<Enter>", "y"]);
        assert!(form.keys.typed.take_secret_found() && !format!("{:?}", form.keys).contains("'h'"));
    }
    assert_eq!(Program::new().types("hunter2", hidden).lines(false), ["(secret)"], "the session ended before Enter");
}

#[test]
fn keys_of_editing_end_no_field() {
    for (typed, wanted) in [
        ("hunter1\x15hunter2\r", "(secret)<Enter>"),
        ("hunt\x1b[Dx\r", "(secret)<Enter>"),
        ("hunter2\x03", "(secret)<C-C>"),
        ("hunter2\x1b[B", "(secret)<Down>"),
    ] {
        assert_eq!(Program::new().types(typed, hidden).lines(false), [wanted]);
    }
    assert_eq!(Program::new().types("yyp\x1b[B", hidden).lines(false), ["yyp<Down>"], "a command of vim");
}

#[test]
fn the_answer_to_enter_proves_nothing() {
    let mut form = Program::new();
    form.types("hunter2\r", hidden);
    form.keys.see(Instant(9_000_000_000), "Attempts: 2".into());
    assert_eq!(form.lines(true), ["(secret)<Enter>"]);
}

#[test]
fn a_last_character_that_is_shown_for_a_moment_proves_nothing() {
    let mut form = Program::new();
    let last_is_shown = |left: &mut String, character: char| {
        let stars = "*".repeat(left.chars().count());
        *left = format!("{stars}{character}");
    };
    assert_eq!(form.types("hunter2\r", last_is_shown).lines(true), ["(secret)<Enter>"]);
}

#[test]
fn a_counter_that_shows_a_character_by_chance_proves_nothing() {
    let mut form = Program::new();
    let mut count = 0;
    for character in "hunter2".chars() {
        count += 1;
        let shown = if count == 5 { 'e' } else { '0' };
        form.types(&character.to_string(), |left, _| *left = format!("{count}{shown}"));
    }
    assert_eq!(form.types("\r", hidden).lines(true), ["(secret)<Enter>"]);
}

#[test]
fn a_paste_with_its_newline_is_shown_or_a_secret() {
    for (left, wanted) in [("Password: ", "(secret)<Enter>"), ("hunter2", "hunter2<Enter>")] {
        let mut keys = ScreenKeys::default();
        keys.see(Instant(1), "Password:".into());
        for press in presses_of(b"\x1b[200~hunter2\r\n\x1b[201~") {
            keys.press(Instant(2), press);
        }
        keys.see(Instant(3), left.into());
        let mut form = Program { keys, left_of_cursor: String::new(), now_ms: 1 };
        assert_eq!(form.lines(true), [wanted]);
    }
}

#[test]
fn a_doubled_key_that_ends_the_program_is_one_line() {
    assert_eq!(Program::new().types("jjZZ", hidden).lines(true), ["jj", "ZZ"]);
}

#[test]
fn two_commands_that_are_not_shown_are_kept() {
    assert_eq!(Program::new().types("dd\r", hidden).lines(false), ["dd<Enter>"]);
}

#[test]
fn what_a_slow_line_shows_late_was_shown() {
    let mut keys = ScreenKeys::default();
    for (ms, character) in [(1, 'a'), (2, 'b'), (3, 'c')] {
        keys.press(Instant(ms), Press::Character(character));
    }
    keys.see(Instant(4), "a".into());
    assert!(keys.typed.is_undecided());
    keys.press(Instant(5), Press::FieldEnd("<Enter>".into()));
    keys.see(Instant(6), "abc".into());
    assert!(!keys.typed.is_undecided());
    assert_eq!(keys.lines(true)[0].parts, [KeysPart::Keys("abc<Enter>".into())]);
}

#[test]
fn a_paste_that_is_shown_is_typed() {
    let mut keys = ScreenKeys::default();
    keys.press(Instant(1), Press::Paste("one\r  two".into()));
    keys.see(Instant(2), "    two".into());
    keys.press(Instant(3), Press::FieldEnd("<Enter>".into()));
    assert_eq!(keys.lines(false)[0].parts, [KeysPart::Keys("one<Enter>  two<Enter>".into())]);
}

#[test]
fn the_settled_screen_before_a_line_is_the_last_change_before_a_pause() {
    let mut keys = ScreenKeys::default();
    for ms in [0, 30, 60, 2000] {
        keys.see(Instant(ms * 1_000_000), format!("{ms}"));
    }
    keys.press(Instant(3_000_000_000), Press::Character('q'));
    assert_eq!(keys.lines(true)[0].settled, Some(Instant(60_000_000)));
}
