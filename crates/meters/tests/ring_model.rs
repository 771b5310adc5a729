//! A model check of the ring that the driver's thread writes to: loom tries all interleavings that the memory model allows.

#[path = "../src/accounts/ring.rs"]
mod ring;

/// loom's atomics for the ring.
mod sync {
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
}

use ring::{Message, Receiver};

fn message(number: u64) -> Message {
    [number, number << 20, number << 40]
}

/// Takes the messages in the ring, and checks that each is complete and in order.
fn take_in_order(receiver: &mut Receiver, next: &mut u64) {
    while let Some(taken) = receiver.take() {
        assert_eq!(taken, message(*next), "each message arrives complete and once, in the order of sending");
        *next += 1;
    }
}

#[test]
fn every_message_arrives_complete_and_in_order() {
    loom::model(|| {
        let (mut sender, mut receiver) = ring::ring(2);
        let sending = loom::thread::spawn(move || {
            (1..=3).for_each(|number| sender.send(message(number)));
            sender
        });
        let mut next = 1;
        take_in_order(&mut receiver, &mut next);
        let mut sender = sending.join().unwrap();
        take_in_order(&mut receiver, &mut next);
        sender.send(message(4)); // takes the backlog along
        take_in_order(&mut receiver, &mut next);
        assert_eq!((next, sender.backlog()), (5, 0));
    });
}

#[test]
fn a_sender_does_not_wait_for_the_receiver() {
    loom::model(|| {
        let (mut sender, mut receiver) = ring::ring(2);
        let sending = loom::thread::spawn(move || {
            (1..=5).for_each(|number| sender.send(message(number)));
            sender
        });
        let mut next = 1;
        if let Some(taken) = receiver.take() {
            assert_eq!(taken, message(1));
            next += 1;
        }
        let mut sender = sending.join().unwrap();
        assert!(sender.backlog() >= 2, "the ring holds two, and at most one was taken");
        take_in_order(&mut receiver, &mut next);
        sender.send(message(6));
        take_in_order(&mut receiver, &mut next);
        sender.send(message(7));
        take_in_order(&mut receiver, &mut next);
        sender.send(message(8));
        take_in_order(&mut receiver, &mut next);
        assert_eq!((next, sender.backlog()), (9, 0));
    });
}

#[test]
fn without_a_receiver_messages_are_discarded() {
    loom::model(|| {
        let (mut sender, receiver) = ring::ring(1);
        let leaving = loom::thread::spawn(move || drop(receiver));
        (1..=3).for_each(|number| sender.send(message(number)));
        leaving.join().unwrap();
        sender.send(message(4));
        assert_eq!(sender.backlog(), 0);
    });
}
