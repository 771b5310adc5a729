//! Remote job entry, after the program of seed 002 (RFC 392): decks are submitted, print files fetched, files stored, in blocked
//! records.
//!
//! `asked` reads the command line, `entry` does one job at the user's end, `batch` serves the batch host (`jobs`), and `rows` makes
//! a table of its transfers. It is a small command of its own, because users type it by the thousand: its start must not hide what
//! a transfer takes.

pub mod asked;
pub mod batch;
pub mod entry;
pub mod jobs;
pub mod rows;
