//! Random machines that can work, with all combinations of disciplines, memories, limits and supervisors.

use crate::models::{self, SECOND, at_processors, at_store, machine, server};
use loadgo_machine::devices::{DiskSpec, DrumSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::spec::{
    Amount, BackingStore, Command, Discipline, EligibilityLimit, GetworkCharge, HeadwaySpec, InterruptCharge, LockedPath,
    Machine, Paging, Population, Replacement, Residence, Store, Supervisor, Swapping, SystemTable, TenexQueue, WhenTableFull,
};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn disciplines() -> impl Strategy<Value = Discipline> {
    prop_oneof![
        Just(Discipline::FirstCome),
        Just(Discipline::Sharing),
        (1..200u64, 0..3u64, 0..3u64).prop_map(|(q, s, d)| Discipline::RoundRobin {
            quantum_ns: q * MS,
            switch_ns: s * MS,
            dispatch_ns: d * MS
        }),
        any::<bool>().prop_map(|preemptive| Discipline::Priority { preemptive }),
        (1..100u64, 0..500u64).prop_map(|(q, rise)| Discipline::Ctss {
            quantum_ns: q * MS,
            words_per_quantum: 500,
            levels: 5,
            rise_ns: rise * MS
        }),
        (1..500u64).prop_map(|q| Discipline::Multics { first_ns: q * MS, last_ns: 2 * q * MS, most_ns: 8 * q * MS }),
        Just(Discipline::Tenex {
            queues: vec![
                TenexQueue { quantum_ns: 20 * MS, base: 1000.0, shift: 1 },
                TenexQueue { quantum_ns: 200 * MS, base: 3000.0, shift: 2 },
            ],
            credit_ns: 100 * MS,
        }),
        (1..50u64, 0..5u64, 0..2u64, any::<bool>()).prop_map(|(q, t, s, packs)| Discipline::Linux {
            slice_ns: q * MS,
            tick_ns: t * MS,
            switch_ns: s * MS,
            packs
        }),
    ]
}

fn residences() -> impl Strategy<Value = Residence> {
    let replacement = prop_oneof![Just(Replacement::Lru), Just(Replacement::Clock), Just(Replacement::Equal)];
    let paging = (20..120u32, replacement, 0.0..1.0f64, any::<bool>()).prop_map(|(frames, replacement, dirty, behind)| {
        Residence::Paging(Paging {
            frames,
            wired: 10,
            frame_words: 1024,
            replacement,
            headway: HeadwaySpec::Linear { ns_per_page: 2e5 },
            dirty,
            store: 0,
            behind: behind.then_some(BackingStore { store: 1, pages: 150 }),
        })
    });
    let swapping = any::<bool>().prop_map(|onion_skin| {
        Residence::Swapping(Swapping { words: 20_000, store: 0, first: Some(1), conditions_words: 500, onion_skin })
    });
    prop_oneof![Just(Residence::Everything), paging, swapping]
}

fn limits() -> impl Strategy<Value = EligibilityLimit> {
    prop_oneof![
        Just(EligibilityLimit::None),
        (1..5u32).prop_map(EligibilityLimit::Fixed),
        (1..5u32).prop_map(|most| EligibilityLimit::WorkingSets { most }),
        (1..5u32).prop_map(|most| EligibilityLimit::DeviceBusy { store: 0, target: 0.5, every_ns: SECOND / 10, most }),
    ]
}

fn supervisors() -> impl Strategy<Value = Supervisor> {
    (0..4u64, any::<bool>(), any::<bool>()).prop_map(|(ms, table, take)| Supervisor {
        page_fault: vec![("find".into(), ms * MS), ("write".into(), MS / 10)],
        segment_fault_ns: 2 * ms * MS,
        bound_fault_ns: ms * MS,
        device_interrupt_ns: ms * MS / 3,
        getwork_ns: ms * MS / 2,
        wall_crossing_ns: MS / 5,
        line_in_ns: ms * MS,
        line_out_ns: MS,
        process_creation_ns: 20 * MS,
        network_byte_ns: 120_000,
        network_message_ns: MS,
        message_bytes: 100,
        table: table.then_some(SystemTable {
            entries: 40,
            per_user: 15,
            full: if take { WhenTableFull::Take } else { WhenTableFull::Refuse },
        }),
        locks: Vec::new(),
        interrupt_charge: if ms % 2 == 0 { InterruptCharge::Interrupted } else { InterruptCharge::Nobody },
        getwork_charge: if ms == 3 { GetworkCharge::Nobody } else { GetworkCharge::Next },
    })
}

/// No locks, or each path under one of two locks or under none.
fn locks() -> impl Strategy<Value = Vec<(LockedPath, String)>> {
    let drawn = prop::collection::vec(0..3u8, LockedPath::ALL.len());
    prop_oneof![
        Just(Vec::new()),
        drawn.prop_map(|drawn| {
            let paths = LockedPath::ALL.iter().zip(drawn).filter(|(_, lock)| *lock > 0);
            paths.map(|((_, path), lock)| (*path, format!("lock {lock}"))).collect()
        })
    ]
}

fn commands() -> Vec<Command> {
    let edit = Command {
        cpu: AmountLaw::Exponential(5e7),
        pages: AmountLaw::Uniform(5.0, 60.0),
        common: 0.3,
        headway_factor: Some(2.5),
        cpu_when_busy: Some(0.7),
        image_words: AmountLaw::Uniform(500.0, 9_000.0),
        segment_faults: AmountLaw::Fixed(0.6),
        bound_faults: AmountLaw::Fixed(1.0),
        wall_crossings: AmountLaw::Geometric(3.0),
        lines_out: AmountLaw::Uniform(0.0, 4.0),
        line_bytes: AmountLaw::Fixed(40.0),
        line_cpu: AmountLaw::Fixed(1e6),
        line_faults: AmountLaw::Fixed(0.4),
        line_walls: AmountLaw::Fixed(6.0),
        requests: vec![(1, AmountLaw::Fixed(1.5))],
        request_correlation: Some(0.8),
        priority: 2,
        nice: 5,
        exit_status: Some(3),
        ..Command::without_work("edit")
    };
    let send = Command {
        cpu: AmountLaw::Erlang(3, 2e7),
        network_bytes: Amount::Argument(1),
        network_byte_cpu: AmountLaw::Fixed(1e4),
        network_wait: vec![(2, AmountLaw::Exponential(1e5))],
        processes: AmountLaw::Fixed(1.0),
        image_words: AmountLaw::Fixed(3_000.0),
        pages: AmountLaw::Fixed(20.0),
        ..Command::without_work("send")
    };
    let route = models::routed(
        "route",
        vec![
            at_store(2, AmountLaw::Exponential(1e7), &[(1.0, Some(1))]),
            at_processors(AmountLaw::Exponential(2e7), &[(0.4, Some(0)), (0.1, Some(1)), (0.5, None)]),
        ],
    );
    vec![edit, send, route, Command::without_work("nothing")]
}

prop_compose! {
    /// A machine of any discipline, memory, limit and supervisor, with commands that need a little of everything, and no load.
    pub fn machines()(
        discipline in disciplines(), residence in residences(), limit in limits(), supervisor in supervisors(),
        count in 1..4u32, speed in 0.3..3.0f64, locks in locks(),
    ) -> Machine {
        let drum = StoreKind::Drum(DrumSpec { revolution_ns: 33 * MS, sectors: Some(18), words_per_second: None });
        let disk = StoreKind::Disk(DiskSpec {
            seek: AmountLaw::Uniform(1e7, 6e7), revolution_ns: 25 * MS, words_per_second: 1e5, units: 3, channels: 2,
        });
        let locks = if discipline == Discipline::Sharing { Vec::new() } else { locks };
        let supervisor = Supervisor { locks, ..supervisor };
        let mut made = machine(count, discipline, Command::without_work("none"), Population::Closed(1), AmountLaw::Fixed(1e9));
        made.processors.speed = speed;
        made.stores = vec![
            Store { name: "drum".into(), kind: drum, interrupts: true },
            Store { name: "disk".into(), kind: disk, interrupts: false },
            server("io", 2),
        ];
        let swaps = matches!(residence, Residence::Swapping(_));
        made.processors.count = if swaps { 1 } else { count };
        Machine { residence, limit, supervisor, commands: commands(), load: Vec::new(), ..made }
    }
}
