/* driver.c - runs a fuzz target without libFuzzer, so that any C compiler with sanitizers will do.
 *
 *     fuzz_NAME FILE...            run the target once on each file (a crash to look at, a corpus)
 *     fuzz_NAME -n COUNT [-s SEED] [FILE...]   run it COUNT times on mutations of the files, or of nothing
 *
 * Each input is handed over in memory of exactly its size: a sanitizer sees the first byte read too far. Equal arguments, equal run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST 4096u

typedef struct seed {
    uint8_t *data;
    size_t n;
} seed;

static uint64_t state = 1;

static uint32_t below(size_t n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % n);
}

static seed read_file(const char *path) {
    seed s = {NULL, 0};
    FILE *f = fopen(path, "rb");
    long n = 0;
    if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
        perror(path);
        exit(2);
    }
    s.n = (size_t)n;
    s.data = malloc(s.n + 1);
    if (!s.data || fread(s.data, 1, s.n, f) != s.n) exit(2);
    fclose(f);
    return s;
}

static void run(const uint8_t *p, size_t n) {
    uint8_t *exact = malloc(n ? n : 1);
    if (!exact) exit(2);
    if (n) memcpy(exact, p, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

/* One random change of the n bytes in buf, which has room for LARGEST. Returns the new length. */
static size_t mutate(uint8_t *buf, size_t n) {
    static const uint8_t telling[] = {0, 1, 0x0F, 0x7F, 0x80, 0xFF, '\n', '\r', ' ', '=', '0', 'A', '-', 0xF0, 0xC3, 0xED};
    const size_t at = below(n + 1), len = below(n - at < 16 ? n - at + 1 : 17);
    switch (below(6)) {
    case 0:
        if (at < n) buf[at] ^= (uint8_t)(1u << below(8));
        return n;
    case 1:
        if (at < n) buf[at] = telling[below(sizeof telling)];
        return n;
    case 2: /* cut a piece out */
        memmove(buf + at, buf + at + len, n - at - len);
        return n - len;
    case 3: /* a piece once more */
        if (n + len > LARGEST) return n;
        memmove(buf + at + len, buf + at, n - at);
        return n + len;
    case 4:
        if (n + 1 > LARGEST) return n;
        memmove(buf + at + 1, buf + at, n - at);
        buf[at] = telling[below(sizeof telling)];
        return n + 1;
    default: /* the end cut off, now and then */
        return below(8) ? n : at;
    }
}

int main(int argc, char **argv) {
    static uint8_t buf[LARGEST];
    unsigned long count = 0;
    seed seeds[256] = {{NULL, 0}};
    size_t n_seeds = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) count = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) state = strtoul(argv[++i], NULL, 10);
        else if (n_seeds < 256) seeds[n_seeds++] = read_file(argv[i]);
    }
    for (size_t i = 0; i < n_seeds; i++) run(seeds[i].data, seeds[i].n);
    for (unsigned long i = 0; i < count; i++) {
        const seed s = n_seeds ? seeds[below(n_seeds)] : seeds[0];
        size_t n = s.n < LARGEST ? s.n : LARGEST;
        if (n) memcpy(buf, s.data, n);
        for (uint32_t k = 1 + below(8); k > 0; k--) n = mutate(buf, n);
        run(buf, n);
    }
    for (size_t i = 0; i < n_seeds; i++) free(seeds[i].data);
    return 0;
}
