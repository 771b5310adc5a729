//! Real shells on real terminals under the real driver: ordinary sessions, and many hostile ones.

mod session_run;

use loadgo_core::driver::SessionCounts;
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::Outcome;
use loadgo_core::time::Span;
use session_run::{Kept, PATIENCE, Row, lines, run, run_with};
use std::io::Write;
use std::path::Path;

#[test]
fn a_shell_answers_each_line_with_its_output_and_status() {
    let (kept, summary) = run(&lines(r#"["echo hello", "false", "sh -c 'exit 7'", "cd /; pwd"]"#), 3);
    assert_eq!((summary.done, summary.interactions, kept.lost.len()), (3, 12, 0), "{:?}", kept.lost);
    let of_first: Vec<_> = kept.rows.iter().filter(|row| row.user == 1).collect();
    let told: Vec<_> = of_first.iter().map(|row| (row.command.as_str(), row.exit_status, row.bytes_out)).collect();
    assert_eq!(told, [("echo", Some(0), 7), ("false", Some(1), 0), ("sh", Some(7), 0), ("cd", Some(0), 3)]);
    assert!(kept.rows.iter().all(|row| row.response_ns.is_some() && row.faults.is_some()), "{:?}", kept.rows);
}

#[test]
fn bash_with_its_line_editor_is_understood_as_well() {
    let text = lines(r#"["echo hello", "false"]"#).replace("\"sh\"", "\"bash\"");
    let (kept, _) = run(&text, 2);
    let told: Vec<_> = kept.rows.iter().filter(|row| row.user == 1).map(|row| (row.exit_status, row.outcome)).collect();
    assert_eq!(told, [(Some(0), Outcome::Ok), (Some(1), Outcome::Ok)]);
}

#[test]
fn a_shell_whose_start_up_sets_another_prompt_is_given_ours() {
    let text = "name = \"t\"\nlogin = \"bash --rcfile rc\"\nthink = \"none\"\nlines = [\"echo a\", \"false\"]\n[files]\nrc = \"PROMPT_COMMAND=; PS1='% '\"\n";
    let (kept, summary) = run(text, 1);
    assert_eq!(summary.done, 1);
    assert_eq!(kept.rows.iter().map(|row| row.exit_status).collect::<Vec<_>>(), [Some(0), Some(1)]);
}

#[test]
fn processor_time_of_all_processes_that_a_line_starts_is_charged_to_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spin, begin, used) = (folder.path().join("spin.py"), folder.path().join("begin.py"), folder.path().join("used"));
    std::fs::write(&spin, "import time\nwhile time.process_time() < 0.2: pass\n").expect("written");
    // A process that another one starts, waits for, and tells the time of, with its own.
    let program = format!(
        "import resource, subprocess\nsubprocess.run(['python3', {spin:?}])\n\
         both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n\
         open({used:?}, 'w').write(str(sum(one.ru_utime + one.ru_stime for one in both)))\n"
    );
    std::fs::write(&begin, program).expect("written");
    let (kept, _) = run(&lines(&format!("[\"python3 {}\"]", begin.display())), 1);
    let cpu = kept.rows[0].cpu_ns.expect("measured here") as f64 / 1e9;
    let told: f64 = std::fs::read_to_string(&used).expect("it said so").parse().expect("a number");
    assert!(told >= 0.2, "{told}");
    // The meter's time also has the start by the shell and the exit; twice the program's own time would be an error.
    assert!((told * 0.99..told * 2.0).contains(&cpu), "{cpu} of {told}");
}

#[test]
fn what_typing_used_is_no_part_of_the_interaction() {
    let words = "x".repeat(60);
    let text = format!(
        "name = \"test\"\nlogin = \"bash --norc\"\nthink = \"none\"\ntyping = \"400 chars/s\"\npasses = 4\n\
         timeout = \"{PATIENCE}\"\nlines = [\"true # {words}\"]\n"
    );
    let (kept, _) = run_with(&text, OfferedLoad::closed(2, 4));
    assert_eq!(kept.rows.len(), 8);
    // The line editor handles 66 keys, each on its own, and then one line that does nothing.
    let sum = |of: fn(&Row) -> Option<u64>| kept.rows.iter().map(|row| of(row).expect("measured here")).sum::<u64>();
    let (own, typing) = (sum(|row| row.cpu_ns), sum(|row| row.typing_cpu_ns));
    assert!(own < typing, "{own} ns for the lines, {typing} ns for typing them: {:?}", kept.rows);
    let (at_once, _) = run(&text.replace("typing = \"400 chars/s\"\n", ""), 1);
    assert!(at_once.rows.iter().all(|row| row.typing_cpu_ns.is_none() && row.cpu_excess_ns.is_some()), "{:?}", at_once.rows);
}

#[test]
fn users_of_a_range_are_metered_whatever_their_numbers() {
    let load = OfferedLoad { first_user: 4711, ..OfferedLoad::closed(2, 2) };
    let (kept, summary) = run_with(&lines(r#"["true", "ls /"]"#), load);
    let mut users: Vec<_> = kept.rows.iter().map(|row| row.user).collect();
    users.sort_unstable();
    assert_eq!((users, summary.done), (vec![4711, 4711, 4711, 4711, 4712, 4712, 4712, 4712], 2));
    assert!(kept.rows.iter().all(|row| row.cpu_ns.is_some()), "{:?}", kept.rows);
}

#[test]
fn a_program_that_reads_many_lines_has_the_faults_of_each_line() {
    let touch = r#"{ type = "any(m.__setitem__(at * 4096, 1) for at in range(3000))", as = "touch", until = ">>> " }"#;
    let text = lines(&format!(
        r#"[{{ type = "python3 -q", as = "enter", until = ">>> " }},
            {{ type = "import mmap; m = mmap.mmap(-1, 3000 * 4096)", as = "map", until = ">>> " }},
            {touch}, {{ type = "m = mmap.mmap(-1, 3000 * 4096)", as = "map", until = ">>> " }}, {touch},
            {{ type = "exit()", as = "leave" }}]"#
    ));
    let (kept, _) = run(&text, 1);
    let faults = |name: &str| -> Vec<u64> {
        kept.rows.iter().filter(|row| row.command == name).map(|row| row.faults.expect("measured here")).collect()
    };
    assert!(faults("touch").iter().all(|&count| (3000..3200).contains(&count)), "{:?}", kept.rows);
    assert!(faults("enter")[0] > 100, "the start of Python is charged to its own line: {:?}", kept.rows);
    assert!(faults("leave")[0] < 1000, "what was charged before is not charged again: {:?}", kept.rows);
}

#[test]
fn a_forged_mark_makes_nobody_ready() {
    let forge = r#"["printf '\\033]133;D;0;aid=0123456789abcdef\\007'; sleep 0.3"]"#;
    let (kept, _) = run(&lines(forge), 1);
    assert!(kept.rows[0].response_ns.unwrap() > 300_000_000);
}

#[test]
fn binary_output_is_only_counted() {
    let (kept, _) = run(&lines(r#"["stty -opost; head -c 300000 /dev/urandom; stty opost", "echo ok"]"#), 1);
    assert_eq!(kept.rows[1].bytes_out, 4);
    assert_eq!(kept.rows[0].bytes_out, 300_000);
}

#[test]
fn a_line_that_never_ends_is_interrupted_and_the_session_goes_on() {
    let text = lines(r#"[{ type = "cat", timeout = "300ms" }, "echo on"]"#);
    let (kept, summary) = run(&text, 2);
    assert_eq!(kept.rows.iter().filter(|row| row.outcome == Outcome::Timeout).count(), 2);
    assert_eq!((summary.done, summary.died), (2, 0));
}

#[test]
fn a_program_that_ignores_the_interrupt_loses_its_session_and_is_killed() {
    // Processes inherit what is ignored: the sleeper cannot be interrupted from its first moment on.
    let stubborn = format!(r#"["trap '' HUP INT TERM", {{ type = "sleep {}", timeout = "500ms" }}, "echo on"]"#, endless(1000));
    let load = OfferedLoad { grace: Span::from_millis(300), ..OfferedLoad::closed(1, 1) };
    let (kept, summary) = run_with(&lines(&stubborn), load);
    assert_eq!((summary.died, kept.sessions[0].outcome), (1, "died"));
    assert!(nobody_runs(&format!("sleep\u{0}{}", endless(1000))));
}

#[test]
fn a_user_who_kills_the_own_shell_is_lost_and_the_others_go_on() {
    let text = lines(r#"["[ $LOADGO_USER = 2 ] && kill -9 $$; true", "echo on"]"#);
    let (kept, summary) = run(&text, 3);
    assert_eq!((summary.died, summary.done), (1, 2));
    assert_eq!(kept.lost[0].reason, "the session's first process was ended by signal 9");
}

#[test]
fn a_shell_that_dies_while_something_else_holds_its_terminal_is_noticed() {
    let text = lines(r#"["trap '' HUP; sleep 100 & kill -9 $$", "echo on"]"#);
    let (kept, summary) = run(&text, 1);
    assert_eq!(summary.died, 1, "{:?}", kept.lost);
}

#[test]
fn a_program_that_closes_its_terminal_ends_the_session() {
    let (kept, summary) = run(&lines(&format!(r#"["exec sleep {} <&- >&- 2>&-", "echo on"]"#, endless(77))), 1);
    assert_eq!((summary.died, kept.rows.len()), (1, 1));
    assert!(nobody_runs(&format!("sleep\u{0}{}", endless(77))));
}

#[test]
fn a_process_that_left_its_session_is_killed_at_the_end_of_the_run() {
    let text = lines(&format!(r#"["setsid -f sh -c 'trap \"\" HUP TERM; exec sleep {}'", "echo on"]"#, endless(78)));
    let (_, summary) = run(&text, 2);
    assert_eq!(summary.done, 2);
    assert!(nobody_runs(&format!("sleep\u{0}{}", endless(78))), "the control group finds what has left the session");
}

/// A time of so many seconds and a little, which no process of another program beside this one sleeps.
fn endless(seconds: u32) -> String {
    format!("{seconds}.{:07}", std::process::id())
}

fn nobody_runs(words: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("readable").filter_map(Result::ok);
    !processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(words))
}

#[test]
fn a_pattern_says_that_a_program_without_our_prompt_is_ready() {
    let text = lines(
        r#"[{ type = "python3 -q -i -c 'import sys; sys.ps1 = \"ready> \"'", until = "ready> " }, { type = "6*7", until = "ready> " }, { type = "quit()" }]"#,
    );
    let (kept, summary) = run(&text, 1);
    assert_eq!((summary.done, kept.rows[1].bytes_out, kept.rows[2].exit_status), (1, 4, Some(0)), "{:?}", kept.rows);
}

#[test]
fn a_line_that_waits_for_the_wrong_pattern_keeps_its_screen() {
    let text = lines(
        r#"[{ type = "python3 -q -i -c 'import sys; sys.ps1 = \"ready> \"'", until = "Ready> ", timeout = "8s" }, { type = "quit()" }]"#,
    );
    let (kept, _) = run(&text, 1);
    assert_eq!(kept.rows[0].outcome, Outcome::Timeout);
    let screen = &kept.screens[0];
    assert_eq!(screen.until, "until = \"Ready> \"");
    assert!(screen.screen.starts_with("python3 -q -i") && screen.screen.ends_with("ready> "), "{:?}", screen.screen);
}

#[test]
fn silence_ends_an_interaction_that_nothing_else_ends_and_says_unconfirmed() {
    // A second, because on a busy host `cat` may need a part of it for its answer.
    let (kept, _) = run(&lines(r#"[{ type = "cat", silence = "1s" }, { type = "hello", silence = "1s" }]"#), 1);
    assert!(kept.rows.iter().all(|row| row.outcome == Outcome::Unconfirmed));
    assert_eq!(kept.rows[1].bytes_out, 7);
}

#[test]
fn waiting_for_silence_is_no_response_time() {
    let (kept, _) = run(&lines(r#"[{ type = "cat", silence = "3s" }, { type = "hello", silence = "3s" }]"#), 1);
    assert_eq!((kept.rows[1].bytes_out, kept.rows[1].outcome), (7, Outcome::Unconfirmed));
    assert!(kept.rows[1].response_ns.unwrap() < 3_000_000_000, "{:?}", kept.rows);
}

#[test]
fn a_log_in_that_fails_says_what_it_printed() {
    let text = lines("[\"echo a\"]").replace("\"sh\"", "\"su - nobody-of-this-name\"");
    let (kept, summary) = run(&text, 2);
    assert_eq!((summary.refused, kept.rows.len()), (2, 0));
    let reason = summary.refusal.expect("a reason");
    assert!(reason.contains("nobody-of-this-name") && reason.contains("status 1"), "{reason}");
}

#[test]
fn files_are_laid_into_every_users_own_home() {
    let text =
        "name = \"t\"\nlogin = \"sh\"\nthink = \"none\"\nlines = [\"cat a/b.txt\", \"pwd\"]\n[files]\n\"a/b.txt\" = \"four\"\n";
    let (kept, _) = run(text, 2);
    assert!(kept.rows.iter().filter(|row| row.command == "cat").all(|row| (row.bytes_out, row.exit_status) == (4, Some(0))));
}

#[test]
fn files_are_typed_into_a_session_that_our_homes_do_not_reach() {
    let text = "name = \"t\"\nlogin = \"su - nobody -s /bin/sh\"\nthink = \"none\"\nlines = [\"cat b.txt\", \"id -un\"]\n[files]\n\"b.txt\" = \"four\"\n";
    if !Path::new("/bin/su").exists() || rustix::process::getuid().as_raw() != 0 {
        writeln!(std::io::stderr(), "not run: it needs root and su").expect("said");
        return;
    }
    let (kept, summary) = run(text, 2);
    assert_eq!(summary.refusal, None);
    assert!(
        kept.rows.iter().filter(|row| row.command == "cat").all(|row| row.exit_status == Some(0) && row.bytes_out == 4),
        "{:?}",
        kept.rows
    );
}

#[test]
fn a_line_that_fills_the_terminals_buffers_arrives_whole() {
    let long = "x".repeat(4000);
    let (kept, _) = run(&lines(&format!(r#"["echo {long} | wc -c"]"#)), 2);
    assert!(kept.rows.iter().all(|row| row.bytes_out == 6), "{:?}", kept.rows);
}

#[test]
fn two_hundred_users_log_in_type_and_leave_nothing_behind() {
    let (kept, summary) = run(&lines(r#"["echo hello", "ls -l", "true"]"#), 200);
    assert_eq!((summary.done, kept.rows.len(), kept.lost.len()), (200, 600, 0), "{:?}", kept.lost.first());
    assert!(kept.rows.iter().all(|row| row.outcome == Outcome::Ok && row.exit_status == Some(0)));
}

/// A run of one user whose command for a log-in elsewhere is called `ssh`, and starts a shell here. The shell's `readlink` prints
/// `pid_namespace`, or what it should.
fn run_through_ssh(pid_namespace: Option<&str>) -> (Kept, SessionCounts) {
    let homes = tempfile::tempdir().expect("a place");
    let program = |name: &str, text: String| {
        let path = homes.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
        path
    };
    if let Some(name) = pid_namespace {
        program("readlink", format!("#!/bin/sh\necho '{name}'\n"));
    }
    let ssh = program("ssh", format!("#!/bin/sh\nPATH={}:$PATH exec sh\n", homes.path().display()));
    run(&lines(r#"["echo a"]"#).replace("\"sh\"", &format!("{:?}", ssh.display().to_string())), 1)
}

#[test]
fn usage_of_programs_beyond_the_meters_reach_is_not_measured() {
    let (kept, summary) = run_through_ssh(Some("pid:[1]"));
    assert_eq!((summary.done, kept.rows[0].cpu_ns, kept.rows[0].faults), (1, None, None));
}

#[test]
fn usage_of_programs_on_this_host_is_measured_however_the_user_came_here() {
    let (kept, summary) = run_through_ssh(None);
    assert_eq!(summary.done, 1);
    assert!(kept.rows[0].cpu_ns.is_some_and(|ns| ns > 0) && kept.rows[0].faults.is_some(), "{:?}", kept.rows[0]);
}
