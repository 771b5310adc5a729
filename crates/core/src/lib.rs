//! The pure core of loadgo: scripts, users, the driver, and what they record.
//!
//! Nothing here does I/O, reads a clock or knows Python. A system under test implements [`system::System`], whose clock
//! gives the time. The driver's rows leave through [`record::Recorder`].

pub mod arrivals;
pub mod deadlines;
pub mod driver;
pub mod echo;
pub mod indexed_heap;
pub mod load;
pub mod notation;
pub mod osc133;
pub mod random;
pub mod ready;
pub mod record;
pub mod screen_promise;
pub mod script;
pub mod stop;
pub mod system;
pub mod time;
pub mod user;
