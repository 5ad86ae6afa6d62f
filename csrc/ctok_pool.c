#include "ctok_pool.h"

#ifdef _WIN32
#include <windows.h>
typedef HANDLE thread_handle;
#else
#include <pthread.h>
typedef pthread_t thread_handle;
#endif

typedef struct call {
    void (*work)(void *arg, size_t worker);
    void *arg;
    size_t worker;
} call;

#ifdef _WIN32
static DWORD WINAPI enter(LPVOID p) {
    call *c = (call *)p;
    c->work(c->arg, c->worker);
    return 0;
}

static int start(thread_handle *t, call *c) {
    *t = CreateThread(NULL, 0, enter, c, 0, NULL);
    return *t != NULL;
}

static void join(thread_handle t) {
    WaitForSingleObject(t, INFINITE);
    CloseHandle(t);
}

size_t ctok_pool_ticket(size_t *counter) {
#ifdef _WIN64
    return (size_t)InterlockedIncrement64((volatile LONG64 *)counter) - 1;
#else
    return (size_t)InterlockedIncrement((volatile LONG *)counter) - 1;
#endif
}
#else
static void *enter(void *p) {
    call *c = (call *)p;
    c->work(c->arg, c->worker);
    return NULL;
}

static int start(thread_handle *t, call *c) {
    return pthread_create(t, NULL, enter, c) == 0;
}

static void join(thread_handle t) {
    pthread_join(t, NULL);
}

size_t ctok_pool_ticket(size_t *counter) {
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}
#endif

void ctok_pool_run(size_t n, void (*work)(void *arg, size_t worker), void *arg) {
    thread_handle handles[CTOK_POOL_MAX];
    call calls[CTOK_POOL_MAX];
    size_t started = 1;
    if (n > CTOK_POOL_MAX) n = CTOK_POOL_MAX;
    for (; started < n; started++) {
        calls[started].work = work;
        calls[started].arg = arg;
        calls[started].worker = started;
        if (!start(&handles[started], &calls[started])) break;
    }
    work(arg, 0);
    for (size_t i = started; i < n; i++) work(arg, i);
    for (size_t i = 1; i < started; i++) join(handles[i]);
}
