// One stream of bytes between two ends by bare loops of one system call: the least that each method can do with.
//
//   transfer receive METHOD ADDRESS MESSAGE               prints its port, takes one connection, and reads it to its end
//   transfer send METHOD ADDRESS PORT BYTES MESSAGE FILE  sends the first BYTES of FILE, over and over
//
// METHOD is blocks (read and send, read and write to /dev/null), sendfile (received as blocks) or splice. At its end each
// prints the bytes, the real time and the processor time of its loop, in ns; nothing is counted or looked at meanwhile.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20)
#define LONGEST (16 << 20)
#define MUST(call) ({ long told = (call); if (told < 0) { perror("transfer: " #call); exit(2); } told; })

static char block[LONGEST] __attribute__((aligned(4096)));

static long long ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int is(const char *word, const char *other) { return strcmp(word, other) == 0; }

static void all_of(int fd, long bytes) {
    for (long done = 0; done < bytes;) done += MUST(send(fd, block + done, bytes - done, MSG_NOSIGNAL));
}

static void make_pipe(int ends[2]) {
    MUST(pipe(ends));
    MUST(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES));
}

static long long send_all(const char *method, int fd, int file, long long bytes, long message) {
    int ends[2];
    struct stat kept;
    MUST(fstat(file, &kept));
    if (is(method, "splice")) make_pipe(ends);
    for (long long left = bytes; left > 0;) {
        loff_t at = (bytes - left) % kept.st_size;
        long wanted = left < message ? left : message;
        if (wanted > kept.st_size - at) wanted = kept.st_size - at;
        if (is(method, "sendfile")) {
            left -= MUST(sendfile(fd, file, &at, wanted));
        } else if (is(method, "splice")) {
            long held = MUST(splice(file, &at, ends[1], NULL, wanted, SPLICE_F_MOVE));
            left -= held;
            while (held > 0) held -= MUST(splice(ends[0], NULL, fd, NULL, held, SPLICE_F_MOVE));
        } else {
            long had = MUST(pread(file, block, wanted, at));
            all_of(fd, had);
            left -= had;
        }
    }
    return bytes;
}

static long long receive_all(const char *method, int fd, long message) {
    int ends[2], nowhere = MUST(open("/dev/null", O_WRONLY));
    long long bytes = 0;
    if (is(method, "splice")) make_pipe(ends);
    for (;;) {
        long came;
        if (is(method, "splice")) {
            came = MUST(splice(fd, NULL, ends[1], NULL, PIPE_BYTES, SPLICE_F_MOVE));
            for (long held = came; held > 0;) held -= MUST(splice(ends[0], NULL, nowhere, NULL, held, SPLICE_F_MOVE));
        } else {
            long filled = 0;
            do filled += came = MUST(read(fd, block + filled, message - filled)); while (came > 0 && filled < message);
            came = filled;
            if (filled > 0) MUST(write(nowhere, block, filled));
        }
        if (came == 0) return bytes;
        bytes += came;
    }
}

static struct sockaddr_in place(const char *address, int port) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &place.sin_addr);
    return place;
}

static int connected(const char *address, int port) {
    int fd = MUST(socket(AF_INET, SOCK_STREAM, 0)), on = 1;
    struct sockaddr_in there = place(address, port);
    MUST(connect(fd, (struct sockaddr *)&there, sizeof there));
    MUST(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    return fd;
}

static int accepted(const char *address) {
    int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
    struct sockaddr_in here = place(address, 0);
    socklen_t length = sizeof here;
    MUST(bind(fd, (struct sockaddr *)&here, sizeof here));
    MUST(listen(fd, 1));
    MUST(getsockname(fd, (struct sockaddr *)&here, &length));
    printf("%d\n", ntohs(here.sin_port));
    fflush(stdout);
    return MUST(accept(fd, NULL, NULL));
}

int main(int count, char **words) {
    int sends = count == 8 && is(words[1], "send");
    if (!sends && !(count == 5 && is(words[1], "receive"))) return 2;
    int fd = sends ? connected(words[3], atoi(words[4])) : accepted(words[3]);
    int file = sends ? MUST(open(words[7], O_RDONLY)) : -1;
    char first;
    if (!sends) recv(fd, &first, 1, MSG_PEEK);    // its time begins with the first byte
    long long real = ns(CLOCK_MONOTONIC), cpu = ns(CLOCK_THREAD_CPUTIME_ID);
    long long bytes = sends ? send_all(words[2], fd, file, atoll(words[5]), atol(words[6]))
                            : receive_all(words[2], fd, atol(words[4]));
    cpu = ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    printf("%lld %lld %lld\n", bytes, ns(CLOCK_MONOTONIC) - real, cpu);
    return 0;
}
