/* Waits for locks: the kernel's own, by the tracepoints of contention, and those on files (flock, fcntl).
 *
 * Only a wait fires the kernel's tracepoints. A lock that spins is waited for without a switch, so its wait is noted with the processor;
 * an interrupt that comes meanwhile may wait too. All other waits are noted with the task. A mutex tells its beginning again when it stops
 * spinning and sleeps: the first counts, and the second has a place. A lock on a file is asked for, refused, and asked for again when its holder has let it go. */
#pragma once
#include "tasks.h"

enum { LOCK_SPINS = 1, LOCK_IS_MUTEX = 32, LOCK_FLAGS = 63 }; /* the kernel's flags (LCB_F_...) */
enum { LOCK_IS_OF_MEMORY = 64, LOCK_IS_FLOCK = 128, LOCK_IS_FCNTL = 256, LOCK_KIND_BITS = 9 };
enum { MOST_LOCK_SUMS = 4096, LOCK_PROBES = 16, LOCK_FRAMES = 16, MOST_SPINS = 4 };
enum { FILE_NUMBER_BITS = 32 }; /* of a place that is a file; the device is above */
enum { FILE_LOCK_DEFERRED = 1 }; /* the asking task must wait */

/* Addresses of the kernel's functions that sleep for a lock (__sched_text), from /proc/kallsyms; 0: not known. */
const volatile u64 sleeping_begins = 0, sleeping_ends = 0;

/* Waits of one kind at one place during one command, since the meters began; `longest` since the last reading. */
struct lock_sums {
	u64 key; /* 0: unused. The last half of the place (of a file mixed with its device), a mark, the command, and the kind */
	u64 place; /* return address into the function that wants the lock, or the file's device and number; 0: not known */
	u64 count;
	u64 wait;
	u64 longest;
	u64 spare[3];
};
enum { LOCK_KEY_MARK = 1u << 31 };

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_LOCK_SUMS);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct lock_sums);
} lock_sums SECTION(".maps");

/* The waits under way on one processor: that of a task, and those of interrupts. */
struct spin_waits {
	u32 depth;
	u32 spare;
	struct lock_wait wait[MOST_SPINS];
};

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct spin_waits);
} spin_waits SECTION(".maps");

struct lock_stack {
	u64 address[LOCK_FRAMES];
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct lock_stack);
} lock_stacks SECTION(".maps");

/* The place that wants the lock: the first address on the stack beyond the functions that sleep for it. To read a stack takes 3 to 7 us in
 * a virtual machine. That is less than a sleep, and longer than most waits that spin, so those have no place. */
static __attribute__((noinline)) u64 place_on_stack(void *context)
{
	u32 zero = 0, within = 0;
	struct lock_stack *stack = map_lookup(&lock_stacks, &zero);
	long depth = stack && sleeping_ends ? get_stack(context, stack, sizeof(*stack), 0) / 8 : 0;
	for (u32 frame = 0; stack && frame < LOCK_FRAMES && (long)frame < depth; frame++) {
		u64 address = stack->address[frame];
		if (address >= sleeping_begins && address < sleeping_ends)
			within = 1;
		else if (within)
			return address;
	}
	return 0;
}

INLINE void raise_longest(struct lock_sums *sums, u64 ns)
{
	u64 longest = sums->longest;
	for (u32 attempt = 0; attempt < 4 && ns > longest; attempt++) {
		u64 seen = __sync_val_compare_and_swap(&sums->longest, longest, ns);
		if (seen == longest)
			return;
		longest = seen;
	}
}

/* The sums of a key, which are taken into use if they are free. */
INLINE struct lock_sums *sums_at(u32 index, u64 key, u64 place)
{
	struct lock_sums *sums = map_lookup(&lock_sums, &index);
	if (!sums)
		return 0;
	u64 has = sums->key;
	if (!has) {
		has = __sync_val_compare_and_swap(&sums->key, 0, key);
		if (!has) {
			sums->place = place;
			return sums;
		}
	}
	return has == key ? sums : 0;
}

/* Adds a wait to its sums. No lock is taken, since any lock's holder may run this. */
__attribute__((noinline)) int add_lock_wait(u64 key, u64 place, u64 ns)
{
	u32 first = key * 0x9e3779b97f4a7c15ull >> 52;
	for (u32 probe = 0; probe < LOCK_PROBES; probe++) {
		struct lock_sums *sums = sums_at(BOUNDED(first + probe, MOST_LOCK_SUMS - 1), key, place);
		if (!sums)
			continue;
		add(&sums->count, 1);
		add(&sums->wait, ns);
		raise_longest(sums, ns);
		return 0;
	}
	count(LOCK_WAITS_LOST);
	return 0;
}

INLINE u64 lock_key(u64 place, u32 slot, u32 kind)
{
	struct account *account = account_of(slot);
	u64 command = account ? account->command & 0xffff : 0;
	return place << 32 | LOCK_KEY_MARK | command << LOCK_KIND_BITS | kind;
}

INLINE void begin_lock_wait(struct lock_wait *wait, u64 lock, u32 slot, u32 kind, u64 now)
{
	wait->lock = lock;
	wait->began = now;
	wait->place = 0;
	wait->key = lock_key(0, slot, kind);
}

/* A wait in which the processor spins. Waits from before the running task came to the processor are over, and their ends were missed. */
INLINE void spin_begins(u64 lock, u32 kind, u64 now)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct spin_waits *waits = map_lookup(&spin_waits, &here);
	if (!cpu || !waits)
		return;
	u32 depth = waits->depth;
	if (depth && waits->wait[(depth - 1) & (MOST_SPINS - 1)].began < cpu->since)
		depth = 0;
	u32 place = BOUNDED(depth, MOST_SPINS - 1);
	waits->depth = place + 1;
	begin_lock_wait(&waits->wait[place], lock, cpu->slot, kind, now);
}

/* Ends the spinning wait for a lock. Returns whether there was one. */
INLINE u32 spin_ends(u64 lock, u64 now)
{
	u32 here = this_processor();
	struct processor *cpu = map_lookup(&processors, &here);
	struct spin_waits *waits = map_lookup(&spin_waits, &here);
	if (!cpu || !waits)
		return 0;
	for (u32 step = 0; step < MOST_SPINS; step++) {
		u32 place = MOST_SPINS - 1 - step;
		struct lock_wait *wait = &waits->wait[place];
		if (waits->depth <= place || wait->lock != lock)
			continue;
		waits->depth = place;
		if (wait->began >= cpu->since && now > wait->began)
			add_lock_wait(wait->key, wait->place, now - wait->began);
		return 1;
	}
	return 0;
}

/* Whether the lock is that of the running process's own memory. */
INLINE u32 is_lock_of_memory(struct task_struct *task, u64 lock)
{
	struct mm_struct *memory = task->mm;
	return memory && (u64)memory + __builtin_preserve_field_info(memory->mmap_lock, 0) == lock;
}

/* The kind of a wait that is the task's. A mutex spins before it sleeps; whether it did is no kind. */
INLINE u32 kind_of_sleep(struct task_struct *task, u64 lock, u32 kind)
{
	return (kind & ~LOCK_SPINS) | (is_lock_of_memory(task, lock) ? LOCK_IS_OF_MEMORY : 0);
}

SECTION("tp_btf/contention_begin")
int on_lock_wait(u64 *context)
{
	u64 lock = context[0], now = ktime_ns();
	u32 kind = context[1] & LOCK_FLAGS;
	if ((kind & (LOCK_SPINS | LOCK_IS_MUTEX)) == LOCK_SPINS) {
		spin_begins(lock, kind, now);
		return 0;
	}
	struct task_struct *task = current_task_btf();
	struct task_record *record = record_of(task);
	if (!record)
		return 0;
	struct lock_wait *wait = &record->lock;
	if (wait->lock != lock || !(kind & LOCK_IS_MUTEX))
		begin_lock_wait(wait, lock, record->slot, kind_of_sleep(task, lock, kind), now);
	if (!(kind & LOCK_SPINS) && !wait->place) {
		wait->place = place_on_stack(context);
		wait->key |= wait->place << 32;
	}
	return 0;
}

SECTION("tp_btf/contention_end")
int after_lock_wait(u64 *context)
{
	u64 lock = context[0], now = ktime_ns();
	if (spin_ends(lock, now))
		return 0;
	struct task_record *record = record_of(current_task_btf());
	if (!record || record->lock.lock != lock)
		return 0;
	record->lock.lock = 0;
	if (now > record->lock.began)
		add_lock_wait(record->lock.key, record->lock.place, now - record->lock.began);
	return 0;
}

/* A task asks for a lock on a file. A wait that a signal ended has no event, so it is forgotten: the task has slept again since. */
INLINE int file_lock_asked(struct inode *inode, u64 asked, s32 result, u32 kind)
{
	struct task_struct *task = current_task_btf();
	struct task_record *record = record_of(task);
	u64 now = ktime_ns();
	if (!record)
		return 0;
	struct lock_wait *wait = &record->file_lock;
	u32 waits = wait->lock == asked && task->nvcsw <= wait->slept + 1;
	if (result == FILE_LOCK_DEFERRED) {
		if (!waits) {
			wait->began = now;
			wait->place = (u64)inode->i_sb->s_dev << FILE_NUMBER_BITS | (inode->i_ino & (1ull << FILE_NUMBER_BITS) - 1);
			wait->key = lock_key(wait->place ^ inode->i_sb->s_dev, record->slot, kind);
		}
		wait->lock = asked;
		wait->slept = task->nvcsw;
	} else if (wait->lock == asked) {
		wait->lock = 0;
		if (waits && now > wait->began)
			add_lock_wait(wait->key, wait->place, now - wait->began);
	}
	return 0;
}

SECTION("tp_btf/flock_lock_inode")
int on_flock(u64 *context)
{
	return file_lock_asked((void *)context[0], context[1], context[2], LOCK_IS_FLOCK);
}

SECTION("tp_btf/posix_lock_inode")
int on_fcntl(u64 *context)
{
	return file_lock_asked((void *)context[0], context[1], context[2], LOCK_IS_FCNTL);
}

_Static_assert(sizeof(struct lock_sums) == 8 * 8, "lock_sums");
