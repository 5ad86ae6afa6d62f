/* ctok_pool.h - run one function on several threads and wait.
 *
 * Threads live for one call: nothing is kept, so there is nothing to shut down, and a process may fork before or after. Starting a
 * thread costs some ten microseconds; callers use this for work of milliseconds.
 */
#ifndef CTOK_POOL_H
#define CTOK_POOL_H

#include "ctok_base.h"

/* ctok_pool_run - call work(arg, 0), ..., work(arg, n - 1), each on a thread of its own; number 0 on the caller's.
 *
 * Returns when all are done. Threads that cannot be started are made up for: their numbers are worked off by the caller, so the result is
 * the same, only later. 1 <= n <= CTOK_POOL_MAX. work must not touch Python.
 */
#define CTOK_POOL_MAX 256
void ctok_pool_run(size_t n, void (*work)(void *arg, size_t worker), void *arg);

/* ctok_pool_ticket - hand out 0, 1, 2, ... to whoever asks, each number once. *counter starts at 0. */
size_t ctok_pool_ticket(size_t *counter);

#endif
