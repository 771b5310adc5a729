//! Frames between a controller and its agent, and the messages in them.

use super::cuts::{in_pieces, split_byte};
use loadgo_agent::frame::{Decoder, Frame, GREETING_BYTES, Kind, WrongStream};
use loadgo_agent::message::{
    DriveAnswer, DrivingProgress, Hello, MeterAnswer, Order, ReadyAnswer, RefusalAnswer, Request, TryAnswer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A stream of frames. The first byte says whose.
pub(crate) fn feed_frames(bytes: &[u8]) {
    let (from_agent, rest) = split_byte(bytes);
    let from_agent = from_agent % 2 == 1;
    let (pieces, whole) = in_pieces(rest);
    let (frames, failure, is_between) = decoded(from_agent, &[whole]);
    assert_eq!(decoded(from_agent, &pieces), (frames.clone(), failure.clone(), is_between));
    let encoded: Vec<u8> = frames.iter().flat_map(|frame| Frame::encoded(frame.kind, &frame.body)).collect();
    let stream = match whole.windows(GREETING_BYTES.len()).position(|bytes| bytes == GREETING_BYTES) {
        Some(at) if from_agent => &whole[at + GREETING_BYTES.len()..],
        _ => whole,
    };
    assert!(stream.starts_with(&encoded) || frames.is_empty());
    assert!(!is_between || encoded.len() == stream.len());
    frames.iter().for_each(feed_message);
}

/// The frames of a stream, its failure, and whether it may end there.
fn decoded(from_agent: bool, pieces: &[&[u8]]) -> (Vec<Frame>, Option<WrongStream>, bool) {
    let mut decoder = if from_agent { Decoder::of_agent() } else { Decoder::of_controller() };
    let mut all = Vec::new();
    for piece in pieces.iter().copied().chain([&[][..]]) {
        match decoder.feed(piece) {
            Ok(frames) => all.extend(frames),
            Err(failure) => return (all, Some(failure), decoder.is_between_frames()),
        }
    }
    (all, None, decoder.is_between_frames())
}

fn feed_message(frame: &Frame) {
    match frame.kind {
        Kind::Hello => assert_reads_back::<Hello>(&frame.body),
        Kind::Request => {
            assert_reads_back::<Request>(&frame.body);
            if let Ok(Request::Drive(request)) = serde_json::from_slice(&frame.body) {
                drop(request.load.spec("run".into()));
            }
        }
        Kind::Order => assert_reads_back::<Order>(&frame.body),
        Kind::Progress => assert_reads_back::<DrivingProgress>(&frame.body),
        Kind::Refusal => assert_reads_back::<RefusalAnswer>(&frame.body),
        Kind::Answer => {
            assert_reads_back::<MeterAnswer>(&frame.body);
            assert_reads_back::<DriveAnswer>(&frame.body);
            assert_reads_back::<TryAnswer>(&frame.body);
            assert_reads_back::<ReadyAnswer>(&frame.body);
        }
        _ => {}
    }
}

/// Asserts that a message that was read is written and read again as the same.
fn assert_reads_back<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(body: &[u8]) {
    let Ok(message) = serde_json::from_slice::<T>(body) else { return };
    let written = serde_json::to_vec(&message).expect("a message is JSON");
    assert_eq!(serde_json::from_slice::<T>(&written).expect("what was written"), message);
}
