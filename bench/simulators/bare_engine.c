// A bare engine for the model of model.py alone, with meters: no records, no intervals, no other machine.
//
//   bare_engine SIMULATED_S SEED
//
// It has the processors' time by category, the integrals of both queues and of the waiting users, and the responses'
// mean and histogram. Constants of the model come from model.py, by the compiler's -D. Of the future events, the end of
// each turn and of the disk's service has a variable of its own, and only think times are in a heap. With -DONE_HEAP all
// are in one heap.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define USER_BITS 6
#define USER_PLACES (1 << USER_BITS)
#define NEVER UINT64_MAX
#define BUCKETS_POWER 8
#define BUCKETS ((64 - BUCKETS_POWER + 1) << BUCKETS_POWER)
#define LAYERS 256
#define NS_PER_S 1e9

_Static_assert(USERS <= USER_PLACES, "a user's number fits below the time of an event");

enum { DISK = PROCESSORS, THINK };    // where a user's next event is; below DISK: the processor

// ---- random numbers: xoroshiro128++, and the exponential law by a ziggurat ----

static uint64_t random_low, random_high;
static double edge[LAYERS + 1], curve[LAYERS + 1];

static inline uint64_t rotated(uint64_t bits, int by) {
    return bits << by | bits >> (64 - by);
}

static inline uint64_t random_bits(void) {
    uint64_t low = random_low, high = random_high, drawn = rotated(low + high, 17) + low;
    high ^= low;
    random_low = rotated(low, 49) ^ high ^ high << 21;
    random_high = rotated(high, 28);
    return drawn;
}

static inline double unit(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

static void prepare_random(uint64_t seed) {
    const double tail = 7.697117470131487, area = 0.003949659822581557;
    for (int number = 0; number < 2; number++) {
        uint64_t mixed = seed += 0x9E3779B97F4A7C15;
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
        *(number ? &random_high : &random_low) = mixed ^ mixed >> 31;
    }
    edge[0] = area * exp(tail);
    edge[1] = tail;
    for (int layer = 1; layer < LAYERS - 1; layer++) edge[layer + 1] = -log(area / edge[layer] + exp(-edge[layer]));
    for (int layer = 0; layer <= LAYERS; layer++) curve[layer] = exp(-edge[layer]);
}

static __attribute__((noinline, cold)) double at_edge(unsigned layer, double x) {
    for (;;) {
        if (layer == 0) return edge[1] - log1p(-unit(random_bits()));
        double low = curve[layer], high = curve[layer + 1];
        if (low + (high - low) * unit(random_bits()) < exp(-x)) return x;
        uint64_t bits = random_bits();
        layer = bits % LAYERS;
        x = unit(bits) * edge[layer];
        if (x < edge[layer + 1]) return x;
    }
}

static inline uint64_t exponential_ns(double mean_s) {
    uint64_t bits = random_bits();
    unsigned layer = bits % LAYERS;
    double x = unit(bits) * edge[layer];
    if (__builtin_expect(x >= edge[layer + 1], 0)) x = at_edge(layer, x);
    return (uint64_t)(int64_t)(x * (mean_s * NS_PER_S) + 0.5);
}

// ---- future events: time << USER_BITS | user, so that one comparison of whole numbers orders them ----

static uint64_t heap[USER_PLACES];
static int heap_count;

static inline void sift_down(uint64_t event) {
    int at = 0;
    for (int child = 1; child < heap_count; child = 2 * at + 1) {
        child += child + 1 < heap_count && heap[child + 1] < heap[child];
        if (event <= heap[child]) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = event;
}

static inline void push(uint64_t event) {
    int at = heap_count++;
    while (at > 0 && event < heap[(at - 1) / 2]) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = event;
}

#ifdef ONE_HEAP
static uint8_t place[USER_PLACES];    // of each user: where its next event is
static int hole;                      // whether the top of the heap has been taken

static inline void enter(int where, uint64_t at, unsigned user) {
    uint64_t event = at << USER_BITS | user;
    place[user] = (uint8_t)where;
    if (hole) sift_down(event);
    else push(event);
    hole = 0;
}

static inline uint64_t take_next(int *where) {
    if (hole && --heap_count) sift_down(heap[heap_count]);
    hole = 1;
    *where = place[heap[0] % USER_PLACES];
    return heap[0];
}
#else
static uint64_t ends[PROCESSORS + 1];    // of the turns and of the disk's service

static inline void enter(int where, uint64_t at, unsigned user) {
    uint64_t event = at << USER_BITS | user;
    if (where == THINK) push(event);
    else ends[where] = event;
}

static inline uint64_t take_next(int *where) {
    uint64_t next = ends[0];
    int least = 0;
    for (int other = 1; other <= DISK; other++) {
        least = ends[other] < next ? other : least;
        next = ends[other] < next ? ends[other] : next;
    }
    if (heap_count && heap[0] < next) {
        next = heap[0];
        *where = THINK;
        if (--heap_count) sift_down(heap[heap_count]);
        return next;
    }
    ends[least] = NEVER;
    *where = least;
    return next;
}
#endif

// ---- queues and meters ----

struct queue { uint8_t users[USER_PLACES]; unsigned first, end; };
struct level { uint64_t count, sum_ns; };    // the sum of the instants of falls less those of rises

static inline unsigned length(const struct queue *queue) {
    return queue->end - queue->first;
}

static inline void append(struct queue *queue, unsigned user) {
    queue->users[queue->end++ % USER_PLACES] = (uint8_t)user;
}

static inline unsigned take_first(struct queue *queue) {
    return queue->users[queue->first++ % USER_PLACES];
}

static inline void rise(struct level *level, uint64_t now) {
    level->count++;
    level->sum_ns -= now;
}

static inline void fall(struct level *level, uint64_t now) {
    level->count--;
    level->sum_ns += now;
}

static double mean_level(const struct level *level, uint64_t now) {
    return (double)(level->sum_ns + level->count * now) / (double)now;
}

static uint64_t now, left_ns[USERS], began[USERS];
static uint64_t events, interactions, dispatches, response_ns, served_ns;
static uint64_t user_ns[PROCESSORS], turn_began[PROCESSORS], idle_ns, idle_disk_ns, idle_since;
static struct queue ready, at_disk;    // the first at the disk is being served
static struct level ready_level, disk_level, active_level;
static unsigned idle[PROCESSORS], idle_count;
static uint32_t responses[BUCKETS];

static inline unsigned bucket(uint64_t value) {
    int octave = 63 - __builtin_clzll(value | 1) - BUCKETS_POWER;
    octave = octave < 0 ? 0 : octave;
    return ((unsigned)octave << BUCKETS_POWER) + (unsigned)(value >> octave);
}

static double quantile_s(double share) {
    double rank = share * (double)interactions, below = 0.0;
    for (unsigned number = 0; number < BUCKETS; number++) {
        double count = responses[number];
        if (count > 0 && below + count >= rank) {
            int octave = (int)(number >> BUCKETS_POWER) - 1;
            octave = octave < 0 ? 0 : octave;
            double least = (double)(number - ((unsigned)octave << BUCKETS_POWER));
            return ldexp(least + (rank - below) / count, octave) / NS_PER_S;
        }
        below += count;
    }
    return NAN;
}

// Charges the idle processors until now: as many wait for the disk as users are at it. It comes before a change of
// either number.
static inline void charge_idle(void) {
    uint64_t span = now - idle_since, users = length(&at_disk), waiting = idle_count < users ? idle_count : users;
    idle_disk_ns += waiting * span;
    idle_ns += (idle_count - waiting) * span;
    idle_since = now;
}

// ---- the model ----

static inline void begin_turn(int processor, unsigned user) {
    const uint64_t quantum_ns = (uint64_t)(QUANTUM_S * NS_PER_S);
    uint64_t turn_ns = left_ns[user] < quantum_ns ? left_ns[user] : quantum_ns;
    dispatches++;
    left_ns[user] -= turn_ns;
    turn_began[processor] = now;
    enter(processor, now + turn_ns, user);
}

static inline void begin_burst(unsigned user) {
    left_ns[user] = exponential_ns(BURST_S);
    if (idle_count) {
        charge_idle();
        begin_turn((int)idle[--idle_count], user);
    } else {
        rise(&ready_level, now);
        append(&ready, user);
    }
}

static inline void begin_service(void) {
    uint64_t service_ns = exponential_ns(DISK_S);
    served_ns += service_ns;
    enter(DISK, now + service_ns, at_disk.users[at_disk.first % USER_PLACES]);
}

static inline void end_burst(unsigned user) {
    if (unit(random_bits()) < TO_DISK) {
        charge_idle();
        rise(&disk_level, now);
        append(&at_disk, user);
        if (length(&at_disk) == 1) begin_service();
        return;
    }
    uint64_t response = now - began[user];
    interactions++;
    response_ns += response;
    responses[bucket(response)]++;
    fall(&active_level, now);
    enter(THINK, now + exponential_ns(THINK_S), user);
}

static inline void end_turn(int processor, unsigned user) {
    user_ns[processor] += now - turn_began[processor];
    if (left_ns[user]) {
        if (length(&ready)) {
            append(&ready, user);
            user = take_first(&ready);    // one comes and one goes: the level stays
        }
        return begin_turn(processor, user);
    }
    end_burst(user);
    if (length(&ready)) {
        fall(&ready_level, now);
        begin_turn(processor, take_first(&ready));
    } else {
        charge_idle();
        idle[idle_count++] = (unsigned)processor;
    }
}

static inline void end_service(unsigned user) {
    charge_idle();
    take_first(&at_disk);
    fall(&disk_level, now);
    if (length(&at_disk)) begin_service();
    begin_burst(user);
}

static void run(uint64_t end) {
    for (;;) {
        int where;
        uint64_t event = take_next(&where);
        unsigned user = event % USER_PLACES;
        if (event >> USER_BITS > end) break;
        now = event >> USER_BITS;
        events++;
        if (where < DISK) {
            end_turn(where, user);
        } else if (where == DISK) {
            end_service(user);
        } else {
            began[user] = now;
            rise(&active_level, now);
            begin_burst(user);
        }
    }
    now = end;
    charge_idle();
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: bare_engine SIMULATED_S SEED\n"), 2;
    double simulated_s = atof(arguments[1]);
    struct timespec begin, over;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    prepare_random(strtoull(arguments[2], NULL, 10));
#ifndef ONE_HEAP
    for (int where = 0; where <= DISK; where++) ends[where] = NEVER;
#endif
    while (idle_count < PROCESSORS) idle[idle_count] = idle_count, idle_count++;
    for (unsigned user = 0; user < USERS; user++) enter(THINK, exponential_ns(THINK_S), user);
    run((uint64_t)(simulated_s * NS_PER_S));
    double busy_ns = PROCESSORS * (double)now - (double)idle_ns - (double)idle_disk_ns, charged_ns = 0;
    for (int processor = 0; processor < PROCESSORS; processor++) charged_ns += (double)user_ns[processor];
    clock_gettime(CLOCK_MONOTONIC, &over);
    printf("{\"events\": %llu, \"interactions\": %llu, \"simulated_s\": %.9g, \"seconds\": %.9g, ",
           (unsigned long long)events, (unsigned long long)interactions, simulated_s,
           (double)(over.tv_sec - begin.tv_sec) + (double)(over.tv_nsec - begin.tv_nsec) / NS_PER_S);
    printf("\"response_s\": %.9g, \"p50_s\": %.9g, \"p90_s\": %.9g, \"p95_s\": %.9g, \"p99_s\": %.9g, ",
           (double)response_ns / (double)interactions / NS_PER_S,
           quantile_s(0.5), quantile_s(0.9), quantile_s(0.95), quantile_s(0.99));
    printf("\"utilisation\": %.9g, \"charged\": %.9g, \"idle\": %.9g, \"idle_disk\": %.9g, \"disk\": %.9g, ",
           busy_ns / (double)now / PROCESSORS, charged_ns / (double)now / PROCESSORS,
           (double)idle_ns / (double)now / PROCESSORS, (double)idle_disk_ns / (double)now / PROCESSORS,
           (double)served_ns / (double)now);
    printf("\"ready\": %.9g, \"at_disk\": %.9g, \"active\": %.9g, \"dispatches\": %llu}\n",
           mean_level(&ready_level, now), mean_level(&disk_level, now), mean_level(&active_level, now),
           (unsigned long long)dispatches);
    return 0;
}
