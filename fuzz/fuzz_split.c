/* fuzz_split.c - a known split pattern on text of telling characters: every scanner gives the machine's pretokens, a pretoken scanned in pieces
 * stops where the blocks say, and what is let go while the text arrives is never taken back.
 * links: dfa split scan scan_gpt2 scan_cl100k scan_o200k scan_deepseek unicode */
#include <stdlib.h>
#include <string.h>

#include "../csrc/ctok_split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 4096u

/* By byte value & 63, so that mutations of text stay close to it. */
static const char *const characters[64] = {
    "a", "s", "t", "r", "e", "v", "m", "l", "d", "x", "A", "S", "T", "R", "E", "L",  "B", " ", " ", " ",
    " ", "\n", "\r", "\t", "'", "'", "'", "1", "2", "9", "!", "/", "_", ".", "-",  "\x7f", "\xc5\xbf", "\xe2\x84\xaa", "\xc2\xb2", "\xe3\x80\x80",
    "\xc2\xa0", "\xc2\x85", "\xe4\xb8\xad", "\xe6\x96\x87", "\xcc\x81", "\xe2\x83\x9d", "\xc7\x85", "\xca\xb0", "\xc3\xa9", "\xc3\x89",
    "\xf0\x9f\x98\x80", "\xf0\x9d\x9f\x8f", "\xf0\x90\x90\x80", "\xf0\x90\x90\xa8", "\xe2\x80\x8d", "\xcd\xb8", "\xd9\xa3", "\xef\xac\x81",
    "\xe1\x9a\x80", "\xe2\x80\xa8", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf", "n", "o",
};

/* All pretokens of the text in blocks of at most cap; *next is where an open one starts. Returns how many. */
static size_t cut(const ctok_splitter *s, const uint8_t *text, size_t n, int at_eof, size_t cap, uint32_t *stops, size_t *next) {
    size_t total = 0, pos = 0;
    ctok_block out;
    while (pos < n) {
        ctok_split_block(s, text, pos, n, at_eof, stops + total, cap, &out);
        if (out.n > cap || (out.n && out.first != pos) || (!out.hit_end && out.next <= pos)) abort();
        total += out.n;
        pos = out.next;
        if (out.hit_end) break;
    }
    *next = pos;
    return total;
}

/* The pretoken that starts at pos, scanned in pieces of whole characters of about `step` bytes. */
static size_t scan_pieces(const ctok_dfa *d, const uint8_t *text, size_t pos, size_t n, size_t step) {
    ctok_scan s;
    ctok_scan_begin(d, &s);
    for (size_t at = pos; at < n;) {
        size_t end = n - at < step ? n : at + step;
        while (end < n && (text[end] & 0xC0) == 0x80) end++;
        if (ctok_scan_feed(d, &s, text, &at, end)) break;
        if (at != end || s.accept >= s.n) abort();
    }
    return pos + (size_t)ctok_scan_finish(d, &s);
}

static void check(const ctok_known_pattern *k, const uint8_t *text, size_t n, size_t cap) {
    static uint32_t whole[MOST], other[MOST + 1024];
    const ctok_splitter machine = {k->dfa, NULL};
    size_t next, held;
    const size_t n_whole = cut(&machine, text, n, 1, 1024, whole, &next);
    if (next != n || (n && (!n_whole || whole[n_whole - 1] != n))) abort();
    for (size_t i = 0, pos = 0; i < n_whole; pos = whole[i++]) {
        if (scan_pieces(k->dfa, text, pos, n, cap) != whole[i]) abort();
    }
    const size_t n_sure = cut(&machine, text, n, 0, cap, other, &held);
    if (n_sure > n_whole || memcmp(whole, other, n_sure * sizeof *whole) || held != (n_sure ? whole[n_sure - 1] : 0)) abort();
    for (int level = 0; k->scan >= 0 && level < CTOK_SCAN_LEVELS; level++) {
        const ctok_splitter fast = {k->dfa, ctok_scan_select((ctok_scan_family)k->scan, (ctok_scan_level)level)};
        if (!fast.fast) continue;
        if (cut(&fast, text, n, 1, cap, other, &next) != n_whole || memcmp(whole, other, n_whole * sizeof *whole)) abort();
        if (cut(&fast, text, n, 0, cap, other, &next) != n_sure || memcmp(whole, other, n_sure * sizeof *whole) || next != held) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t n = 0, n_known = 0;
    uint8_t *text;
    if (size < 2) return 0;
    while (ctok_split_known(n_known)) n_known++;
    for (size_t i = 2; i < size; i++) n += strlen(characters[data[i] & 63]);
    if (n > MOST || !(text = malloc(n ? n : 1))) return 0;
    n = 0;
    for (size_t i = 2; i < size; i++) {
        const char *c = characters[data[i] & 63];
        memcpy(text + n, c, strlen(c));
        n += strlen(c);
    }
    check(ctok_split_known(data[0] % n_known), text, n, 1 + data[1] % 64);
    free(text);
    return 0;
}
