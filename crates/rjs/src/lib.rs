//! Remote job entry, after the program of RFC 392: users submit decks, fetch print files and store files, in blocked records.
//!
//! `command_line` parses the arguments, `entry` does one job at the user's end, and `batch` serves the batch host, whose jobs are in
//! `jobs`. `rows` writes a table of its transfers. The command is small and separate from `loadgo`: users type it by the thousand,
//! and its start must not hide the time of a transfer.

pub mod batch;
pub mod command_line;
pub mod entry;
pub mod jobs;
pub mod rows;
