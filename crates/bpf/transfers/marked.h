/* The accounts of tasks. The process that our own process forks next, with its descendants, is the command; threads may be ends'. */
#pragma once
#include "flows.h"

enum { PF_IO_WORKER = 0x10 };

/* The account of a task. */
struct {
	MAP_UINT(type, MAP_TASK_STORAGE);
	MAP_UINT(map_flags, NO_PREALLOC);
	MAP_TYPE(key, s32);
	MAP_TYPE(value, u32);
} marked SECTION(".maps");

/* Things for which a map had no room. */
enum lost { TASKS_LOST, CONNECTIONS_LOST, FLOWS_LOST, LOSSES };

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, LOSSES);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} losses SECTION(".maps");

u32 forks_next = 0; /* id of our own process in the kernel's numbering, until it has forked the command; otherwise 0 */

INLINE void lose(u32 what)
{
	u64 *sum = map_lookup(&losses, &what);
	if (sum)
		__sync_fetch_and_add(sum, 1);
}

/* The kernel's workers for io_uring are threads whose fork no event reports. They belong to their process. */
INLINE u32 account_of(struct task_struct *task)
{
	u32 *account = task_storage_get(&marked, task, 0, 0);
	if (!account && task->flags & PF_IO_WORKER)
		account = task_storage_get(&marked, task->group_leader, 0, 0);
	return account ? *account : NOBODY;
}

INLINE u32 is_marked(struct task_struct *task)
{
	return account_of(task) == COMMAND;
}

SECTION("tp_btf/sched_process_fork")
int on_command_fork(u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	u32 account = COMMAND, is_first = forks_next && parent->tgid == forks_next && child->tgid != forks_next;
	if (!is_first && !is_marked(parent))
		return 0;
	if (is_first)
		forks_next = 0;
	if (!task_storage_get(&marked, child, &account, STORAGE_CREATE))
		lose(TASKS_LOST);
	return 0;
}

/* The reader runs this right before it forks the command. */
SECTION("raw_tp/begin")
int on_command(u64 *context)
{
	forks_next = current_pid_tgid() >> 32;
	return 0;
}

/* An end runs this in the thread that moves its data, with its account: interrupts of the thread then count for the end. At the
 * end of the transfer it runs this with NOBODY. */
SECTION("raw_tp/enter")
int on_enter(u64 *context)
{
	u32 account = context[0];
	u32 *stored = task_storage_get(&marked, current_task_btf(), &account, STORAGE_CREATE);
	if (!stored)
		lose(TASKS_LOST);
	else
		*stored = account;
	return 0;
}
