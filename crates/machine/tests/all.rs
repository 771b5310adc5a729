//! All tests of the crate from outside, as one program; a file in this folder is a part of it.

mod admission;
mod bundled;
mod cases;
mod core_limit;
mod core_memory;
mod ctss;
mod devices;
mod discipline;
mod drawn_machine;
mod ends;
mod exact;
mod file;
mod file_fuzz;
mod frames;
mod idle;
mod linux;
mod markov_chain;
mod memory;
mod metamorphic;
mod models;
mod multics;
mod page_by_page;
mod programs;
mod properties;
mod reference;
mod schedules;
mod swapping;
mod system;
mod table;
mod tenex;
mod two_processors;
mod users;
#[path = "../../core/tests/virtual_host/mod.rs"]
mod virtual_host;
mod working_machine;
