//! Devices: traced cases, means against their laws, and conservation of requests over random sequences.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_machine::devices::{BulkSpec, Completion, Device, DeviceRequest, DiskSpec, DrumSpec, ServerSpec, Storage, StoreKind};
use loadgo_machine::draw::AmountLaw;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn stream() -> RandomStream {
    RandomStream::new(7, 0, StreamPurpose::Work)
}

fn request(id: u32, words: u64) -> DeviceRequest {
    DeviceRequest { id, words, service_ns: None, write: false }
}

fn firehose() -> StoreKind {
    StoreKind::Drum(DrumSpec { revolution_ns: 36 * MS, sectors: Some(18), words_per_second: None })
}

/// Completes what is due first; whose it was, and when.
fn next(device: &mut Storage, due: &mut BinaryHeap<Reverse<(u64, u32)>>, stream: &mut RandomStream) -> Option<(u32, u64)> {
    loop {
        let Reverse((now, server)) = due.pop()?;
        let (done, more) = device.complete(server, now, stream);
        due.extend(more.map(|Completion { server, at }| Reverse((at, server))));
        if let Some(done) = done {
            return Some((done.id, now));
        }
    }
}

#[test]
fn a_server_takes_requests_in_the_order_of_coming() {
    let mut device = Storage::new(&StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(10.0), servers: 2 }));
    let stream = &mut stream();
    assert_eq!(device.submit(request(1, 0), 0, stream), Some(Completion { server: 0, at: 10 }));
    assert_eq!(device.submit(request(2, 0), 4, stream), Some(Completion { server: 1, at: 14 }));
    assert_eq!(device.submit(request(3, 0), 5, stream), None);
    assert_eq!(device.load(), 3);
    assert_eq!(device.busy_ns(8), 8 + 4);
    assert_eq!(device.complete(0, 10, stream), (Some(request(1, 0)), Some(Completion { server: 0, at: 20 })));
    assert_eq!(device.complete(1, 14, stream), (Some(request(2, 0)), None));
    assert_eq!(device.complete(0, 20, stream), (Some(request(3, 0)), None));
    assert_eq!((device.load(), device.busy_ns(99)), (0, 30));
}

#[test]
fn nobody_waits_for_a_delay_and_a_drawn_service_is_kept() {
    let mut device = Storage::new(&StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(10.0), servers: u32::MAX }));
    for id in 0..100 {
        let asked = DeviceRequest { service_ns: Some(1000 - u64::from(id)), ..request(id, 0) };
        let due = device.submit(asked, 5, &mut stream()).unwrap();
        assert_eq!(due, Completion { server: id, at: 1005 - u64::from(id) });
    }
    assert_eq!(device.busy_ns(15), 1000);
}

#[test]
fn a_sector_is_done_when_it_has_next_passed() {
    let mut device = Storage::new(&firehose());
    let stream = &mut stream();
    for id in 0..1000 {
        let now = u64::from(id) * 1_000_000_007;
        let due = device.submit(request(id, 1024), now, stream).unwrap();
        assert_eq!(due.at % (36 * MS), (u64::from(due.server) + 1) * 2 * MS % (36 * MS), "the sector has just passed");
        assert!((now + 2 * MS..now + 38 * MS).contains(&due.at), "at the first time that it comes by as a whole");
        assert_eq!(device.complete(due.server, due.at, stream), (Some(request(id, 1024)), None));
    }
    assert_eq!(device.busy_ns(u64::MAX), 2000 * MS, "a transfer takes a sector's time");
}

#[test]
fn a_sector_serves_one_request_a_revolution_and_others_pass_meanwhile() {
    let mut device = Storage::new(&firehose());
    let (stream, mut due) = (&mut stream(), BinaryHeap::new());
    for id in 0..1800 {
        due.extend(device.submit(request(id, 1024), 0, stream).map(|Completion { server, at }| Reverse((at, server))));
    }
    assert_eq!(due.len(), 18, "each sector has one request under way");
    let mut last_of_sector = [None; 18];
    let mut last = 0;
    while let Some(Reverse((at, server))) = due.pop() {
        if let Some(before) = last_of_sector[server as usize].replace(at) {
            assert_eq!(at - before, 36 * MS);
        }
        last = at;
        due.extend(device.complete(server, at, stream).1.map(|Completion { server, at }| Reverse((at, server))));
        assert!(device.busy_ns(at) <= at, "the heads read one page at a time");
    }
    assert_eq!((device.load(), device.busy_ns(last)), (0, 1800 * 2 * MS));
}

#[test]
fn an_idle_drum_makes_one_wait_half_a_revolution() {
    let mut device = Storage::new(&firehose());
    let stream = &mut stream();
    let mut waited = 0;
    for id in 0..20_000 {
        let now = u64::from(id) * 100 * MS + (stream.unit() * 36e6) as u64;
        let due = device.submit(request(id, 1024), now, stream).unwrap();
        waited += due.at - 2 * MS - now;
        device.complete(due.server, due.at, stream);
    }
    let mean = waited as f64 / 20_000.0;
    let error = 36e6 / 12f64.sqrt() / 20_000f64.sqrt();
    assert!((mean - 18e6).abs() < 4.0 * error, "{mean}");
}

#[test]
fn a_ctss_program_takes_75_ms_each_way() {
    let kind = StoreKind::Drum(DrumSpec { revolution_ns: 17_200_000, sectors: None, words_per_second: Some(33_800.0) });
    let mut device = Storage::new(&kind);
    let stream = &mut stream();
    let mut sum = 0;
    for id in 0..20_000 {
        let due = device.submit(request(id, 2241), sum, stream).unwrap();
        let took = due.at - sum;
        assert!((66_301_775..66_301_776 + 17_200_000).contains(&took), "{took}: the transfer, and at most a revolution");
        sum = due.at;
        device.complete(0, sum, stream);
    }
    let mean = sum as f64 / 20_000.0;
    assert!((mean - 74.9e6).abs() < 4.0 * 17.2e6 / 12f64.sqrt() / 20_000f64.sqrt(), "{mean}");
}

#[test]
fn a_bulk_store_takes_the_same_time_for_every_page() {
    let mut device = Storage::new(&StoreKind::Bulk(BulkSpec { access_ns: 384_000, words_per_second: None, channels: 1 }));
    assert_eq!(device.submit(request(1, 1024), 0, &mut stream()).unwrap().at, 384_000);
    let mut device = Storage::new(&StoreKind::Bulk(BulkSpec { access_ns: 4_000, words_per_second: Some(1e6), channels: 2 }));
    assert_eq!(device.submit(request(1, 1024), 10, &mut stream()).unwrap().at, 10 + 4_000 + 1_024_000);
}

fn disk(units: u32, channels: u32) -> Storage {
    let seek = AmountLaw::Fixed(30e6);
    Storage::new(&StoreKind::Disk(DiskSpec { seek, revolution_ns: 1, words_per_second: 1e6, units, channels }))
}

#[test]
fn a_disk_seeks_without_its_channel_and_nobody_is_told() {
    let mut device = disk(1, 1);
    let stream = &mut stream();
    assert_eq!(device.submit(request(1, 10_000), 5, stream), Some(Completion { server: 0, at: 5 + 30 * MS }));
    assert_eq!(device.busy_ns(5 + 30 * MS), 0);
    let (nobody, due) = device.complete(0, 5 + 30 * MS, stream);
    let at = due.unwrap().at;
    assert_eq!(nobody, None);
    assert!((5 + 40 * MS..=6 + 40 * MS).contains(&at), "{at}");
    assert_eq!(device.busy_ns(5 + 35 * MS), 5 * MS);
    assert_eq!(device.complete(0, at, stream), (Some(request(1, 10_000)), None));
}

#[test]
fn units_seek_at_once_and_share_a_channel_in_the_order_of_their_seeks() {
    let mut device = disk(1000, 1);
    let (stream, mut due) = (&mut stream(), BinaryHeap::new());
    for id in 0..4 {
        due.extend(device.submit(request(id, 10_000), u64::from(id), stream).map(|due| Reverse((due.at, due.server))));
    }
    assert_eq!(due.len(), 4, "with this seed on four units");
    for id in 0..4 {
        let (done, at) = next(&mut device, &mut due, stream).unwrap();
        assert_eq!(done, id);
        let expected = 30 * MS + u64::from(id + 1) * 10 * MS;
        assert!((expected..=expected + 4).contains(&at), "{at}: a transfer after the other");
    }
    assert!(device.busy_ns(70 * MS + 9) >= 40 * MS);
}

fn kinds() -> impl Strategy<Value = StoreKind> {
    prop_oneof![
        (1..4u32).prop_map(|servers| StoreKind::Server(ServerSpec { service: AmountLaw::Exponential(1e6), servers })),
        (1..20u32).prop_map(|n| StoreKind::Drum(DrumSpec {
            revolution_ns: 33 * MS + 1,
            sectors: Some(n),
            words_per_second: None
        })),
        Just(StoreKind::Drum(DrumSpec { revolution_ns: 17 * MS, sectors: None, words_per_second: Some(33_800.0) })),
        (1..4u32).prop_map(|channels| StoreKind::Bulk(BulkSpec { access_ns: 384_000, words_per_second: Some(1e6), channels })),
        (1..5u32, 1..5u32).prop_map(|(units, channels)| StoreKind::Disk(DiskSpec {
            seek: AmountLaw::Exponential(20e6),
            revolution_ns: 25 * MS,
            words_per_second: 1e5,
            units,
            channels,
        })),
    ]
}

/// Runs requests through a device: in which order and when they were done.
fn run(kind: &StoreKind, gaps: &[u64]) -> Vec<(u32, u64)> {
    let (mut device, mut due, mut done) = (Storage::new(kind), BinaryHeap::new(), Vec::new());
    let (stream, mut now, mut busy) = (&mut stream(), 0, 0);
    for (id, gap) in gaps.iter().enumerate() {
        now += gap;
        while due.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            let Reverse((at, server)) = due.pop().unwrap();
            let (finished, more) = device.complete(server, at, stream);
            done.extend(finished.map(|finished| (finished.id, at)));
            due.extend(more.map(|more| Reverse((more.at, more.server))));
        }
        due.extend(device.submit(request(id as u32, 512), now, stream).map(|due| Reverse((due.at, due.server))));
        assert_eq!(device.load(), id + 1 - done.len(), "what has come and is not done is here");
        let before = std::mem::replace(&mut busy, device.busy_ns(now));
        assert!(busy >= before && busy - before <= gap.saturating_mul(u64::from(device.servers())), "busy no more than time");
    }
    while let Some(one) = next(&mut device, &mut due, stream) {
        done.push(one);
    }
    assert_eq!(device.load(), 0);
    done
}

proptest! {
    #[test]
    fn every_request_is_done_once_after_it_came(kind in kinds(), gaps in prop::collection::vec(0..40 * MS, 1..120)) {
        let done = run(&kind, &gaps);
        let came: Vec<u64> = gaps.iter().scan(0, |now, gap| { *now += gap; Some(*now) }).collect();
        prop_assert!(done.iter().all(|(id, at)| *at >= came[*id as usize]));
        prop_assert!(done.windows(2).all(|two| two[0].1 <= two[1].1));
        let mut ids: Vec<u32> = done.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..gaps.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(run(&kind, &gaps), done, "the same seed, the same times");
    }
}
