//! Marks of a session behind marks that break off.

use loadgo_core::osc133::prompt_mark;
use loadgo_core::ready::{MarkSearch, nonce};

#[test]
fn a_mark_is_found_behind_one_that_breaks_off_however_the_output_is_cut() {
    let output = format!("\x1b]133;D;{}", prompt_mark("7777777777777777", "5")).into_bytes();
    for first in 0..output.len() {
        for second in first..output.len() {
            let mut search = MarkSearch::new(nonce(0x7777_7777_7777_7777));
            let pieces = [&output[..first], &output[first..second], &output[second..]];
            let statuses: Vec<u8> = pieces.iter().filter_map(|piece| search.feed(piece)).map(|mark| mark.status).collect();
            assert_eq!(statuses, [5], "cut at {first} and {second}");
        }
    }
}
