/* Sums by session, command and kind of event.
 *
 * They are in a hash with a write-back cache. Each processor has a few lines of its own, so that a count costs some ns. A line that
 * must make room is added to the hash. There are two hashes. The reader directs all processors to the other one, waits until no
 * program writes to the first, reads the lines, and empties the first (src/tables/who.rs). So nothing is counted twice or missed. */
#pragma once
#include "tasks.h"

enum { WHO_LINES = 64, WHO_LINES_SHIFT = 58, MOST_WHO = 32768 };
enum { WHO_FAULT = 0x200 }; /* an event is a system call's number, or this with a kind of fault */

/* Whether each session is counted separately. It is not if there are too many sessions for a report. */
const volatile u32 by_session = 1;

struct tally {
	u64 count;
	u64 failed;
	u64 time;
	u64 wait;
};

/* A line of the cache. Its sums belong to its key while `key` and `again` are equal. */
struct line {
	u64 key; /* 0: empty */
	struct tally tally;
	u64 spare[2];
	u64 again;
};

/* A processor's lines. */
struct lines {
	u64 half; /* the hash to which lines are written back, 0 or 1; written by the reader */
	u64 writing; /* 1 + the hash that is being written to; 0: none */
	u64 lost; /* counts that found no room */
	u64 spare[5];
	struct line line[WHO_LINES];
};

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct lines);
} who_lines SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, MOST_WHO);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct tally);
} who_even SECTION(".maps"), who_odd SECTION(".maps");

INLINE void *who_sum(u64 half, u64 *key)
{
	return half ? map_lookup(&who_odd, key) : map_lookup(&who_even, key);
}

INLINE long who_insert(u64 half, u64 *key, struct tally *tally)
{
	return half ? map_update(&who_odd, key, tally, 1) : map_update(&who_even, key, tally, 1);
}

/* Adds a line to a hash. */
INLINE void write_back(struct lines *lines, struct line *line, u64 half)
{
	u64 key = line->key;
	struct tally tally = line->tally;
	struct tally *sum = who_sum(half, &key);
	if (!sum && !who_insert(half, &key, &tally))
		return;
	if (!sum)
		sum = who_sum(half, &key); /* another processor was first, or there is no room */
	if (!sum) {
		lines->lost += tally.count;
		return;
	}
	add(&sum->count, tally.count);
	add(&sum->failed, tally.failed);
	add(&sum->time, tally.time);
	add(&sum->wait, tally.wait);
}

/* Gives a line to another key. The reader repeats the reading of a line whose `key` and `again` differ. */
static __attribute__((noinline)) int give_line(struct lines *lines, struct line *line, u64 key)
{
	u64 half = lines->half & 1;
	__sync_lock_test_and_set(&lines->writing, 1 + half);
	if ((lines->half & 1) != half) {
		half ^= 1;
		__sync_lock_test_and_set(&lines->writing, 1 + half);
	}
	if (line->key)
		write_back(lines, line, half);
	__sync_lock_test_and_set(&line->again, 0);
	__builtin_memset(&line->tally, 0, sizeof(line->tally));
	line->key = key;
	__sync_lock_test_and_set(&line->again, key);
	__sync_lock_test_and_set(&lines->writing, 0);
	return 0;
}

/* The key of an event in windows: the name of the process in place of the session. */
INLINE u64 key_by_name(struct processor *cpu, u32 event)
{
	if (!cpu->name)
		cpu->name = name_of(current_task_btf(), 0);
	return 1ull << 63 | (u64)cpu->name << 32 | event;
}

/* The key of an event of a session; 0 outside of sessions. */
INLINE u64 key_by_session(struct processor *cpu, u32 event)
{
	u32 slot = cpu->slot;
	struct account *account = account_of(slot);
	if (!account)
		return 0;
	return 1ull << 63 | (u64)(by_session ? slot : 0) << 32 | (account->command & 0xffff) << 16 | event;
}

/* Adds to the sums of an `event` for the session that runs on processor `here`. Events outside of sessions are not counted. */
INLINE void count_who(struct processor *cpu, u32 here, u32 event, struct tally more)
{
	if (sampled && cpu->pid == window_thread)
		return;
	u64 key = sampled ? key_by_name(cpu, event) : key_by_session(cpu, event);
	struct lines *lines = key ? map_lookup(&who_lines, &here) : 0;
	if (!lines)
		return;
	struct line *line = &lines->line[key * 0x9e3779b97f4a7c15ull >> WHO_LINES_SHIFT];
	if (line->key != key)
		give_line(lines, line, key);
	line->tally.count += more.count;
	line->tally.failed += more.failed;
	line->tally.time += more.time;
	line->tally.wait += more.wait;
}

_Static_assert(sizeof(struct line) == 8 * 8, "line");
_Static_assert(sizeof(struct lines) == (1 + WHO_LINES) * 8 * 8, "lines");
