//! Last words of a process that a library ends: by an abort, as where Rust code gets no memory, or by `exit` in its midst.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The words and the status of the process.
struct LastWords {
    text: Vec<u8>,
    status: i32,
}

static LAST_WORDS: OnceLock<LastWords> = OnceLock::new();

/// Whether the program itself has come to its end, so that an `exit` is no library's.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);

/// From now on, an abort ends this process with `text` on the standard error, and with `status`. So does an `exit` before
/// `end_by_itself`.
///
/// Rust's standard library aborts where it gets no memory, and OpenBLAS calls `exit` with a status of its own. Neither can be
/// caught. Only the first call has an effect.
pub fn say_at_abort(text: &str, status: i32) {
    if LAST_WORDS.set(LastWords { text: text.as_bytes().to_vec(), status }).is_err() {
        return;
    }
    // SAFETY: all zeroes is a valid sigaction: no flags, an empty mask. The handler calls only write and _exit, which a handler may,
    // and reads a value that never changes again. So does the function that `exit` calls.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = at_abort as *const () as usize;
        libc::sigaction(libc::SIGABRT, &raw const action, std::ptr::null_mut());
        libc::atexit(at_exit);
    }
}

/// Lets the process end by `exit` without words: the program itself calls it.
pub fn end_by_itself() {
    ENDS_BY_ITSELF.store(true, Ordering::Relaxed);
}

extern "C" fn at_abort(_signal: libc::c_int) {
    say_and_end();
}

extern "C" fn at_exit() {
    if !ENDS_BY_ITSELF.load(Ordering::Relaxed) {
        say_and_end();
    }
}

fn say_and_end() {
    if let Some(words) = LAST_WORDS.get() {
        // SAFETY: the pointer and the length are those of a text that is never freed; both calls may be made in a handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, words.text.as_ptr().cast(), words.text.len());
            libc::_exit(words.status);
        }
    }
}
