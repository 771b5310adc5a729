//! A file that shrinks after its size was sent, by every method: both ends report it, and no file is kept.

use std::fs::{self, File};
use std::io::copy;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use loadgo_transfer::client::TransferOrder;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::protocol::wire::Direction;

mod ends;
use ends::{Server, available, order, transferred};

const BYTES_BEFORE: u64 = 1 << 20;
const BYTES_AFTER: u64 = 4096;

/// A relay to `server` that cuts `file` before it passes anything on. The size has been read then, and no byte is sent.
fn relay_that_cuts(server: SocketAddr, file: File) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for client in listener.incoming().take(2) {
            let (near, far) = (client.expect("a connection"), TcpStream::connect(server).expect("the server listens"));
            file.set_len(BYTES_AFTER).expect("cut");
            let (back, forth) = (near.try_clone().expect("again"), far.try_clone().expect("again"));
            thread::spawn(move || relay(far, back));
            thread::spawn(move || relay(near, forth));
        }
    });
    at
}

fn relay(mut from: TcpStream, mut into: TcpStream) {
    let _ = copy(&mut from, &mut into); // whichever end is gone, the other learns it
    let _ = into.shutdown(Shutdown::Write);
}

#[test]
fn a_file_that_is_cut_before_its_first_byte_breaks_every_method_off_at_both_ends() {
    let (file, kept) = (tempfile::NamedTempFile::new().expect("a file"), tempfile::tempdir().expect("a folder"));
    let server = Server::keeping(kept.path());
    for method in available(&Method::ALL) {
        file.as_file().set_len(BYTES_BEFORE).expect("long");
        let at = relay_that_cuts(server.at, file.reopen().expect("again"));
        let both =
            transferred(&TransferOrder { size: None, from: Some(file.path().into()), ..order(at, Direction::Send, method, 0) });
        let why = both.here.broke_off.expect("it broke off");
        assert!(why.starts_with("the file became shorter while it was sent"), "{method:?}: {why}");
        assert!(both.here.moved.payload <= BYTES_AFTER, "{method:?}");
        let there = both.there.expect("the other end's row");
        assert!(there.broke_off.is_some() && there.moved.payload <= BYTES_AFTER, "{method:?}: {there:?}");
        assert_eq!(fs::read_dir(kept.path()).expect("a folder").count(), 0, "{method:?}");
    }
}
