//! The exact programs of the windows: loaded once, and attached for each window.

use crate::part::{Context, MeterPart};
use crate::programs::hooks::{Hook, METER_HOOKS};
use crate::programs::interrupted_load::load_despite_signals;
use crate::programs::load::{HookLink, Loaded, attach_hook, detach_hook, load_for_windows};
use crate::refusal::MeterRefusal;
use crate::tables::calls::CallTable;
use crate::tables::faults::FaultTable;
use crate::tables::interrupts::InterruptTable;
use crate::wanted::{MeterRequest, Tier};
use aya::programs::{ProgramFd, RawTracePoint, RawTracePointRunOptions, TestRun};

/// The program that runs on each processor before a window.
const WINDOW_PROGRAM: &str = "on_window";
/// The program that makes records of new tasks, at all times: a switch cannot make one.
const FORK_PROGRAM: &str = "on_fork";
/// Programs that serve meters which run at all times, and so not in windows too.
const ALWAYS_METERED: [&str; 2] = ["on_wakeup", "on_wakeup_new"];

/// The request that the programs of the windows serve: all users and commands together.
pub(crate) fn request() -> MeterRequest {
    MeterRequest { tier: Tier::Exact, accounts: 0, commands: Vec::new(), locks: false, profile_hz: None }
}

/// The hooks of the programs: those of the exact tier, in the order in which they are attached.
pub(crate) fn window_hooks() -> impl Iterator<Item = &'static Hook> {
    let request = request();
    METER_HOOKS.iter().filter(move |hook| (hook.when)(&request) && !ALWAYS_METERED.contains(&hook.program))
}

/// The programs with their maps, and the tables that read these.
pub(crate) struct WindowPrograms {
    pub context: Context,
    /// Tables of system calls, faults and interrupts.
    pub tables: Vec<Box<dyn MeterPart>>,
    processors: Vec<u32>,
    attached: Vec<(&'static Hook, HookLink)>,
    number: u64,
}

impl WindowPrograms {
    /// Loads the programs. `switch_tells_state` is that of the programs that run at all times.
    ///
    /// # Errors
    /// The kernel's refusal of a program, with the first that it refuses.
    pub fn load(switch_tells_state: bool) -> Result<WindowPrograms, MeterRefusal> {
        let is_always = |hook: &Hook| hook.program == FORK_PROGRAM;
        let mut loaded = load_for_windows(&request(), switch_tells_state, window_hooks(), is_always)?;
        let program: &mut RawTracePoint =
            loaded.object.program_mut(WINDOW_PROGRAM).ok_or("it is not in the object")?.try_into()?;
        load_despite_signals(|| program.load())?;
        let mut context = Context::new(loaded);
        let tables = begin_tables(&mut context)?;
        let processors = aya::util::online_cpus()?;
        Ok(WindowPrograms { context, tables, processors, attached: Vec::new(), number: 1 })
    }

    /// The descriptors of the programs, with the names of their meters.
    ///
    /// # Errors
    /// The descriptor of a program could not be copied.
    pub fn descriptors(&self) -> Result<Vec<(ProgramFd, &'static str)>, MeterRefusal> {
        let descriptor = |hook: &'static Hook| {
            let program = self.context.loaded.object.program(hook.program)?.fd().ok()?;
            Some(program.try_clone().map(|descriptor| (descriptor, hook.meter.name())))
        };
        Ok(window_hooks().filter_map(descriptor).collect::<Result<_, _>>()?)
    }

    /// Lets the programs count the events of the calling thread, or not. At first they do.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn count_thread(&mut self, counted: bool) -> Result<(), MeterRefusal> {
        let mut options = RawTracePointRunOptions::new();
        options.args[1] = if counted { 1 } else { 2 };
        self.window_program()?.test_run(options)?;
        Ok(())
    }

    /// Attaches the programs, which forget what they knew of the window before.
    ///
    /// # Errors
    /// The kernel's refusal. Programs may then be attached, until [`Self::detach`].
    pub fn attach(&mut self) -> Result<(), MeterRefusal> {
        self.number += 1;
        for cpu in self.processors.clone() {
            let mut options = RawTracePointRunOptions::new();
            options.args[0] = self.number;
            options.cpu = Some(cpu);
            self.window_program()?.test_run(options)?; // by an interrupt there, which preempts no task
        }
        for hook in window_hooks().filter(|hook| hook.program != FORK_PROGRAM) {
            for link in attach_hook(&mut self.context.loaded.object, hook)? {
                self.attached.push((hook, link));
            }
        }
        Ok(())
    }

    /// Detaches the programs.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn detach(&mut self) -> Result<(), MeterRefusal> {
        for (hook, link) in std::mem::take(&mut self.attached) {
            detach_hook(&mut self.context.loaded.object, hook, link)?;
        }
        Ok(())
    }

    /// The loaded programs and maps.
    pub fn loaded(&self) -> &Loaded {
        &self.context.loaded
    }

    fn window_program(&mut self) -> Result<&mut RawTracePoint, MeterRefusal> {
        Ok(self.context.loaded.object.program_mut(WINDOW_PROGRAM).ok_or("it is not in the object")?.try_into()?)
    }
}

fn begin_tables(context: &mut Context) -> Result<Vec<Box<dyn MeterPart>>, MeterRefusal> {
    let begins = [CallTable::begin, FaultTable::begin, InterruptTable::begin];
    begins.iter().filter_map(|begin| begin(context, &request()).transpose()).collect()
}
