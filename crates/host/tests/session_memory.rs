//! Much output of a session takes no memory. The test is alone in its program: the sessions of others have memory too.

mod session_run;

use session_run::{lines, run};

#[test]
fn output_of_any_size_is_swallowed_at_a_bounded_memory() {
    let before = resident_kilobytes();
    let (kept, _) = run(&lines(r#"["head -c 200000000 /dev/zero | tr '\\0' x"]"#), 1);
    assert_eq!(kept.rows[0].bytes_out, 200_000_000);
    assert!(resident_kilobytes() < before + 20_000, "{before} → {} KB", resident_kilobytes());
}

fn resident_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("there");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
}
