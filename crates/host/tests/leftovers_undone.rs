//! Things that a run made are undone at its end, or by the next run if the run was killed.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use loadgo_host::groups::Groups;
use loadgo_host::leftovers::{Cleared, Leftovers, Thing, clear_stale_in};

static RUN: AtomicU32 = AtomicU32::new(0);

/// A directory of one test, which is removed at its end.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        let name = format!("loadgo-leftovers-{}-{}", std::process::id(), RUN.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Place(path)
    }

    fn state(&self) -> PathBuf {
        self.0.join("state")
    }

    fn begin(&self) -> Leftovers {
        Leftovers::begin_in(&self.state(), "a run").unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Leaves the state file of a killed run that has noted `things`, without its lock.
fn killed_run(place: &Place, things: &[Thing]) {
    let mut run = place.begin();
    for thing in things {
        run.note(thing.clone()).unwrap();
    }
    let state = only_state(&place.state());
    let text = fs::read(&state).unwrap();
    std::mem::forget(run);
    // The forgotten lock lives as long as this process, as a dead run's would not: the same file, made anew.
    fs::remove_file(&state).unwrap();
    fs::write(&state, text).unwrap();
}

fn is_empty(cleared: &Cleared) -> bool {
    cleared.undone.is_empty() && cleared.left_behind.is_empty()
}

fn only_state(directory: &Path) -> PathBuf {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut states = paths.filter(|path| path.extension().is_some_and(|e| e == "run"));
    let first = states.next().expect("a state file");
    assert!(states.next().is_none());
    first
}

#[test]
fn without_the_lock_of_all_runs_a_run_undoes_its_own_things_and_the_next_one_its_settings() {
    let place = Place::new();
    let (home, setting, lock) = (place.0.join("loadgo-homes"), place.0.join("setting"), place.state().join("lock"));
    fs::write(&setting, "0").unwrap();
    let mut run = place.begin();
    run.note(Thing::Home(home.clone())).unwrap();
    fs::create_dir_all(home.join("u1")).unwrap();
    run.set(&setting, "1").unwrap();
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    let refusals: Vec<String> = run.finish().iter().map(|refusal| refusal.to_string()).collect();
    assert!(!home.exists());
    assert_eq!(fs::read_to_string(&setting).unwrap(), "1");
    let [refusal] = &refusals[..] else { panic!("one refusal, not {refusals:?}") };
    assert!(refusal.contains("kernel settings of a run cannot be undone: cannot lock"), "{refusal}");
    assert!(refusal.contains("is a directory") || refusal.contains("Is a directory"), "{refusal}");

    fs::remove_dir(&lock).unwrap();
    drop(run);
    let cleared = clear_stale_in(&place.state());
    assert_eq!((cleared.undone.len(), cleared.left_behind.len()), (1, 0));
    assert_eq!(fs::read_to_string(&setting).unwrap(), "0");
}

#[test]
fn without_the_lock_a_run_that_set_nothing_leaves_nothing() {
    let place = Place::new();
    let home = place.0.join("loadgo-homes");
    let mut run = place.begin();
    run.note(Thing::Home(home.clone())).unwrap();
    fs::create_dir_all(&home).unwrap();
    fs::remove_file(place.state().join("lock")).unwrap();
    fs::create_dir(place.state().join("lock")).unwrap();
    assert!(run.finish().is_empty());
    assert!(!home.exists());
    assert_eq!(fs::read_dir(place.state()).unwrap().count(), 1);
}

#[test]
fn everything_is_undone_at_the_end_last_made_first() {
    let place = Place::new();
    let (home, setting) = (place.0.join("loadgo-homes"), place.0.join("setting"));
    fs::write(&setting, "0").unwrap();
    let mut run = place.begin();
    run.note(Thing::Home(home.clone())).unwrap();
    fs::create_dir_all(home.join("u1/deep")).unwrap();
    assert_eq!(run.set(&setting, "1").unwrap(), "0");
    assert_eq!(fs::read_to_string(&setting).unwrap(), "1");
    assert!(run.finish().is_empty());
    assert!(!home.exists());
    assert_eq!(fs::read_to_string(&setting).unwrap(), "0");
    assert!(fs::read_dir(place.state()).unwrap().all(|entry| entry.unwrap().file_name() == "lock"));
}

#[test]
fn the_next_run_undoes_what_a_killed_one_left() {
    let place = Place::new();
    let (home, setting) = (place.0.join("loadgo-homes"), place.0.join("setting"));
    fs::create_dir(&home).unwrap();
    fs::write(&setting, "1").unwrap();
    killed_run(&place, &[Thing::Home(home.clone()), Thing::Setting { path: setting.clone(), old: "0".into() }]);
    let cleared = clear_stale_in(&place.state());
    assert_eq!((cleared.undone.len(), cleared.left_behind.len()), (1, 0), "{cleared:?}");
    assert!(!home.exists());
    assert_eq!(fs::read_to_string(&setting).unwrap(), "0");
    assert!(is_empty(&clear_stale_in(&place.state())));
}

#[test]
fn the_next_run_is_not_moved_in_the_place_of_a_killed_one() {
    let place = Place::new();
    let procs = place.0.join("cgroup.procs");
    fs::write(&procs, "").unwrap();
    killed_run(&place, &[Thing::Membership(procs.clone())]);
    assert!(clear_stale_in(&place.state()).left_behind.is_empty());
    assert_eq!(fs::read_to_string(&procs).unwrap(), "", "the process that writes into it joins the group");
}

#[test]
fn a_run_that_lives_is_not_touched() {
    let place = Place::new();
    let home = place.0.join("loadgo-homes");
    let mut run = place.begin();
    run.note(Thing::Home(home.clone())).unwrap();
    fs::create_dir(&home).unwrap();
    assert!(is_empty(&clear_stale_in(&place.state())));
    assert!(home.exists());
}

#[test]
fn a_setting_of_two_runs_gets_its_first_value_back_with_the_last_of_them() {
    let place = Place::new();
    let setting = place.0.join("setting");
    fs::write(&setting, "0").unwrap();
    let (mut first, mut second) = (place.begin(), place.begin());
    first.set(&setting, "1").unwrap();
    second.set(&setting, "1").unwrap();
    first.finish();
    assert_eq!(fs::read_to_string(&setting).unwrap(), "1");
    second.finish();
    assert_eq!(fs::read_to_string(&setting).unwrap(), "0");
}

#[test]
fn a_setting_that_a_killed_run_left_stays_for_a_run_that_needs_it() {
    let place = Place::new();
    let setting = place.0.join("setting");
    fs::write(&setting, "1").unwrap();
    killed_run(&place, &[Thing::Setting { path: setting.clone(), old: "0".into() }]);
    let mut needs_it = place.begin();
    needs_it.set(&setting, "1").unwrap();
    assert!(clear_stale_in(&place.state()).left_behind.is_empty());
    assert_eq!(fs::read_to_string(&setting).unwrap(), "1", "a run that lives needs it");
    assert!(needs_it.finish().is_empty());
    assert_eq!(fs::read_to_string(&setting).unwrap(), "0", "as the killed run found it");
}

#[test]
fn a_setting_stays_in_place_for_a_second_run_while_the_first_one_restores_it() {
    let place = Place::new();
    let setting = place.0.join("setting");
    for _ in 0..500 {
        fs::write(&setting, "0\n").unwrap();
        let mut first = place.begin();
        let mut second = place.begin();
        first.set(&setting, "1").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| first.finish());
            scope.spawn(|| second.set(&setting, "1").unwrap());
        });
        assert_eq!(fs::read_to_string(&setting).unwrap().trim_end(), "1", "the second lives");
        assert!(second.finish().is_empty());
        assert_eq!(fs::read_to_string(&setting).unwrap().trim_end(), "0");
    }
}

#[test]
fn nothing_is_removed_whose_name_is_not_loadgos() {
    let place = Place::new();
    let mut run = place.begin();
    for path in ["/etc", "relative/loadgo", "/tmp/loadgo\nhome\t/etc\t"] {
        assert!(run.note(Thing::Home(path.into())).is_err(), "{path}");
    }
}

#[test]
fn a_directory_that_others_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::create_dir(place.state()).unwrap();
    fs::set_permissions(place.state(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(Leftovers::begin_in(&place.state(), "a run").is_err());
    let cleared = clear_stale_in(&place.state());
    assert_eq!((cleared.undone.len(), cleared.left_behind.len()), (0, 1), "{cleared:?}");
}

#[test]
fn the_processes_in_the_groups_of_a_killed_run_are_ended() {
    let place = Place::new();
    let mut run = place.begin();
    let groups = Groups::create("killed", &mut run).expect("these tests run as root");
    groups.add_user(1).unwrap();
    let join = groups.join_paths(1)[0].to_str().unwrap().to_owned();
    let line = format!("echo 0 >{join}; (trap '' TERM HUP; exec sleep 1000) & echo in; wait");
    let mut shell = Command::new("sh").args(["-c", &line]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 3];
    std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert_eq!(groups.processes(1).unwrap().len(), 2);
    let path = groups.path().to_owned();
    run.finish();
    assert!(!path.exists());
    assert_eq!(shell.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_process_in_a_runs_own_group_lives_and_the_group_is_removed_when_it_is_empty() {
    let place = Place::new();
    let mut run = place.begin();
    let groups = Groups::create("own", &mut run).expect("these tests run as root");
    let own_group = groups.path().with_file_name(format!("loadgo-own-{}", std::process::id()));
    run.note(Thing::OwnCgroup(own_group.clone())).unwrap();
    fs::create_dir(&own_group).unwrap();
    let mut sleeper = Command::new("sleep").arg("1000").spawn().unwrap();
    fs::write(own_group.join("cgroup.procs"), sleeper.id().to_string()).unwrap();
    let left = run.finish();
    drop(run);
    assert!(left.len() == 1 && left[0].why_not().contains("loadgo-own"), "{left:?}");
    assert!(sleeper.try_wait().unwrap().is_none(), "no process in it is killed");
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    while !clear_stale_in(&place.state()).left_behind.is_empty() {
        std::thread::yield_now(); // the kernel removes a dead process from its group in a moment
    }
    assert!(!own_group.exists());
}

/// Environment variable with the directory of a run, for the process that makes the run.
const PLACE: &str = "LOADGO_TEST_PLACE_OF_A_RUN";

/// Makes the things of a run, prints its group's path, and waits until this process is killed.
fn a_run_until_killed(place: &Place) -> ! {
    let mut run = place.begin();
    let groups = Groups::create("killed-for-real", &mut run).expect("these tests run as root");
    groups.add_user(1).unwrap();
    let join = groups.join_paths(1)[0].to_str().unwrap().to_owned();
    run.set(&place.0.join("setting"), "1").unwrap();
    let line = format!("echo 0 >{join}; echo in; exec sleep 1000");
    let mut shell = Command::new("sh").args(["-c", &line]).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0; 3]).unwrap();
    eprintln!("{}", groups.path().display());
    shell.wait().unwrap();
    unreachable!("the shell sleeps until this process is killed");
}

#[test]
fn after_kill_9_the_next_run_leaves_nothing_behind() {
    use std::io::{BufRead, BufReader};
    if let Some(place) = std::env::var_os(PLACE) {
        a_run_until_killed(&Place(place.into()));
    }
    let place = Place::new();
    fs::write(place.0.join("setting"), "0").unwrap();
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--exact", "after_kill_9_the_next_run_leaves_nothing_behind", "--nocapture"]).env(PLACE, &place.0);
    let mut run = run.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut group = String::new();
    BufReader::new(run.stderr.take().unwrap()).read_line(&mut group).unwrap();
    let group = Path::new(group.trim_end());
    assert!(group.join("u1").is_dir());
    assert!(is_empty(&clear_stale_in(&place.state())), "it still lives");
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(group.join("u1").is_dir());
    let cleared = clear_stale_in(&place.state());
    assert_eq!((cleared.undone.len(), cleared.left_behind.len()), (1, 0), "{cleared:?}");
    assert!(!group.exists());
    assert_eq!(fs::read_to_string(place.0.join("setting")).unwrap(), "0");
}

#[test]
fn only_things_that_could_not_be_undone_are_tried_again() {
    let place = Place::new();
    let mut leftovers = place.begin();
    let (gone, stays) = (place.0.join("loadgo-gone"), place.0.join("loadgo-stays"));
    std::fs::create_dir(&gone).unwrap();
    std::fs::create_dir(&stays).unwrap(); // a directory where a file was
    leftovers.note(Thing::File(stays.clone())).unwrap();
    leftovers.note(Thing::Home(gone.clone())).unwrap();
    let left = leftovers.finish();
    drop(leftovers);
    assert!(!gone.exists() && left.len() == 1 && left[0].why_not().contains("loadgo-stays"), "{left:?}");
    std::fs::create_dir(&gone).unwrap();
    let cleared = clear_stale_in(&place.state());
    assert_eq!((cleared.undone.len(), cleared.left_behind.len()), (0, 1), "what was undone is not undone again");
    assert!(gone.exists());
    std::fs::remove_dir(&stays).unwrap();
    assert!(clear_stale_in(&place.state()).left_behind.is_empty());
    assert!(std::fs::read_dir(place.state()).unwrap().flatten().all(|entry| entry.path().extension().is_none_or(|e| e != "run")));
}
