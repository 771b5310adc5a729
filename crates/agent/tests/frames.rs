//! Frames: what was encoded comes out whatever the pieces, and a hostile stream costs bounded memory and ends with words.

use loadgo_agent::frame::{Decoder, Frame, GREETING_BYTES, Kind, MOST_BODY_BYTES, MOST_TEXT_BYTES, WrongStream};
use proptest::prelude::*;

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Hello,
        Kind::Beat,
        Kind::Clock,
        Kind::Origin,
        Kind::RunToml,
        Kind::Table,
        Kind::Answer,
        Kind::Refusal,
    ])
}

fn frame() -> impl Strategy<Value = Frame> {
    (kind(), prop::collection::vec(any::<u8>(), 0..300)).prop_map(|(kind, body)| Frame { kind, body })
}

/// Feeds `bytes` in pieces of these lengths, again and again. Returns the frames before a fault, and the fault.
fn feed(decoder: &mut Decoder, mut bytes: &[u8], pieces: &[usize]) -> (Vec<Frame>, Option<WrongStream>) {
    let mut frames = Vec::new();
    for length in pieces.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at(bytes.len().min(*length));
        match decoder.feed(piece) {
            Ok(complete) => frames.extend(complete),
            Err(fault) => return (frames, Some(fault)),
        }
        bytes = rest;
    }
    (frames, decoder.feed(&[]).err())
}

proptest! {
    #[test]
    fn frames_come_out_as_they_went_in_whatever_a_shell_printed_before(
        text in prop::collection::vec(any::<u8>(), 0..200),
        frames in prop::collection::vec(frame(), 0..10),
        pieces in prop::collection::vec(1..400usize, 1..8),
    ) {
        prop_assume!(!text.windows(GREETING_BYTES.len()).any(|bytes| bytes == GREETING_BYTES));
        let mut stream = [text.as_slice(), GREETING_BYTES].concat();
        frames.iter().for_each(|frame| stream.extend(Frame::encoded(frame.kind, &frame.body)));
        let mut decoder = Decoder::of_agent();
        prop_assert_eq!(feed(&mut decoder, &stream, &pieces), (frames, None));
        prop_assert!(decoder.is_between_frames());
    }

    #[test]
    fn any_bytes_are_frames_or_a_fault_that_stays(
        greeted in any::<bool>(),
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        pieces in prop::collection::vec(1..400usize, 1..8),
    ) {
        let mut decoder = if greeted { Decoder::of_controller() } else { Decoder::of_agent() };
        let (_, fault) = feed(&mut decoder, &bytes, &pieces);
        if let Some(fault) = fault {
            prop_assert_eq!(decoder.feed(b"more").unwrap_err(), fault);
            prop_assert!(!decoder.is_between_frames());
        }
    }
}

#[test]
fn a_stream_that_is_cut_within_a_frame_does_not_end_between_frames() {
    let stream = [GREETING_BYTES, &Frame::encoded(Kind::Answer, b"answer")].concat();
    for end in 0..stream.len() {
        let mut decoder = Decoder::of_agent();
        assert_eq!(decoder.feed(&stream[..end]), Ok(Vec::new()));
        assert_eq!(decoder.is_between_frames(), end == GREETING_BYTES.len(), "cut after {end} bytes");
    }
}

#[test]
fn a_frame_without_end_is_refused_at_its_head() {
    let mut decoder = Decoder::of_controller();
    let length = MOST_BODY_BYTES as u32 + 1;
    let head = [&[Kind::Table.byte()], length.to_be_bytes().as_slice()].concat();
    assert_eq!(decoder.feed(&head), Err(WrongStream::TooLong(MOST_BODY_BYTES + 1)));
    let mut largest = Decoder::of_controller();
    assert_eq!(largest.feed(&Frame::encoded(Kind::Table, &vec![7; MOST_BODY_BYTES])).unwrap().len(), 1);
}

#[test]
fn text_without_end_is_refused_and_its_beginning_is_shown() {
    let mut decoder = Decoder::of_agent();
    assert_eq!(decoder.feed(b"Welcome to login1!\n"), Ok(Vec::new()));
    assert_eq!(decoder.text_before_greeting(), "Welcome to login1!");
    let fault = decoder.feed(&vec![b'x'; 2 * MOST_TEXT_BYTES]).unwrap_err();
    assert!(matches!(&fault, WrongStream::NoGreeting(text) if text.starts_with("Welcome to login1!")), "{fault}");
}

#[test]
fn the_text_before_the_greeting_may_be_as_long_as_is_promised() {
    let text = vec![b'x'; MOST_TEXT_BYTES];
    let mut decoder = Decoder::of_agent();
    assert_eq!(decoder.feed(&text), Ok(Vec::new()));
    assert_eq!(decoder.feed(GREETING_BYTES), Ok(Vec::new()));
    assert!(decoder.is_between_frames());
    let too_long = vec![b'x'; MOST_TEXT_BYTES + GREETING_BYTES.len() + 1];
    assert!(Decoder::of_agent().feed(&too_long).is_err());
}

#[test]
fn frames_before_a_fault_count() {
    let mut decoder = Decoder::of_controller();
    let stream = [Frame::encoded(Kind::Beat, b""), b"?".to_vec(), vec![0; 10]].concat();
    assert_eq!(decoder.feed(&stream).unwrap(), [Frame { kind: Kind::Beat, body: Vec::new() }]);
    assert_eq!(decoder.feed(b""), Err(WrongStream::UnknownKind(b'?')));
}
