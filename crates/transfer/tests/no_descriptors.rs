//! A server whose process has no descriptor left: it says so, waits, and goes on. Alone in its program, whose limit it uses up.

use std::fs::File;
use std::net::TcpStream;

use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news::ServerNews;
use loadgo_transfer::protocol::wire::Direction;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

mod ends;
use ends::{PATIENCE, Server, ask, done};

#[test]
fn a_server_without_a_descriptor_says_so_and_goes_on_when_there_is_one() {
    let server = Server::plain();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).expect("lowered");
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).take(64).collect();
    taken.pop().expect("there were some");
    let guest = TcpStream::connect(server.at).expect("it listens");
    let told = server.news.recv_timeout(PATIENCE).expect("it tells");
    let words = told.server_note().expect("of itself");
    assert!(matches!(&told, ServerNews::Full(_)) && words.contains("Too many open files"), "{words}");
    drop((guest, taken));
    setrlimit(Resource::Nofile, limit).expect("as it was");
    assert_eq!(done(&ask(server.at, Direction::Send, Method::Blocks, 10)).here.moved.payload, 10);
}
