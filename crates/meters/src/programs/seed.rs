//! What is there already when the meters begin: every task, and what each processor does that has not switched since.

use super::words::program_words;
use aya::programs::{Iter, ProgramError, RawTracePoint, RawTracePointRunOptions, TestRun};
use aya::{Btf, Ebpf};
use std::io::Read;

/// Tells the kernel's programs of all tasks, of all processors, and which process is ours.
///
/// # Errors
/// In words; the rest then becomes known as it switches.
pub(crate) fn seed(object: &mut Ebpf, btf: &Btf) -> Result<(), String> {
    let processors = processors(object).map_err(|why| format!("on_begin: {why}"));
    tasks(object, btf).map_err(|why| format!("on_each_task: {why}"))?;
    processors
}

fn tasks(object: &mut Ebpf, btf: &Btf) -> Result<(), String> {
    let words = |error: ProgramError| program_words(&error);
    let program = object.program_mut("on_each_task").ok_or("it is not in the object")?;
    let program: &mut Iter = program.try_into().map_err(words)?;
    program.load("task", btf).map_err(words)?;
    let link = program.attach().map_err(words)?;
    let mut file = program.take_link(link).map_err(words)?.into_file().map_err(|error| error.to_string())?;
    file.read_to_end(&mut Vec::new()).map_err(|error| error.to_string())?;
    program.unload().map_err(words)
}

fn processors(object: &mut Ebpf) -> Result<(), String> {
    let words = |error: ProgramError| program_words(&error);
    let program = object.program_mut("on_begin").ok_or("it is not in the object")?;
    let program: &mut RawTracePoint = program.try_into().map_err(words)?;
    program.load().map_err(words)?;
    let mut ours = RawTracePointRunOptions::new();
    ours.args[0] = 1;
    program.test_run(ours).map_err(words)?;
    for cpu in aya::util::online_cpus().map_err(|(what, error)| format!("{what}: {error}"))? {
        let mut there = RawTracePointRunOptions::new();
        there.cpu = Some(cpu);
        program.test_run(there).map_err(words)?; // by an interrupt of that processor: nobody is moved or pre-empted
    }
    program.unload().map_err(words)
}
