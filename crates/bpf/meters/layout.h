/* Sizes, categories and records that the kernel programs share with the reader, which has them in programs/layout.rs. */
#pragma once
#include "../kernel.h"

/* The categories of a processor, in the order of the rows of the table `time`. */
enum category {
	UNCHARGED, USER, PRIMITIVE, PAGE_FAULT, SEGMENT_FAULT, BOUND_FAULT, INTERRUPT, SOFT_INTERRUPT, GETWORK, KERNEL_THREAD,
	IDLE_ZERO, IDLE_LOADING, IDLE_NOT_ELIGIBLE, IDLE_GOVERNED, IDLE_PAGE_WAIT, IDLE_DISK_WAIT, IDLE_DISPATCH,
	IN_FAULT, /* while it lasts: charged to its kind when it ends, to PAGE_FAULT when it leaves the processor */
	IDLE, /* while it lasts: divided by cause when it ends */
	CATEGORIES = 24,
};
#define IDLE_OF(cause) (IDLE_ZERO + (cause))

/* The causes for which a task does not run, in the order in which they claim idle processors. */
enum cause { NO_CAUSE, LOADING, NOT_ELIGIBLE, GOVERNED, PAGE_WAIT, DISK_WAIT, CAUSES = 8 };

enum { MOST_PROCESSORS = 512, QUEUE_LENGTHS = 16, NO_PRIMITIVE = 0xffff };

/* A primitive under way. */
struct call {
	u64 began;
	u64 off; /* ns off the processor since then */
	u32 number; /* NO_PRIMITIVE: none */
	u32 faults; /* page faults since then */
};

/* A page fault under way. */
struct fault {
	u64 began; /* 0: none */
	u64 off;
	u64 ran; /* ns on the processor until it last left one */
	u64 tables; /* bytes of page tables when it began */
	u64 stack; /* pages of stack when it began */
	u64 address;
	u32 error;
	u32 within; /* the category that it interrupted */
};

/* The state of a task: why it does not run, or what it does while it runs. */
struct doing {
	struct call call;
	struct fault fault;
	u32 category; /* of the task, without interrupts */
	u32 known; /* whether that is known: not of a task that began before the meters */
	u32 minor; /* the task's faults, as the kernel counts them, that have been seen */
	u32 major;
};

/* One processor; only programs on that processor write it. Its `time` adds up to `last` - `began` whenever nobody is between
 * writing the one and the other: so the reader knows a reading that is whole. */
struct processor {
	u64 last; /* when the category was last charged; 0: never */
	u64 began; /* when it was first */
	u32 category;
	u32 turning; /* a program is charging: one that interrupts it lets its own turn be */
	u64 time[CATEGORIES];
	u64 idle_integral[CAUSES]; /* copied when idle began */
	u64 switches;
	u64 preemptions;
	u64 queue_area; /* ns × tasks of the ready queue, as this processor saw it change */
	u64 queue_ns[QUEUE_LENGTHS]; /* ns of the ready queue at each length (0, 1, 2-3, 4-7 …), likewise */
	u64 since; /* when the running task was switched in, or its name last charged */
	u32 name; /* of the running process: its place in `names` */
	u32 slot; /* the running task's account; 0: nobody's */
	u32 tgid; /* of the running process */
	u32 interrupts; /* nested, hard */
	u32 soft;
	u32 pid; /* of the running task */
	struct doing doing; /* of the running task */
	u64 ahead; /* our clock less the scheduler's; 0: not known */
	u64 compared; /* when the two were */
	u64 entered; /* where the registers are of the task that last called or returned: each has a place of its own */
};

struct bpf_spin_lock {
	u32 val;
};

/* All waits of the system that make a processor idle by cause. */
struct waiting {
	struct bpf_spin_lock lock;
	u32 spare;
	u32 all; /* tasks with a cause; changed under the lock */
	u32 tasks[CAUSES];
	u32 weight[CAUSES]; /* what part of each idle processor's time the cause has now, of WHOLE */
	u64 since; /* when the integrals were last brought up */
	u64 integral[CAUSES]; /* ns × WHOLE */
};
enum { WHOLE_SHIFT = 16 };

/* The tasks that are ready and have no processor. */
struct ready_queue {
	u64 length;
	u64 since; /* when it last changed */
};

/* A session: a process that our own process forked, with all its descendants. */
struct account {
	u32 pid; /* its leader */
	u32 command; /* which line it is at: written by the reader */
	u64 cpu_ns;
	u64 ready_wait;
	u64 page_wait;
	u64 disk_wait;
	u64 other_wait; /* governed, not eligible, loading */
	u64 spare[2];
};

/* All processes of one name that belong to one session, or to none. */
struct named {
	u64 cpu_ns;
	u64 ready_wait;
	u64 spare;
	u32 slot;
	u32 spare_too;
	u8 name[16];
};
struct name_key {
	u8 name[16];
	u32 slot;
};

/* Longest time that a living task may owe its name before it is charged. */
enum { MOST_OWED_NS = 100000 };

/* Number of things for which a map had no room, and of names in use. */
enum counter { SESSIONS_LOST, NAMES_LOST, NAMES_GIVEN, TASKS_LOST, COUNTERS = 8 };

/* A task that is not running. */
struct kept {
	struct doing doing;
	u64 out; /* when it was switched out; 0: it runs */
	u64 ready; /* when it became ready; 0: it is not */
	u64 run_delay; /* the scheduler's count of its time ready, when it was switched out */
	u64 loaded; /* ns that its program has run since it was begun */
	u32 cause; /* why it does not run */
	u32 counted; /* whether it stands in `waiting` */
	u32 slot; /* whose account */
	u32 name; /* its place in `names`; 0: to be found */
	u64 owed_cpu; /* ns that its name has not been charged */
	u64 owed_ready;
};

/* src/programs/layout.rs reads these as numbers of eight bytes. */
_Static_assert(__builtin_offsetof(struct processor, time) == 3 * 8, "processor.time");
_Static_assert(__builtin_offsetof(struct processor, idle_integral) == 27 * 8, "processor.idle_integral");
_Static_assert(__builtin_offsetof(struct processor, switches) == 35 * 8, "processor.switches");
_Static_assert(__builtin_offsetof(struct processor, queue_ns) == 38 * 8, "processor.queue_ns");
_Static_assert(__builtin_offsetof(struct processor, since) == 54 * 8, "processor.since");
_Static_assert(__builtin_offsetof(struct processor, interrupts) == 56 * 8 + 4, "processor.interrupts");
_Static_assert(__builtin_offsetof(struct processor, soft) == 57 * 8, "processor.soft");
_Static_assert(__builtin_offsetof(struct waiting, since) == 10 * 8, "waiting.since");
_Static_assert(sizeof(struct waiting) == 19 * 8, "waiting");
_Static_assert(sizeof(struct account) == 8 * 8, "account");
_Static_assert(sizeof(struct named) == 6 * 8, "named");
