//! Simulated machines: a system in virtual time, from a machine file, behind the same door as a live host.
//!
//! `spec` is what a machine file says, `file` reads it. The engine keeps a calendar of events ordered by (time, serial), and asks
//! three kinds of pure state machines what to do: a [`disciplines::ReadyList`] (who runs next, and for how long), a
//! [`devices::Device`] (when a request is done), and the memory (what a fault takes from whom). None of them knows the calendar.

pub mod admission;
pub mod calendar;
pub mod core_memory;
pub mod devices;
pub mod disciplines;
pub mod draw;
pub mod engine;
pub mod file;
pub mod frames;
pub mod meters;
pub mod simulate;
pub mod spec;
pub mod study;
pub mod system;
pub mod table;
