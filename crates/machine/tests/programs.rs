//! Commands that share a program in memory, and stores without interrupts.

use std::sync::Arc;

use crate::models::{machine, server, work};
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::file::{parse, print};
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::spec::{Command, Discipline, Machine, Population};

/// The meters after a user has typed these commands, one after the other.
fn meters(machine: &Machine, commands: &[u32]) -> MachineMeters {
    let mut engine = Engine::new(&Arc::new(machine.clone()), 1).unwrap();
    let mut commands = commands.iter();
    engine.attach(1).unwrap();
    while let Some(event) = engine.advance(None) {
        assert!(matches!(event, EngineEvent::Attached { user: 1, .. } | EngineEvent::Ready { user: 1, .. }));
        let Some(command) = commands.next() else { break };
        engine.begin(1, *command as usize, &[]);
    }
    engine.meters()
}

const FILE: &str = "title = 't'\nsource = 's'\n[storage.drum]\nkind = 'server'\nservice = '5ms'\n\
    [storage.disk]\nkind = 'server'\nservice = '50ms'\n[commands.compute]\ncpu = '1s'\nimage_words = 1241\npages = 20\n";

fn read(text: &str) -> Machine {
    parse(text, &mut |_| Err("nothing is like another".into())).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))
}

fn with(memory: &str, keep: &str) -> Machine {
    read(&format!("{FILE}{keep}\n[memory]\n{memory}"))
}

const SWAPPING: &str = "residence = 'swapping'\nwords = 32768\ndevice = 'drum'\nfirst = 'disk'\nconditions_words = 1000";
const PAGING: &str = "residence = 'paging'\nframes = 100\nheadway_per_page = '1ms'\ndevice = 'drum'";

#[test]
fn commands_of_the_same_program_are_read_from_the_first_store_once() {
    for (keep, brought) in [
        ("[commands.keep]\nlike = 'compute'", 4),
        ("[commands.keep]\nlike = 'compute'\nprogram = 'compute'", 1),
        ("[commands.keep]\nlike = 'compute'\nprogram = 'editor'", 4),
    ] {
        let machine = with(SWAPPING, keep);
        assert_eq!(meters(&machine, &[0, 1, 0, 1]).stores[1].requests, brought, "{keep}");
    }
}

#[test]
fn all_pages_of_the_same_program_are_reused() {
    let faults = |keep: &str| meters(&with(PAGING, keep), &[0, 1, 0, 1]).faults[0].count;
    assert_eq!(faults("[commands.keep]\nlike = 'compute'"), 4 * 20);
    assert_eq!(faults("[commands.keep]\nlike = 'compute'\nprogram = 'compute'"), 20);
}

#[test]
fn what_a_command_is_like_gives_it_its_program_too() {
    let machine =
        read(&format!("{}program = 'calculator'\n[commands.keep]\nlike = 'compute'\n[commands.edit]\ncpu = '1s'", FILE));
    assert_eq!(machine.programs(), [0, 0, 2]);
    assert_eq!(read(&print(&machine)), machine);
}

#[test]
fn a_store_without_interrupts_costs_the_processor_none() {
    let asking = Command { requests: vec![(0, AmountLaw::Fixed(10.0))], ..work("ask", AmountLaw::Fixed(1e8)) };
    let mut interrupting = machine(1, Discipline::FirstCome, asking, Population::Closed(1), AmountLaw::ZERO);
    interrupting.supervisor.device_interrupt_ns = 3_000_000;
    interrupting.stores = vec![server("bulk", 1)];
    interrupting.stores[0].kind = StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(1e6), servers: 1 });
    let interrupted = |machine: &Machine| {
        let meters = meters(machine, &[0]);
        assert_eq!(meters.stores[0].requests, 10);
        meters.time_ns.iter().map(|of_one| of_one[Category::Interrupt as usize]).sum::<u64>()
    };
    assert_eq!(interrupted(&interrupting), 30_000_000);
    interrupting.stores[0].interrupts = false;
    assert_eq!(interrupted(&interrupting), 0);
}
