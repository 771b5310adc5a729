//! The kernel programs of transfers (`bpf/transfers/`): loaded, attached as they are needed, and read.

use crate::sums::{Interrupts, NETWORK_WORDS, WORK_WORDS};
use aya::maps::{Array, Map, MapData, MapError, PerCpuArray};
use aya::programs::tp_btf::BtfTracePointLink;
use aya::programs::{BtfTracePoint, RawTracePoint, RawTracePointRunOptions, TestRun};
use aya::{Btf, Ebpf, EbpfLoader};
use loadgo_meters::Unavailable;
use loadgo_meters::available::possible;
use loadgo_meters::refused::{Refused, program_words, words};

/// A program of ours at a tracepoint of the kernel's.
pub(crate) type Hook = (&'static str, &'static str);

/// Soft interrupts that work for the network; what ends comes before what begins.
pub(crate) const SOFT: [Hook; 4] = [
    ("softirq_exit", "after_network"),
    ("softirq_entry", "on_network"),
    ("netif_receive_skb", "on_packet"),
    ("net_dev_queue", "on_packet_sent"),
];
/// Devices' interrupts that call for them.
pub(crate) const DEVICES: [Hook; 3] = [
    ("irq_handler_exit", "after_network_device"),
    ("irq_handler_entry", "on_network_device"),
    ("softirq_raise", "on_network_called"),
];

/// Of `struct network`, where it says when the soft interrupt under way began.
const BEGAN: usize = 4;

/// Programs in the kernel; dropping them takes them out.
pub(crate) struct Programs {
    object: Ebpf,
    btf: Btf,
}

impl Programs {
    /// Brings the maps into the kernel, with `room` for so many in some of them.
    ///
    /// # Errors
    /// [`Unavailable`] where the kernel takes no programs.
    pub fn open(room: &[(&'static str, u32)]) -> Result<Programs, Unavailable> {
        possible().map_err(|why| Unavailable(why.into()))?;
        let btf = Btf::from_sys_fs().map_err(|error| Unavailable(format!("the kernel's types (BTF): {error}").into()))?;
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&btf)).allow_unsupported_maps();
        for (map, entries) in room {
            loader.map_max_entries(map, *entries);
        }
        let object = loader.load(loadgo_bpf::TRANSFERS_OBJECT).map_err(|error| Unavailable(Refused::of(&error)))?;
        Ok(Programs { object, btf })
    }

    /// Has the kernel check and translate a program.
    ///
    /// # Errors
    /// In the verifier's words.
    pub fn load(&mut self, (tracepoint, program): Hook) -> Result<(), String> {
        let Programs { object, btf } = self;
        traced(object, program)?.load(tracepoint, btf).map_err(|error| program_words(&error))
    }

    /// Puts a loaded program at its tracepoint, until the link is dropped.
    ///
    /// # Errors
    /// In words.
    pub fn attach(&mut self, (_, program): Hook) -> Result<BtfTracePointLink, String> {
        let program = traced(&mut self.object, program)?;
        let link = program.attach().map_err(|error| program_words(&error))?;
        program.take_link(link).map_err(|error| program_words(&error))
    }

    /// Loads a program that the reader runs.
    ///
    /// # Errors
    /// In the verifier's words.
    pub fn prepare(&mut self, program: &str) -> Result<(), String> {
        ours(&mut self.object, program)?.load().map_err(|error| format!("{program}: {}", program_words(&error)))
    }

    /// Runs a program of the reader's own once, in this thread.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn run(&mut self, program: &str, arguments: [u64; 2]) -> Result<(), String> {
        let mut options = RawTracePointRunOptions::new();
        options.args[..2].copy_from_slice(&arguments);
        ours(&mut self.object, program)?.test_run(options).map(|_| ()).map_err(|error| program_words(&error))
    }

    /// A map by its name.
    ///
    /// # Errors
    /// When it is not there, or of another kind.
    pub fn map<'a, T: TryFrom<&'a Map, Error = MapError>>(&'a self, name: &str) -> Result<T, String> {
        let map = self.object.map(name).ok_or_else(|| format!("{name} is not there"))?;
        T::try_from(map).map_err(|error| format!("{name}: {error}"))
    }

    /// A map by its name, to write into.
    ///
    /// # Errors
    /// When it is not there, or of another kind.
    pub(crate) fn map_mut<'a, T: TryFrom<&'a mut Map, Error = MapError>>(&'a mut self, name: &str) -> Result<T, String> {
        let map = self.object.map_mut(name).ok_or_else(|| format!("{name} is not there"))?;
        T::try_from(map).map_err(|error| format!("{name}: {error}"))
    }

    /// The interrupts of all processors, with what of them is the account's.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn interrupts(&self, account: u32) -> Result<Interrupts, String> {
        let works: PerCpuArray<&MapData, [u64; WORK_WORDS]> = self.map("works")?;
        let mut sum = Interrupts::default();
        self.networks()?.iter().for_each(|network| sum += Interrupts::of_all(network));
        works.get(&account, 0).map_err(|error| words(&error))?.iter().for_each(|work| sum += Interrupts::of_account(work));
        Ok(sum)
    }

    /// When the soft interrupt began that each processor is in; 0: it is in none.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn under_way(&self) -> Result<Vec<u64>, String> {
        Ok(self.networks()?.iter().map(|network| network[BEGAN]).collect())
    }

    /// What found no room: tasks, connections, flows; each once.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn lost(&self) -> Result<u64, String> {
        let map: Array<&MapData, u64> = self.map("losses")?;
        map.iter().map(|lost| lost.map_err(|error| words(&error))).sum()
    }

    fn networks(&self) -> Result<Vec<[u64; NETWORK_WORDS]>, String> {
        let map: PerCpuArray<&MapData, [u64; NETWORK_WORDS]> = self.map("networks")?;
        Ok(map.get(&0, 0).map_err(|error| words(&error))?.iter().copied().collect())
    }
}

fn traced<'a>(object: &'a mut Ebpf, program: &str) -> Result<&'a mut BtfTracePoint, String> {
    let program = object.program_mut(program).ok_or("it is not in the object")?;
    program.try_into().map_err(|error| program_words(&error))
}

fn ours<'a>(object: &'a mut Ebpf, program: &str) -> Result<&'a mut RawTracePoint, String> {
    let program = object.program_mut(program).ok_or("it is not in the object")?;
    program.try_into().map_err(|error| program_words(&error))
}
