//! News for an agent elsewhere: which line each user types next.
//!
//! The meters on that host count events by command, and the driver alone knows the lines. It tells each at the prompt before it, so
//! that the news travels while the user thinks. The driver never waits: news for which the pipe has no room are dropped.

use loadgo_core::system::UserId;
use rustix::io::write;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

/// Number of bytes of one piece of news: the user and the line, 4 bytes each, big-endian.
pub const NEXT_LINE_BYTES: usize = 8;

/// The writing end of a pipe for news, which all clones share.
#[derive(Clone, Debug)]
pub struct NextLines(Arc<OwnedFd>);

impl NextLines {
    /// The news for whoever reads from a pipe, one of whose open descriptors is `pipe`.
    ///
    /// # Errors
    /// The descriptor is not open, or nobody reads from the pipe.
    pub fn into_pipe(pipe: RawFd) -> io::Result<NextLines> {
        // The pipe is opened again, so that its owner's descriptor can still wait for room.
        let path = format!("/proc/self/fd/{pipe}");
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        Ok(NextLines(Arc::new(OpenOptions::new().write(true).custom_flags(flags).open(path)?.into())))
    }

    /// Tells that `user` types `line` next; 0 is the log-out.
    pub(crate) fn tell(&self, user: UserId, line: u32) {
        let news = next_line_bytes(user, line);
        // A pipe takes so few bytes whole or not at all. Events of a line without news are of an unknown command.
        let _ = write(self.0.as_fd(), &news);
    }
}

/// A piece of news as it stands in the pipe.
pub fn next_line_bytes(user: UserId, line: u32) -> [u8; NEXT_LINE_BYTES] {
    let mut bytes = [0; NEXT_LINE_BYTES];
    bytes[..4].copy_from_slice(&user.to_be_bytes());
    bytes[4..].copy_from_slice(&line.to_be_bytes());
    bytes
}

/// The users and lines of whole pieces of news; a rest of fewer bytes is left out.
pub fn parse_next_lines(bytes: &[u8]) -> impl Iterator<Item = (UserId, u32)> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    bytes.chunks_exact(NEXT_LINE_BYTES).map(move |news| (number(&news[..4]), number(&news[4..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, pipe};
    use std::os::fd::AsRawFd as _;

    #[test]
    fn news_come_out_as_they_went_in_and_a_full_pipe_never_stops_the_driver() {
        let (mut reading, writing) = pipe().expect("a pipe");
        let news = NextLines::into_pipe(writing.as_raw_fd()).expect("it is a pipe");
        news.tell(7, 3);
        news.clone().tell(u32::MAX, 0);
        let mut bytes = [0; 2 * NEXT_LINE_BYTES];
        reading.read_exact(&mut bytes).expect("two pieces of news");
        assert_eq!(parse_next_lines(&bytes).collect::<Vec<_>>(), [(7, 3), (u32::MAX, 0)]);
        (0..100_000).for_each(|line| news.tell(1, line));
        drop(reading);
        news.tell(1, 1);
    }

    #[test]
    fn a_part_of_a_piece_of_news_is_left_out() {
        let bytes = [&next_line_bytes(5, 6)[..], &[1, 2, 3]].concat();
        assert_eq!(parse_next_lines(&bytes).collect::<Vec<_>>(), [(5, 6)]);
    }
}
