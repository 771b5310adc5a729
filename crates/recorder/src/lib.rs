//! Records a person's session at a terminal, and makes a script or a cast of it.
//!
//! `teletype` sits between the person's terminal and a shell; `recording` follows what the session shows and learns the
//! script; `asciicast` reads and writes casts.

pub mod asciicast;
pub mod recording;
pub mod teletype;
