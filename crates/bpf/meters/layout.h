/* Sizes, categories and records that the kernel programs share with their reader (src/programs/layout.rs of loadgo-meters). */
#pragma once
#include "../kernel.h"

/* The categories of a processor, in the order of the rows of the table `time`. */
enum category {
	UNCHARGED, USER, PRIMITIVE, PAGE_FAULT, SEGMENT_FAULT, BOUND_FAULT, INTERRUPT, SOFT_INTERRUPT, GETWORK, KERNEL_THREAD,
	IDLE_ZERO, IDLE_LOADING, IDLE_NOT_ELIGIBLE, IDLE_GOVERNED, IDLE_PAGE_WAIT, IDLE_DISK_WAIT, IDLE_DISPATCH,
	IN_FAULT, /* a fault under way; its time moves to its kind's category at its end, or to PAGE_FAULT when the task leaves the processor */
	IDLE, /* idle time under way, which is divided by cause when it ends */
	CATEGORIES = 24,
};
#define IDLE_OF(cause) (IDLE_ZERO + (cause))

/* The causes for which a task does not run, in the order in which they claim idle processors. */
enum cause { NO_CAUSE, LOADING, NOT_ELIGIBLE, GOVERNED, PAGE_WAIT, DISK_WAIT, CAUSES = 8 };

enum { MOST_PROCESSORS = 512, QUEUE_LENGTHS = 16, NO_PRIMITIVE = 0xffff };

/* A system call under way. */
struct call {
	u64 began;
	u64 off; /* ns off the processor since then */
	u32 number; /* NO_PRIMITIVE: no call */
	u32 faults; /* page faults since then */
};

/* A page fault under way. */
struct fault {
	u64 began; /* 0: no fault */
	u64 off; /* ns off the processor since then */
	u64 ran; /* ns on processors, up to the last time that the task left one */
	u64 tables; /* bytes of page tables when it began */
	u64 stack; /* pages of stack when it began */
	u64 address;
	u32 error;
	u32 within; /* the category that the fault interrupted */
};

/* What a task does: its system call, its page fault, its category. */
struct doing {
	struct call call;
	struct fault fault;
	u32 category; /* of the task, without interrupts */
	u32 known; /* whether the category is known; 0 until the meters have seen the task */
	u32 minor; /* the kernel's counts of the task's faults, when last read */
	u32 major;
};

/* One processor. Only programs on that processor write it. `time` adds up to `last` - `began`, except while a program is between
 * writing the two. So the reader can tell whether its copy is consistent. */
struct processor {
	u64 last; /* when the category was last charged; 0: never */
	u64 began; /* when a category was first charged */
	u32 category;
	u32 turning; /* 1 while a program charges time; a program that interrupts it then charges nothing */
	u64 time[CATEGORIES];
	u64 idle_integral[CAUSES]; /* the integrals of `struct waiting` when idle began */
	u64 switches;
	u64 preemptions;
	u64 queue_area; /* ns × tasks of the ready queue, added when this processor changes its length */
	u64 queue_ns[QUEUE_LENGTHS]; /* ns of the ready queue at each length (0, 1, 2-3, 4-7 …), added likewise */
	u64 since; /* when the running task was switched in, or its name last charged */
	u32 name; /* index of the running process's name in `names` */
	u32 slot; /* the running task's account; 0: no account */
	u32 tgid; /* of the running process */
	u32 interrupts; /* 1 in a hard interrupt */
	u32 soft; /* 1 in a soft interrupt */
	u32 pid; /* of the running task */
	struct doing doing; /* of the running task */
	u64 ahead; /* our clock minus the scheduler's; 0: not known */
	u64 compared; /* when the two clocks were last compared */
	u64 entered; /* address of the registers of the task that last entered or left a system call; no two tasks have the same */
};

struct bpf_spin_lock {
	u32 val;
};

/* The tasks that wait for a cause of idle time, and the integrals that divide idle time by cause. */
struct waiting {
	struct bpf_spin_lock lock;
	u32 spare;
	u32 all; /* tasks with a cause; changed under the lock */
	u32 tasks[CAUSES];
	u32 weight[CAUSES]; /* the cause's present share of each idle processor's time, in units of 1 / 2^WHOLE_SHIFT */
	u64 since; /* when the integrals were last updated */
	u64 integral[CAUSES]; /* ns × weight */
};
enum { WHOLE_SHIFT = 16 };

/* The tasks that are ready and have no processor. */
struct ready_queue {
	u64 length;
	u64 since; /* when it last changed */
};

/* A session: a process that our own process forked, or that the reader has adopted, with all descendants that it has from then on. */
struct account {
	u32 pid; /* its leader */
	u32 command; /* number of the command that was typed last; written by the reader */
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

/* Longest processor time of a living task that its name has not been charged yet. */
enum { MOST_OWED_NS = 100000 };

/* Number of things for which a map had no room, and of names in use. */
enum counter { SESSIONS_LOST, NAMES_LOST, NAMES_GIVEN, TASKS_LOST, LOCK_WAITS_LOST, COUNTERS = 8 };

/* A wait for a lock that is under way. */
struct lock_wait {
	u64 lock; /* its address; 0: no wait */
	u64 began;
	u64 key; /* of its sums: see locks.h */
	u64 place; /* likewise */
	u64 slept; /* of a lock on a file: how often the task had slept when it was last refused */
};

/* A task. While it runs, `struct processor` has what it does. */
struct task_record {
	struct doing doing;
	u64 out; /* when it was switched out; 0: it runs */
	u64 ready; /* when it became ready; 0: it is not */
	u64 run_delay; /* the scheduler's count of its time ready, when it was switched out */
	u64 loaded; /* processor time in ns since the task loaded its program */
	u32 cause; /* why it does not run */
	u32 counted; /* whether `waiting` counts it */
	u32 slot; /* its session's account; 0: no account */
	u32 name; /* index of its name in `names`; 0: not looked up */
	u64 owed_cpu; /* ns that its name has not been charged yet */
	u64 owed_ready; /* likewise, of time ready */
	struct lock_wait lock; /* of the kernel */
	struct lock_wait file_lock;
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
_Static_assert(__builtin_offsetof(struct task_record, slot) == 17 * 8, "task_record.slot");
_Static_assert(__builtin_offsetof(struct task_record, name) == 17 * 8 + 4, "task_record.name");
