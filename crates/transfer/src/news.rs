//! What a server reports to whoever watches it; what is too much for them is counted instead.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::measuring::row::End;
use crate::protocol::wire::Request;

/// One piece of it.
#[derive(Debug, Clone)]
pub enum News {
    /// A transfer has ended.
    Ended {
        /// With whom.
        peer: SocketAddr,
        /// What was asked for.
        request: Request,
        /// This end of it.
        end: Box<End>,
        /// The client's end, where it was a job and it told.
        theirs: Option<Box<End>>,
        /// The file in which what came is kept.
        kept: Option<PathBuf>,
    },
    /// Somebody was refused, and why.
    Refused(SocketAddr, String),
    /// Nobody can be let in for now, and why; the server goes on when somebody can.
    Full(String),
    /// So many pieces of news were left out, because who watches was too slow.
    LeftOut(u64),
}

impl News {
    /// What it says of the server itself, in words; None where it is about a guest.
    pub fn of_the_server(&self) -> Option<String> {
        match self {
            News::Full(why) => Some(format!("nobody can be let in for now: {why}; it goes on when there is room")),
            News::LeftOut(count) => Some(format!("{count} transfers or refusals are not told here: they came too fast")),
            News::Ended { .. } | News::Refused(..) => None,
        }
    }
}

/// So many pieces wait for who watches.
pub const AT_ONCE: usize = 1024;

/// Tells news without ever waiting.
#[derive(Debug, Clone)]
pub struct Teller {
    tells: SyncSender<News>,
    left_out: Arc<AtomicU64>,
}

/// A teller, and the end at which its news are heard, of which `at_once` wait.
pub fn channel(at_once: usize) -> (Teller, Receiver<News>) {
    let (tells, told) = sync_channel(at_once);
    (Teller { tells, left_out: Arc::default() }, told)
}

impl Teller {
    /// Tells it, or counts it as left out.
    pub fn tell(&self, news: News) {
        self.catch_up();
        if self.left_out.load(Ordering::Relaxed) > 0 || self.tells.try_send(news).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Tells how much was left out, if anything was and there is room to say it.
    pub(crate) fn catch_up(&self) {
        let count = self.left_out.swap(0, Ordering::Relaxed);
        if count > 0 && self.tells.try_send(News::LeftOut(count)).is_err() {
            self.left_out.fetch_add(count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_counted_and_told_when_there_is_room() {
        let (teller, told) = channel(2);
        for at in 0..1002 {
            teller.tell(News::Full(at.to_string()));
        }
        let heard: Vec<News> = told.try_iter().collect();
        assert!(matches!(&heard[..], [News::Full(first), News::Full(second)] if first == "0" && second == "1"), "{heard:?}");
        teller.tell(News::Full("later".into()));
        let heard: Vec<News> = told.try_iter().collect();
        assert!(matches!(&heard[..], [News::LeftOut(1000), News::Full(last)] if last == "later"), "{heard:?}");
        assert!(heard[0].of_the_server().is_some_and(|words| words.starts_with("1000 transfers or refusals")));
    }
}
