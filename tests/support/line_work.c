/* A line's program that tells what it has used: tests/emulator/test_second_kernel_host.py compares a run's usage with it.
 *
 *     line_work pages N          touches N pages
 *     line_work children K N     forks K children, one after the other, each of which touches N pages
 *     line_work spin MS          uses so many milliseconds of processor time
 *
 * Each process that touches pages yields its processor once, a system call that shells do not make.
 * It prints its processor time in nanoseconds and its minor faults, as rusage has them, with those of its children. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static long long spent_ns(const struct rusage *used)
{
	long long microseconds = used->ru_utime.tv_usec + used->ru_stime.tv_usec;
	return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000000LL + microseconds * 1000;
}

static void touch(long pages)
{
	char *memory = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	for (long page = 0; page < pages; page++)
		memory[page * PAGE] = 1;
	sched_yield();
}

static void spin(long milliseconds)
{
	struct rusage used;
	do
		getrusage(RUSAGE_SELF, &used);
	while (spent_ns(&used) < milliseconds * 1000000LL);
}

static void fork_children(long children, long pages)
{
	for (long child = 0; child < children; child++) {
		pid_t pid = fork();
		if (pid == 0) {
			touch(pages);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, 0, 0) != pid)
			exit(1);
	}
}

int main(int count, char **words)
{
	if (count == 3 && !strcmp(words[1], "pages"))
		touch(atol(words[2]));
	else if (count == 4 && !strcmp(words[1], "children"))
		fork_children(atol(words[2]), atol(words[3]));
	else if (count == 3 && !strcmp(words[1], "spin"))
		spin(atol(words[2]));
	else
		return 2;
	struct rusage own, of_children;
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &of_children);
	printf("%lld %ld\n", spent_ns(&own) + spent_ns(&of_children), own.ru_minflt + of_children.ru_minflt);
	return 0;
}
