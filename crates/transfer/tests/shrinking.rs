//! A file that shrinks when it has been promised, by every method that there is: told at both ends, and nothing is left there.

use std::fs::{self, File};
use std::io::copy;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use loadgo_transfer::client::TransferOrder;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::protocol::wire::Direction;

mod ends;
use ends::{Server, ask, done, possible};

const PROMISED: u64 = 1 << 20;
const THERE: u64 = 4096;

/// A road to `server` on which `file` is cut before anybody comes through: its size is known then, and no byte is sent.
fn road_that_cuts(server: SocketAddr, file: File) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for comes in listener.incoming().take(2) {
            let (near, far) = (comes.expect("it comes"), TcpStream::connect(server).expect("it listens"));
            file.set_len(THERE).expect("cut");
            let (back, forth) = (near.try_clone().expect("again"), far.try_clone().expect("again"));
            thread::spawn(move || through(far, back));
            thread::spawn(move || through(near, forth));
        }
    });
    at
}

fn through(mut from: TcpStream, mut into: TcpStream) {
    let _ = copy(&mut from, &mut into); // whichever end is gone: the other is told
    let _ = into.shutdown(Shutdown::Write);
}

#[test]
fn a_file_that_is_cut_before_its_first_byte_breaks_every_method_off_at_both_ends() {
    let (file, kept) = (tempfile::NamedTempFile::new().expect("a file"), tempfile::tempdir().expect("a folder"));
    let server = Server::keeping(kept.path());
    for method in possible(&Method::ALL) {
        file.as_file().set_len(PROMISED).expect("long");
        let at = road_that_cuts(server.at, file.reopen().expect("again"));
        let both = done(&TransferOrder { size: None, from: Some(file.path().into()), ..ask(at, Direction::Send, method, 0) });
        let why = both.here.broke_off.expect("it broke off");
        assert!(why.starts_with("the file became shorter while it was sent"), "{method:?}: {why}");
        assert!(both.here.moved.payload <= THERE, "{method:?}");
        let there = both.there.expect("it tells its row");
        assert!(there.broke_off.is_some() && there.moved.payload <= THERE, "{method:?}: {there:?}");
        assert_eq!(fs::read_dir(kept.path()).expect("a folder").count(), 0, "{method:?}");
    }
}
