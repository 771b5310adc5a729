//! The thread that moves the data of one end, and the wait for what the end came to.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use crate::bounds::TO_LOOK_UP;
use crate::end;
use crate::measuring::interrupts::Account;
use crate::measuring::row::End;
use crate::moving::method::Way;
use crate::moving::place::Place;
use crate::moving::socket::Socket;
use crate::moving::source::Source;

/// What one end moves.
pub(crate) enum Goods {
    /// All of this is sent.
    From(Source),
    /// What comes is put here.
    Into(Place, Arriving),
}

impl Goods {
    /// The file in which what comes is kept.
    pub fn name(&self) -> Option<PathBuf> {
        match self {
            Goods::From(_) => None,
            Goods::Into(place, _) => place.name().map(Path::to_owned),
        }
    }
}

/// What comes on a data connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arriving {
    /// Bytes of the file.
    pub size: u64,
    /// Bytes that came before it on the same connection.
    pub before: u64,
}

/// A thread that moves an end's data.
pub(crate) struct Mover(Receiver<End>);

impl Mover {
    /// Starts it.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub fn start(goods: Goods, way: Way, account: Account, socket: Socket) -> io::Result<Mover> {
        let (tells, told) = channel();
        thread::Builder::new().spawn(move || {
            let end = match goods {
                Goods::From(source) => end::sender(way, account, &source, &socket),
                Goods::Into(place, Arriving { size, before }) => end::receiver(way, account, size, &socket, place, before),
            };
            let _ = tells.send(end);
        })?;
        Ok(Mover(told))
    }

    /// Waits for the end, and calls `look` ten times a second meanwhile; nothing where the thread has failed.
    pub fn wait(&self, mut look: impl FnMut()) -> Option<End> {
        loop {
            match self.0.recv_timeout(TO_LOOK_UP) {
                Ok(end) => return Some(end),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => look(),
            }
        }
    }
}
