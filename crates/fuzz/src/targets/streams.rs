//! Tables that grow: a reader sees the same rows however the stream came, and tells where it is damaged.

use super::cuts::{in_pieces, split_byte};
use loadgo_store::{ArrivingStream, Error, Follower, Table, whole_part};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

thread_local! {
    static FILE: RefCell<File> = RefCell::new(in_memory().expect("there is room"));
}

/// A file in memory where there is such a place: a disk writes out what is cut off.
fn in_memory() -> std::io::Result<File> {
    tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile())
}

/// The stream of a table, which the first byte names.
pub(crate) fn feed_stream(bytes: &[u8]) {
    let (table, rest) = split_byte(bytes);
    let table = Table::ALL.into_iter().nth(usize::from(table) % Table::ALL.into_iter().count()).expect("a table");
    let (pieces, stream) = in_pieces(rest);
    let (kept, damage) = arrived(table, &[stream]);
    let (kept_in_pieces, damage_in_pieces) = arrived(table, &pieces);
    assert_eq!(damage_in_pieces, damage);
    assert!(stream.starts_with(&kept_in_pieces) && kept_in_pieces.starts_with(&kept));
    FILE.with_borrow_mut(|file| follow(file, &pieces, stream));
}

/// The bytes that are kept of a stream from elsewhere, and its damage.
fn arrived(table: Table, pieces: &[&[u8]]) -> (Vec<u8>, Option<String>) {
    let (mut arriving, mut kept) = (ArrivingStream::begin(table), Vec::new());
    for piece in pieces {
        match arriving.take(piece) {
            Ok(whole) => kept.extend(whole),
            Err(damage) => return (kept, Some(damage.to_string())),
        }
    }
    (kept, None)
}

/// Writes the stream to a file by and by, follows it there, and reads it again at the end.
fn follow(file: &mut File, pieces: &[&[u8]], stream: &[u8]) {
    file.set_len(0).and_then(|()| file.rewind()).expect("the file can be emptied");
    // The file has no name, but each opening of this path begins at its first byte.
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let mut growing = Follower::open(&path).expect("it is there");
    let mut followed_batches = (Vec::new(), None);
    for piece in pieces {
        file.write_all(piece).expect("there is room");
        if followed_batches.1.is_none() {
            read_on(&mut growing, &mut followed_batches);
        }
    }
    let mut later = Follower::open(&path).expect("it is there");
    let mut later_batches = (Vec::new(), None);
    read_on(&mut later, &mut later_batches);
    assert_eq!(followed_batches, later_batches, "followed, and read afterwards");
    assert_eq!(growing.ended(), later.ended());
    let part = whole_part(&path).expect("it is there");
    assert!(part.bytes <= stream.len() as u64);
    assert!(part.rest.is_none() || !later.ended(), "{:?}", part.rest);
}

/// Adds the number of rows of each batch, and the damage.
fn read_on(follower: &mut Follower, seen: &mut (Vec<usize>, Option<String>)) {
    loop {
        match follower.next_batch() {
            Ok(Some(batch)) => seen.0.push(batch.num_rows()),
            Ok(None) => return,
            Err(Error::Damaged(_, reason)) => return seen.1 = Some(reason),
            Err(error) => panic!("{error}"),
        }
    }
}
