//! Users' terminals: sessions are started, typed into and read, under one event loop.
//!
//! `host` is the system under test. `session` is one user's state without any system call. `starting` has the threads that start
//! sessions, and `farewells` gives sessions that remove files the time to do so. `login` prepares the command and the environment
//! of a session, and `typed_files` the lines typed before it counts. `questions` recognises a log-in that waits for an answer, and
//! `place` a session by `ssh` whose shell is on this host. `announcement` is for sessions on a host with an agent.
//! `destinations` says which users log in to which host, and `orders` has what a run is told while it goes on. `next_lines` tells an agent what users type next.
//! `screen` has what a program that fills the screen shows, and `foreground` what that program does. `trial` tries a log-in before a run. `unstarted` has the words of a shell that cannot start a process.

pub mod announcement;
pub mod destinations;
mod farewells;
mod foreground;
pub mod host;
pub mod login;
pub mod next_lines;
pub mod orders;
mod place;
mod prompts;
mod questions;
mod refused_log_ins;
mod screen;
pub mod session;
pub mod setting;
pub mod starting;
pub mod trial;
mod typed_files;
mod unstarted;
