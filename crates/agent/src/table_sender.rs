//! Sends the streams of a run folder while they grow, message by message, from a thread of its own.

use crate::connection::Connection;
use loadgo_agent::frame::{Kind, PIECE_BYTES};
use loadgo_store::{Error, Follower, Table};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between two looks at the streams, which the writer flushes at least once a second.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Streams that cannot be sent, or not to their end.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// A stream cannot be opened or read.
    Stream(Error),
    /// There is no thread to be had.
    NoThread(io::Error),
    /// The thread has panicked.
    Panicked,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotSent::Stream(error) => error.fmt(f),
            NotSent::NoThread(error) => error.fmt(f),
            NotSent::Panicked => f.write_str("the sending thread panicked"),
        }
    }
}

/// The sending thread. It holds the streams open, so that it sends all of them even after the run has removed their files.
pub(crate) struct TableSender {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Option<NotSent>>,
}

impl TableSender {
    /// Starts to send the streams in `folder`, which exist already.
    ///
    /// # Errors
    /// A stream cannot be opened, or there is no thread to be had.
    pub(crate) fn start(connection: &Connection, folder: &Path) -> Result<TableSender, NotSent> {
        let open = |(number, table): (usize, Table)| Follower::open(&stream(folder, table)).map(|stream| (number as u8, stream));
        let mut streams = Table::ALL.into_iter().enumerate().map(open).collect::<Result<Vec<_>, _>>().map_err(NotSent::Stream)?;
        let (connection, is_over) = (connection.clone(), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&is_over);
        let send = move || {
            loop {
                let is_last = over.load(Ordering::Acquire);
                for (number, stream) in &mut streams {
                    if let Err(error) = send_new(&connection, *number, stream) {
                        return Some(NotSent::Stream(error));
                    }
                }
                if is_last {
                    return None;
                }
                thread::park_timeout(LOOK_EVERY);
            }
        };
        let thread = thread::Builder::new().name("loadgo-sender".into()).spawn(send).map_err(NotSent::NoThread)?;
        Ok(TableSender { is_over, thread })
    }

    /// Sends what is left, and ends the thread. Returns the reason if a stream could not be read to its end.
    pub(crate) fn end(self) -> Option<NotSent> {
        self.is_over.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or(Some(NotSent::Panicked))
    }
}

fn stream(folder: &Path, table: Table) -> PathBuf {
    folder.join(format!("{}.arrows", table.name()))
}

/// Sends the complete messages of a stream that are new.
fn send_new(connection: &Connection, number: u8, stream: &mut Follower) -> Result<(), Error> {
    while let Some(message) = stream.next_message()? {
        for piece in message.chunks(PIECE_BYTES) {
            connection.send(Kind::Table, &[&[number], piece].concat());
        }
    }
    Ok(())
}
