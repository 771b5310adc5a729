//! One fuzz target under libFuzzer, which brings its own `main`: `LOADGO_FUZZ_TARGET` names it. Good inputs are written into the
//! folder `LOADGO_FUZZ_SEEDS` before libFuzzer reads it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadgo_fuzz::{ALL_TARGETS, Target, seeds};
use std::path::Path;
use std::sync::OnceLock;

static CHOSEN: OnceLock<&Target> = OnceLock::new();

fn choose() {
    let name = std::env::var("LOADGO_FUZZ_TARGET").unwrap_or_default();
    let names: Vec<&str> = ALL_TARGETS.iter().map(|target| target.name).collect();
    let target = ALL_TARGETS.iter().find(|target| target.name == name);
    CHOSEN.get_or_init(|| target.unwrap_or_else(|| panic!("LOADGO_FUZZ_TARGET is one of {}", names.join(", "))));
    if let Some(folder) = std::env::var_os("LOADGO_FUZZ_SEEDS") {
        for (number, seed) in seeds(&name).iter().enumerate() {
            std::fs::write(Path::new(&folder).join(number.to_string()), seed).expect("the folder is there");
        }
    }
    // A reader may catch a panic of a library. libFuzzer's hook would end the process before that.
    drop(std::panic::take_hook());
}

fuzz_target!(init: choose(), |bytes: &[u8]| {
    (CHOSEN.get().expect("chosen at the start").feed)(bytes);
});
