//! Users' terminals: sessions are started, typed into and read, under one event loop.
//!
//! `host` is the system under test. `session` is one user's state without any system call. `starting` has the threads that start
//! sessions, and `login` prepares the command, the environment and the typed lines of a session.

pub mod host;
pub mod login;
pub mod session;
pub mod starting;
