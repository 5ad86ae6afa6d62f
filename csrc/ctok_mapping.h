/* ctok_mapping.h - a file as memory that is read from it when it is first looked at. */
#ifndef CTOK_MAPPING_H
#define CTOK_MAPPING_H

#include "ctok_base.h"

/* ctok_mapping_open - the first bytes > 0 of an open file, to be read; NULL where the system does not do that, or not for this file.
 *
 * The file may be closed, and must not become shorter. Give back with ctok_mapping_close and the same number. */
const uint8_t *ctok_mapping_open(int file, size_t bytes);

void ctok_mapping_close(const uint8_t *p, size_t bytes);

#endif
