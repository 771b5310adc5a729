//! The places of users in the event loop.

use crate::terminals::session::Session;
use loadgo_core::system::Usage;
use std::os::fd::OwnedFd;

/// A session with its terminal and its first process.
pub(super) struct Seat {
    pub session: Session,
    pub master: Option<OwnedFd>,
    pub pid: i32,
    pub alive: bool,
    /// Keys that did not fit into the terminal yet.
    pub unsent: Vec<u8>,
    /// Whether the user is ready and waits for the meter; the terminal is not read meanwhile.
    pub is_in_turn: bool,
    /// Whether the meter reaches the session's programs.
    pub reach: Reach,
    /// Usage between the prompt and the sending of the last line; `None` if lines are not typed key by key.
    pub typing_usage: Option<Box<Usage>>,
    /// Keys that end the session, while the user pauses before the log-out.
    pub log_out_keys: Box<[u8]>,
}

/// Whether the meter reaches a session's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The programs are on this host.
    Here,
    /// The programs are elsewhere, as far as is known.
    Elsewhere,
    /// The shell says where it is, and a starter looks for it.
    Sought,
}

/// A user's place in the event loop. One who has left keeps none of it, so that a load of a week takes no more memory.
#[derive(Default)]
pub(super) enum Chair {
    /// The user has not logged in yet.
    #[default]
    Empty,
    Taken(Box<Seat>),
    Left,
}

impl Chair {
    pub(super) fn seat(&self) -> Option<&Seat> {
        if let Chair::Taken(seat) = self { Some(seat) } else { None }
    }

    pub(super) fn seat_mut(&mut self) -> Option<&mut Seat> {
        if let Chair::Taken(seat) = self { Some(seat) } else { None }
    }
}
