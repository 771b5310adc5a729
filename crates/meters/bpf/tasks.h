/* What is kept of each task, each process and each session. */
#pragma once
#include "clock.h"

enum { MOST_PROCESSES = 16384 };

struct {
	MAP_UINT(type, MAP_TASK_STORAGE);
	MAP_UINT(map_flags, NO_PREALLOC);
	MAP_TYPE(key, s32);
	MAP_TYPE(value, struct kept);
} tasks SECTION(".maps");

/* Sessions; the first is nobody's. Read and written by user space through its own memory. */
struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct account);
} accounts SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
} slot_of_pid SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, MOST_PROCESSES);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct process);
} processes SECTION(".maps");

/* What did not fit, and the numbers that are handed out. */
u64 slots_given = 0;
u64 sessions_lost = 0;
u64 processes_lost = 0;
const volatile u32 most_accounts = 1;

INLINE struct kept *kept_of(struct task_struct *task)
{
	return task_storage_get(&tasks, task, 0, STORAGE_CREATE);
}

INLINE struct account *account_of(u32 slot)
{
	return slot ? map_lookup(&accounts, &slot) : 0;
}

INLINE void add(u64 *to, u64 value)
{
	__sync_fetch_and_add(to, value);
}

/* Charges a stretch on the processor to the task's process and session. */
INLINE void charge_run(struct task_struct *task, u32 slot, u64 ran)
{
	struct account *account = account_of(slot);
	if (account) {
		add(&account->cpu_ns, ran);
		add(&account->switches, 1);
	}
	u32 tgid = task->tgid;
	struct process *process = map_lookup(&processes, &tgid);
	if (!process) {
		struct process fresh = { .slot = slot };
		if (map_update(&processes, &tgid, &fresh, 1) && !map_lookup(&processes, &tgid))
			add(&processes_lost, ran);
		process = map_lookup(&processes, &tgid);
		if (!process)
			return;
	}
	add(&process->cpu_ns, ran);
	add(&process->switches, 1);
	__builtin_memcpy(process->name, task->comm, sizeof(process->name));
}

/* Charges a wait that is over to the task's session: `waited` off the processor for `cause`, then ready for `ready`. */
INLINE void charge_wait(u32 slot, u32 cause, u64 waited, u64 ready)
{
	struct account *account = account_of(slot);
	if (!account)
		return;
	if (ready)
		add(&account->ready_wait, ready);
	if (cause == PAGE_WAIT)
		add(&account->page_wait, waited);
	else if (cause == DISK_WAIT)
		add(&account->disk_wait, waited);
	else if (cause != NO_CAUSE)
		add(&account->other_wait, waited);
}
