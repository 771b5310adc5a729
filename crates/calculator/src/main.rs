//! The desk calculator at a terminal: one read and at most one write a line, in a few kilobytes of memory.

use loadgo_calculator::{Answer, Names, answer};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// The longest line that a terminal gives, and a prompt and reply after it.
const ROOM: usize = 4096;

fn main() -> ExitCode {
    let Some(prompt) = prompt() else {
        eprintln!("usage: loadgo-calculator [--prompt TEXT]");
        return ExitCode::from(2);
    };
    match serve(prompt.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// What is printed when a line is wanted: `--prompt TEXT`, else `? ` at a terminal; `None` when the arguments are wrong.
fn prompt() -> Option<String> {
    let mut arguments = std::env::args().skip(1);
    let prompt = match (arguments.next().as_deref(), arguments.next()) {
        (None, None) if io::stdin().is_terminal() => "? ".into(),
        (None, None) => String::new(),
        (Some("--prompt"), Some(prompt)) if prompt.len() <= 256 => prompt,
        _ => return None,
    };
    arguments.next().is_none().then_some(prompt)
}

/// Answers lines until `quit` or the end of input.
fn serve(prompt: &[u8]) -> io::Result<()> {
    // The standard streams hold buffers of their own; a bare descriptor needs none.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut room, mut held, mut names) = ([0; ROOM], 0, Names::default());
    let mut overlong = false;
    say(&mut output, &[], prompt)?;
    loop {
        let read = input.read(&mut room[held..])?;
        let mut begin = 0;
        held += read;
        while let Some(length) = room[begin..held].iter().position(|byte| *byte == b'\n') {
            let line = &room[begin..begin + length];
            begin += length + 1;
            if !std::mem::take(&mut overlong) && !reply(line, &mut names, &mut output, prompt)? {
                return Ok(());
            }
        }
        if read == 0 {
            let rest = if overlong { &[] } else { &room[..held] };
            return reply(rest, &mut names, &mut output, &[]).map(|_| ());
        }
        room.copy_within(begin..held, 0);
        held -= begin;
        if held == ROOM {
            held = 0;
            if !std::mem::replace(&mut overlong, true) {
                say(&mut output, b"the line is too long\n", prompt)?;
            }
        }
    }
}

/// Answers `line`; false when the user is done.
fn reply(line: &[u8], names: &mut Names, output: &mut File, prompt: &[u8]) -> io::Result<bool> {
    let mut text = [0; ROOM];
    let mut left = &mut text[..];
    match answer(line, names) {
        Ok(Answer::Quit) => return Ok(false),
        Ok(Answer::Silent) => {}
        Ok(Answer::Value(value)) => writeln!(left, "{value}")?,
        Err(trouble) => writeln!(left, "{trouble}")?,
    }
    let length = ROOM - left.len();
    say(output, &text[..length], prompt).map(|()| true)
}

/// Writes a reply and the prompt in one write, or nothing when both are empty.
fn say(output: &mut File, reply: &[u8], prompt: &[u8]) -> io::Result<()> {
    let mut text = [0; ROOM + 256];
    let length = reply.len() + prompt.len();
    text[..reply.len()].copy_from_slice(reply);
    text[reply.len()..length].copy_from_slice(prompt);
    if length == 0 { Ok(()) } else { output.write_all(&text[..length]) }
}
