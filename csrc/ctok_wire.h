/* ctok_wire.h - one field of a protobuf message at a time. Nothing is read that does not lie in the message.
 *
 * Wire types: 0 number, 1 eight bytes, 2 a length and as many bytes, 5 four bytes. Groups (3, 4) are refused: no message that is read here
 * has any. Fields are not looked into, so nothing nests.
 */
#ifndef CTOK_WIRE_H
#define CTOK_WIRE_H

#include "ctok_base.h"
#include "ctok_le.h"

typedef enum ctok_wire_fault {
    CTOK_WIRE_OK = 0,
    CTOK_WIRE_CUT = 1,    /* the message ends in the middle of a field */
    CTOK_WIRE_LENGTH = 2, /* a length says more bytes than are left */
    CTOK_WIRE_LARGE = 3,  /* a number does not fit into 64 bits */
    CTOK_WIRE_NUMBER = 4, /* a field's number is not in 1 .. 2^29 - 1 */
    CTOK_WIRE_GROUP = 5,  /* a group begins or ends */
    CTOK_WIRE_TYPE = 6    /* a wire type that does not exist */
} ctok_wire_fault;

#define CTOK_WIRE_VARINT 0u
#define CTOK_WIRE_64 1u
#define CTOK_WIRE_BYTES 2u
#define CTOK_WIRE_32 5u

typedef struct ctok_wire_field {
    size_t begin;    /* where its tag begins */
    size_t value;    /* where what it holds begins: behind tag and length */
    size_t end;      /* where it ends */
    uint64_t bits;   /* the number, the four or eight bytes as a number, or the length */
    uint32_t number; /* which field */
    uint32_t type;   /* its wire type */
} ctok_wire_field;

/* ctok_wire_size - how many bytes a number takes. */
static inline size_t ctok_wire_size(uint64_t x) {
    size_t n = 1;
    for (; x >= 128; x >>= 7) n++;
    return n;
}

/* ctok_wire_put - write a number in as few bytes as it takes; returns the place behind it. */
static inline uint8_t *ctok_wire_put(uint8_t *to, uint64_t x) {
    for (; x >= 128; x >>= 7) *to++ = (uint8_t)(x | 128);
    *to++ = (uint8_t)x;
    return to;
}

/* ctok_wire_varint - read a number at *at < end. On a fault *at stays. */
static inline ctok_wire_fault ctok_wire_varint(const uint8_t *buf, size_t end, size_t *at, uint64_t *x) {
    uint64_t sum = 0;
    for (size_t k = 0; k < 10; k++) {
        if (*at + k >= end) return CTOK_WIRE_CUT;
        const uint8_t c = buf[*at + k];
        if (k == 9 && c > 1) return CTOK_WIRE_LARGE;
        sum |= (uint64_t)(c & 127) << (7 * k);
        if (c < 128) {
            *x = sum;
            *at += k + 1;
            return CTOK_WIRE_OK;
        }
    }
    return CTOK_WIRE_LARGE;
}

/* ctok_wire_next - read the field at *at < end of a message that ends at `end`, and go behind it.
 *
 * On a fault *at stays; f->begin is then the field's place, and f->number which field it is, or 0 when that is not known.
 */
static inline ctok_wire_fault ctok_wire_next(const uint8_t *buf, size_t end, size_t *at, ctok_wire_field *f) {
    uint64_t tag;
    size_t i = *at;
    f->begin = i;
    f->number = 0;
    ctok_wire_fault fault = ctok_wire_varint(buf, end, &i, &tag);
    if (fault != CTOK_WIRE_OK) return fault;
    if (tag >> 32 != 0 || tag >> 3 == 0) return CTOK_WIRE_NUMBER;
    f->number = (uint32_t)(tag >> 3);
    f->type = (uint32_t)(tag & 7);
    f->value = i;
    switch (f->type) {
    case CTOK_WIRE_VARINT:
        fault = ctok_wire_varint(buf, end, &i, &f->bits);
        if (fault != CTOK_WIRE_OK) return fault;
        break;
    case CTOK_WIRE_64:
        if (end - i < 8) return CTOK_WIRE_CUT;
        f->bits = ctok_le64_get(buf + i);
        i += 8;
        break;
    case CTOK_WIRE_32:
        if (end - i < 4) return CTOK_WIRE_CUT;
        f->bits = ctok_le32_get(buf + i);
        i += 4;
        break;
    case CTOK_WIRE_BYTES:
        fault = ctok_wire_varint(buf, end, &i, &f->bits);
        if (fault != CTOK_WIRE_OK) return fault;
        if (f->bits > end - i) return CTOK_WIRE_LENGTH;
        f->value = i;
        i += (size_t)f->bits;
        break;
    default:
        return f->type < 6 ? CTOK_WIRE_GROUP : CTOK_WIRE_TYPE;
    }
    f->end = *at = i;
    return CTOK_WIRE_OK;
}

#endif
