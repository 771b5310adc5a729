//! The news that a server sends to its watcher. If the watcher is too slow, further news are only counted.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::measuring::row::EndRow;
use crate::protocol::wire::TransferRequest;

/// One report of a server.
#[derive(Debug, Clone)]
pub enum ServerNews {
    /// A transfer has ended.
    Ended {
        /// The client's address.
        peer: SocketAddr,
        /// The client's request.
        request: TransferRequest,
        /// This end's row.
        end: Box<EndRow>,
        /// The client's row, if the transfer belonged to a job and the client sent it.
        theirs: Option<Box<EndRow>>,
        /// The file that keeps the received data.
        kept: Option<PathBuf>,
    },
    /// A client was refused; with the reason.
    Refused(SocketAddr, String),
    /// The system has no room for a connection; with the reason. The server goes on when there is room.
    Full(String),
    /// Number of reports that were left out, because the watcher was too slow.
    LeftOut(u64),
}

impl ServerNews {
    /// A sentence for news about the server itself; None for news about a client.
    pub fn server_note(&self) -> Option<String> {
        match self {
            ServerNews::Full(reason) => {
                Some(format!("no connection can be accepted for now: {reason}; the server goes on when there is room"))
            }
            ServerNews::LeftOut(count) => Some(format!("{count} transfers or refusals are not listed here: they came too fast")),
            ServerNews::Ended { .. } | ServerNews::Refused(..) => None,
        }
    }
}

/// Largest number of reports that wait for the watcher.
pub const MOST_WAITING_REPORTS: usize = 1024;

/// Sends news without ever waiting.
#[derive(Debug, Clone)]
pub struct NewsSender {
    sender: SyncSender<ServerNews>,
    left_out: Arc<AtomicU64>,
}

/// A sender of news and its receiver, between which `most_waiting` reports can wait.
pub fn channel(most_waiting: usize) -> (NewsSender, Receiver<ServerNews>) {
    let (sender, receiver) = sync_channel(most_waiting);
    (NewsSender { sender, left_out: Arc::default() }, receiver)
}

impl NewsSender {
    /// Sends a report, or counts it as left out.
    pub fn send(&self, news: ServerNews) {
        self.report_left_out();
        if self.left_out.load(Ordering::Relaxed) > 0 || self.sender.try_send(news).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reports the number of left-out reports, if there are any and there is room.
    pub(crate) fn report_left_out(&self) {
        let count = self.left_out.swap(0, Ordering::Relaxed);
        if count > 0 && self.sender.try_send(ServerNews::LeftOut(count)).is_err() {
            self.left_out.fetch_add(count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_beyond_the_room_are_counted_and_reported_later() {
        let (sender, receiver) = channel(2);
        for at in 0..1002 {
            sender.send(ServerNews::Full(at.to_string()));
        }
        let received: Vec<ServerNews> = receiver.try_iter().collect();
        assert!(
            matches!(&received[..], [ServerNews::Full(first), ServerNews::Full(second)] if first == "0" && second == "1"),
            "{received:?}"
        );
        sender.send(ServerNews::Full("later".into()));
        let received: Vec<ServerNews> = receiver.try_iter().collect();
        assert!(matches!(&received[..], [ServerNews::LeftOut(1000), ServerNews::Full(last)] if last == "later"), "{received:?}");
        assert!(received[0].server_note().is_some_and(|words| words.starts_with("1000 transfers or refusals")));
    }
}
