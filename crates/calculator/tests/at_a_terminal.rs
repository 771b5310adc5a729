//! Runs the program on pipes: its answers, its prompt, and its exit status.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut calculator = Command::new(env!("CARGO_BIN_EXE_loadgo-calculator"));
    calculator.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = calculator.spawn().expect("the calculator starts");
    // The write fails if the calculator has ended already, by `quit` or a wrong argument.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the calculator ends")
}

#[test]
fn lines_with_an_answer_are_answered() {
    let output = run(&[], b"a = 3 * 7\na + 1\n\n1 / 0\nquit\n2\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "22\ndivision by zero\n");
    assert!(output.status.success());
}

#[test]
fn the_end_of_input_ends_the_program_after_the_last_line() {
    let output = run(&[], b"2 + 2");
    assert_eq!(output.stdout, b"4\n");
    assert!(output.status.success());
}

#[test]
fn a_requested_prompt_is_shown_for_every_line() {
    let output = run(&["--prompt", "> "], b"1\na = 2\nquit\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "> 1\n> > ");
}

#[test]
fn an_overlong_line_is_refused_once_and_the_next_is_read() {
    let mut input = vec![b'1'; 10_000];
    input.extend(b"\n5\n");
    assert_eq!(String::from_utf8_lossy(&run(&[], &input).stdout), "the line is too long\n5\n");
}

#[test]
fn an_unknown_argument_is_a_mistake() {
    assert_eq!(run(&["-x"], b"").status.code(), Some(2));
}
