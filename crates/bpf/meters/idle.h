/* Idle time, divided by cause. Each cause has an integral over time, which is copied when idle begins and subtracted when it ends.
 *
 * Each task that waits makes one processor idle for its cause. If fewer processors are idle, the first causes of `enum cause` take
 * them. Nothing says which processor is idle for which task, so each idle processor has the same share of each cause. The integrals
 * are changed under a lock: when a task begins or ends such a wait, and when the number of idle processors changes meanwhile. */
#pragma once

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct waiting);
} waits SECTION(".maps");

/* Number of idle processors. It has a map of its own, because programs that may not take locks may not use the map above. */
struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} idle_processors SECTION(".maps");

INLINE u64 *all_idle(void)
{
	u32 zero = 0;
	return map_lookup(&idle_processors, &zero);
}

INLINE struct waiting *all_waits(void)
{
	u32 zero = 0;
	return map_lookup(&waits, &zero);
}

/* Updates the integrals to `now`. Under the lock. */
INLINE void integrate(struct waiting *all, u64 now)
{
	u64 span = now > all->since ? now - all->since : 0;
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++)
		all->integral[cause] += span * all->weight[cause];
	all->since += span;
}

/* Sets the weights by the numbers of tasks and of idle processors. Under the lock. */
INLINE void weigh(struct waiting *all, u64 *idle_now)
{
	u32 idle = *(volatile u64 *)idle_now, free = idle;
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++) {
		u32 tasks = all->tasks[cause];
		u32 taken = tasks < free ? tasks : free;
		all->weight[cause] = !taken ? 0 : taken == idle ? 1 << WHOLE_SHIFT : (u32)(taken << WHOLE_SHIFT) / idle;
		free -= taken;
	}
}

INLINE void copy_integrals(u64 *to, struct waiting *all)
{
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++)
		to[cause] = all->integral[cause];
}

/* A task begins (`change` 1) or ends (-1) a wait. The function is not static, so that the kernel checks it once, and not in each place. */
__attribute__((noinline)) int wait_changes(u64 now, u32 cause, s32 change)
{
	struct waiting *all = all_waits();
	u64 *idle = all_idle();
	if (!all || !idle)
		return 0;
	spin_lock(&all->lock);
	integrate(all, now);
	all->tasks[BOUNDED(cause, CAUSES - 1)] += change;
	__sync_fetch_and_add(&all->all, change); /* before the idle processors are read: see `begin_idle` */
	weigh(all, idle);
	spin_unlock(&all->lock);
	return 0;
}

/* This processor becomes idle. While no task waits, all weights are 0 and the integrals do not change, so no lock is needed. If a task
 * begins to wait at this moment, this program sees it, or the task's program counts this processor among the idle ones. */
INLINE void begin_idle(struct processor *cpu, u64 now)
{
	struct waiting *all = all_waits();
	u64 *idle = all_idle();
	if (!all || !idle)
		return;
	__sync_fetch_and_add(idle, 1);
	if (!all->all) {
		copy_integrals(cpu->idle_integral, all);
		return;
	}
	spin_lock(&all->lock);
	integrate(all, now);
	weigh(all, idle);
	copy_integrals(cpu->idle_integral, all);
	spin_unlock(&all->lock);
}

/* This processor stops being idle. Copies the integrals at `now`. */
INLINE void integrals_at_end(struct waiting *all, u64 *idle, u64 *integral, u64 now)
{
	if (!all->all) {
		__sync_fetch_and_add(idle, -1);
		copy_integrals(integral, all);
		return;
	}
	spin_lock(&all->lock);
	integrate(all, now);
	copy_integrals(integral, all);
	__sync_fetch_and_add(idle, -1);
	weigh(all, idle);
	spin_unlock(&all->lock);
}

/* Divides the idle time from `last` to `now` by cause. Time without a cause is IDLE_DISPATCH from `ready` on, and IDLE_ZERO before.
 * src/tables/idle.rs does the same for idle time that is under way at a reading. */
INLINE void end_idle(struct processor *cpu, u64 last, u64 now, u64 ready)
{
	struct waiting *all = all_waits();
	u64 *idle = all_idle(), integral[CAUSES], rest = now - last;
	if (!all || !idle)
		return;
	integrals_at_end(all, idle, integral, now);
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++) {
		s64 part = (s64)(integral[cause] - cpu->idle_integral[cause]) >> WHOLE_SHIFT;
		u64 taken = part < 0 ? 0 : part > rest ? rest : part;
		cpu->time[IDLE_OF(cause)] += taken;
		rest -= taken;
	}
	u64 woken = ready && now > ready ? now - ready : 0;
	u64 dispatch = woken < rest ? woken : rest;
	cpu->time[IDLE_DISPATCH] += dispatch;
	cpu->time[IDLE_ZERO] += rest - dispatch;
}
