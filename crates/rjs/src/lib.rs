//! Remote job entry, as the program of seed 002 (RFC 392) did it: small decks are sent, massive print files fetched, large files
//! stored, in blocked records.
//!
//! `asked` reads the command line, `entry` does one job at this end, `batch` serves the batch host (`jobs`), and `rows` makes a
//! table of its transfers. A command of its own, and small, because users type it by the thousand: what it takes to start must not hide what a transfer takes.

pub mod asked;
pub mod batch;
pub mod entry;
pub mod jobs;
pub mod rows;
