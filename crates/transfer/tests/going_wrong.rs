//! Failures between two ends: each is reported in words, and leaves a row that says how far the transfer came.

use std::fs;
use std::io::{Read, Write, copy, sink};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loadgo_transfer::bounds::{CONTROL_TIMEOUT, STOP_POLL_PERIOD, TransferLimits};
use loadgo_transfer::client::{TransferOrder, transfer};
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::moving::records::pack;
use loadgo_transfer::news::ServerNews;
use loadgo_transfer::protocol::wire::Direction;

mod ends;
use ends::{ControlLine, GREETING, PATIENCE, Server, available, data_connection, far_end, order, transferred};

/// Number of bytes that is more than sockets hold.
const MUCH: u64 = 64 << 20;
const OVER_THE_NETWORK: [Method; 8] = [
    Method::Messages,
    Method::Blocks,
    Method::Records,
    Method::Mmap,
    Method::Sendfile,
    Method::Splice,
    Method::Zerocopy,
    Method::IoUring,
];

fn impatient() -> TransferLimits {
    TransferLimits { stalled: Duration::from_millis(300), ..TransferLimits::default() }
}

#[test]
fn every_method_breaks_off_when_the_receiver_stalls() {
    // Each waits until its own time is over, so all run at once.
    std::thread::scope(|all| {
        for method in available(&OVER_THE_NETWORK) {
            all.spawn(move || breaks_off_at_a_stalled_receiver(method));
        }
    });
}

fn breaks_off_at_a_stalled_receiver(method: Method) {
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    let (at, far) = far_end(GREETING, move |data| (is_over.recv(), data).0.is_err());
    let asked = TransferOrder { bounds: impatient(), ..order(at, Direction::Send, method, MUCH) };
    let both = transferred(&asked);
    drop(over);
    let why = both.here.broke_off.expect("it broke off");
    assert_eq!(why, "nothing moved for 0.3 s", "{method:?}");
    assert!(both.here.moved.payload < MUCH, "{method:?}");
    assert!(both.there.expect_err("no row came").to_string().contains("did not send its row"), "{method:?}");
    assert_eq!(far.join().expect("the thread ends"), Some(true));
}

#[test]
fn the_server_breaks_off_when_the_sender_stalls() {
    let server = Server::within(impatient());
    let mut line = ControlLine::connect(server.at);
    line.request_to_send(9, Method::Blocks);
    let _data = data_connection(server.at, &line.receive_ticket());
    assert!(line.receive().contains("nothing moved"));
}

#[test]
fn every_method_breaks_off_when_the_receiver_goes_away() {
    for method in available(&OVER_THE_NETWORK) {
        let (at, far) = far_end(GREETING, |mut data| data.read_exact(&mut [0; 1]).is_ok());
        let both = transferred(&order(at, Direction::Send, method, MUCH));
        assert_eq!(both.here.broke_off.as_deref(), Some("the other end is gone"), "{method:?}");
        assert_eq!(far.join().expect("the thread ends"), Some(true));
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_breaks_the_transfer_off() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    for method in available(&OVER_THE_NETWORK) {
        file.as_file().set_len(MUCH).expect("long");
        let cut = file.reopen().expect("again");
        // The receiver takes one byte, which shows that the transfer has begun, and the rest after the file is cut.
        let (at, far) = far_end(GREETING, move |mut data| {
            data.read_exact(&mut [0; 1]).expect("it has begun");
            cut.set_len(4096).expect("cut");
            copy(&mut data, &mut sink()).map(|rest| rest + 1).unwrap_or(0)
        });
        let asked = TransferOrder { size: None, from: Some(file.path().into()), ..order(at, Direction::Send, method, 0) };
        let both = transferred(&asked);
        let why = both.here.broke_off.expect("it broke off");
        assert!(why.starts_with("the file became shorter while it was sent"), "{method:?}: {why}");
        let came = far.join().expect("the thread ends").expect("data came");
        assert_eq!(came, both.here.moved.wire, "{method:?}");
    }
}

#[test]
fn a_sender_of_too_few_or_too_many_bytes_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("deck");
    for method in available(&[Method::Bytes, Method::Messages, Method::Blocks, Method::Splice, Method::IoUring]) {
        for (sent, words) in [(5, "ended after 5 of 10"), (11, "sent more than was agreed")] {
            let (at, far) = far_end(GREETING, move |mut data| data.write_all(&[7; 11][..sent]).is_ok());
            let both = transferred(&TransferOrder { into: Some(into.clone()), ..order(at, Direction::Receive, method, 10) });
            let why = both.here.broke_off.expect("it broke off");
            assert!(why.contains(words), "{method:?}: {why}");
            assert_eq!(both.here.moved.payload, sent.min(10) as u64, "{method:?}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "{method:?}");
            far.join().expect("the thread ends");
        }
    }
}

#[test]
fn records_with_too_many_bytes_leave_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("deck");
    let (at, far) = far_end(GREETING, |mut data| {
        let mut block = Vec::new();
        pack(&[7; 500], &mut block);
        data.write_all(&block).is_ok()
    });
    let both = transferred(&TransferOrder { into: Some(into), ..order(at, Direction::Receive, Method::Records, 10) });
    assert!(both.here.broke_off.expect("it broke off").contains("sent more than was agreed"));
    assert_eq!(both.here.moved.payload, 0);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    far.join().expect("the thread ends");
}

#[test]
fn a_client_that_sends_single_bytes_without_end_is_refused_in_time() {
    let server = Server::plain();
    let mut slow = TcpStream::connect(server.at).expect("the server listens");
    slow.write_all(b"C").expect("sent");
    let patience = Instant::now() + PATIENCE;
    // Each byte comes before a read times out; together they are no line.
    let news = loop {
        let _ = slow.write_all(b" "); // the server may just have hung up
        match server.news.recv_timeout(STOP_POLL_PERIOD / 2) {
            Ok(news) => break news,
            Err(_) => assert!(Instant::now() < patience, "a line that never ends was waited for"),
        }
    };
    let reason = format!("it sent no message in {} s", CONTROL_TIMEOUT.as_secs());
    assert!(matches!(&news, ServerNews::Refused(_, why) if *why == reason), "{news:?}");
}

#[test]
fn garbage_instead_of_records_is_reported() {
    let (at, far) = far_end(GREETING, |mut data| data.write_all(&[1; 4096]).is_ok());
    let both = transferred(&order(at, Direction::Receive, Method::Records, 10));
    assert!(both.here.broke_off.expect("it broke off").contains("does not send blocks of records"));
    far.join().expect("the thread ends");
}

#[test]
fn garbage_instead_of_tls_or_in_a_chain_is_reported() {
    let server = Server::plain();
    for method in available(&[Method::Tls, Method::Ktls, Method::IoUring]) {
        let mut line = ControlLine::connect(server.at);
        line.request_to_send(9, method);
        let mut stream = data_connection(server.at, &line.receive_ticket());
        let _ = stream.write_all(&[b'x'; 4096]); // the server may hang up in the middle
        let _ = stream.shutdown(Shutdown::Write);
        let row = line.receive();
        assert!(row.contains("\"broke_off\":\""), "{method:?}: {row}");
    }
}

#[test]
fn a_server_goes_on_after_garbage_and_silence() {
    let server = Server::plain();
    let long = [b"C".as_slice(), &[b'x'; 200_000]].concat();
    let garbage = [&b"GET / HTTP/1.1\r\n\r\n"[..], b"C\n", b"C{\"name\":1}\n", b"D0123", &[b'D'; 33][..], &long[..]];
    for said in garbage {
        let mut stream = TcpStream::connect(server.at).expect("the server listens");
        let _ = stream.write_all(said); // the server may hang up in the middle
        let _ = stream.shutdown(Shutdown::Write);
        let news = server.news.recv_timeout(PATIENCE).expect("news of the server");
        assert!(matches!(news, ServerNews::Refused(..)), "{news:?}");
    }
    assert_eq!(transferred(&order(server.at, Direction::Send, Method::Blocks, 10)).here.broke_off, None);
}

#[test]
fn garbage_on_the_data_connection_breaks_off_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::keeping(folder.path());
    let mut line = ControlLine::connect(server.at);
    line.request_to_send(9, Method::Blocks);
    let mut stream = data_connection(server.at, &line.receive_ticket());
    stream.write_all(&[0; 100]).expect("sent");
    assert!(line.receive().contains("sent more than was agreed"));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_server_that_is_stopped_in_the_middle_leaves_no_file_and_reports_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::keeping(folder.path());
    let mut line = ControlLine::connect(server.at);
    line.request_to_send(MUCH, Method::Blocks);
    let mut stream = data_connection(server.at, &line.receive_ticket());
    stream.write_all(b"too little").expect("sent");
    let mut waits = ControlLine::connect(server.at);
    waits.request_to_send(MUCH, Method::Blocks);
    waits.receive_ticket();
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "both transfers are under way");
    let news = server.stopped();
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let stopped = news.iter().filter(|news| match news {
        ServerNews::Ended { end, .. } => end.broke_off.as_deref() == Some("it was stopped"),
        ServerNews::Refused(_, why) => why == "no data connection came",
        _ => false,
    });
    assert_eq!(stopped.count(), 2, "{news:?}");
}

#[test]
fn another_version_is_reported_at_both_ends() {
    let (at, far) = far_end("{\"name\":\"loadgo transfer\",\"version\":99,\"token\":false}\n", drop);
    let words =
        transfer(&order(at, Direction::Send, Method::Blocks, 10), &Arc::default()).expect_err("it is another").to_string();
    assert!(words.contains("speaks version 99") && words.contains("the same loadgo at both ends"), "{words}");
    far.join().expect("the thread ends");
    let server = Server::plain();
    let mut line = ControlLine::connect(server.at);
    line.send(r#"{"name":"loadgo transfer","version":99,"what":"a later version says"}"#);
    assert!(line.receive().contains("this is version 1 of loadgo transfer, not 99"));
}

#[test]
fn a_full_server_refuses_further_clients_with_the_reason() {
    let server = Server::within(TransferLimits { connections: 1, ..TransferLimits::default() });
    let mut line = ControlLine::connect(server.at);
    line.request_to_send(9, Method::Blocks);
    let _data = data_connection(server.at, &line.receive_ticket());
    let asked = order(server.at, Direction::Send, Method::Blocks, 10);
    let words = transfer(&asked, &Arc::default()).expect_err("it is refused").to_string();
    assert!(words.contains("1 transfers are under way"), "{words}");
}

#[test]
fn silent_connections_keep_nobody_out() {
    let server = Server::plain();
    let _silent: Vec<_> = (0..300).map(|_| TcpStream::connect(server.at).expect("the server listens")).collect();
    transfer(&order(server.at, Direction::Send, Method::Blocks, 10), &Arc::default()).expect("it is served");
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_at_both_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let gone = folder.path().join("gone");
    let server = Server::keeping(gone);
    let words =
        transfer(&order(server.at, Direction::Send, Method::Blocks, 10), &Arc::default()).expect_err("it is refused").to_string();
    assert!(words.contains("gone") && words.contains("No such file"), "{words}");
    let news = server.news.recv_timeout(PATIENCE).expect("news of the server");
    assert!(matches!(&news, ServerNews::Refused(_, why) if why.contains("No such file")), "{news:?}");
}
