/* Sessions, their lines, and the records of lines for the reader.
 *
 * A line is what one typed line started: from the shell's first fork after its prompt to the next prompt. Its processes have its
 * number, and add what they used when they end. */
#pragma once
#include "terminals.h"

enum { MOST_SESSIONS = 8192, RECORDS_BYTES = 1 << 20, NO_WAKEUP = 1, NO_EXIST = 1 };

/* What the processes of a line used. `src/records.rs` knows the order. */
struct use {
	u64 cpu; /* ns */
	u64 user; /* ns by the kernel's ticks, whose ratio to `system` divides `cpu` */
	u64 system;
	u64 queued; /* ns ready without a processor */
	u64 minor;
	u64 major;
	u64 read; /* bytes by calls */
	u64 written;
	u64 storage_read; /* bytes; 0 where the kernel does not count them, and then without HAS_STORAGE_COUNTS */
	u64 storage_written;
	u64 storage_cancelled;
	u64 pages; /* most of one process at once in memory */
	u64 processes;
	u64 terminal_waits; /* how often one waited for the terminal */
};

struct session {
	u64 prompt; /* when the shell first waited at its prompt since the last line; 0 if that is not known */
	u64 first_key; /* when something was first typed after that */
	u64 last_key;
	u64 line; /* the number of the open line, the time of its first fork; 0 if none is open */
	u64 port; /* address of the terminal's work */
	u64 began; /* when the session became known */
	u32 user;
	u32 flags;
	u32 first; /* the first process of the line */
	u32 alive; /* processes of the open line that have not ended */
	u8 name[16];
	struct use use;
};

enum { HAS_SHELL_WITHIN = 1, HAS_NAME_OF_FIRST = 2, HAS_STORAGE_COUNTS = 4 };
enum { LINE_ENDED = 1, SESSION_ENDED = 2, PROCESS_ENDED_LATE = 3, SESSION_BEGAN = 4, PROGRAM_BEGAN_LATE = 5 };

struct record {
	u32 kind;
	u32 shell; /* the shell's process */
	u64 at;
	struct session session;
};

/* The sessions, by the shell's process. */
struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, MOST_SESSIONS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct session);
} sessions SECTION(".maps");

/* The shell of each terminal whose input is brought by the work at this address. */
struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, MOST_SESSIONS);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, u32);
} shells SECTION(".maps");

/* People by number: 1 if wanted, 2 if not. */
struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 4096);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
} people SECTION(".maps");

struct membership {
	u64 line;
	u32 shell;
	u32 spare;
};

/* The line of each task. */
struct {
	MAP_UINT(type, MAP_TASK_STORAGE);
	MAP_UINT(map_flags, NO_PREALLOC);
	MAP_TYPE(key, s32);
	MAP_TYPE(value, struct membership);
} members SECTION(".maps");

struct {
	MAP_UINT(type, MAP_RINGBUF);
	MAP_UINT(max_entries, RECORDS_BYTES);
} records SECTION(".maps");

/* Where a record is made: it is too large for the stack. */
struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct record);
} drafts SECTION(".maps");

/* Losses: records that found no room, sessions that found none, tasks that could not be followed. */
enum { LOST_RECORDS, LOST_SESSIONS, LOST_TASKS, LOSSES };

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, LOSSES);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} losses SECTION(".maps");

/* When the observation began: a shell that is older had its prompt before. */
const volatile u64 observed_since = 0;
/* Whether only those in `people` are observed. */
const volatile u32 only_wanted = 0;

INLINE void count_loss(u32 what)
{
	u64 *lost = map_lookup(&losses, &what);
	if (lost)
		__sync_fetch_and_add(lost, 1);
}

INLINE void send(struct record *record)
{
	if (ringbuf_output(&records, record, sizeof(*record), NO_WAKEUP))
		count_loss(LOST_RECORDS);
}

INLINE void send_session(u32 kind, u32 shell, struct session *session, u64 at)
{
	u32 zero = 0;
	struct record *draft = map_lookup(&drafts, &zero);
	if (!draft)
		return;
	draft->kind = kind;
	draft->shell = shell;
	draft->at = at;
	draft->session = *session;
	send(draft);
}

/* Makes the session ready for its next line. */
INLINE void close_line(struct session *session, u64 now)
{
	session->line = 0;
	session->prompt = now;
	session->first_key = session->last_key = 0;
	session->flags = session->first = session->alive = 0;
	__builtin_memset(session->name, 0, sizeof(session->name));
	__builtin_memset(&session->use, 0, sizeof(session->use));
}

/* The session with this open line; 0 if the line has ended. */
INLINE struct session *session_of(struct membership *member)
{
	u32 shell = member->shell;
	struct session *session = map_lookup(&sessions, &shell);
	return session && session->line == member->line ? session : 0;
}

_Static_assert(sizeof(struct use) == 14 * 8, "use");
_Static_assert(sizeof(struct record) == 26 * 8, "record");
