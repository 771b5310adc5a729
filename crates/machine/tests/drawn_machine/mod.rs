//! Random machines, with everything that a machine file can describe.

use loadgo_machine::devices::{BulkSpec, DiskSpec, DrumSpec, ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::spec::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const STORES: usize = 3;
const COMMANDS: usize = 3;

fn ns() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..10, 1_000u64..1_000_000_000_000, 0u64..36_000_000_000_000_000]
}

fn positive_ns() -> impl Strategy<Value = u64> {
    ns().prop_map(|ns| ns + 1)
}

/// Numbers over 0, whole or with a fraction.
fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![(1u32..100_000).prop_map(f64::from), 1e-3f64..1e9, 1e-3f64..1e15]
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0]
}

/// A law; with `numbers`, it may be geometric, which a law of times cannot.
fn law(numbers: bool) -> impl Strategy<Value = AmountLaw> {
    let simple = prop_oneof![
        Just(AmountLaw::ZERO),
        amount().prop_map(AmountLaw::Fixed),
        (amount(), amount()).prop_map(|(low, more)| AmountLaw::Uniform(low, low + more)),
        amount().prop_map(AmountLaw::Exponential),
        (amount(), amount()).prop_map(|(mean, deviation)| AmountLaw::LogNormal(mean, deviation)),
        (1u32..1000, amount()).prop_map(|(stages, mean)| AmountLaw::Erlang(stages, mean)),
        (amount(), 1.001f64..50.0).prop_map(|(mean, scv)| AmountLaw::Hyperexponential(mean, scv)),
        (amount(), 1.001f64..50.0).prop_map(|(mean, index)| AmountLaw::Pareto(mean, index)),
        (1.0f64..1e6).prop_map(move |mean| if numbers { AmountLaw::Geometric(mean) } else { AmountLaw::Fixed(mean) }),
        vec(amount(), 1..5).prop_map(AmountLaw::Empirical),
    ];
    let bound = (prop_oneof![Just(0.0), amount()], prop_oneof![Just(f64::INFINITY), amount()]);
    (simple, option::of(bound)).prop_map(|(law, bound)| match bound {
        Some((least, more)) => AmountLaw::Bounded(Box::new(law), least, least + more),
        None => law,
    })
}

fn discipline() -> impl Strategy<Value = Discipline> {
    let queue = (positive_ns(), -1e6f64..1e6, 0u32..64);
    let queue = queue.prop_map(|(quantum_ns, base, shift)| TenexQueue { quantum_ns, base, shift });
    prop_oneof![
        Just(Discipline::FirstCome),
        Just(Discipline::Sharing),
        (positive_ns(), ns(), ns()).prop_map(|(quantum_ns, switch_ns, dispatch_ns)| Discipline::RoundRobin {
            quantum_ns,
            switch_ns,
            dispatch_ns
        }),
        any::<bool>().prop_map(|preemptive| Discipline::Priority { preemptive }),
        (positive_ns(), 1u64..1 << 30, 1u32..33, ns()).prop_map(|(quantum_ns, words_per_quantum, levels, rise_ns)| {
            Discipline::Ctss { quantum_ns, words_per_quantum, levels, rise_ns }
        }),
        (positive_ns(), positive_ns(), positive_ns()).prop_map(|(first_ns, last_ns, most_ns)| Discipline::Multics {
            first_ns,
            last_ns,
            most_ns
        }),
        (vec(queue, 1..5), ns()).prop_map(|(queues, credit_ns)| Discipline::Tenex { queues, credit_ns }),
        (positive_ns(), ns(), ns(), any::<bool>()).prop_map(|(slice_ns, tick_ns, switch_ns, packs)| Discipline::Linux {
            slice_ns,
            tick_ns,
            switch_ns,
            packs
        }),
    ]
}

fn processors() -> impl Strategy<Value = ProcessorSpec> {
    (1u32..65_535, amount(), option::of(amount()), discipline(), option::of(0.01f64..100.0)).prop_map(
        |(count, speed, instructions_per_second, discipline, cpu_when_busy)| ProcessorSpec {
            count,
            speed,
            instructions_per_second,
            discipline,
            cpu_when_busy,
        },
    )
}

fn headway() -> impl Strategy<Value = HeadwaySpec> {
    prop_oneof![
        amount().prop_map(|ns_per_page| HeadwaySpec::Linear { ns_per_page }),
        (amount(), amount()).prop_map(|(b_ns, c_pages)| HeadwaySpec::Chamberlin { b_ns, c_pages }),
        vec((1u32..100, amount()), 1..5).prop_map(|steps| {
            let (mut pages, mut ns) = (0.0, 0.0);
            let rising = steps.into_iter().map(|(more, later)| {
                (pages, ns) = (pages + f64::from(more), ns + later);
                (pages, ns)
            });
            HeadwaySpec::Curve(rising.collect())
        }),
    ]
}

/// A residence, with a multiprogramming limit that it allows.
fn memory() -> impl Strategy<Value = (Residence, EligibilityLimit)> {
    let paging = (2u32..5000, 0u32..5000, 1u32..4096, headway(), share(), 0..STORES, option::of((0..STORES, 1u32..9999)), 0..3);
    let paging = paging.prop_map(|(frames, wired, frame_words, headway, dirty, store, behind, who)| {
        let replacement = [Replacement::Lru, Replacement::Clock, Replacement::Equal][who as usize];
        let behind = behind.map(|(store, pages)| BackingStore { store, pages });
        Paging { frames, wired: wired % frames, frame_words, replacement, headway, dirty, store, behind }
    });
    let swapping = (1u64..1 << 40, 0..STORES, option::of(0..STORES), 0u64..1 << 40, any::<bool>());
    let swapping = swapping.prop_map(|(more, store, first, conditions_words, onion_skin)| {
        // Room for every bounded program that is drawn.
        Residence::Swapping(Swapping { words: (1 << 20) + more, store, first, conditions_words, onion_skin })
    });
    let busy = (0..STORES, 0.001f64..1.0, positive_ns(), 1u32..999);
    let limit = prop_oneof![
        Just(EligibilityLimit::None),
        (1u32..999).prop_map(EligibilityLimit::Fixed),
        busy.prop_map(|(store, target, every_ns, most)| EligibilityLimit::DeviceBusy { store, target, every_ns, most }),
    ];
    let paged = (paging, limit, 1u32..999).prop_map(|(paging, limit, most)| match paging.replacement {
        Replacement::Equal => (Residence::Paging(paging), EligibilityLimit::Fixed(1)),
        Replacement::Clock => (Residence::Paging(paging), EligibilityLimit::WorkingSets { most }),
        Replacement::Lru => (Residence::Paging(paging), limit),
    });
    prop_oneof![
        (1u32..99).prop_map(|limit| (Residence::Everything, EligibilityLimit::Fixed(limit))),
        (swapping, Just(EligibilityLimit::None)),
        paged
    ]
}

fn store_kind() -> impl Strategy<Value = StoreKind> {
    let servers = prop_oneof![Just(u32::MAX), 1u32..99];
    prop_oneof![
        (law(false), servers).prop_map(|(service, servers)| StoreKind::Server(ServerSpec { service, servers })),
        (99u64..1 << 40, option::of(1u32..99), option::of(amount())).prop_map(|(revolution_ns, sectors, rate)| {
            StoreKind::Drum(DrumSpec { revolution_ns, sectors, words_per_second: rate.filter(|_| sectors.is_none()) })
        }),
        (ns(), option::of(amount()), 1u32..99).prop_map(|(access_ns, words_per_second, channels)| StoreKind::Bulk(BulkSpec {
            access_ns,
            words_per_second,
            channels
        })),
        (law(false), positive_ns(), amount(), 1u32..99, 1u32..99).prop_map(
            |(seek, revolution_ns, words_per_second, units, channels)| StoreKind::Disk(DiskSpec {
                seek,
                revolution_ns,
                words_per_second,
                units,
                channels
            })
        ),
    ]
}

fn supervisor() -> impl Strategy<Value = Supervisor> {
    let steps = prop_oneof![
        Just(Vec::new()),
        ns().prop_map(|ns| vec![("page fault".to_string(), ns)]),
        (ns(), ns()).prop_map(|(find, read)| vec![("which page".to_string(), find), ("b \"quoted\" step".to_string(), read)]),
    ];
    let table = (1u32..999, 0u32..99, any::<bool>()).prop_map(|(per_user, more, take)| SystemTable {
        entries: per_user + more,
        per_user,
        full: if take { WhenTableFull::Take } else { WhenTableFull::Refuse },
    });
    let charges = (
        prop_oneof![Just(InterruptCharge::Nobody), Just(InterruptCharge::Interrupted)],
        prop_oneof![Just(GetworkCharge::Next), Just(GetworkCharge::Nobody)],
        vec(option::of(prop_oneof![Just("paging".to_string()), Just("a \"lock\"".to_string())]), 6).prop_map(|names| {
            let paths = LockedPath::ALL.iter().zip(names);
            paths.filter_map(|((_, path), name)| name.map(|name| (*path, name))).collect()
        }),
    );
    let drawn = (steps, vec(ns(), 10), 0u32..9999, option::of(table), charges);
    drawn.prop_map(|(page_fault, costs, message_bytes, table, (interrupt_charge, getwork_charge, locks))| Supervisor {
        page_fault,
        segment_fault_ns: costs[0],
        bound_fault_ns: costs[1],
        device_interrupt_ns: costs[2],
        getwork_ns: costs[3],
        wall_crossing_ns: costs[4],
        line_in_ns: costs[5],
        line_out_ns: costs[6],
        process_creation_ns: costs[7],
        network_byte_ns: costs[8],
        network_message_ns: if message_bytes > 0 { costs[9] } else { 0 },
        message_bytes,
        table,
        locks,
        interrupt_charge,
        getwork_charge,
    })
}

/// A route whose last stage ends it, and in which each stage leads to the next.
fn route() -> impl Strategy<Value = Route> {
    vec((option::of(0..STORES), law(false), any::<bool>()), 1..4).prop_map(|stages| {
        let last = stages.len() - 1;
        let stage = |(index, (store, service, back)): (usize, (Option<usize>, AmountLaw, bool))| {
            let on = Some(index + 1).filter(|next| *next <= last);
            let then = if back { vec![(0.25, Some(0)), (0.75, on)] } else { vec![(1.0, on)] };
            RouteStage { store, service, then }
        };
        Route { stages: stages.into_iter().enumerate().map(stage).collect() }
    })
}

fn command() -> impl Strategy<Value = Command> {
    let bytes = prop_oneof![law(true).prop_map(Amount::Drawn), (1u32..9).prop_map(Amount::Argument)];
    let requests = option::of((0..STORES, law(true))).prop_map(|request| request.into_iter().collect::<Vec<_>>());
    let waits = option::of((0..STORES, law(false))).prop_map(|wait| wait.into_iter().collect::<Vec<_>>());
    let standing = (0u32..99, -20i32..20, option::of(any::<u8>()), "[a-zé\"' ]{0,3}");
    let image = (0u32..1000, 0u32..1 << 19).prop_map(|(low, more)| AmountLaw::Uniform(f64::from(low), f64::from(low + more)));
    let needs = (
        (law(false), option::of(0.01f64..100.0)),
        (share(), option::of(amount())),
        image,
        vec(law(true), 8),
        vec(law(false), 2),
        bytes,
        (requests, waits, option::of(-1.0f64..=1.0)),
    );
    (needs, standing, option::weighted(0.3, route())).prop_map(|(needs, (priority, nice, exit_status, program), route)| {
        let (
            (cpu, cpu_when_busy),
            (common, headway_factor),
            image_words,
            numbers,
            times,
            network_bytes,
            (requests, waits, correlation),
        ) = needs;
        let plain = route.is_none();
        let program = if program.trim().is_empty() { String::new() } else { program };
        let only = |draw: &AmountLaw| if plain { draw.clone() } else { AmountLaw::ZERO };
        Command {
            name: String::new(),
            program: if plain { program } else { String::new() },
            cpu: only(&cpu),
            cpu_when_busy: cpu_when_busy.filter(|_| plain),
            pages: only(&numbers[0]),
            common: if plain { common } else { 0.0 },
            headway_factor: headway_factor.filter(|_| plain),
            image_words: only(&image_words),
            segment_faults: only(&numbers[1]),
            bound_faults: only(&numbers[2]),
            wall_crossings: only(&numbers[3]),
            processes: only(&numbers[4]),
            lines_out: only(&numbers[5]),
            line_bytes: only(&numbers[6]),
            line_cpu: only(&times[0]),
            line_faults: only(&numbers[7]),
            line_walls: only(&numbers[7]),
            network_bytes: if plain { network_bytes } else { Amount::Drawn(AmountLaw::ZERO) },
            network_byte_cpu: only(&times[1]),
            network_wait: if plain { waits } else { Vec::new() },
            request_correlation: correlation.filter(|_| plain && !requests.is_empty()),
            requests: if plain { requests } else { Vec::new() },
            priority,
            nice,
            exit_status,
            route,
        }
    })
}

fn class() -> impl Strategy<Value = UserClass> {
    let users = prop_oneof![(1u32..9999).prop_map(Population::Closed), amount().prop_map(|rate| Population::Open(rate.min(1e9)))];
    (users, amount(), vec(0..COMMANDS, 1..4)).prop_map(|(population, mean, commands)| {
        let think = if matches!(population, Population::Open(_)) { AmountLaw::ZERO } else { AmountLaw::Exponential(mean) };
        UserClass { name: String::new(), population, think, commands }
    })
}

/// Any fit: random words, and a covariance with a row for each parameter, or without rows.
fn fit() -> impl Strategy<Value = Fit> {
    let words = "[a-zé\"'\\\\ ]{0,9}";
    let parameter = (words, any::<bool>(), option::of(words)).prop_map(|(text, spread, low)| Parameter {
        key: format!("commands.{text}"),
        of: if spread { "spread" } else { "mean" }.into(),
        value: text.clone(),
        high: low.clone(),
        low,
        source: text,
    });
    (vec(parameter, 0..4), vec(any::<u32>(), 0..3), -1e3f64..1e3, any::<bool>(), words).prop_map(
        |(parameters, users, variance, known, script)| {
            let rows = if known { parameters.len() } else { 0 };
            let row = |i| (0..rows).map(|j| if i == j { variance.abs() } else { variance / 7.0 }).collect();
            let covariance = (0..rows).map(row).collect();
            let (runs, assumed) = (vec![script.clone()], vec![script.clone(), "a".into()]);
            let warnings = if known { assumed.clone() } else { Vec::new() };
            let (interactions, reference) = (users.len() as u32, script.clone());
            Fit { script, runs, interactions, users, reference, assumed, warnings, parameters, covariance }
        },
    )
}

/// A machine that a file could tell.
pub fn machine() -> impl Strategy<Value = Machine> {
    let tariff = prop_oneof![
        Just(Vec::new()),
        amount().prop_map(|price| vec![("any".to_string(), price)]),
        (amount(), amount()).prop_map(|(day, night)| vec![("2".to_string(), day), ("1".to_string(), night)]),
    ];
    let parts = (processors(), memory(), vec((store_kind(), any::<bool>()), STORES), supervisor());
    (parts, tariff, share(), vec(command(), COMMANDS), vec(class(), 0..3), ("[a-zé\"'\\\\ ]{0,9}", option::of(fit()))).prop_map(
        |(
            (processors, (residence, limit), kinds, supervisor),
            tariff,
            paging_wait_hour,
            mut commands,
            mut load,
            (words, fit),
        )| {
            let names = ["edit", "a.out", "*"];
            commands.iter_mut().zip(names).for_each(|(command, name)| command.name = name.into());
            load.iter_mut().zip(["day", "night"]).for_each(|(class, name)| class.name = name.into());
            let stores = kinds.into_iter().zip(["drum", "disk 2", "io"]);
            Machine {
                title: format!("t{words}"),
                source: format!("s{words}"),
                processors,
                residence,
                limit,
                stores: stores.map(|((kind, interrupts), name)| Store { name: name.into(), kind, interrupts }).collect(),
                supervisor,
                tariff,
                paging_wait_hour,
                commands,
                any_command: Some(COMMANDS - 1),
                load,
                fit,
            }
        },
    )
}
