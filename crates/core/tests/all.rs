//! All tests of the crate from outside, as one program; a file in this folder is a part of it.

mod driver;
mod driver_barriers;
mod driver_day;
mod driver_enough;
mod driver_keys;
mod driver_late;
mod fault_plans;
mod ready_marks;
mod script_bundled;
mod script_cases;
mod script_fuzz;
mod script_laws;
mod script_mistakes;
mod script_properties;
mod script_reference;
mod script_walk;
mod virtual_host;
