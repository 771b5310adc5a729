/* The parts of the kernel that our programs use: structures with some of their fields (relocated when loaded), and helper functions. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define SECTION(name) __attribute__((section(name), used))
/* The index, without its high bits. The compiler may know its bounds and leave such a mask out; the verifiers before Linux 5.16 forget the
 * bounds of a number that was on the stack, so the mask must stand where the array is used. */
#define BOUNDED(index, mask) ({ u32 kept = (index); asm volatile("" : "+r"(kept)); kept & (mask); })
#define INLINE static inline __attribute__((always_inline))
#define RELOCATED __attribute__((preserve_access_index))

/* Maps, as include/uapi/linux/bpf.h numbers them. */
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_HASH = 5, MAP_PERCPU_ARRAY = 6, MAP_STACK_TRACE = 7, MAP_LRU_HASH = 9, MAP_LRU_PERCPU_HASH = 10, MAP_QUEUE = 22, MAP_SK_STORAGE = 24, MAP_RINGBUF = 27, MAP_TASK_STORAGE = 29 };
enum { NO_PREALLOC = 1, MMAPABLE = 1 << 10 };
#define MAP_UINT(name, value) int (*name)[value]
#define MAP_TYPE(name, value) value *name

/* The kernel's helper functions, by their numbers in include/uapi/linux/bpf.h. */
static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_delete)(void *map, const void *key) = (void *)3;
static u64 (*ktime_ns)(void) = (void *)5;
static u32 (*this_processor)(void) = (void *)8;
static u64 (*current_pid_tgid)(void) = (void *)14;
static long (*get_stackid)(void *context, void *map, u64 flags) = (void *)27;
static u64 (*current_task)(void) = (void *)35;
static long (*get_stack)(void *context, void *buffer, u32 size, u64 flags) = (void *)67;
static long (*map_pop)(void *map, void *value) = (void *)88;
static long (*spin_lock)(void *lock) = (void *)93;
static long (*spin_unlock)(void *lock) = (void *)94;
static long (*ringbuf_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
static void *(*sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static void *(*task_storage_get)(void *map, void *task, void *value, u64 flags) = (void *)156;
static void *(*current_task_btf)(void) = (void *)158;
static void *(*task_registers)(void *task) = (void *)175;
enum { STORAGE_CREATE = 1 };

/* Whether the running kernel has the field, for fields that some versions lack or name otherwise. */
#define FIELD_EXISTS(field) __builtin_preserve_field_info(field, 2)

struct atomic_long {
	s64 counter;
} RELOCATED;

/* A file, and the file system that holds it. */
struct super_block {
	u32 s_dev; /* its device: 12 bits of the major number, 20 of the minor one */
} RELOCATED;

struct inode {
	struct super_block *i_sb;
	u64 i_ino;
} RELOCATED;

/* A lock of the kernel for one writer or several readers; only its address is used. */
struct rw_semaphore {
	struct atomic_long count;
} RELOCATED;

struct mm_struct {
	struct {
		struct rw_semaphore mmap_lock;
		struct atomic_long pgtables_bytes;
		u64 stack_vm;
	} RELOCATED;
} RELOCATED;

/* The scheduler's times of a task, by the scheduler's own clock. */
struct sched_info {
	u64 run_delay; /* ns that the task has been ready, without the wait under way */
	u64 last_arrival; /* when the task last came to a processor */
	u64 last_queued; /* when the task became ready; 0 from its arrival on */
} RELOCATED;

struct rq {
	u64 clock; /* the scheduler's clock on this processor, which each switch updates */
} RELOCATED;

struct cfs_rq {
	u32 throttle_count; /* unsigned like `on_cpu` below */
	struct rq *rq;
} RELOCATED;

struct sched_entity {
	u64 sum_exec_runtime; /* ns of processor time; exact once the task has left the processor */
	struct cfs_rq *cfs_rq;
} RELOCATED;

/* A program's registers when it entered the kernel: the system call's number, x86's code segment, arm64's processor state. */
struct pt_regs {
	s64 orig_ax;
	s32 syscallno;
	u64 cs;
	u64 pstate;
} RELOCATED;

struct thread_info {
	u32 cpu;
} RELOCATED;

/* A process's ids, one for each namespace that contains it; the last is that of its own namespace. */
struct upid {
	s32 nr;
	void *ns;
} RELOCATED;

struct pid {
	u32 level;
	struct upid numbers[1];
} RELOCATED;

/* A task's account: its user. */
struct kuid {
	u32 val;
} RELOCATED;

struct cred {
	struct kuid uid;
} RELOCATED;

/* Bytes that a task read and wrote by calls; and those of storage, which kernels without CONFIG_TASK_IO_ACCOUNTING do not count. */
struct task_io_accounting {
	u64 rchar;
	u64 wchar;
	u64 read_bytes;
	u64 write_bytes; /* of pages in the cache that it changed, which go to storage later */
	u64 cancelled_write_bytes; /* of such pages that it threw away before, as when a file is removed */
} RELOCATED;

struct tty_struct;
enum { PIDTYPE_PGID = 2 };

/* What the threads of a process share. */
struct signal_struct {
	struct pid *pids[4]; /* by kind; PIDTYPE_PGID is the process group */
	s32 leader; /* whether the process leads a session */
	struct tty_struct *tty; /* the controlling terminal */
	u64 maxrss; /* most pages in memory at once, known when the last thread ends */
} RELOCATED;

struct sigaction {
	void *sa_handler; /* 0: the default */
} RELOCATED;

struct k_sigaction {
	struct sigaction sa;
} RELOCATED;

struct sighand_struct {
	struct k_sigaction action[64];
} RELOCATED;

/* The single bits are read by `BIT_OF`. Only their position matters, which is relocated. */
struct task_struct {
	u32 __state;
	u32 on_cpu; /* unsigned here, since the loader fits the size of unsigned fields alone, and Linux 7 has a byte */
	struct pid *thread_pid;
	u32 flags;
	s32 pid;
	s32 tgid;
	s32 prio;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct sched_info sched_info;
	struct sched_entity se;
	u8 comm[16];
	u32 in_execve : 1;
	u32 in_iowait : 1;
	u32 in_memstall : 1;
	u32 frozen : 1;
	u8 throttled;
	u64 nvcsw; /* how often the task has left the processor to sleep */
	u64 min_flt;
	u64 maj_flt;
	u64 utime;
	u64 stime;
	u64 start_time; /* by the clock of `ktime_ns` */
	struct task_io_accounting ioac;
	struct cred *cred;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	s32 pagefault_disabled;
} RELOCATED;

/* The value of a bit field, read without a helper function: the verifier must trust the caller's pointer. */
#define BIT_OF(structure, field) ({ \
	u64 bits = 0; \
	void *address = (void *)(structure) + __builtin_preserve_field_info((structure)->field, 0); \
	switch (__builtin_preserve_field_info((structure)->field, 1)) { \
	case 1: bits = *(u8 *)address; break; \
	case 2: bits = *(u16 *)address; break; \
	case 4: bits = *(u32 *)address; break; \
	case 8: bits = *(u64 *)address; break; \
	} \
	bits <<= __builtin_preserve_field_info((structure)->field, 4); \
	bits >> __builtin_preserve_field_info((structure)->field, 5); })

enum { PF_KTHREAD = 0x00200000 };
enum { INTERRUPTIBLE = 0x0001, UNINTERRUPTIBLE = 0x0002, DEAD = 0x0080, NO_LOAD = 0x0400, FROZEN = 0x8000 };
