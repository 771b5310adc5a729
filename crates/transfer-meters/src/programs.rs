//! Loads the kernel programs of transfers (`bpf/transfers/`), attaches them as needed, and reads their maps.

use crate::sums::{NETWORK_WORDS, NetworkInterruptTime, WORK_WORDS};
use aya::maps::{Array, Map, MapData, MapError, PerCpuArray};
use aya::programs::tp_btf::BtfTracePointLink;
use aya::programs::{BtfTracePoint, RawTracePoint, RawTracePointRunOptions, TestRun};
use aya::{Btf, Ebpf, EbpfLoader};
use loadgo_meters::available::check_kernel_programs;
use loadgo_meters::programs::interrupted_load::load_despite_signals;
use loadgo_meters::{MeterRefusal, kernel_types};

/// A tracepoint of the kernel, and loadgo's program for it.
pub(crate) type TracepointProgram = (&'static str, &'static str);

/// Programs for the network's soft interrupts. The exit's program comes before the entry's, so that no entry lacks its exit.
pub(crate) const SOFT_INTERRUPT_PROGRAMS: [TracepointProgram; 4] = [
    ("softirq_exit", "after_network"),
    ("softirq_entry", "on_network"),
    ("netif_receive_skb", "on_packet"),
    ("net_dev_queue", "on_packet_sent"),
];
/// Programs for device interrupts that raise soft interrupts of the network, the exit's first.
pub(crate) const DEVICE_PROGRAMS: [TracepointProgram; 3] = [
    ("irq_handler_exit", "after_network_device"),
    ("irq_handler_entry", "on_network_device"),
    ("softirq_raise", "on_network_called"),
];

/// Index of the word in `struct network` with the time when the present soft interrupt began.
const BEGAN_INDEX: usize = 4;

/// The programs in the kernel; dropping this unloads them.
pub(crate) struct TransferPrograms {
    object: Ebpf,
    btf: Btf,
}

impl TransferPrograms {
    /// Creates the maps in the kernel; `map_entries` sets the number of entries of some of them.
    ///
    /// # Errors
    /// The kernel takes no programs.
    pub fn open(map_entries: &[(&'static str, u32)]) -> Result<TransferPrograms, MeterRefusal> {
        check_kernel_programs()?;
        let btf = kernel_types()?;
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&btf)).allow_unsupported_maps();
        for (map, entries) in map_entries {
            loader.map_max_entries(map, *entries);
        }
        let object = loader.load(loadgo_bpf::TRANSFERS_OBJECT).map_err(|error| MeterRefusal::from_error(&error))?;
        Ok(TransferPrograms { object, btf })
    }

    /// Loads a program: the kernel verifies and translates it.
    ///
    /// # Errors
    /// The kernel's verifier rejects it.
    pub fn load(&mut self, (tracepoint, program): TracepointProgram) -> Result<(), MeterRefusal> {
        let TransferPrograms { object, btf } = self;
        let program = tracepoint_program(object, program)?;
        Ok(load_despite_signals(|| program.load(tracepoint, btf))?)
    }

    /// Attaches a loaded program to its tracepoint, until the link is dropped.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn attach(&mut self, (_, program): TracepointProgram) -> Result<BtfTracePointLink, MeterRefusal> {
        let program = tracepoint_program(&mut self.object, program)?;
        let link = program.attach()?;
        Ok(program.take_link(link)?)
    }

    /// Loads a program that this process runs by itself.
    ///
    /// # Errors
    /// The kernel's verifier rejects it.
    pub fn load_own(&mut self, program: &str) -> Result<(), MeterRefusal> {
        let own = own_program(&mut self.object, program)?;
        load_despite_signals(|| own.load()).map_err(|error| MeterRefusal::from(error).trying(program))
    }

    /// Runs a program of [`TransferPrograms::load_own`] once, in this thread.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn run(&mut self, program: &str, arguments: [u64; 2]) -> Result<(), MeterRefusal> {
        let mut options = RawTracePointRunOptions::new();
        options.args[..2].copy_from_slice(&arguments);
        own_program(&mut self.object, program)?.test_run(options)?;
        Ok(())
    }

    /// The map `name`, for reading.
    ///
    /// # Errors
    /// There is no such map, or it has another type.
    pub fn map<'a, T: TryFrom<&'a Map, Error = MapError>>(&'a self, name: &str) -> Result<T, MeterRefusal> {
        let map = self.object.map(name).ok_or_else(|| format!("{name} is not there"))?;
        T::try_from(map).map_err(|error| MeterRefusal::from(error).trying(name))
    }

    /// The map `name`, for writing.
    ///
    /// # Errors
    /// There is no such map, or it has another type.
    pub(crate) fn map_mut<'a, T: TryFrom<&'a mut Map, Error = MapError>>(&'a mut self, name: &str) -> Result<T, MeterRefusal> {
        let map = self.object.map_mut(name).ok_or_else(|| format!("{name} is not there"))?;
        T::try_from(map).map_err(|error| MeterRefusal::from(error).trying(name))
    }

    /// Interrupt time on all processors, with the part of `account`.
    ///
    /// # Errors
    /// A map cannot be read.
    pub fn interrupts(&self, account: u32) -> Result<NetworkInterruptTime, MeterRefusal> {
        let works: PerCpuArray<&MapData, [u64; WORK_WORDS]> = self.map("works")?;
        let works = works.get(&account, 0)?;
        let mut sum = NetworkInterruptTime::default();
        self.networks()?.iter().for_each(|network| sum += NetworkInterruptTime::from_all(network));
        works.iter().for_each(|work| sum += NetworkInterruptTime::from_account(work));
        Ok(sum)
    }

    /// For each processor, the time when its present soft interrupt began, in nanoseconds; 0 if it is in none.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn soft_interrupt_starts_ns(&self) -> Result<Vec<u64>, MeterRefusal> {
        Ok(self.networks()?.iter().map(|network| network[BEGAN_INDEX]).collect())
    }

    /// Number of tasks, connections and flows for which a map had no room, each counted once.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn lost(&self) -> Result<u64, MeterRefusal> {
        let map: Array<&MapData, u64> = self.map("losses")?;
        Ok(map.iter().sum::<Result<u64, MapError>>()?)
    }

    fn networks(&self) -> Result<Vec<[u64; NETWORK_WORDS]>, MeterRefusal> {
        let map: PerCpuArray<&MapData, [u64; NETWORK_WORDS]> = self.map("networks")?;
        Ok(map.get(&0, 0)?.iter().copied().collect())
    }
}

fn tracepoint_program<'a>(object: &'a mut Ebpf, program: &str) -> Result<&'a mut BtfTracePoint, MeterRefusal> {
    Ok(object.program_mut(program).ok_or("it is not in the object")?.try_into()?)
}

fn own_program<'a>(object: &'a mut Ebpf, program: &str) -> Result<&'a mut RawTracePoint, MeterRefusal> {
    Ok(object.program_mut(program).ok_or("it is not in the object")?.try_into()?)
}
