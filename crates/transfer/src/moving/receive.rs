//! Receives data by each method, and writes them to their place.

use std::fs::File;
use std::io::{self, Write};

use rustix::pipe::SpliceFlags;
use rustls::Connection;

use crate::measuring::row::Moved;
use crate::moving::amount::{too_early, too_much};
use crate::moving::block::Block;
use crate::moving::method::{Method, Way};
use crate::moving::records::{self, BLOCK_HEADER};
use crate::moving::socket::Socket;
use crate::moving::tls::{self, Counted};
use crate::moving::{shared, uring};

/// Off the network so much at a time, where the method says nothing else.
const BLOCK: usize = 64 << 10;
/// What a pipe between socket and file holds, where the kernel allows it.
const PIPE_BYTES: usize = 1 << 20;

/// Takes `size` bytes of a file off `socket` and puts them into `place`; `moved` says how far it came, with an error too.
///
/// # Errors
/// In words: the far end ended too early or sent too much, nothing moved for too long, the disk is full.
pub fn receive(way: &mut Way, size: u64, socket: &Socket, place: &mut File, moved: &mut Moved) -> io::Result<()> {
    let message = way.message as usize;
    match way.method {
        Method::Bytes => in_messages(size, 1, socket, place, moved),
        Method::Messages => in_messages(size, message, socket, place, moved),
        Method::Records => in_records(size, socket, place, moved),
        Method::Splice => by_splice(size, socket, place, moved),
        Method::Tls => enciphered(size, message, way.tls()?, socket, place, moved),
        Method::Ktls => {
            tls::hand_to_kernel(way, &mut Counted::new(socket, moved, false))?;
            in_messages(size, BLOCK, socket, place, moved)
        }
        Method::IoUring => uring::receive(size, message, socket, place, moved),
        Method::Shm => return shared::receive(size, message, way.ring()?, socket, place, moved),
        _ => in_messages(size, BLOCK, socket, place, moved),
    }?;
    match socket.read(&mut Moved::default(), &mut [0])? {
        0 => Ok(()),
        _ => Err(too_much()),
    }
}

fn enciphered(
    size: u64,
    message: usize,
    tls: &mut Connection,
    socket: &Socket,
    place: &mut File,
    moved: &mut Moved,
) -> io::Result<()> {
    let mut block = Block::of(message.max(BLOCK));
    tls::agree(tls, &mut Counted::new(socket, moved, false))?;
    loop {
        let read = tls::read(tls, &mut Counted::new(socket, moved, false), &mut block)?;
        if read == 0 {
            return if moved.payload == size { Ok(()) } else { Err(too_early(moved.payload, size)) };
        }
        if moved.payload + read as u64 > size {
            return Err(too_much());
        }
        moved.messages += 1;
        put(place, &block[..read], moved)?;
        moved.payload += read as u64;
    }
}

/// Reads messages, and writes them to their place when there is a block of them.
fn in_messages(size: u64, message: usize, socket: &Socket, place: &mut File, moved: &mut Moved) -> io::Result<()> {
    let mut block = Block::of((BLOCK / message).max(1) * message);
    while moved.payload < size {
        let length = (size - moved.payload).min(block.len() as u64) as usize;
        let mut filled = 0;
        while filled < length {
            let upto = length.min(filled + message);
            let read = socket.read(moved, &mut block[filled..upto])?;
            if read == 0 {
                break;
            }
            moved.messages += 1;
            filled += read;
        }
        put(place, &block[..filled], moved)?;
        moved.payload += filled as u64;
        if filled < length {
            return Err(too_early(moved.payload, size));
        }
    }
    Ok(())
}

fn in_records(size: u64, socket: &Socket, place: &mut File, moved: &mut Moved) -> io::Result<()> {
    let (mut block, mut payload) = (Vec::new(), Vec::new());
    while moved.payload < size {
        let mut header = [0; BLOCK_HEADER];
        if socket.read_full(moved, &mut header)? < BLOCK_HEADER {
            return Err(too_early(moved.payload, size));
        }
        block.resize(records::inside(header)?, 0);
        if socket.read_full(moved, &mut block)? < block.len() {
            return Err(too_early(moved.payload, size));
        }
        records::unpack(&block, &mut payload)?;
        if moved.payload + payload.len() as u64 > size {
            return Err(too_much());
        }
        moved.messages += 1;
        put(place, &payload, moved)?;
        moved.payload += payload.len() as u64;
    }
    Ok(())
}

fn by_splice(size: u64, socket: &Socket, place: &mut File, moved: &mut Moved) -> io::Result<()> {
    let (out, into) = rustix::pipe::pipe()?;
    let held = rustix::pipe::fcntl_setpipe_size(&into, PIPE_BYTES).unwrap_or(BLOCK);
    while moved.payload < size {
        let wanted = (size - moved.payload).min(held as u64) as usize;
        let got = socket.patiently(moved, |fd| Ok(rustix::pipe::splice(fd, None, &into, None, wanted, SpliceFlags::MOVE)?))?;
        if got == 0 {
            return Err(too_early(moved.payload, size));
        }
        let mut left = got;
        while left > 0 {
            left -= rustix::pipe::splice(&out, None, &*place, None, left, SpliceFlags::MOVE)?;
            moved.calls += 1;
        }
        moved.messages += 1;
        moved.payload += got as u64;
        moved.wire += got as u64;
    }
    Ok(())
}

fn put(place: &mut File, bytes: &[u8], moved: &mut Moved) -> io::Result<()> {
    moved.calls += 1;
    place.write_all(bytes)
}
