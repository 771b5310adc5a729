// Tasks that sleep and compute for given times, and what each burst waited for a processor.
//
//   bursts FILE SECONDS PROCESSOR...
//
// FILE has a line for each burst, `TASK SLEEP_NS COMPUTE_NS NICE`, by task from 0 and in order. Each task is a thread that
// may run on these processors alone. It sleeps until SLEEP_NS after the end of its burst before, then computes, until its
// list or the time is over. With BURSTS_GROUPS=DIRECTORY, task N is in the control group (version 1) DIRECTORY/N.
//
// A line comes out for each burst: `TASK DUE_NS WAIT_NS RESPONSE_NS COMPUTE_NS NICE`. DUE_NS counts from the common
// beginning. WAIT_NS is the growth of the kernel's own count (`run_delay` in schedstat) from the burst before.
//
// A burst reads no processor time while it computes: that call lets the kernel look whether the slice is over, which
// only its tick and wake-ups do otherwise. It reads the wall clock without a system call, and leaves out gaps.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_TASKS 1024
#define STACK_BYTES (256 * 1024)
#define SECOND 1000000000LL
#define START_NS (SECOND / 10)    // from the last thread's creation to the common beginning
#define GAP_NS 20000              // a longer pause between two readings of the clock is no computing
#define MUST(call) do { if ((call) < 0) { perror("bursts: " #call); exit(2); } } while (0)

struct burst { long long sleep_ns, compute_ns, due_ns, wait_ns, response_ns; int nice; };
struct task { struct burst *bursts; int count, room, done; pthread_t thread; };

static struct task tasks[MOST_TASKS];
static int count;
static long long start, end;
static pthread_barrier_t all_there, begun;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static void sleep_until(long long due) {
    struct timespec at = { .tv_sec = due / SECOND, .tv_nsec = due % SECOND };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR);
}

static void compute(long long ns) {
    for (long long last = now_ns(), now; ns > 0; last = now) {
        now = now_ns();
        if (now - last < GAP_NS) ns -= now - last;
    }
}

// How long this thread has waited for a processor so far.
static long long run_delay(int file) {
    char text[128];
    ssize_t length;
    long long ran, delay;
    MUST(length = pread(file, text, sizeof text - 1, 0));
    text[length] = 0;
    if (sscanf(text, "%lld %lld", &ran, &delay) != 2) { fprintf(stderr, "bursts: schedstat reads `%s'\n", text); exit(2); }
    return delay;
}

// The kernel may group the tasks of a session. These get a group of their own, which it prefers to all others.
static void be_preferred(void) {
    setsid();
    FILE *group = fopen("/proc/self/autogroup", "w");
    if (!group) return;
    fputs("-20", group);
    fclose(group);
}

// Puts this thread into its own control group, if there are groups.
static void join_group(int number) {
    char name[4096];
    const char *groups = getenv("BURSTS_GROUPS");
    if (!groups) return;
    snprintf(name, sizeof name, "%s/%d/tasks", groups, number);
    FILE *file = fopen(name, "w");
    if (!file || fprintf(file, "%ld", syscall(SYS_gettid)) < 0 || fclose(file)) { perror(name); exit(2); }
}

static void *live(void *which) {
    struct task *task = which;
    char name[64];
    int file, nice_value = 0;
    join_group(task - tasks);
    snprintf(name, sizeof name, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
    MUST(file = open(name, O_RDONLY | O_CLOEXEC));
    prctl(PR_SET_TIMERSLACK, 1);
    run_delay(file);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&begun);
    sleep_until(start - START_NS / 2);
    long long ready = start, before = run_delay(file);
    for (; task->done < task->count; task->done++) {
        struct burst *burst = &task->bursts[task->done];
        long long due = ready + burst->sleep_ns;
        if (due >= end) break;
        if (burst->nice != nice_value) MUST(setpriority(PRIO_PROCESS, 0, nice_value = burst->nice));
        sleep_until(due);
        compute(burst->compute_ns);
        long long after = run_delay(file);
        ready = now_ns();
        burst->due_ns = due - start;
        burst->wait_ns = after - before;
        burst->response_ns = ready - due;
        before = after;
    }
    return NULL;
}

static void read_bursts(const char *name) {
    FILE *file = fopen(name, "r");
    if (!file) { perror(name); exit(2); }
    int number;
    struct burst burst = {0};
    while (fscanf(file, "%d %lld %lld %d", &number, &burst.sleep_ns, &burst.compute_ns, &burst.nice) == 4) {
        if (number < 0 || number >= MOST_TASKS) { fprintf(stderr, "bursts: no task %d\n", number); exit(2); }
        struct task *task = &tasks[number];
        if (task->count == task->room) {
            task->room = 2 * task->room + 64;
            task->bursts = realloc(task->bursts, task->room * sizeof *task->bursts);
            if (!task->bursts) { perror("bursts"); exit(2); }
        }
        task->bursts[task->count++] = burst;
        if (number >= count) count = number + 1;
    }
    fclose(file);
}

int main(int words, char **word) {
    if (words < 4) { fprintf(stderr, "bursts FILE SECONDS PROCESSOR...\n"); return 2; }
    read_bursts(word[1]);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int at = 3; at < words; at++) CPU_SET(atoi(word[at]), &set);
    MUST(sched_setaffinity(0, sizeof set, &set));
    be_preferred();
    mlockall(MCL_CURRENT);
    pthread_barrier_init(&all_there, NULL, count + 1);
    pthread_barrier_init(&begun, NULL, count + 1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int number = 0; number < count; number++) {
        if (pthread_create(&tasks[number].thread, &attributes, live, &tasks[number])) { perror("bursts"); return 2; }
    }
    pthread_barrier_wait(&all_there);
    start = now_ns() + START_NS;
    end = start + (long long)(atof(word[2]) * SECOND);
    pthread_barrier_wait(&begun);
    for (int number = 0; number < count; number++) pthread_join(tasks[number].thread, NULL);
    for (int number = 0; number < count; number++) {
        for (int at = 0; at < tasks[number].done; at++) {
            struct burst *burst = &tasks[number].bursts[at];
            printf("%d %lld %lld %lld %lld %d\n", number, burst->due_ns, burst->wait_ns, burst->response_ns,
                   burst->compute_ns, burst->nice);
        }
    }
    return 0;
}
