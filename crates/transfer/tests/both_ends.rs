//! A server and a client on this host, by every method and both ways.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferOrder, transfer};
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::refusal::TransferRefusal;
use loadgo_transfer::server::ServerOptions;

mod ends;
use ends::{ControlLine, Server, available, data_connection, order, server_options, transferred};

fn all_methods(size: u64) {
    let server = Server::plain();
    for direction in [Direction::Send, Direction::Receive] {
        for method in available(&Method::ALL) {
            let both = transferred(&order(server.at, direction, method, size));
            let there = both.there.expect("the other end's row");
            let rows = format!("{direction:?} {method:?}: {:?} {there:?}", both.here);
            assert_eq!(both.here.broke_off, None, "{rows}");
            assert_eq!(there.broke_off, None, "{rows}");
            assert_eq!((both.here.moved.payload, there.moved.payload), (size, size), "{rows}");
            assert_eq!(both.here.moved.wire, there.moved.wire, "{rows}");
            if !method.is_of_one_host() {
                assert_eq!(both.here.counted, Some(both.here.moved.wire), "{rows}");
                assert_eq!(there.counted, Some(there.moved.wire), "{rows}");
            }
        }
    }
}

#[test]
fn every_method_moves_every_byte_and_the_sockets_count_the_same() {
    [1, 1000, 300_001].into_iter().for_each(all_methods);
}

#[test]
fn an_empty_transfer_succeeds_by_every_method() {
    all_methods(0);
}

#[test]
fn a_received_file_equals_the_sent_one_and_has_its_final_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, kept) = (folder.path().join("from"), folder.path().join("kept"));
    let text: Vec<u8> = (0..5_000_011u32).map(|at| (at.wrapping_mul(7919) >> 3) as u8).collect();
    fs::write(&from, &text).expect("written");
    fs::create_dir(&kept).expect("a folder");
    let server = Server::keeping(kept.clone());
    for method in available(&Method::ALL).into_iter().filter(|method| *method != Method::Bytes) {
        for message in [method.default_message_bytes(), 7919] {
            let asked =
                TransferOrder { size: None, message, from: Some(from.clone()), ..order(server.at, Direction::Send, method, 0) };
            let both = transferred(&asked);
            assert_eq!(both.here.broke_off, None, "{method:?}");
            both.there.expect("the other end's row");
            let name = only(&kept);
            assert!(fs::read(&name).expect("it is there") == text, "{method:?} changed it");
            assert_eq!(name.extension(), None, "{name:?}");
            fs::remove_file(name).expect("removed");
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
    for method in available(&[Method::IoUring]) {
        let server = Server::plain();
        let both = transferred(&order(server.at, Direction::Send, method, 32 << 20));
        let (calls, messages) = (both.here.moved.calls, both.here.moved.messages);
        assert!(messages == 512 && calls < messages / 2, "{calls} calls for {messages} messages");
    }
}

#[test]
fn a_client_without_the_right_token_is_refused() {
    let server = Server::start(ServerOptions { token: Some("sesame".into()), ..server_options(TransferLimits::default()) });
    let plain = order(server.at, Direction::Send, Method::Blocks, 10);
    let asked = |token: Option<&str>| transfer(&TransferOrder { token: token.map(Into::into), ..plain.clone() }, &Arc::default());
    assert!(asked(None).expect_err("it is refused").to_string().contains("wants a token"));
    assert!(asked(Some("sesam")).expect_err("it is refused").to_string().contains("wrong"));
    assert_eq!(asked(Some("sesame")).expect("admitted").here.moved.payload, 10);
}

#[test]
fn more_bytes_than_a_transfer_may_have_are_refused() {
    let server = Server::within(TransferLimits { bytes: 99, ..TransferLimits::default() });
    let refused = transfer(&order(server.at, Direction::Receive, Method::Blocks, 100), &Arc::default());
    assert!(refused.expect_err("it is refused").to_string().contains("more than the 99"));
}

#[test]
fn the_total_of_kept_files_is_limited_and_broken_off_files_do_not_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let bounds = TransferLimits { kept: 3 * 4096, ..TransferLimits::default() };
    let server = Server::start(ServerOptions { keep_in: Some(folder.path().into()), ..server_options(bounds) });
    for _ in 0..2 {
        let mut line = ControlLine::connect(server.at);
        line.request_to_send(8192, Method::Blocks);
        data_connection(server.at, &line.receive_ticket()).write_all(b"too little").expect("sent");
        assert!(line.receive().contains("ended after 10 of 8192"));
    }
    let asked = |size: u64| transfer(&order(server.at, Direction::Send, Method::Blocks, size), &Arc::default());
    assert_eq!(asked(8192).expect("it is kept").here.broke_off, None);
    let words = asked(4097).expect_err("it is refused").to_string();
    assert!(words.contains("8192 bytes is more than the 4096 left of the 12288 that are kept here in all (--total)"), "{words}");
    assert_eq!(asked(1).expect("it is kept").here.broke_off, None);
    assert!(asked(0).is_err(), "a file of nothing takes a block too");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

#[test]
fn an_unavailable_method_is_refused_with_the_reason_and_the_server_goes_on() {
    let server = Server::plain();
    for method in Method::ALL.into_iter().filter(|method| method.unavailable_reason().is_some()) {
        let refused = transfer(&order(server.at, Direction::Send, method, 10), &Arc::default());
        let Err(refusal @ TransferRefusal::Method(..)) = refused else { panic!("{method:?}: {refused:?}") };
        assert!(refusal.to_string().starts_with(method.name()), "{refusal}");
    }
    assert_eq!(transferred(&order(server.at, Direction::Send, Method::Blocks, 10)).here.broke_off, None);
}

#[test]
fn the_first_address_that_answers_is_used() {
    let nobody = SocketAddr::from(([127, 0, 0, 1], 1)); // no port that the kernel gives to a server beside this one
    let server = Server::plain();
    let asked = |to: Vec<SocketAddr>| TransferOrder { to, ..order(server.at, Direction::Send, Method::Blocks, 10) };
    assert_eq!(transferred(&asked(vec![nobody, server.at])).here.moved.payload, 10);
    let words = transfer(&asked(vec![nobody, nobody]), &Arc::default()).expect_err("nobody is there").to_string();
    assert_eq!(words.matches("nobody listens at").count(), 2, "{words}");
    assert!(words.contains("loadgo transfer serve"), "{words}");
}
