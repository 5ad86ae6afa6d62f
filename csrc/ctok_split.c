#include "ctok_split.h"

#include "ctok_split_data.h"

const ctok_known_pattern *ctok_split_known(size_t i) {
    return i < sizeof known / sizeof *known ? &known[i] : NULL;
}
