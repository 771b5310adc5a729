//! Receives data by each method, and writes them to their destination.

use std::fs::File;
use std::io::{self, Write};

use rustix::pipe::SpliceFlags;
use rustls::Connection;

use crate::measuring::row::MovedBytes;
use crate::moving::amount::{early_end_error, excess_data_error};
use crate::moving::block::AlignedBuffer;
use crate::moving::method::{Method, MethodInUse};
use crate::moving::records::{self, BLOCK_HEADER_BYTES};
use crate::moving::socket::DataSocket;
use crate::moving::tls::{self, CountedSocket};
use crate::moving::{shared, uring};

/// Bytes that are received at a time, unless the method says otherwise.
const BLOCK_BYTES: usize = 64 << 10;
/// Size of the pipe between socket and file, if the kernel allows it.
const PIPE_BYTES: usize = 1 << 20;

/// Receives `size` bytes from `socket` into `file`. `moved` counts them, also before an error.
///
/// # Errors
/// The other end ended too early or sent too much, no data moved for too long, or the disk is full.
pub fn receive(way: &mut MethodInUse, size: u64, socket: &DataSocket, file: &mut File, moved: &mut MovedBytes) -> io::Result<()> {
    let message = way.message as usize;
    match way.method {
        Method::Bytes => receive_messages(size, 1, socket, file, moved),
        Method::Messages => receive_messages(size, message, socket, file, moved),
        Method::Records => receive_records(size, socket, file, moved),
        Method::Splice => receive_by_splice(size, socket, file, moved),
        Method::Tls => receive_by_tls(size, message, way.tls()?, socket, file, moved),
        Method::Ktls => {
            tls::start_kernel_tls(way, &mut CountedSocket::new(socket, moved, false))?;
            receive_messages(size, BLOCK_BYTES, socket, file, moved)
        }
        Method::IoUring => uring::receive(size, message, socket, file, moved),
        Method::Shm => return shared::receive(size, message, way.ring()?, socket, file, moved),
        _ => receive_messages(size, BLOCK_BYTES, socket, file, moved),
    }?;
    match socket.read(&mut MovedBytes::default(), &mut [0])? {
        0 => Ok(()),
        _ => Err(excess_data_error()),
    }
}

fn receive_by_tls(
    size: u64,
    message: usize,
    tls: &mut Connection,
    socket: &DataSocket,
    file: &mut File,
    moved: &mut MovedBytes,
) -> io::Result<()> {
    let mut block = AlignedBuffer::new(message.max(BLOCK_BYTES));
    tls::handshake(tls, &mut CountedSocket::new(socket, moved, false))?;
    loop {
        let read = tls::read(tls, &mut CountedSocket::new(socket, moved, false), &mut block)?;
        if read == 0 {
            return if moved.payload == size { Ok(()) } else { Err(early_end_error(moved.payload, size)) };
        }
        if moved.payload + read as u64 > size {
            return Err(excess_data_error());
        }
        moved.messages += 1;
        write_counted(file, &block[..read], moved)?;
        moved.payload += read as u64;
    }
}

/// Receives messages, and writes them in blocks.
fn receive_messages(size: u64, message: usize, socket: &DataSocket, file: &mut File, moved: &mut MovedBytes) -> io::Result<()> {
    let mut block = AlignedBuffer::new((BLOCK_BYTES / message).max(1) * message);
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
        write_counted(file, &block[..filled], moved)?;
        moved.payload += filled as u64;
        if filled < length {
            return Err(early_end_error(moved.payload, size));
        }
    }
    Ok(())
}

fn receive_records(size: u64, socket: &DataSocket, file: &mut File, moved: &mut MovedBytes) -> io::Result<()> {
    let (mut block, mut payload) = (Vec::new(), Vec::new());
    while moved.payload < size {
        let mut header = [0; BLOCK_HEADER_BYTES];
        if socket.read_full(moved, &mut header)? < BLOCK_HEADER_BYTES {
            return Err(early_end_error(moved.payload, size));
        }
        block.resize(records::block_length(header)?, 0);
        if socket.read_full(moved, &mut block)? < block.len() {
            return Err(early_end_error(moved.payload, size));
        }
        records::unpack(&block, &mut payload)?;
        if moved.payload + payload.len() as u64 > size {
            return Err(excess_data_error());
        }
        moved.messages += 1;
        write_counted(file, &payload, moved)?;
        moved.payload += payload.len() as u64;
    }
    Ok(())
}

fn receive_by_splice(size: u64, socket: &DataSocket, file: &mut File, moved: &mut MovedBytes) -> io::Result<()> {
    let (out, into) = rustix::pipe::pipe()?;
    let pipe_bytes = rustix::pipe::fcntl_setpipe_size(&into, PIPE_BYTES).unwrap_or(BLOCK_BYTES);
    while moved.payload < size {
        let wanted = (size - moved.payload).min(pipe_bytes as u64) as usize;
        let received =
            socket.call_until_moved(moved, |fd| Ok(rustix::pipe::splice(fd, None, &into, None, wanted, SpliceFlags::MOVE)?))?;
        if received == 0 {
            return Err(early_end_error(moved.payload, size));
        }
        let mut remaining = received;
        while remaining > 0 {
            remaining -= rustix::pipe::splice(&out, None, &*file, None, remaining, SpliceFlags::MOVE)?;
            moved.calls += 1;
        }
        moved.messages += 1;
        moved.payload += received as u64;
        moved.wire += received as u64;
    }
    Ok(())
}

fn write_counted(file: &mut File, bytes: &[u8], moved: &mut MovedBytes) -> io::Result<()> {
    moved.calls += 1;
    file.write_all(bytes)
}
