//! Records a person's session at a terminal, and makes a script or a cast of it.
//!
//! `recording` follows what a session shows and learns the script; `asciicast` reads and writes casts. No I/O and no clock here.

pub mod asciicast;
pub mod recording;
