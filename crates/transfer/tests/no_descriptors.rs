//! A server whose process has no free descriptor reports it, waits, and goes on. The test is alone in its program, because it lowers the
//! limit of the process.

use std::fs::File;
use std::net::TcpStream;

use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news::ServerNews;
use loadgo_transfer::protocol::wire::Direction;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

mod ends;
use ends::{PATIENCE, Server, order, transferred};

#[test]
fn a_server_without_a_free_descriptor_reports_it_and_goes_on_when_there_is_one() {
    let server = Server::plain();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).expect("lowered");
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).take(64).collect();
    taken.pop().expect("there were some");
    let guest = TcpStream::connect(server.at).expect("the server listens");
    let news = server.news.recv_timeout(PATIENCE).expect("news of the server");
    let words = news.server_note().expect("a note about the server");
    assert!(matches!(&news, ServerNews::Full(_)) && words.contains("Too many open files"), "{words}");
    drop((guest, taken));
    setrlimit(Resource::Nofile, limit).expect("as it was");
    assert_eq!(transferred(&order(server.at, Direction::Send, Method::Blocks, 10)).here.moved.payload, 10);
}
