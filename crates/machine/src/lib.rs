//! Simulated machines: systems in virtual time, from a machine file, with the same interface as a live host.
//!
//! `file` reads a machine file into the values of `spec`. The engine keeps a calendar of events, ordered by time and serial number.
//! Three kinds of pure state machines decide what happens. A [`disciplines::ReadyList`] says which process runs next, and for
//! how long. A [`devices::Device`] says when a request is done. The memory says from which process a page fault takes a page.
//! None of them knows the calendar.

pub mod admission;
pub mod calendar;
pub mod core_memory;
pub mod devices;
pub mod disciplines;
pub mod draw;
pub mod engine;
pub mod file;
pub mod frames;
pub mod limits;
pub mod meters;
mod notation;
pub mod simulate;
pub mod spec;
pub mod study;
pub mod system;
pub mod table;
