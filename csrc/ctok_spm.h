/* ctok_spm.h - the pieces of a SentencePiece model file, bytes in and tables out.
 *
 * A file is a protobuf message whose field 1, many times, is a piece: its text (1), its score (2, float32), its type (3; normal where there is
 * none). What else it holds is small but for a table or two, and is handed on as it is.
 */
#ifndef CTOK_SPM_H
#define CTOK_SPM_H

#include "ctok_base.h"
#include "ctok_bytes.h"
#include "ctok_bytesort.h"
#include "ctok_wire.h"

#define CTOK_SPM_PIECE 1u /* the file's fields */
#define CTOK_SPM_LAST 5u

#define CTOK_SPM_LONGEST 7999u /* bytes of a piece; the reference refuses longer ones */

enum { CTOK_SPM_NORMAL = 1, CTOK_SPM_UNKNOWN = 2, CTOK_SPM_CONTROL = 3, CTOK_SPM_USER_DEFINED = 4, CTOK_SPM_UNUSED = 5, CTOK_SPM_BYTE = 6 };

/* The faults of ctok_wire.h have the numbers that they have there. */
typedef enum ctok_spm_fault {
    CTOK_SPM_OK = 0,
    CTOK_SPM_FILE_LARGE = 16, /* 2^32 bytes or more */
    CTOK_SPM_WIRE_TYPE = 17,  /* a known field has another wire type than it should have */
    CTOK_SPM_EMPTY = 18,      /* a piece without text */
    CTOK_SPM_TOO_LONG = 19,
    CTOK_SPM_NUL = 20, /* a piece with a zero byte that is not unused */
    CTOK_SPM_TWICE = 21,
    CTOK_SPM_NO_UNKNOWN = 22,
    CTOK_SPM_TWO_UNKNOWN = 23,
    CTOK_SPM_NOT_FINITE = 24,
    CTOK_SPM_BYTE_NAME = 25,     /* a byte piece that is not called <0x00> .. <0xFF> */
    CTOK_SPM_BYTE_UNASKED = 26,  /* a byte piece in a model without byte fallback */
    CTOK_SPM_BYTES_MISSING = 27, /* not all 256, in one with */
    CTOK_SPM_NONE_NORMAL = 28    /* no piece that a text could give */
} ctok_spm_fault;

typedef struct ctok_spm_error {
    ctok_spm_fault fault;
    uint32_t piece; /* which piece; CTOK_NO_ID: none */
    uint32_t other; /* which other one it clashes with; for a fault of ctok_wire.h, the field's number in the piece or file, or 0 */
    size_t at;      /* byte of the file */
} ctok_spm_error;

typedef struct ctok_spm_piece {
    ctok_bytestring text; /* in the file */
    uint32_t score;       /* the bits of a float */
    uint32_t type;
} ctok_spm_piece;

/* Another message of the file: trainer_spec (2), normalizer_spec (3), self_test_data (4), denormalizer_spec (5). */
typedef struct ctok_spm_message {
    ctok_wire_field field; /* in the file */
    size_t place;          /* where it begins in the document */
} ctok_spm_message;

/* Pieces side by side that ctok_spm_write writes as they are. */
typedef struct ctok_spm_run {
    uint32_t n;
    int spelled; /* whether the type of normal pieces is written out; CTOK_SPM_EITHER: there is no normal one */
} ctok_spm_run;

#define CTOK_SPM_EITHER 2

typedef struct ctok_spm {
    ctok_spm_piece *pieces; /* by id */
    uint32_t n, cap;
    uint32_t unk;         /* the id of the unknown piece, after ctok_spm_check */
    size_t n_bytes;       /* of all texts */
    ctok_sortkey *room;   /* for sorting */
    ctok_sortkey *sorted; /* the ids in byte order of the texts, in room; after ctok_spm_check */
    ctok_spm_message *messages; /* in the order of the file */
    uint32_t n_messages, cap_messages;
    ctok_bytes document; /* the file with every run of k pieces that are written as ctok_spm_write does as field 1, number 2 k + spelled */
    ctok_spm_run run;    /* while reading: the one at the end */
} ctok_spm;

/* What holds for one kind of model and not for another. */
typedef struct ctok_spm_rules {
    int once;   /* no text twice; else once each among normal, user-defined and unused pieces, and among the others */
    int finite; /* all scores are numbers */
    int bytes;  /* there is byte fallback */
    int normal; /* a piece that a text could give is needed */
} ctok_spm_rules;

/* ctok_spm_read - find the pieces of a file.
 *
 * s     give back with ctok_spm_free in any case.
 * buf   n readable bytes, not kept; they must stay for the calls below.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT with *error filled. Cost: about 10 ns a piece.
 */
ctok_status ctok_spm_read(ctok_spm *s, const uint8_t *buf, size_t n, ctok_spm_error *error);

/* ctok_spm_check - sort the pieces, and refuse what the reference refuses. Returns as ctok_spm_read. */
ctok_status ctok_spm_check(ctok_spm *s, const uint8_t *buf, const ctok_spm_rules *rules, ctok_spm_error *error);

/* ctok_spm_table - the texts in byte order, equal ones in the order of their ids: their bytes, cumulative ends and ids; scores and types by
 * id. Room: s->n_bytes, 4 n, 4 n, 4 n and n bytes. After ctok_spm_check. */
void ctok_spm_table(const ctok_spm *s, const uint8_t *buf, uint8_t *data, uint8_t *ends, uint8_t *ids, uint8_t *scores, uint8_t *types);

/* ctok_spm_find - the id of the piece of a type that has a text, or CTOK_NO_ID. After ctok_spm_check. */
uint32_t ctok_spm_find(const ctok_spm *s, const uint8_t *buf, uint32_t type, const uint8_t *p, size_t n);

void ctok_spm_free(ctok_spm *s);

/* The tables of a model on their way out. */
typedef struct ctok_spm_out {
    const uint8_t *data, *ends, *ids, *scores, *types; /* as ctok_spm_table writes them */
    size_t n_bytes;
    uint32_t n;
    uint32_t *at; /* id -> place in byte order */
} ctok_spm_out;

/* ctok_spm_order - fill o->at, which has room for n; the other members are filled. CTOK_ERR_FORMAT: the ids are not 0 .. n-1, each once, or an
 * end is out of order or outside. */
ctok_status ctok_spm_order(ctok_spm_out *o);

/* ctok_spm_write - append pieces [first, last), last <= n, as fields of a file: text, score, and the type if it is not normal or `spelled`;
 * numbers in as few bytes as they take. */
ctok_status ctok_spm_write(const ctok_spm_out *o, uint32_t first, uint32_t last, int spelled, ctok_bytes *out);

/* ctok_spm_is_table - is the normalizer's table one that the reference takes? n >= 5: the number of its trie's bytes, the trie (at least one
 * unit, and no more than there is room for), and the texts. Every unit is looked at: the root has children and is nothing else; a value is a
 * place in the texts; the children of a node are units; where a key ends, a value stands. */
int ctok_spm_is_table(const uint8_t *table, size_t n);

#endif
