/* The kernel's structures of terminals, and what of a task shows that a shell waits at its prompt. */
#pragma once
#include "../kernel.h"

struct list_head {
	struct list_head *next;
} RELOCATED;

struct wait_queue_head {
	struct list_head head;
} RELOCATED;

struct work_struct {
	u64 data;
} RELOCATED;

struct tty_bufhead {
	struct work_struct work; /* brings what was typed to the terminal's readers */
} RELOCATED;

struct tty_port {
	struct tty_bufhead buf;
} RELOCATED;

struct tty_struct {
	struct {
		struct pid *pgrp; /* the process group in the foreground */
	} RELOCATED ctrl;
	struct wait_queue_head read_wait; /* tasks that wait for what is typed */
	struct tty_port *port;
} RELOCATED;

enum { SIGTSTP = 20 };

/* The terminal that `task`, which goes to sleep, waits for in the foreground; 0 if it waits for none. A shell that waits for a command
 * is not in the foreground, or nobody waits for its terminal. */
INLINE struct tty_struct *awaited_terminal(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	struct tty_struct *terminal = signal->tty;
	if (!terminal || terminal->ctrl.pgrp != signal->pids[PIDTYPE_PGID])
		return 0;
	return terminal->read_wait.head.next != &terminal->read_wait.head ? terminal : 0;
}

/* The number of a name of at most eight characters. */
#define NAME8(a, b, c, d, e) ((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32)

/* Whether a program of this name is a shell. */
INLINE u32 is_shell_name(u64 name)
{
	return name == NAME8('s', 'h', 0, 0, 0) || name == NAME8('b', 'a', 's', 'h', 0) || name == NAME8('d', 'a', 's', 'h', 0) ||
	       name == NAME8('z', 's', 'h', 0, 0) || name == NAME8('f', 'i', 's', 'h', 0) || name == NAME8('k', 's', 'h', 0, 0) ||
	       name == NAME8('m', 'k', 's', 'h', 0) || name == NAME8('a', 's', 'h', 0, 0) || name == NAME8('c', 's', 'h', 0, 0) ||
	       name == NAME8('t', 'c', 's', 'h', 0) || name == NAME8('r', 'b', 'a', 's', 'h') || name == NAME8('k', 's', 'h', '9', '3');
}

/* Whether a waiting task is a shell that people type to. One that leads no session must have changed what SIGTSTP does, as shells with
 * job control do: a script that asks has not. */
INLINE u32 is_interactive_shell(struct task_struct *task)
{
	u64 name = 0;
	read_kernel(&name, sizeof(name), task->comm);
	if (!is_shell_name(name))
		return 0;
	return task->signal->leader || task->sighand->action[SIGTSTP - 1].sa.sa_handler != 0;
}
