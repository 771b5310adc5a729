//! Promises of the driver, on a system in virtual time.

use crate::virtual_host::{Answer, Kept, VirtualHost, script};
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::load::{LoadModel, OfferedLoad, WarmUp};
use loadgo_core::record::{Outcome, Phase};
use loadgo_core::script::Script;
use loadgo_core::time::{Instant, Span};

fn run(script: &Script, load: &OfferedLoad, host: &mut VirtualHost) -> (Kept, SessionCounts) {
    let mut kept = Kept::default();
    let summary = drive(script, load, host, &mut kept);
    (kept, summary)
}

fn two_lines() -> Script {
    script("think = \"exponential(3s)\"", r#"["make", "ls -l"]"#)
}

#[test]
fn a_user_waits_for_ready_before_thinking() {
    let (kept, summary) = run(&two_lines(), &OfferedLoad::closed(5, 3), &mut VirtualHost::constant(Span::from_millis(700)));
    assert_eq!((summary.interactions, summary.done), (30, 5));
    for user in 1..=5 {
        for pair in kept.of(user).windows(2) {
            assert_eq!(pair[1].planned, pair[0].ready.unwrap() + pair[1].think);
            assert_eq!((pair[1].sent, pair[1].typing), (pair[1].planned, 0), "virtual time is never late");
        }
    }
}

#[test]
fn a_time_by_the_shell_that_is_longer_than_the_user_has_waited_is_not_known() {
    for (there_ns, kept_ns) in [(Some(600), Some(600)), (Some(700), Some(700)), (Some(3_600_000_000_700), None), (None, None)] {
        let mut host = VirtualHost::constant(Span(700));
        host.there_ns = there_ns;
        let (kept, _) = run(&two_lines(), &OfferedLoad::closed(2, 1), &mut host);
        assert!(kept.rows.iter().all(|row| row.there == kept_ns), "a clock was set: {there_ns:?}");
    }
}

#[test]
fn nobody_types_before_the_last_one_is_logged_in() {
    let mut host = VirtualHost::constant(Span::from_millis(1));
    let (kept, _) = run(&two_lines(), &OfferedLoad { log_ins_at_once: 3, ..OfferedLoad::closed(10, 1) }, &mut host);
    let last = kept.sessions.iter().map(|session| session.ready.unwrap()).max().unwrap();
    assert_eq!(host.most_under_way, 3, "log-ins are paced by completion");
    assert_eq!(kept.began(Phase::WarmUp), Some(last));
    assert!(kept.rows.iter().all(|row| row.sent >= last.0));
}

#[test]
fn user_7_types_the_same_among_any_number_of_users() {
    let script = loadgo_core::script::parse(
        "name = \"t\"\nlogin = \"sh\"\nthink = \"lognormal(3s, 2s)\"\nlines = [\"echo {random:fruit} {user}\", { choose = [{ weight = 1, type = \"a\" }, { weight = 2, type = \"b\" }] }]\n[words]\nfruit = [\"apple\", \"pear\", \"fig\"]\n",
    )
    .unwrap();
    let typed = |users| {
        let mut host = VirtualHost::constant(Span::from_millis(5));
        let (kept, _) = run(&script, &OfferedLoad::closed(users, 4), &mut host);
        let lines: Vec<String> = host.keys.iter().filter(|(_, user, _)| *user == 7).map(|(.., keys)| keys.clone()).collect();
        let thinks: Vec<u64> = kept.of(7).iter().map(|row| row.think).collect();
        (lines, thinks)
    };
    assert_eq!(typed(7), typed(300));
}

#[test]
fn the_same_seed_gives_the_same_records_and_another_gives_others() {
    let rows = |seed| {
        run(&two_lines(), &OfferedLoad { seed, ..OfferedLoad::closed(20, 2) }, &mut VirtualHost::constant(Span(1000))).0.rows
    };
    assert_eq!(rows(5), rows(5));
    assert_ne!(rows(5), rows(6));
}

#[test]
fn users_do_not_start_in_step_even_with_a_fixed_think_time() {
    let script = script("think = \"fixed(5s)\"", r#"["ls"]"#);
    let (kept, _) = run(&script, &OfferedLoad::closed(50, 1), &mut VirtualHost::constant(Span(1)));
    let mut sent: Vec<u64> = kept.rows.iter().map(|row| row.sent).collect();
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), 50);
    assert!(sent[49] - sent[0] < 5_000_000_000 && sent[49] - sent[0] > 4_000_000_000);
}

#[test]
fn keys_come_at_the_typing_rate_and_the_line_with_the_last_of_them() {
    let script = script("think = \"fixed(2s)\"\ntyping = \"10 chars/s\"", r#"["abcd"]"#);
    let mut host = VirtualHost::constant(Span::from_millis(50));
    let (kept, _) = run(&script, &OfferedLoad::closed(1, 2), &mut host);
    let second = &kept.rows[1];
    assert_eq!((second.think, second.typing), (2_000_000_000, 400_000_000));
    assert_eq!(second.sent, second.planned);
    let keys: String = host.keys.iter().map(|(.., keys)| keys.as_str()).collect();
    assert_eq!(keys, "abcd\nabcd\nexit\n");
    let gaps: Vec<u64> = host.keys[5..10].windows(2).map(|pair| pair[1].0.0 - pair[0].0.0).collect();
    assert_eq!(gaps, [100_000_000; 4]);
}

#[test]
fn a_user_thinks_by_what_was_just_done() {
    let lines = r#"[{ type = "make", think_after = "fixed(9s)" }, "edit", { type = "look", think = "fixed(7s)" }, { type = "ls", think = "fixed(1s)", think_after = "none" }]"#;
    let script = script("think = \"fixed(2s)\"", lines);
    let (kept, _) = run(&script, &OfferedLoad::closed(1, 2), &mut VirtualHost::constant(Span::from_millis(50)));
    let thinks_s: Vec<u64> = kept.rows[1..].iter().map(|row| row.think / 1_000_000_000).collect();
    assert_eq!(thinks_s, [9, 7, 1, 0, 9, 7, 1], "edit, look, ls; make, edit, look, ls");
}

#[test]
fn a_group_gives_its_lines_the_think_time_after_them() {
    let lines = r#"[{ think_after = "fixed(4s)", repeat = 2, lines = [{ type = "make", think = "fixed(3s)" }, { type = "run", think_after = "none" }] }, "edit"]"#;
    let script = script("think = \"fixed(2s)\"", lines);
    let (kept, _) = run(&script, &OfferedLoad::closed(1, 2), &mut VirtualHost::constant(Span::from_millis(50)));
    let thinks_s: Vec<u64> = kept.rows[1..].iter().map(|row| row.think / 1_000_000_000).collect();
    assert_eq!(thinks_s, [4, 0, 4, 0, 3, 4, 0, 4, 0]);
}

#[test]
fn a_line_that_silence_ends_lasts_until_its_last_output_and_the_user_thinks_from_there() {
    let (answer, silence) = (Span::from_millis(70), Span::from_millis(500));
    for (think, measured_ms) in [("none", 500), ("fixed(100ms)", 500), ("fixed(2s)", 2000)] {
        let script = script(&format!("think = \"{think}\"\nsilence = \"500ms\""), r#"["look"]"#);
        let mut host = VirtualHost::new(move |_, _| Answer::Silent(answer, silence));
        let (kept, _) = run(&script, &OfferedLoad::closed(1, 3), &mut host);
        for row in &kept.rows {
            assert_eq!((row.ready.unwrap() - row.sent, row.outcome), (answer.0, Outcome::Unconfirmed));
            assert_eq!(row.sent, row.planned, "the driver is not late: the user does not know before the silence is over");
        }
        for row in &kept.rows[1..] {
            assert_eq!(row.think, measured_ms * 1_000_000, "{think}");
        }
    }
}

#[test]
fn lines_that_fail_time_out_or_die_keep_their_screen_and_what_they_waited_for() {
    let lines = r#"[{ type = "hang", until = "ready> " }, { type = "bad", status = 0 }, "ls", "end"]"#;
    let script = script("think = \"none\"\ntimeout = \"2s\"", lines);
    let mut host = VirtualHost::new(|_, command: &str| match command {
        "hang" => Answer::Never(true),
        "end" => Answer::Ends(Span(10)),
        name => Answer::After(Span(10), u8::from(name == "bad")),
    });
    let (kept, _) = run(&script, &OfferedLoad::closed(1, 1), &mut host);
    let sent: Vec<u64> = kept.rows.iter().filter(|row| row.outcome != Outcome::Ok).map(|row| row.sent).collect();
    assert_eq!(sent, kept.screens.iter().map(|row| row.sent.0).collect::<Vec<_>>());
    let until: Vec<&str> = kept.screens.iter().map(|row| row.until.as_str()).collect();
    assert_eq!(until, ["until = \"ready> \"", "until = \"mark\"", "until = \"mark\""]);
    assert!(kept.screens.iter().all(|row| row.screen == "screen of 1" && row.at > row.sent), "{:?}", kept.screens);
}

#[test]
fn a_run_in_which_every_line_fails_keeps_a_bounded_number_of_screens() {
    let script = script("think = \"none\"", r#"[{ type = "bad", status = 0 }]"#);
    let (kept, _) = run(&script, &OfferedLoad::closed(1, 1500), &mut VirtualHost::new(|_, _| Answer::After(Span(10), 1)));
    assert_eq!((kept.rows.len(), kept.screens.len()), (1500, 1000));
}

#[test]
fn warm_up_lasts_until_everybody_has_typed_and_ramp_down_begins_when_one_is_done() {
    let (kept, _) = run(&two_lines(), &OfferedLoad::closed(8, 5), &mut VirtualHost::constant(Span::from_millis(10)));
    let firsts = (1..=8).map(|user| kept.of(user)[0].sent).max().unwrap();
    assert_eq!(kept.began(Phase::Steady), Some(Instant(firsts)));
    let finished = (1..=8).map(|user| kept.of(user).last().unwrap().ready.unwrap()).min().unwrap();
    assert_eq!(kept.began(Phase::RampDown), Some(Instant(finished)));
    for row in &kept.rows {
        let expected = match row.sent {
            sent if sent < firsts => Phase::WarmUp,
            sent if sent < finished => Phase::Steady,
            _ => Phase::RampDown,
        };
        assert_eq!(row.phase, expected);
    }
}

#[test]
fn warm_up_ends_with_the_death_of_the_last_user_who_had_not_typed() {
    let load = OfferedLoad { passes: Some(50), duration: Some(Span::from_secs(60)), ..OfferedLoad::closed(5, 1) };
    let (kept, _) = run(&two_lines(), &load, &mut VirtualHost::constant(Span::from_millis(10)));
    let mut first_lines: Vec<(u64, u32)> = (1..=5).map(|user| (kept.of(user)[0].sent, user)).collect();
    first_lines.sort_unstable();
    let [.., (before, _), (last, user)] = first_lines[..] else { unreachable!("five users type") };
    let death = Instant(before + (last - before) / 2);
    let mut host = VirtualHost::constant(Span::from_millis(10));
    host.deaths = vec![(death, user)];
    let (kept, summary) = run(&two_lines(), &load, &mut host);
    assert_eq!((summary.died, summary.done, kept.of(user).len()), (1, 4, 0));
    assert_eq!(kept.began(Phase::Steady), Some(death));
    assert_eq!(kept.began(Phase::RampDown), Some(death + Span::from_secs(60)));
}

#[test]
fn a_run_whose_users_all_die_before_they_type_is_never_steady() {
    let mut host = VirtualHost::constant(Span::from_millis(10));
    host.deaths = vec![(Instant(20_000_000), 1)];
    let (kept, summary) = run(&two_lines(), &OfferedLoad::closed(1, 1), &mut host);
    assert_eq!((summary.died, kept.began(Phase::Steady)), (1, None));
}

#[test]
fn a_load_of_a_duration_ends_when_the_time_is_up_and_users_who_wait_may_finish() {
    let load = OfferedLoad {
        passes: None,
        duration: Some(Span::from_secs(60)),
        warm_up: WarmUp::For(Span::from_secs(10)),
        ..OfferedLoad::closed(10, 1)
    };
    let (kept, summary) = run(&two_lines(), &load, &mut VirtualHost::constant(Span::from_millis(500)));
    let steady = kept.began(Phase::Steady).unwrap();
    assert_eq!(steady.since(kept.began(Phase::WarmUp).unwrap()), Span::from_secs(10));
    assert_eq!(kept.began(Phase::RampDown).unwrap().since(steady), Span::from_secs(60));
    assert!(kept.rows.iter().all(|row| row.ready.is_some() && row.phase != Phase::RampDown));
    assert_eq!(summary.done, 10);
}

#[test]
fn a_line_that_takes_too_long_is_interrupted_and_the_user_goes_on() {
    let script = script("think = \"none\"\ntimeout = \"2s\"", r#"["hang", "ls"]"#);
    let plan = |_, command: &str| if command == "hang" { Answer::Never(true) } else { Answer::After(Span(10), 0) };
    let mut host = VirtualHost::new(plan);
    host.bytes_before_interrupt = 17;
    let (kept, summary) = run(&script, &OfferedLoad::closed(1, 1), &mut host);
    let outcomes: Vec<_> = kept.rows.iter().map(|row| (row.outcome, row.ready.is_some(), row.bytes_out)).collect();
    assert_eq!(outcomes, [(Outcome::Timeout, false, 17), (Outcome::Ok, true, 0)], "with what came until then");
    assert_eq!((host.interrupts, summary.done), (vec![1], 1));
}

#[test]
fn a_line_that_was_answered_in_time_is_not_interrupted_while_its_event_is_on_the_way() {
    let script = script("think = \"none\"\ntimeout = \"2s\"", r#"["slow", "ls"]"#);
    let mut host = VirtualHost::constant(Span::from_millis(1990));
    host.answer_delay = Span::from_millis(30);
    let (kept, summary) = run(&script, &OfferedLoad::closed(1, 1), &mut host);
    let rows: Vec<_> = kept.rows.iter().map(|row| (row.outcome, row.ready.map(|ready| ready - row.sent))).collect();
    assert_eq!(rows, [(Outcome::Ok, Some(1_990_000_000)); 2]);
    assert_eq!((host.interrupts, summary.done), (vec![], 1));
}

#[test]
fn a_session_that_does_not_answer_an_interrupt_is_recorded_as_lost() {
    let script = script("think = \"none\"\ntimeout = \"2s\"", r#"["hang", "ls"]"#);
    let mut host = VirtualHost::new(|_, _| Answer::Never(false));
    let (kept, summary) = run(&script, &OfferedLoad::closed(1, 1), &mut host);
    assert_eq!((summary.died, host.hung_up), (1, vec![1]));
    assert_eq!((kept.lost.len(), kept.lost[0].what, kept.sessions[0].outcome), (1, "session", "died"));
}

#[test]
fn a_session_that_ends_is_recorded_and_the_others_go_on() {
    let plan = |user, command: &str| match (user, command) {
        (3, "make") => Answer::Ends(Span(5)),
        _ => Answer::After(Span::from_millis(1), 0),
    };
    let (kept, summary) = run(&two_lines(), &OfferedLoad::closed(4, 2), &mut VirtualHost::new(plan));
    assert_eq!((summary.died, summary.done, summary.interactions), (1, 3, 13));
    assert_eq!(kept.of(3)[0].outcome, Outcome::Died);
    assert_eq!(kept.lost[0].reason, "ended by signal 9");
}

#[test]
fn a_line_that_ends_the_session_as_the_last_of_the_script_is_no_death() {
    let script = script("think = \"none\"", r#"["ls", "exit"]"#);
    let plan = |_, command: &str| if command == "exit" { Answer::Exits(Span(5), 0) } else { Answer::After(Span(5), 0) };
    let (kept, summary) = run(&script, &OfferedLoad::closed(2, 1), &mut VirtualHost::new(plan));
    assert_eq!((summary.done, summary.died, kept.lost.len()), (2, 0, 0));
}

#[test]
fn a_session_that_is_killed_by_its_last_line_has_died_and_a_bad_status_is_a_failure() {
    let script = script("think = \"none\"\nstatus = 0", r#"["ls", "exit"]"#);
    let killed = |_, command: &str| if command == "exit" { Answer::Ends(Span(5)) } else { Answer::After(Span(5), 0) };
    let (kept, summary) = run(&script, &OfferedLoad::closed(1, 1), &mut VirtualHost::new(killed));
    assert_eq!((summary.died, kept.rows[1].outcome), (1, Outcome::Died));
    let failed = |_, command: &str| if command == "exit" { Answer::Exits(Span(5), 200) } else { Answer::After(Span(5), 0) };
    let (kept, summary) = run(&script, &OfferedLoad::closed(1, 1), &mut VirtualHost::new(failed));
    assert_eq!((summary.done, kept.rows[1].outcome), (1, Outcome::Failed));
}

#[test]
fn an_exit_status_that_the_script_does_not_accept_is_a_failure() {
    let script = script("think = \"none\"", r#"[{ type = "a", status = 0 }, { type = "b", status = [1, 2] }, "c"]"#);
    let plan = |_, command: &str| Answer::After(Span(5), if command == "c" { 9 } else { 1 });
    let (kept, _) = run(&script, &OfferedLoad::closed(1, 1), &mut VirtualHost::new(plan));
    let outcomes: Vec<_> = kept.rows.iter().map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Failed, Outcome::Ok, Outcome::Ok]);
}

#[test]
fn if_the_first_log_ins_are_refused_the_others_are_not_tried() {
    let mut host = VirtualHost::constant(Span(1));
    host.refused = (1..=100).collect();
    let (kept, summary) = run(&two_lines(), &OfferedLoad { log_ins_at_once: 4, ..OfferedLoad::closed(100, 1) }, &mut host);
    assert_eq!((summary.refused, summary.refusal.as_deref()), (4, Some("no such user")));
    assert_eq!((kept.sessions.len(), kept.phases.len()), (100, 0));
}

#[test]
fn a_few_refused_log_ins_are_counted_and_the_others_run() {
    let mut host = VirtualHost::constant(Span(1));
    host.refused = vec![2, 9];
    let (kept, summary) = run(&two_lines(), &OfferedLoad::closed(10, 1), &mut host);
    assert_eq!((summary.refused, summary.done, kept.lost.len()), (2, 8, 2));
}

#[test]
fn sessions_of_an_open_load_arrive_as_a_poisson_stream_and_leave_when_done() {
    let load = OfferedLoad { model: LoadModel::Open(2.0), ..OfferedLoad::closed(4000, 1) };
    let (kept, summary) = run(&two_lines(), &load, &mut VirtualHost::constant(Span::from_millis(100)));
    assert_eq!(summary.done, 4000);
    let mut arrivals: Vec<u64> = kept.sessions.iter().map(|session| session.planned.0).collect();
    arrivals.sort_unstable();
    let gaps: Vec<f64> = arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean - 0.5).abs() < 4.0 * 0.5 / 4000f64.sqrt(), "mean gap {mean}");
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.08, "a Poisson stream's gaps vary as much as their mean");
    assert!(kept.rows.iter().all(|row| row.phase != Phase::WarmUp));
}

#[test]
fn a_stopped_run_records_the_interactions_that_it_cut() {
    let mut host = VirtualHost::new(|_, _| Answer::After(Span::from_secs(1000), 0));
    host.stop_at = Some(Instant(20_000_000_000));
    let (kept, summary) = run(&two_lines(), &OfferedLoad::closed(3, 1), &mut host);
    assert!(summary.stopped);
    assert!(kept.sessions.iter().all(|session| session.outcome == "stopped"));
    assert_eq!((kept.lost[0].what, kept.lost[0].count), ("interaction", 3));
}

/// Answers of every kind: some commands hang, some sessions die, and some end.
fn any_answer(user: u32, command: &str) -> Answer {
    let span = Span::from_millis(300 + u64::from(user) * 40);
    match (user % 5, command) {
        (0, "make") => Answer::Ends(span),
        (1, "make") => Answer::Never(true),
        (2, "ls") => Answer::Exits(span, 0),
        _ => Answer::After(span, 0),
    }
}

#[test]
fn a_stop_among_other_events_of_one_wait_ends_the_run_with_one_row_for_each_session() {
    let script = script("think = \"fixed(1s)\"\ntimeout = \"2s\"", r#"["make", "ls"]"#);
    for stop_ms in (0..6000).step_by(20) {
        let mut host = VirtualHost::new(any_answer);
        (host.batch, host.stop_at) = (Span::from_millis(500), Some(Instant(stop_ms * 1_000_000)));
        host.refused = vec![3, 8];
        let load = OfferedLoad { log_ins_at_once: 5, ..OfferedLoad::closed(12, 3) };
        let (kept, summary) = run(&script, &load, &mut host);
        let mut users: Vec<u32> = kept.sessions.iter().map(|session| session.user).collect();
        users.sort_unstable();
        assert_eq!(users, (1..=12).collect::<Vec<_>>(), "stopped at {stop_ms} ms");
        let count = |outcome| kept.sessions.iter().filter(|session| session.outcome == outcome).count() as u32;
        let counted = (count("done"), count("died"), count("refused"));
        assert_eq!(counted, (summary.done, summary.died, summary.refused), "stopped at {stop_ms} ms");
        assert!(summary.stopped);
    }
}

/// Little's law, N = X (R + Z): with everybody present, users = throughput × (response + think).
#[test]
fn the_records_of_a_closed_load_obey_littles_law() {
    let load = OfferedLoad { passes: None, duration: Some(Span::from_secs(4000)), ..OfferedLoad::closed(25, 1) };
    let (kept, _) = run(&two_lines(), &load, &mut VirtualHost::constant(Span::from_millis(800)));
    let (from, to) = (kept.began(Phase::Steady).unwrap().0, kept.began(Phase::RampDown).unwrap().0);
    let inside: Vec<_> = kept.rows.iter().filter(|row| row.sent >= from && row.sent < to).collect();
    let seconds = (to - from) as f64 / 1e9;
    let throughput = inside.len() as f64 / seconds;
    let cycle =
        inside.iter().map(|row| (row.ready.unwrap() - row.sent + row.think) as f64 / 1e9).sum::<f64>() / inside.len() as f64;
    assert!((throughput * cycle / 25.0 - 1.0).abs() < 0.005, "N = {}", throughput * cycle);
}
