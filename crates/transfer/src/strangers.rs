//! Connections that have shown neither the token nor a ticket: a few at once, and a further one costs the oldest its place.
//!
//! A client shows what it knows within a round trip. So connections that say nothing keep out nobody who has the token.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Largest number of connections of a server that have shown neither the token nor a ticket.
pub(crate) const MOST_STRANGERS: usize = 64;

/// The strangers of a server, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<StrangerList>);

#[derive(Debug, Default)]
struct StrangerList {
    next_id: u64,
    streams: VecDeque<(u64, TcpStream)>,
}

/// The place of a stranger's connection, until it is known or over.
#[derive(Debug)]
pub(crate) struct Stranger {
    strangers: Arc<Strangers>,
    id: u64,
}

impl Strangers {
    /// Takes a new connection in. If there are `most` already, closes the oldest. `None` if the system has no descriptor for it.
    pub fn take_in(self: &Arc<Strangers>, stream: &TcpStream, most: usize) -> Option<Stranger> {
        let stream = stream.try_clone().ok()?;
        let mut list = self.list();
        if list.streams.len() >= most
            && let Some((_, oldest)) = list.streams.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both); // its thread then finds the end
        }
        let id = list.next_id;
        list.next_id += 1;
        list.streams.push_back((id, stream));
        Some(Stranger { strangers: self.clone(), id })
    }

    fn list(&self) -> MutexGuard<'_, StrangerList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.strangers.list().streams.retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::TcpListener;

    #[test]
    fn a_further_stranger_costs_the_oldest_its_place_and_one_who_is_known_keeps_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let strangers = Arc::new(Strangers::default());
        let connect = || {
            let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let ours = listener.accept().unwrap().0;
            let place = strangers.take_in(&ours, 2).unwrap();
            (theirs, ours, place)
        };
        let (mut known, known_here, place) = connect();
        drop(place);
        let mut silent: Vec<_> = (0..3).map(|_| connect()).collect();
        assert_eq!(silent[0].0.read(&mut [0]).unwrap(), 0, "the oldest was closed");
        for (theirs, ..) in silent.iter_mut().skip(1).map(|(theirs, ours, place)| (theirs, ours, place)) {
            theirs.set_nonblocking(true).unwrap();
            assert!(theirs.read(&mut [0]).is_err(), "it is open, and says nothing");
        }
        known.set_nonblocking(true).unwrap();
        assert!(known.read(&mut [0]).is_err());
        drop(known_here);
    }
}
