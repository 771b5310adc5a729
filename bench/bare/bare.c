// A bare loop: the least that can drive users at terminals, measured as the other drivers are (see driven.py).
//
//   bare USERS THINK_S SECONDS DRIVER_PROCESSOR USERS_PROCESSOR SCHEDULING PROGRAM
//
// One epoll, one timer, a heap of due times. It knows no scripts, records no usage and writes nothing down: it keeps
// response and lateness in arrays that are there before the users, and prints medians as JSON. Processor -1: any.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LINE "12 + 30\n"
#define WARM_UP_S 3.0
#define MUST(call) do { if ((call) < 0) { perror("bare: " #call); exit(2); } } while (0)

struct user { int terminal; char last[2]; double planned, sent; };

static struct user *users;
static int *heap, waiting;             // users who think, by their due time
static double *response, *lateness;    // us
static long done, room;
static double think_s;

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

struct memory { long allocated, resident; };    // KB

static struct memory memory(void) {
    char line[256];
    struct memory now = {0};
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Rss: %ld", &now.resident);
        sscanf(line, "Anonymous: %ld", &now.allocated);
    }
    if (file) fclose(file);
    return now;
}

static void on_processor(int processor) {
    if (processor < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    MUST(sched_setaffinity(0, sizeof set, &set));
}

static void log_in(struct user *user, const char *program) {
    MUST(user->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    MUST(unlockpt(user->terminal));
    char name[64];
    if (ptsname_r(user->terminal, name, sizeof name)) exit(2);
    pid_t child;
    MUST(child = vfork());
    if (child > 0) return;
    setsid();
    int slave = open(name, O_RDWR);    // a session's first terminal becomes its own
    for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
    close(slave);
    execl(program, program, (char *)NULL);
    _exit(127);
}

static int before(int a, int b) { return users[a].planned < users[b].planned; }

static void push(int user) {
    int at = waiting++;
    for (; at > 0 && before(user, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = user;
}

static int pop(void) {
    int first = heap[0], last = heap[--waiting], at = 0;
    for (int child; (child = 2 * at + 1) < waiting; at = child) {
        if (child + 1 < waiting && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], last)) break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}

static void type(struct user *user) {
    user->sent = seconds(CLOCK_MONOTONIC);
    user->last[1] = 0;
    MUST(write(user->terminal, LINE, sizeof LINE - 1));
}

static void think(int number, double now) {
    users[number].planned = think_s > 0 ? now - think_s * log(1 - drand48()) : now;
    if (think_s > 0) push(number); else type(&users[number]);
}

// Reads all there is; true when it ends with the prompt.
static int prompted(struct user *user) {
    char text[4096];
    ssize_t length;
    while ((length = read(user->terminal, text, sizeof text)) > 0) {
        user->last[0] = length > 1 ? text[length - 2] : user->last[1];
        user->last[1] = text[length - 1];
        if (length < (ssize_t)sizeof text) break;
    }
    return user->last[0] == '?' && user->last[1] == ' ';
}

static int rising(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print(double window_s, double cpu_s, struct memory then, double log_in_s) {
    struct memory now = memory();
    qsort(response, done, sizeof *response, rising);
    qsort(lateness, done, sizeof *lateness, rising);
    printf("{\"interactions\": %ld, \"window_s\": %f, \"cpu_s\": %f, \"allocated_bytes\": %ld, "
           "\"resident_bytes\": %ld, \"log_in_s\": %f, "
           "\"response_p50_us\": %f, \"response_p99_us\": %f, \"lateness_p50_us\": %f, \"lateness_p99_us\": %f}\n",
           done, window_s, cpu_s, (now.allocated - then.allocated) * 1024, (now.resident - then.resident) * 1024, log_in_s,
           response[done / 2], response[done * 99 / 100], lateness[done / 2], lateness[done * 99 / 100]);
}

int main(int count, char **words) {
    if (count != 8) return 2;
    int people = atoi(words[1]);
    double window_s = atof(words[3]);
    think_s = atof(words[2]);
    room = think_s > 0 ? people * (3 * window_s / think_s + 50) : 400e3 * window_s;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    response = malloc(room * sizeof *response);
    lateness = malloc(room * sizeof *lateness);
    memset(response, 1, room * sizeof *response);
    memset(lateness, 1, room * sizeof *lateness);
    struct memory then = memory();
    users = calloc(people, sizeof *users);
    heap = calloc(people, sizeof *heap);

    int poll, timer;
    MUST(poll = epoll_create1(EPOLL_CLOEXEC));
    MUST(timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = people };
    MUST(epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event));
    on_processor(atoi(words[5]));
    double began = seconds(CLOCK_MONOTONIC), log_in_s = 0;
    for (int user = 0; user < people; user++) {
        log_in(&users[user], words[7]);
        event.data.u32 = user;
        MUST(epoll_ctl(poll, EPOLL_CTL_ADD, users[user].terminal, &event));
    }
    on_processor(atoi(words[4]));
    int fifo = !strcmp(words[6], "fifo"), policy = fifo ? SCHED_FIFO : !strcmp(words[6], "batch") ? SCHED_BATCH : SCHED_OTHER;
    struct sched_param priority = { .sched_priority = fifo ? 10 : 0 };
    if (sched_setscheduler(0, policy, &priority) < 0) fprintf(stderr, "bare: no SCHED_FIFO here, it runs without\n");

    int logged_in = 0, measuring = 0;
    double from = INFINITY, cpu_from = 0, armed = INFINITY;
    for (;;) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, 1000);
        if (ready < 0 && errno != EINTR) MUST(ready);
        for (int number = 0; number < ready; number++) {
            int user = events[number].data.u32;
            if (user == people) { armed = INFINITY; continue; }
            if (!prompted(&users[user])) continue;
            double now = seconds(CLOCK_MONOTONIC);
            if (users[user].sent == 0) {
                users[user].sent = 1;
                if (++logged_in == people) {
                    log_in_s = now - began;
                    from = now + WARM_UP_S;
                    for (int all = 0; all < people; all++) think(all, now);
                }
                continue;
            }
            if (measuring && done < room) {
                response[done] = (now - users[user].sent) * 1e6;
                lateness[done++] = (users[user].sent - users[user].planned) * 1e6;
            }
            think(user, now);
        }
        double now = seconds(CLOCK_MONOTONIC);
        while (waiting && users[heap[0]].planned <= now) type(&users[pop()]);
        if (waiting && users[heap[0]].planned < armed) {
            armed = users[heap[0]].planned;
            struct itimerspec due = { .it_value = { .tv_sec = armed, .tv_nsec = (armed - (long)armed) * 1e9 } };
            MUST(timerfd_settime(timer, TFD_TIMER_ABSTIME, &due, NULL));
        }
        if (!measuring && now >= from) {
            measuring = 1;
            from = now;
            cpu_from = seconds(CLOCK_PROCESS_CPUTIME_ID);
        } else if (measuring && now >= from + window_s) {
            double cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_from;
            print(now - from, cpu_s, then, log_in_s);
            return 0;
        }
    }
}
