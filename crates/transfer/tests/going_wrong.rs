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
use ends::{GREETING, Line, PATIENCE, Server, ask, data, done, far_end, possible};

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
fn a_receiver_that_stalls_is_left_by_every_method() {
    // Each waits for its own time to be over: all at once.
    std::thread::scope(|all| {
        for method in possible(&OVER_THE_NETWORK) {
            all.spawn(move || leaves_who_stalls(method));
        }
    });
}

fn leaves_who_stalls(method: Method) {
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    let (at, far) = far_end(GREETING, move |data| (is_over.recv(), data).0.is_err());
    let asked = TransferOrder { bounds: impatient(), ..ask(at, Direction::Send, method, MUCH) };
    let both = done(&asked);
    drop(over);
    let why = both.here.broke_off.expect("it broke off");
    assert_eq!(why, "nothing moved for 0.3 s", "{method:?}");
    assert!(both.here.moved.payload < MUCH, "{method:?}");
    assert!(both.there.expect_err("it does not tell").to_string().contains("did not send its row"), "{method:?}");
    assert_eq!(far.join().expect("it ends"), Some(true));
}

#[test]
fn a_sender_that_stalls_is_left_by_the_server() {
    let server = Server::within(impatient());
    let mut line = Line::to(server.at);
    line.asks_to_send(9, Method::Blocks);
    let _data = data(server.at, &line.hears_a_ticket());
    assert!(line.hears().contains("nothing moved"));
}

#[test]
fn a_receiver_that_goes_away_breaks_every_method_off() {
    for method in possible(&OVER_THE_NETWORK) {
        let (at, far) = far_end(GREETING, |mut data| data.read_exact(&mut [0; 1]).is_ok());
        let both = done(&ask(at, Direction::Send, method, MUCH));
        assert_eq!(both.here.broke_off.as_deref(), Some("the other end is gone"), "{method:?}");
        assert_eq!(far.join().expect("it ends"), Some(true));
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_breaks_off_in_words() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    for method in possible(&OVER_THE_NETWORK) {
        file.as_file().set_len(MUCH).expect("long");
        let cut = file.reopen().expect("again");
        // It takes one byte, which shows that the file is under way, and the rest when the file is cut.
        let (at, far) = far_end(GREETING, move |mut data| {
            data.read_exact(&mut [0; 1]).expect("it has begun");
            cut.set_len(4096).expect("cut");
            copy(&mut data, &mut sink()).map(|rest| rest + 1).unwrap_or(0)
        });
        let asked = TransferOrder { size: None, from: Some(file.path().into()), ..ask(at, Direction::Send, method, 0) };
        let both = done(&asked);
        let why = both.here.broke_off.expect("it broke off");
        assert!(why.starts_with("the file became shorter while it was sent"), "{method:?}: {why}");
        let came = far.join().expect("it ends").expect("it came to data");
        assert_eq!(came, both.here.moved.wire, "{method:?}");
    }
}

#[test]
fn a_sender_that_ends_early_or_goes_on_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("deck");
    for method in possible(&[Method::Bytes, Method::Messages, Method::Blocks, Method::Splice, Method::IoUring]) {
        for (sent, told) in [(5, "ended after 5 of 10"), (11, "sent more than was agreed")] {
            let (at, far) = far_end(GREETING, move |mut data| data.write_all(&[7; 11][..sent]).is_ok());
            let both = done(&TransferOrder { into: Some(into.clone()), ..ask(at, Direction::Receive, method, 10) });
            let why = both.here.broke_off.expect("it broke off");
            assert!(why.contains(told), "{method:?}: {why}");
            assert_eq!(both.here.moved.payload, sent.min(10) as u64, "{method:?}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "{method:?}");
            far.join().expect("it ends");
        }
    }
}

#[test]
fn records_beyond_what_was_agreed_leave_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("deck");
    let (at, far) = far_end(GREETING, |mut data| {
        let mut block = Vec::new();
        pack(&[7; 500], &mut block);
        data.write_all(&block).is_ok()
    });
    let both = done(&TransferOrder { into: Some(into), ..ask(at, Direction::Receive, Method::Records, 10) });
    assert!(both.here.broke_off.expect("it broke off").contains("sent more than was agreed"));
    assert_eq!(both.here.moved.payload, 0);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    far.join().expect("it ends");
}

#[test]
fn who_sends_a_byte_now_and_then_is_left_in_time() {
    let server = Server::plain();
    let mut slow = TcpStream::connect(server.at).expect("it listens");
    slow.write_all(b"C").expect("it hears");
    let patience = Instant::now() + PATIENCE;
    // Each byte comes before a look's time is over; together they are no line.
    let news = loop {
        let _ = slow.write_all(b" "); // it may have been left just now
        match server.news.recv_timeout(STOP_POLL_PERIOD / 2) {
            Ok(news) => break news,
            Err(_) => assert!(Instant::now() < patience, "a line that never ends was waited for"),
        }
    };
    let left = format!("it sent no message in {} s", CONTROL_TIMEOUT.as_secs());
    assert!(matches!(&news, ServerNews::Refused(_, why) if *why == left), "{news:?}");
}

#[test]
fn garbage_instead_of_records_is_told() {
    let (at, far) = far_end(GREETING, |mut data| data.write_all(&[1; 4096]).is_ok());
    let both = done(&ask(at, Direction::Receive, Method::Records, 10));
    assert!(both.here.broke_off.expect("it broke off").contains("does not send blocks of records"));
    far.join().expect("it ends");
}

#[test]
fn garbage_instead_of_tls_and_garbage_in_a_chain_are_told() {
    let server = Server::plain();
    for method in possible(&[Method::Tls, Method::Ktls, Method::IoUring]) {
        let mut line = Line::to(server.at);
        line.asks_to_send(9, method);
        let mut stream = data(server.at, &line.hears_a_ticket());
        stream.write_all(&[b'x'; 4096]).expect("it hears");
        stream.shutdown(Shutdown::Write).expect("it ends");
        let row = line.hears();
        assert!(row.contains("\"broke_off\":\""), "{method:?}: {row}");
    }
}

#[test]
fn garbage_and_silence_leave_the_server_standing() {
    let server = Server::plain();
    let long = [b"C".as_slice(), &[b'x'; 200_000]].concat();
    let garbage = [&b"GET / HTTP/1.1\r\n\r\n"[..], b"C\n", b"C{\"name\":1}\n", b"D0123", &[b'D'; 33][..], &long[..]];
    for said in garbage {
        let mut stream = TcpStream::connect(server.at).expect("it listens");
        let _ = stream.write_all(said); // it may hang up in the middle
        let _ = stream.shutdown(Shutdown::Write);
        let told = server.news.recv_timeout(PATIENCE).expect("it tells");
        assert!(matches!(told, ServerNews::Refused(..)), "{told:?}");
    }
    assert_eq!(done(&ask(server.at, Direction::Send, Method::Blocks, 10)).here.broke_off, None);
}

#[test]
fn garbage_on_the_data_connection_breaks_off_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::keeping(folder.path());
    let mut line = Line::to(server.at);
    line.asks_to_send(9, Method::Blocks);
    let mut stream = data(server.at, &line.hears_a_ticket());
    stream.write_all(&[0; 100]).expect("it hears");
    assert!(line.hears().contains("sent more than was agreed"));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_server_that_is_stopped_in_the_middle_leaves_no_file_and_tells_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::keeping(folder.path());
    let mut line = Line::to(server.at);
    line.asks_to_send(MUCH, Method::Blocks);
    let mut stream = data(server.at, &line.hears_a_ticket());
    stream.write_all(b"too little").expect("it hears");
    let mut waits = Line::to(server.at);
    waits.asks_to_send(MUCH, Method::Blocks);
    waits.hears_a_ticket();
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "both are under way");
    let told = server.stopped();
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let stopped = told.iter().filter(|news| match news {
        ServerNews::Ended { end, .. } => end.broke_off.as_deref() == Some("it was stopped"),
        ServerNews::Refused(_, why) => why == "no data connection came",
        _ => false,
    });
    assert_eq!(stopped.count(), 2, "{told:?}");
}

#[test]
fn another_version_is_told_at_both_ends() {
    let (at, far) = far_end("{\"name\":\"loadgo transfer\",\"version\":99,\"token\":false}\n", drop);
    let told = transfer(&ask(at, Direction::Send, Method::Blocks, 10), &Arc::default()).expect_err("it is another").to_string();
    assert!(told.contains("speaks version 99") && told.contains("the same loadgo at both ends"), "{told}");
    far.join().expect("it ends");
    let server = Server::plain();
    let mut line = Line::to(server.at);
    line.says(r#"{"name":"loadgo transfer","version":99,"what":"a later version says"}"#);
    assert!(line.hears().contains("this is version 1 of loadgo transfer, not 99"));
}

#[test]
fn a_server_that_is_full_tells_who_comes() {
    let server = Server::within(TransferLimits { connections: 1, ..TransferLimits::default() });
    let mut line = Line::to(server.at);
    line.asks_to_send(9, Method::Blocks);
    let _data = data(server.at, &line.hears_a_ticket());
    let asked = ask(server.at, Direction::Send, Method::Blocks, 10);
    let told = transfer(&asked, &Arc::default()).expect_err("it is refused").to_string();
    assert!(told.contains("1 transfers are under way"), "{told}");
    let _silent: Vec<_> = (0..9).map(|_| TcpStream::connect(server.at).expect("it listens")).collect();
    let told = transfer(&asked, &Arc::default()).expect_err("it is refused").to_string();
    assert!(told.contains("too many connections at once"), "{told}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told_at_both_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let gone = folder.path().join("gone");
    let server = Server::keeping(gone);
    let told =
        transfer(&ask(server.at, Direction::Send, Method::Blocks, 10), &Arc::default()).expect_err("it is refused").to_string();
    assert!(told.contains("gone") && told.contains("No such file"), "{told}");
    let news = server.news.recv_timeout(PATIENCE).expect("it tells");
    assert!(matches!(&news, ServerNews::Refused(_, why) if why.contains("No such file")), "{news:?}");
}
