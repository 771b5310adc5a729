//! Records a person's session at a terminal, and makes a script or a cast of it.
//!
//! `teletype` sits between the person's terminal and a shell. `recording` follows the session's events and makes the script.
//! `asciicast` reads and writes casts: files of asciinema with a session's input and output.

pub mod asciicast;
pub mod recording;
pub mod teletype;
