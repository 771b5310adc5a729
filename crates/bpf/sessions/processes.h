/* The processes of lines: forked, given a program, and ended. */
#pragma once
#include "prompts.h"

/* The line that a shell's child belongs to; the first child opens it. */
INLINE u64 line_of_child(struct session *session, u32 child)
{
	if (!session->line) {
		struct task_struct *task = 0;
		session->line = ktime_ns();
		if (FIELD_EXISTS(task->ioac.cancelled_write_bytes))
			session->flags |= HAS_STORAGE_COUNTS;
		session->first = child;
		if (!session->last_key)
			session->last_key = session->line;
	}
	return session->line;
}

SECTION("tp_btf/sched_process_fork")
int on_session_fork(u64 *context)
{
	struct task_struct *parent = (struct task_struct *)context[0], *child = (struct task_struct *)context[1];
	struct membership new = { .shell = parent->tgid };
	struct session *session = map_lookup(&sessions, &new.shell);
	u32 is_process = child->pid == child->tgid;
	if (session) {
		if (!is_process)
			return 0;
		new.line = line_of_child(session, child->pid);
	} else {
		struct membership *member = task_storage_get(&members, parent, 0, 0);
		if (!member)
			return 0;
		new = *member;
		session = session_of(member);
	}
	if (session && is_process) {
		__sync_fetch_and_add(&session->use.processes, 1);
		__sync_fetch_and_add(&session->alive, 1);
	}
	if (!task_storage_get(&members, child, &new, STORAGE_CREATE))
		count_loss(LOST_TASKS);
	return 0;
}

INLINE void add(u64 *to, u64 value)
{
	__sync_fetch_and_add(to, value);
}

/* Adds what a task used in its life. */
INLINE void add_use(struct use *use, struct task_struct *task)
{
	u64 pages = task->signal->maxrss;
	add(&use->cpu, task->se.sum_exec_runtime);
	add(&use->user, task->utime);
	add(&use->system, task->stime);
	add(&use->queued, task->sched_info.run_delay);
	add(&use->minor, task->min_flt);
	add(&use->major, task->maj_flt);
	add(&use->read, task->ioac.rchar);
	add(&use->written, task->ioac.wchar);
	if (FIELD_EXISTS(task->ioac.cancelled_write_bytes)) {
		add(&use->storage_read, task->ioac.read_bytes);
		add(&use->storage_written, task->ioac.write_bytes);
		add(&use->storage_cancelled, task->ioac.cancelled_write_bytes);
	}
	if (pages > use->pages)
		use->pages = pages;
}

/* A process of a line that has ended already, such as one in the background, got a program or has ended. */
INLINE void send_late(u32 kind, struct membership *member, struct task_struct *task)
{
	u32 zero = 0;
	struct record *draft = map_lookup(&drafts, &zero);
	if (!draft)
		return;
	__builtin_memset(draft, 0, sizeof(*draft));
	draft->kind = kind;
	draft->shell = member->shell;
	draft->at = ktime_ns();
	draft->session.line = member->line;
	if (kind == PROCESS_ENDED_LATE)
		add_use(&draft->session.use, task);
	else
		read_kernel(draft->session.name, sizeof(draft->session.name), task->comm);
	send(draft);
}

/* A process got a program, whose file's name without its folder is kept: that of the line's first process if it has one, else the
 * first that any process got. The stages of a pipeline get theirs in any order. */
SECTION("tp_btf/sched_process_exec")
int on_session_program(u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	struct membership *member = task_storage_get(&members, task, 0, 0);
	struct session *session = member ? session_of(member) : 0;
	if (member && !session)
		send_late(PROGRAM_BEGAN_LATE, member, task);
	if (!session)
		return 0;
	u32 is_first = session->first == (u32)task->tgid && !(session->flags & HAS_NAME_OF_FIRST);
	if (is_first)
		session->flags |= HAS_NAME_OF_FIRST;
	if (is_first || !session->name[0])
		read_kernel(session->name, sizeof(session->name), task->comm);
	return 0;
}

/* A task leaves its processor for the last time. Its processor time is exact here; at its exit it is not. */
INLINE void on_end(struct task_struct *task)
{
	struct membership *member = task_storage_get(&members, task, 0, 0);
	if (member) {
		struct session *session = session_of(member);
		if (session) {
			add_use(&session->use, task);
			if (task->pid == task->tgid)
				__sync_fetch_and_add(&session->alive, -1);
		} else {
			send_late(PROCESS_ENDED_LATE, member, task);
		}
	}
	u32 shell = task->tgid;
	struct session *own = task->pid == shell ? map_lookup(&sessions, &shell) : 0;
	if (!own)
		return;
	u64 now = ktime_ns();
	if (own->line && !own->alive) { /* the shell was told to end before it came to its prompt */
		send_session(LINE_ENDED, shell, own, now);
		close_line(own, now);
	}
	send_session(SESSION_ENDED, shell, own, now);
	u64 port = own->port;
	map_delete(&shells, &port);
	map_delete(&sessions, &shell);
}

SECTION("tp_btf/sched_switch")
int on_session_switch(u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[1];
	u32 state = task->__state;
	if (state & DEAD)
		on_end(task);
	else if (state & INTERRUPTIBLE)
		on_sleep(task);
	return 0;
}
