//! A server and a client on this host, by every method and both ways.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferOrder, transfer};
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::refusal::TransferRefusal;
use loadgo_transfer::server::ServerOptions;

mod ends;
use ends::{Line, Server, ask, data, done, possible, serving};

fn all_methods(size: u64) {
    let server = Server::plain();
    for direction in [Direction::Send, Direction::Receive] {
        for method in possible(&Method::ALL) {
            let both = done(&ask(server.at, direction, method, size));
            let there = both.there.expect("it tells its row");
            let told = format!("{direction:?} {method:?}: {:?} {there:?}", both.here);
            assert_eq!(both.here.broke_off, None, "{told}");
            assert_eq!(there.broke_off, None, "{told}");
            assert_eq!((both.here.moved.payload, there.moved.payload), (size, size), "{told}");
            assert_eq!(both.here.moved.wire, there.moved.wire, "{told}");
            if !method.is_of_one_host() {
                assert_eq!(both.here.counted, Some(both.here.moved.wire), "{told}");
                assert_eq!(there.counted, Some(there.moved.wire), "{told}");
            }
        }
    }
}

#[test]
fn every_method_moves_every_byte_and_the_sockets_count_the_same() {
    [1, 1000, 300_001].into_iter().for_each(all_methods);
}

#[test]
fn a_transfer_of_nothing_is_one() {
    all_methods(0);
}

#[test]
fn a_file_comes_over_as_it_is_and_has_its_name_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, kept) = (folder.path().join("from"), folder.path().join("kept"));
    let text: Vec<u8> = (0..5_000_011u32).map(|at| (at.wrapping_mul(7919) >> 3) as u8).collect();
    fs::write(&from, &text).expect("written");
    fs::create_dir(&kept).expect("a folder");
    let server = Server::keeping(kept.clone());
    for method in possible(&Method::ALL).into_iter().filter(|method| *method != Method::Bytes) {
        for message in [method.default_message_bytes(), 7919] {
            let asked =
                TransferOrder { size: None, message, from: Some(from.clone()), ..ask(server.at, Direction::Send, method, 0) };
            let both = done(&asked);
            assert_eq!(both.here.broke_off, None, "{method:?}");
            both.there.expect("it tells its row");
            let name = only(&kept);
            assert!(fs::read(&name).expect("it is there") == text, "{method:?} changed it");
            assert_eq!(name.extension(), None, "{name:?}");
            fs::remove_file(name).expect("it is ours");
        }
    }
}

fn only(folder: &Path) -> PathBuf {
    let mut names: Vec<_> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names.remove(0)
}

#[test]
fn a_chain_of_calls_is_one_system_call() {
    for method in possible(&[Method::IoUring]) {
        let server = Server::plain();
        let both = done(&ask(server.at, Direction::Send, method, 32 << 20));
        let (calls, messages) = (both.here.moved.calls, both.here.moved.messages);
        assert!(messages == 512 && calls < messages / 2, "{calls} calls for {messages} messages");
    }
}

#[test]
fn who_has_not_the_token_is_refused_in_words() {
    let server = Server::start(ServerOptions { token: Some("sesame".into()), ..serving(TransferLimits::default()) });
    let plain = ask(server.at, Direction::Send, Method::Blocks, 10);
    let asked = |token: Option<&str>| transfer(&TransferOrder { token: token.map(Into::into), ..plain.clone() }, &Arc::default());
    assert!(asked(None).expect_err("it is refused").to_string().contains("wants a token"));
    assert!(asked(Some("sesam")).expect_err("it is refused").to_string().contains("wrong"));
    assert_eq!(asked(Some("sesame")).expect("it is let in").here.moved.payload, 10);
}

#[test]
fn more_than_is_allowed_is_refused_in_words() {
    let server = Server::within(TransferLimits { bytes: 99, ..TransferLimits::default() });
    let told = transfer(&ask(server.at, Direction::Receive, Method::Blocks, 100), &Arc::default());
    assert!(told.expect_err("it is refused").to_string().contains("more than the 99"));
}

#[test]
fn all_files_that_are_kept_are_bounded_together_and_what_broke_off_is_not_among_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let bounds = TransferLimits { kept: 3 * 4096, ..TransferLimits::default() };
    let server = Server::start(ServerOptions { keep_in: Some(folder.path().into()), ..serving(bounds) });
    for _ in 0..2 {
        let mut line = Line::to(server.at);
        line.asks_to_send(8192, Method::Blocks);
        data(server.at, &line.hears_a_ticket()).write_all(b"too little").expect("it hears");
        assert!(line.hears().contains("ended after 10 of 8192"));
    }
    let asked = |size: u64| transfer(&ask(server.at, Direction::Send, Method::Blocks, size), &Arc::default());
    assert_eq!(asked(8192).expect("it is kept").here.broke_off, None);
    let told = asked(4097).expect_err("it is refused").to_string();
    assert!(told.contains("8192 bytes is more than the 4096 left of the 12288 that are kept here in all (--total)"), "{told}");
    assert_eq!(asked(1).expect("it is kept").here.broke_off, None);
    assert!(asked(0).is_err(), "a file of nothing takes a block too");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

#[test]
fn a_method_that_is_not_possible_says_why_and_the_server_stands() {
    let server = Server::plain();
    for method in Method::ALL.into_iter().filter(|method| method.unavailable_reason().is_some()) {
        let told = transfer(&ask(server.at, Direction::Send, method, 10), &Arc::default());
        let Err(refusal @ TransferRefusal::Method(..)) = told else { panic!("{method:?}: {told:?}") };
        assert!(refusal.to_string().starts_with(method.name()), "{refusal}");
    }
    assert_eq!(done(&ask(server.at, Direction::Send, Method::Blocks, 10)).here.broke_off, None);
}

#[test]
fn of_the_addresses_that_a_name_has_the_one_that_answers_is_taken() {
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let server = Server::plain();
    let asked = |to: Vec<SocketAddr>| TransferOrder { to, ..ask(server.at, Direction::Send, Method::Blocks, 10) };
    assert_eq!(done(&asked(vec![nobody, server.at])).here.moved.payload, 10);
    let told = transfer(&asked(vec![nobody, nobody]), &Arc::default()).expect_err("nobody is there").to_string();
    assert_eq!(told.matches("nobody listens at").count(), 2, "{told}");
    assert!(told.contains("loadgo transfer serve"), "{told}");
}
