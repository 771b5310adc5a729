//! The thread that moves the data of one end, and the wait for its result.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use crate::bounds::STOP_POLL_PERIOD;
use crate::end::{self, MovedEnd};
use crate::measuring::interrupts::InterruptAccount;
use crate::moving::destination::Destination;
use crate::moving::method::MethodInUse;
use crate::moving::socket::DataSocket;
use crate::moving::source::DataSource;

/// The data that one end moves.
pub(crate) enum Payload {
    /// Send all data of a source.
    From(DataSource),
    /// Write received data to a destination.
    Into(Destination, Arriving),
}

impl Payload {
    /// The path of the file that keeps received data.
    pub fn name(&self) -> Option<PathBuf> {
        match self {
            Payload::From(_) => None,
            Payload::Into(destination, _) => destination.name().map(Path::to_owned),
        }
    }
}

/// Sizes of the data that an end receives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arriving {
    /// Number of bytes in the file.
    pub size: u64,
    /// Number of bytes that precede the file on the connection.
    pub before: u64,
}

/// A thread that moves an end's data.
pub(crate) struct Mover(Receiver<MovedEnd>);

impl Mover {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no further thread.
    pub fn start(payload: Payload, way: MethodInUse, account: InterruptAccount, socket: DataSocket) -> io::Result<Mover> {
        let (sender, receiver) = channel();
        thread::Builder::new().spawn(move || {
            let end = match payload {
                Payload::From(source) => end::send_end(way, account, &source, &socket),
                Payload::Into(destination, Arriving { size, before }) => {
                    end::receive_end(way, account, size, &socket, destination, before)
                }
            };
            let _ = sender.send(end);
        })?;
        Ok(Mover(receiver))
    }

    /// Waits for the end, and calls `on_poll` ten times a second meanwhile. Returns None if the thread has panicked.
    pub fn wait(&self, mut on_poll: impl FnMut()) -> Option<MovedEnd> {
        loop {
            match self.0.recv_timeout(STOP_POLL_PERIOD) {
                Ok(end) => return Some(end),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => on_poll(),
            }
        }
    }
}
