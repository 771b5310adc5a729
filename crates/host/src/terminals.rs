//! Users' terminals: sessions are started, typed into and read, under one event loop.
//!
//! `host` is the system under test. `session` is one user's state without any system call. `starting` has the threads that start
//! sessions, and `farewells` gives sessions that remove files the time to do so. `login` prepares the command and the environment
//! of a session, and `typed_files` the lines typed before it counts. `questions` recognises a log-in that waits for an answer, and
//! `place` a session by `ssh` whose shell is on this host. `announcement` is for sessions on a host with an agent.
//! `destinations` says which users log in to which host, and `given_up` ends users whose host is lost.
//! `unstarted` has the words of a shell that cannot start a process.

pub mod announcement;
pub mod destinations;
mod farewells;
pub mod given_up;
pub mod host;
pub mod login;
mod place;
mod questions;
mod refused_log_ins;
pub mod session;
pub mod starting;
mod typed_files;
mod unstarted;
