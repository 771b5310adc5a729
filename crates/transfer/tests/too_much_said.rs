//! Ends that send too much: floods on either connection, and text that a terminal would obey.

use std::io::{Read, Write, copy, sink};
use std::net::TcpStream;
use std::sync::Arc;

use loadgo_transfer::client::transfer;
use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::protocol::wire::{Direction, FinalReply};

mod ends;
use ends::{ControlLine, GREETING, Server, data_connection, far_control, far_end, far_ends, order, transferred};

/// Number of bytes that is more than sockets hold.
const MUCH: u64 = 64 << 20;

/// Writes until the other end is gone.
fn flood(mut into: TcpStream) {
    while into.write_all(&[b'x'; 4096]).is_ok() {}
}

#[test]
fn a_flood_on_the_control_connection_loses_the_other_row_and_keeps_this_one() {
    let (at, far) = far_ends(GREETING, |control, mut data| {
        let received = copy(&mut data, &mut sink()).expect("all of it");
        flood(control);
        received
    });
    let both = transferred(&order(at, Direction::Send, Method::Blocks, MUCH));
    assert_eq!((both.here.broke_off, both.here.moved.payload), (None, MUCH));
    let words = both.there.expect_err("that is no row").to_string();
    assert_eq!(words, "the other end did not send its row: it does not speak the protocol of loadgo transfer");
    assert_eq!(far.join().expect("the thread ends"), Some(MUCH));
}

#[test]
fn the_server_reports_its_row_to_a_receiver_that_floods_a_connection() {
    for on_data in [true, false] {
        let server = Server::plain();
        let mut line = ControlLine::connect(server.at);
        line.send(
            r#"{"name":"loadgo transfer","version":1,"token":null,"direction":"receive","method":"blocks","message":65536,"size":67108864}"#,
        );
        let mut stream = data_connection(server.at, &line.receive_ticket());
        stream.read_exact(&mut [0; 1]).expect("it has begun");
        if on_data {
            let floods = stream.try_clone().expect("again");
            let flooding = std::thread::spawn(move || flood(floods));
            let rest = copy(&mut stream, &mut sink()).unwrap_or(0);
            assert!(rest < MUCH);
            stream.shutdown(std::net::Shutdown::Both).unwrap_or(());
            flooding.join().expect("the thread ends");
            assert!(line.receive().contains("\"payload\":67108864"), "the row has all bytes");
        } else {
            line.send(&"x".repeat(100));
            assert!(line.receive().contains("\"broke_off\":\"the other end is gone\""));
        }
        assert_eq!(transferred(&order(server.at, Direction::Send, Method::Blocks, 10)).here.broke_off, None);
    }
}

#[test]
fn control_characters_in_a_servers_texts_are_escaped() {
    let answers = [("refused", "refused: no \\u{1b}[2Jroom"), ("cannot", "not possible at")];
    for (answer, expected) in answers {
        let (at, far) = far_control(GREETING, move |mut control, _| {
            control.write_all(format!("{{\"{answer}\":\"no \\u001b[2Jroom\\u202e\"}}\n").as_bytes()).ok()
        });
        let words = transfer(&order(at, Direction::Send, Method::Blocks, 10), &Arc::default());
        let words = words.expect_err("it is refused").to_string();
        assert!(words.contains(expected) && words.contains("\\u{1b}[2Jroom\\u{202e}"), "{words:?}");
        far.join().expect("the thread ends");
    }
    let (at, far) = far_end("{\"name\":\"\\u001b]0;mine\\u0007\",\"version\":2,\"token\":false}\n", drop);
    let words =
        transfer(&order(at, Direction::Send, Method::Blocks, 10), &Arc::default()).expect_err("it is another").to_string();
    assert!(words.contains("version 2 of \\u{1b}]0;mine\\u{7},"), "{words:?}");
    far.join().expect("the thread ends");
}

#[test]
fn a_rows_text_is_escaped_and_cut() {
    let (at, far) = far_ends(GREETING, |mut control, mut data| {
        copy(&mut data, &mut sink()).expect("all of it");
        let end = EndRow { broke_off: Some(format!("\x1b[31m{}", "x".repeat(60_000))), ..EndRow::default() };
        let line = serde_json::to_string(&FinalReply { end, job: None }).expect("a line");
        control.write_all(format!("{line}\n").as_bytes()).is_ok()
    });
    let why = transferred(&order(at, Direction::Send, Method::Blocks, 10)).there.expect("a row").broke_off.expect("it broke off");
    assert!(why.starts_with("\\u{1b}[31mxx") && why.ends_with("x…") && why.len() < 1100, "{why}");
    assert_eq!(far.join().expect("the thread ends"), Some(true));
}
