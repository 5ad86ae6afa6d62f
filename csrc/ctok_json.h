/* ctok_json.h - a strict reader of JSON (RFC 8259) over bytes in memory: strings, numbers, skipping of what is not of interest.
 *
 * Knows nothing of what a document is for. Allocates nothing. What it refuses stays refused: after a fault every call fails at once, and
 * `fault` and `where` say what was wrong first, and where. Text is UTF-8; escaped lone surrogates are refused, as in any text that is to
 * become UTF-8. Nothing is nested deeper than CTOK_JSON_DEPTH.
 */
#ifndef CTOK_JSON_H
#define CTOK_JSON_H

#include "ctok_base.h"

#define CTOK_JSON_DEPTH 127u

typedef enum ctok_json_fault {
    CTOK_JSON_OK = 0,
    CTOK_JSON_END = 1,       /* the text breaks off */
    CTOK_JSON_VALUE = 2,     /* there should be a value */
    CTOK_JSON_KEY = 3,       /* there should be a key in quotes */
    CTOK_JSON_COLON = 4,     /* there should be a colon */
    CTOK_JSON_COMMA = 5,     /* there should be a comma or the closing bracket */
    CTOK_JSON_CONTROL = 6,   /* a control character inside a string */
    CTOK_JSON_ESCAPE = 7,    /* no escape of JSON */
    CTOK_JSON_SURROGATE = 8, /* half of an escaped surrogate pair */
    CTOK_JSON_UTF8 = 9,      /* a string is not UTF-8 */
    CTOK_JSON_NUMBER = 10,   /* no number of JSON */
    CTOK_JSON_DEEP = 11,     /* nested too deeply */
    CTOK_JSON_TRAIL = 12     /* something follows the document */
} ctok_json_fault;

typedef struct ctok_json {
    const uint8_t *buf;
    size_t at, end;
    ctok_json_fault fault;
    size_t where; /* offset of the fault */
} ctok_json;

/* A string as it stands between its quotes, checked. */
typedef struct ctok_json_string {
    size_t begin, len;
    int plain; /* no escapes: these bytes are the text */
} ctok_json_string;

static inline void ctok_json_init(ctok_json *j, const uint8_t *buf, size_t n) {
    j->buf = buf;
    j->at = j->where = 0;
    j->end = n;
    j->fault = CTOK_JSON_OK;
}

/* ctok_json_fail - note a fault, if it is the first one. Returns 0, so that a caller can return it. */
static inline int ctok_json_fail(ctok_json *j, ctok_json_fault fault, size_t where) {
    if (j->fault == CTOK_JSON_OK) {
        j->fault = where < j->end ? fault : CTOK_JSON_END;
        j->where = where;
    }
    j->at = j->end;
    return 0;
}

/* ctok_json_peek - skip white space; returns the byte that stands there, or -1 at the end. */
static inline int ctok_json_peek(ctok_json *j) {
    const uint8_t *p = j->buf + j->at, *end = j->buf + j->end;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    j->at = (size_t)(p - j->buf);
    return p < end ? *p : -1;
}

/* ctok_json_take - skip white space and the byte c, which must stand there; else the fault is noted. Returns whether it did. */
static inline int ctok_json_take(ctok_json *j, int c, ctok_json_fault fault) {
    if (CTOK_UNLIKELY(ctok_json_peek(j) != c)) return ctok_json_fail(j, fault, j->at);
    j->at++;
    return 1;
}

/* ctok_json_more - behind an entry of an object or array that `close` ends: 1 and a comma is skipped, or 0 and the closing bracket
 * is, or 0 and a fault is noted. */
static inline int ctok_json_more(ctok_json *j, int close) {
    const int c = ctok_json_peek(j);
    if (CTOK_LIKELY(c == ',')) {
        j->at++;
        return 1;
    }
    if (c != close) return ctok_json_fail(j, CTOK_JSON_COMMA, j->at);
    j->at++;
    return 0;
}

/* ctok_json_enter - skip an opening bracket that was peeked; returns whether anything is inside: for an empty object or array its
 * closing bracket is skipped as well. */
static inline int ctok_json_enter(ctok_json *j, int close) {
    j->at++;
    if (ctok_json_peek(j) != close) return 1;
    j->at++;
    return 0;
}

/* ctok_json_string_at - read the string that must stand here (white space skipped); j->at is then behind it. */
int ctok_json_string_at(ctok_json *j, ctok_json_fault fault, ctok_json_string *s);

/* ctok_json_key - read a key and its colon. */
static inline int ctok_json_key(ctok_json *j, ctok_json_string *s) {
    return ctok_json_string_at(j, CTOK_JSON_KEY, s) && ctok_json_take(j, ':', CTOK_JSON_COLON);
}

/* ctok_json_unescape - write the text of a checked string: at most s->len bytes. Returns how many. */
size_t ctok_json_unescape(const ctok_json *j, const ctok_json_string *s, uint8_t *to);

/* ctok_json_is - whether a checked string, which may be escaped, is this ASCII text of up to 63 bytes. */
int ctok_json_is(const ctok_json *j, const ctok_json_string *s, const char *text);

/* ctok_json_number_at - read the number that must stand here; *begin is where it starts (white space skipped), j->at is behind it. */
int ctok_json_number_at(ctok_json *j, size_t *begin);

/* ctok_json_skip - read and check one value of any kind. */
int ctok_json_skip(ctok_json *j);

/* ctok_json_end - the document must end here. */
int ctok_json_end(ctok_json *j);

/* ctok_json_line - the number of the line, from 1, that holds byte `at`. */
size_t ctok_json_line(const uint8_t *buf, size_t at);

#endif
