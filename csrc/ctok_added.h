/* ctok_added.h - find added tokens in a text, whole or while it arrives: thousands of them, with their flags.
 *
 * The rules are those of the reference tokenizers:
 *   - at each place where one or more tokens stand, the leftmost place wins, and there the longest token. The search goes on behind it;
 *   - a token with CTOK_ADDED_WORD does not count where a word character stands directly before or behind it. Its text is passed over
 *     all the same: no other token is looked for inside it. So is that of a token which the caller skips;
 *   - CTOK_ADDED_LEFT takes the white space before the token as far as no token before has it, CTOK_ADDED_RIGHT that behind it. The
 *     search goes on directly behind the token's own text, so a token made of white space is still found in what CTOK_ADDED_RIGHT took:
 *     the space is then in two tokens, and the text goes on behind the second. A token that takes white space on its left and lies
 *     wholly in such a stretch is nothing.
 *
 * An automaton over the tokens' bytes (Aho and Corasick 1975). Its states are the beginnings of tokens, numbered level by level, so the
 * children of a state stand side by side and a state needs 17 bytes. Time: linear in the text, except that what was looked at behind a
 * token, at most the longest token's length, is looked at again. Where no token can begin (its first two bytes do not stand there) 16
 * bytes are passed at a time.
 *
 * While a text arrives, the caller holds a window of it, and the state says how much of that must stay (`keep`). Read-only after
 * ctok_added_init: any number of threads.
 */
#ifndef CTOK_ADDED_H
#define CTOK_ADDED_H

#include "ctok_base.h"

#define CTOK_ADDED_WORD 1u    /* single_word: only where no word character touches it */
#define CTOK_ADDED_LEFT 2u    /* lstrip: takes the white space before it */
#define CTOK_ADDED_RIGHT 4u   /* rstrip: takes the white space behind it */
#define CTOK_ADDED_SPECIAL 8u /* kept for the caller */
#define CTOK_ADDED_FLAGS 15u

#define CTOK_ADDED_NONE UINT32_MAX /* no token */
#define CTOK_ADDED_FIRSTS 8        /* first bytes that the quick search compares with */

/* A beginning of one or more tokens. Its children are states first .. (the next state's first) - 1; none is state 0. */
typedef struct ctok_added_node {
    uint32_t first;
    uint32_t fail;  /* the state of its longest proper end that is a state */
    uint32_t token; /* the longest token that ends here */
    uint32_t depth; /* bytes */
} ctok_added_node;

typedef struct ctok_added {
    ctok_added_node *nodes;    /* n_nodes and one more */
    uint8_t *labels;           /* the byte that leads into each state */
    uint8_t *pairs;            /* 65536 bits: do a token's first two bytes look like this? */
    uint32_t *lens;            /* of the tokens, in declaration order: bytes */
    ctok_id *ids;
    uint8_t *flags;
    uint32_t n_nodes;
    uint32_t n_tokens;
    uint32_t n_firsts;         /* different first bytes */
    uint8_t any;               /* all flags that occur */
    uint8_t firsts[CTOK_ADDED_FIRSTS];
    uint32_t root[256];        /* the state after each first byte, 0 = none */
} ctok_added;

/* Where the search stands. All places are in the caller's window. Plain data: copying it is a copy of the search. */
typedef struct ctok_added_state {
    size_t text;         /* what lies before has been handed out */
    size_t at;           /* bytes looked at */
    size_t best;         /* where the best match so far starts, if token is one */
    size_t run, run_end; /* white space that CTOK_ADDED_RIGHT took last */
    size_t white, white_end; /* the white space that ends at white_end, a place where a token may start */
    uint32_t node;
    uint32_t token;
    uint8_t decided;     /* the match is certain; what follows it is to be seen */
    uint8_t swallow;     /* white space at `text` belongs to the token before */
    uint8_t word;        /* a word character stands before the window */
} ctok_added_state;

typedef struct ctok_added_event {
    size_t text, text_end; /* plain text, maybe none, that comes before the token or goes on later */
    size_t start, end;     /* the token with the white space it takes; unless at_eof, white space that arrives later may follow */
    size_t keep;           /* the window is needed from here on; ctok_added_drop may forget what is before */
    uint32_t token;        /* in declaration order */
    ctok_id id;
} ctok_added_event;

typedef enum ctok_added_result {
    CTOK_ADDED_MORE, /* the window is used up; with at_eof: the text ends behind event.text_end */
    CTOK_ADDED_FOUND /* a token; call again */
} ctok_added_result;

/* ctok_added_init - build the automaton.
 *
 * bytes, ends   the tokens' texts (UTF-8) one behind the other; their cumulative end offsets. Not kept.
 * ids, flags    of each token. Copied.
 * n             how many, at least one.
 * bad           the token that is to blame for CTOK_ERR_FORMAT.
 *
 * Of equal texts the first declared counts. Time and memory linear in the bytes (and a sort). Returns CTOK_OK (given back with
 * ctok_added_free), CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT: an empty text. After an error a owns nothing.
 */
ctok_status ctok_added_init(ctok_added *a, const uint8_t *bytes, const uint32_t *ends, const ctok_id *ids, const uint8_t *flags,
                            uint32_t n, uint32_t *bad);

void ctok_added_free(ctok_added *a);

/* ctok_added_begin - the search before the first byte of a text. */
void ctok_added_begin(ctok_added_state *s);

/* ctok_added_next - the next token, or as much plain text as is certain.
 *
 * buf, end   the window: well-formed UTF-8 in whole characters; it only grows at its end between calls.
 * at_eof     the text ends with it. On a fresh state every stretch of plain text then comes in one event.
 * skip       one byte for each token, not 0: its text is plain text. NULL: none.
 *
 * Cannot fail, allocates nothing, never looks at or past end.
 */
ctok_added_result ctok_added_next(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t end, int at_eof, const uint8_t *skip,
                                  ctok_added_event *event);

/* ctok_added_drop - the caller takes the first n bytes out of its window; n is at most `keep` of the last event. buf still holds them. */
void ctok_added_drop(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t n);

/* ctok_added_save / load - the state as bytes, to go on elsewhere with a window of the same bytes.
 *
 * Load looks at the bytes of the window again. It returns CTOK_ERR_FORMAT, with *s as ctok_added_begin leaves it, for what save never wrote
 * about a window of n bytes.
 */
#define CTOK_ADDED_SAVED 17
void ctok_added_save(const ctok_added *a, const ctok_added_state *s, uint8_t out[CTOK_ADDED_SAVED]);
ctok_status ctok_added_load(ctok_added_state *s, const uint8_t in[CTOK_ADDED_SAVED], size_t n);

/* ctok_added_is_word - the word characters of CTOK_ADDED_WORD: letters, marks, decimal digits, letter-like numbers and symbols,
 * connectors and the two joiners (\w of Unicode Technical Standard 18, version 16). */
int ctok_added_is_word(uint32_t code);

#endif
