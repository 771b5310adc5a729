/* Prompts and keys: when a shell waits at its prompt, and when something was typed there. */
#pragma once
#include "lines.h"

INLINE u32 is_left_out(u32 user)
{
	u32 *choice = map_lookup(&people, &user);
	return choice ? *choice == 2 : only_wanted;
}

/* A shell outside of known sessions waits for its terminal: its session begins. */
INLINE void begin_session(struct task_struct *task, struct tty_struct *terminal, u32 shell, u64 now)
{
	struct session new = { .began = now, .shell_queued = task->sched_info.run_delay };
	new.user = task->cred->uid.val;
	if (!is_interactive_shell(task) || is_left_out(new.user))
		return;
	if (task->start_time >= observed_since)
		new.prompt = now;
	new.port = (u64)&terminal->port->buf.work;
	if (map_update(&sessions, &shell, &new, NO_EXIST)) {
		count_loss(LOST_SESSIONS);
		return;
	}
	map_update(&shells, &new.port, &shell, 0);
	struct membership *outer = task_storage_get(&members, task, 0, 0);
	struct session *outer_session = outer ? session_of(outer) : 0;
	if (outer_session)
		outer_session->flags |= HAS_SHELL_WITHIN;
	send_session(SESSION_BEGAN, shell, &new, now);
}

/* A process within a line waits for the terminal: somebody types into a program. */
INLINE void note_terminal_wait(struct task_struct *task)
{
	struct membership *member = task_storage_get(&members, task, 0, 0);
	struct session *session = member ? session_of(member) : 0;
	if (session)
		__sync_fetch_and_add(&session->use.terminal_waits, 1);
}

/* A task goes to sleep. If it is a shell at its prompt, its line has ended. */
INLINE void on_sleep(struct task_struct *task)
{
	struct tty_struct *terminal = awaited_terminal(task);
	if (!terminal)
		return;
	u32 shell = task->tgid;
	u64 now = ktime_ns();
	struct session *session = map_lookup(&sessions, &shell);
	if (!session) {
		note_terminal_wait(task);
		begin_session(task, terminal, shell, now);
		return;
	}
	u64 queued = task->sched_info.run_delay;
	if (session->line) {
		/* Whoever types the line again has a shell that waits again. */
		__sync_fetch_and_add(&session->use.queued, queued - session->shell_queued);
		send_session(LINE_ENDED, shell, session, now);
		close_line(session, now);
	}
	session->shell_queued = queued;
}

/* The kernel brings what was typed to a terminal. */
SECTION("tp_btf/workqueue_execute_start")
int on_input(u64 *context)
{
	u64 port = context[0];
	u32 *shell = map_lookup(&shells, &port);
	struct session *session = shell ? map_lookup(&sessions, shell) : 0;
	if (!session || session->line)
		return 0;
	u64 now = ktime_ns();
	session->last_key = now;
	if (!session->first_key)
		session->first_key = now;
	return 0;
}
