/* ctok_cut.h - pre-tokenizers: from the text of a segment to its pretokens, while the text arrives.
 *
 * A cutter is a chain of steps; each cuts (and some change) the pieces of the one before, and sees the end of a piece as the end of a text. The
 * chain is read-only and shared; what one segment needs while it is cut is a ctok_cut_state. What a step emits is certain and never taken back,
 * so a segment fed in one call gives the same pretokens as one fed character by character. What may still turn out to be cut
 * or dropped stays in the state: for most steps nothing, for a pattern the match that is open, as far as it can still stop earlier.
 */
#ifndef CTOK_CUT_H
#define CTOK_CUT_H

#include "ctok_ids.h"
#include "ctok_pieces.h"
#include "ctok_split.h"

typedef enum ctok_cut_kind {
    CTOK_CUT_CLASSES,   /* by classes of characters */
    CTOK_CUT_SCRIPTS,   /* where the script changes */
    CTOK_CUT_SPLIT,     /* around the matches of a pattern */
    CTOK_CUT_CALL,      /* around matches that a function finds; a piece is held until it is complete */
    CTOK_CUT_METASPACE, /* blanks become a character, before which is cut */
    CTOK_CUT_PREFIX,    /* a blank before every piece that does not start with one */
    CTOK_CUT_FIXED,     /* so many characters a piece */
    CTOK_CUT_SPELL,     /* each byte becomes a visible character (csrc/ctok_bytelevel.h) */
    CTOK_CUT_KINDS
} ctok_cut_kind;

/* What becomes of a match. */
typedef enum ctok_cut_behavior {
    CTOK_CUT_REMOVED,
    CTOK_CUT_ISOLATED,
    CTOK_CUT_MERGED_WITH_PREVIOUS,
    CTOK_CUT_MERGED_WITH_NEXT,
    CTOK_CUT_CONTIGUOUS,
    CTOK_CUT_BEHAVIORS
} ctok_cut_behavior;

typedef enum ctok_cut_prepend { CTOK_CUT_ALWAYS, CTOK_CUT_NEVER, CTOK_CUT_FIRST } ctok_cut_prepend;

/* The classes of CTOK_CUT_CLASSES steps. */
typedef enum ctok_cut_rule {
    CTOK_CUT_WHITE,        /* white space is a match */
    CTOK_CUT_PUNCTUATION,  /* punctuation is a match */
    CTOK_CUT_NUMBERS,      /* each number is a match */
    CTOK_CUT_CHARACTER,    /* one character is a match */
    CTOK_CUT_BERT,         /* white space is dropped, punctuation stands alone */
    CTOK_CUT_WORDS,        /* white space is dropped, stretches of word characters and of others stand alone */
    CTOK_CUT_RULES
} ctok_cut_rule;

/* A function that finds the matches of CTOK_CUT_CALL: appends start and stop (bytes) of each, ascending, possibly empty. */
typedef ctok_status (*ctok_cut_call)(void *with, const uint8_t *p, size_t n, ctok_ids *found);

/* One step; fill it with one of the ctok_cut_as_* functions below. */
typedef struct ctok_cut_step {
    ctok_cut_kind kind;
    uint8_t act[4][4];      /* by class (1..3) of the item before, 0 at the start of a piece, and of this one */
    uint8_t after;          /* bit c: an item of class c is followed by a border whatever comes */
    uint8_t ascii[128];     /* class of an ASCII character */
    uint8_t by_property[16];
    uint8_t sets[2][16];    /* bit h of sets[c - 2][l]: ASCII character 16 * h + l is of class c */
    uint8_t drops;          /* bit c: class c is dropped */
    uint8_t three;          /* there is a class 3 */
    uint64_t borders[3][3]; /* all ones where act[a + 1][b + 1] has a border */
    void (*kernel)(void);   /* what runs it on this processor; internal */
    uint32_t character;     /* the one of class 2, or CTOK_NO_ID */
    ctok_splitter split;
    int total;              /* the pattern leaves no gap in any text */
    ctok_cut_call call;
    void *with;
    uint8_t text[4];        /* of the character for a blank */
    uint32_t text_len;
    ctok_cut_prepend prepend;
    int cuts;               /* METASPACE: whether it cuts at all */
    int whole;              /* no earlier step cuts */
    uint64_t length;        /* FIXED */
} ctok_cut_step;

#define CTOK_CUT_BORDER 1u
#define CTOK_CUT_DROP 2u

typedef struct ctok_cutter {
    ctok_cut_step *steps;   /* none: the segment is one pretoken */
    size_t n;
    int needs_zero;         /* a step asks which pieces start at place 0 of the text */
} ctok_cutter;

/* ---- making one; the memory is the caller's ---- */

void ctok_cut_as_classes(ctok_cut_step *s, ctok_cut_rule rule, uint32_t character, ctok_cut_behavior behavior, int invert);
void ctok_cut_as_scripts(ctok_cut_step *s);
void ctok_cut_as_split(ctok_cut_step *s, const ctok_splitter *split, ctok_cut_behavior behavior, int invert);
void ctok_cut_as_call(ctok_cut_step *s, ctok_cut_call call, void *with, ctok_cut_behavior behavior, int invert);
void ctok_cut_as_metaspace(ctok_cut_step *s, uint32_t character, ctok_cut_prepend prepend, int cuts);
void ctok_cut_as_prefix(ctok_cut_step *s);
void ctok_cut_as_fixed(ctok_cut_step *s, uint64_t length);
void ctok_cut_as_spell(ctok_cut_step *s);

/* ctok_cut_finish - the steps are filled in: work out what they need to know of one another. */
void ctok_cut_finish(ctok_cutter *c);

/* ctok_cut_asks_start - does a step ask which segment, or which piece of it, starts at place 0 of the text? */
static inline int ctok_cut_asks_start(const ctok_cutter *c) {
    for (size_t i = 0; i < c->n; i++)
        if (c->steps[i].kind == CTOK_CUT_METASPACE && c->steps[i].prepend == CTOK_CUT_FIRST) return 1;
    return 0;
}

/* ctok_cut_plain_split - the splitter that alone gives the pretokens (ctok_split_block; what it skips is no pretoken), or NULL.
 *
 * That is a chain of a single pattern whose matches stand alone and which either drops what does not match, or matches all of every text. */
const ctok_splitter *ctok_cut_plain_split(const ctok_cutter *c);

/* ctok_dfa_is_total - does the pattern match every text completely, so that there are no gaps? Exact. */
int ctok_dfa_is_total(const ctok_dfa *d);

/* ctok_cut_properties - white space (1), punctuation (2), number (4), word (8) of a code point; what the rules go by. */
unsigned ctok_cut_properties(uint32_t code);

/* ctok_cut_script - the number of its script; 0: that of the text before it. */
unsigned ctok_cut_script(uint32_t code);

/* ---- cutting ---- */

/* What one step remembers of its piece. */
typedef struct ctok_cut_room {
    uint8_t open;           /* the piece it emits has bytes */
    uint8_t prev;           /* class of the last item, 0 at the start of a piece */
    uint8_t scanning;       /* a match is open */
    uint8_t first;          /* METASPACE: the segment starts at place 0 */
    uint64_t count;         /* FIXED: characters of the piece; SCRIPTS: the script */
    ctok_scan scan;
    uint64_t given;         /* bytes of the open match that were emitted or dropped */
    ctok_bytes held;        /* the others; for CALL, the piece so far */
    size_t held_zero;       /* how many of them stem from place 0 */
    ctok_bytes spare;       /* scratch */
} ctok_cut_room;

typedef struct ctok_cut_state {
    ctok_cut_room *rooms;   /* one a step */
    size_t n;
    size_t zero;            /* bytes still to come that stem from place 0 of the text; SIZE_MAX: the first character */
    int open;               /* without steps: the segment has bytes */
    ctok_pieces between[2]; /* scratch */
    ctok_bytes maps[3];     /* scratch of ctok_cut_map */
    ctok_ids found;         /* scratch of CALL */
} ctok_cut_state;

/* ctok_cut_new - get memory for a state and begin it. On CTOK_ERR_MEMORY there is nothing to free. */
ctok_status ctok_cut_new(const ctok_cutter *c, ctok_cut_state *s, int first);
void ctok_cut_free(ctok_cut_state *s);

/* ctok_cut_begin - ready for a segment, whatever was before. first: it starts at place 0 of the text. */
void ctok_cut_begin(ctok_cut_state *s, int first);

/* ctok_cut_zero - after ctok_cut_begin: how many bytes of the segment stem from place 0, where that is not its first character. */
static inline void ctok_cut_zero(ctok_cut_state *s, size_t bytes) {
    s->zero = bytes;
}

/* ctok_cut_feed - cut on: in[0, n) is the next part of the segment, whole characters of valid UTF-8; final: the segment ends here.
 *
 * Appends to out what is certain. After final all is closed and the state is as after ctok_cut_begin(s, 0). n and what out holds stay below
 * 2^31. On CTOK_ERR_MEMORY (or what a CALL returned) the state is only good for begin, copy onto it, and free; out may have grown.
 */
ctok_status ctok_cut_feed(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in, size_t n, int final, ctok_pieces *out);

/* ctok_cut_map - cut a whole segment and say for every byte of out->text, which is cleared first, where it comes from.
 *
 * map: an array of ctok_origin, relative to in, as bytes. A piece stems from the start of its first byte's origin to the stop of its last one's. The
 * state must be begun; afterwards it is as after ctok_cut_begin(s, 0). n < 2^30. */
ctok_status ctok_cut_map(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in, size_t n, ctok_pieces *out, ctok_bytes *map);

/* ctok_cut_copy - make dst, a state of the same cutter, stand where src does. On CTOK_ERR_MEMORY dst is only good for begin and free. */
ctok_status ctok_cut_copy(ctok_cut_state *dst, const ctok_cut_state *src);

/* ctok_cut_held - bytes that are held back. */
size_t ctok_cut_held(const ctok_cut_state *s);

/* ctok_cut_save - append the state as bytes. ctok_cut_load - and back: CTOK_ERR_FORMAT when the bytes are no state of this cutter. */
ctok_status ctok_cut_save(const ctok_cut_state *s, ctok_bytes *to);
ctok_status ctok_cut_load(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *from, size_t n);

#endif
