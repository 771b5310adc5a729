//! The desk calculator at a terminal. A line costs one read and at most one write, in a few kilobytes of memory.

use loadgo_calculator::{Answer, Names, answer};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// Size of the buffers for a line and for a reply: the length of a terminal's longest line (`N_TTY_BUF_SIZE`).
const LINE_BYTES: usize = 4096;
/// Longest prompt that `--prompt` accepts. A reply and the prompt go out in one write.
const MOST_PROMPT_BYTES: usize = 256;

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

/// The TEXT of `--prompt TEXT`; without the option `? ` at a terminal, otherwise empty. None if the arguments are wrong.
fn prompt() -> Option<String> {
    let mut arguments = std::env::args().skip(1);
    let prompt = match (arguments.next().as_deref(), arguments.next()) {
        (None, None) if io::stdin().is_terminal() => "? ".into(),
        (None, None) => String::new(),
        (Some("--prompt"), Some(prompt)) if prompt.len() <= MOST_PROMPT_BYTES => prompt,
        _ => return None,
    };
    arguments.next().is_none().then_some(prompt)
}

/// Answers lines until `quit` or the end of input.
fn serve(prompt: &[u8]) -> io::Result<()> {
    // The library's standard streams have buffers, which plain descriptors do without.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut buffer, mut filled, mut names) = ([0; LINE_BYTES], 0, Names::default());
    let mut is_overlong = false;
    write_reply(&mut output, &[], prompt)?;
    loop {
        let read = input.read(&mut buffer[filled..])?;
        let mut begin = 0;
        filled += read;
        while let Some(length) = buffer[begin..filled].iter().position(|byte| *byte == b'\n') {
            let line = &buffer[begin..begin + length];
            begin += length + 1;
            if !std::mem::take(&mut is_overlong) && !answer_line(line, &mut names, &mut output, prompt)? {
                return Ok(());
            }
        }
        if read == 0 {
            let last_line = if is_overlong { &[] } else { &buffer[..filled] };
            return answer_line(last_line, &mut names, &mut output, &[]).map(|_| ());
        }
        buffer.copy_within(begin..filled, 0);
        filled -= begin;
        if filled == LINE_BYTES {
            filled = 0;
            if !std::mem::replace(&mut is_overlong, true) {
                write_reply(&mut output, b"the line is too long\n", prompt)?;
            }
        }
    }
}

/// Answers `line`. Returns false if the user is done.
fn answer_line(line: &[u8], names: &mut Names, output: &mut File, prompt: &[u8]) -> io::Result<bool> {
    let mut text = [0; LINE_BYTES];
    let mut unused = &mut text[..];
    match answer(line, names) {
        Ok(Answer::Quit) => return Ok(false),
        Ok(Answer::Silent) => {}
        Ok(Answer::Value(value)) => writeln!(unused, "{value}")?,
        Err(trouble) => writeln!(unused, "{trouble}")?,
    }
    let length = LINE_BYTES - unused.len();
    write_reply(output, &text[..length], prompt).map(|()| true)
}

/// Writes a reply and the prompt in one write, or nothing if both are empty.
fn write_reply(output: &mut File, reply: &[u8], prompt: &[u8]) -> io::Result<()> {
    let mut text = [0; LINE_BYTES + MOST_PROMPT_BYTES];
    let length = reply.len() + prompt.len();
    text[..reply.len()].copy_from_slice(reply);
    text[reply.len()..length].copy_from_slice(prompt);
    if length == 0 { Ok(()) } else { output.write_all(&text[..length]) }
}
