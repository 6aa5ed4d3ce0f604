/* The few thread primitives that the pool needs, on POSIX and on Windows. */
#ifndef TENON_THREADS_H
#define TENON_THREADS_H

#include <stdint.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK mutex;
typedef CONDITION_VARIABLE condition;
#define MUTEX_INITIALIZER SRWLOCK_INIT
#define CONDITION_INITIALIZER CONDITION_VARIABLE_INIT

static inline void mutex_lock(mutex *lock) { AcquireSRWLockExclusive(lock); }
static inline void mutex_unlock(mutex *lock) { ReleaseSRWLockExclusive(lock); }
static inline void condition_wait(condition *c, mutex *lock) { SleepConditionVariableSRW(c, lock, INFINITE, 0); }
static inline void condition_broadcast(condition *c) { WakeAllConditionVariable(c); }
static inline void yield_processor(void) { SwitchToThread(); }

static inline int64_t now_us(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return count.QuadPart * 1000000 / frequency.QuadPart;
}

struct thread_start { void (*body)(intptr_t); intptr_t argument; };

static DWORD WINAPI thread_main(LPVOID parameter)
{
    struct thread_start start = *(struct thread_start *)parameter;
    HeapFree(GetProcessHeap(), 0, parameter);
    start.body(start.argument);
    return 0;
}

/* Starts a thread that nobody joins; 0 on success. */
static inline int thread_begin(void (*body)(intptr_t), intptr_t argument)
{
    struct thread_start *start = HeapAlloc(GetProcessHeap(), 0, sizeof *start);
    if (!start)
        return 1;
    start->body = body;
    start->argument = argument;
    HANDLE handle = CreateThread(NULL, 0, thread_main, start, 0, NULL);
    if (!handle) {
        HeapFree(GetProcessHeap(), 0, start);
        return 1;
    }
    CloseHandle(handle);
    return 0;
}

#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

typedef pthread_mutex_t mutex;
typedef pthread_cond_t condition;
#define MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define CONDITION_INITIALIZER PTHREAD_COND_INITIALIZER

static inline void mutex_lock(mutex *lock) { pthread_mutex_lock(lock); }
static inline void mutex_unlock(mutex *lock) { pthread_mutex_unlock(lock); }
static inline void condition_wait(condition *c, mutex *lock) { pthread_cond_wait(c, lock); }
static inline void condition_broadcast(condition *c) { pthread_cond_broadcast(c); }
static inline void yield_processor(void) { sched_yield(); }

static inline int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

typedef void thread_body(intptr_t);
static thread_body *thread_entry;

static void *thread_main(void *argument)
{
    thread_entry((intptr_t)argument);
    return NULL;
}

/* Starts a thread that nobody joins and that takes no signals (Python's belong to its main thread); 0 on success.
 * All threads of one file run the same body. */
static inline int thread_begin(thread_body *body, intptr_t argument)
{
    pthread_t thread;
    sigset_t all, before;
    thread_entry = body;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, NULL, thread_main, (void *)argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed;
}
#endif

static inline void pause_processor(void)
{
#if defined(__x86_64__) || defined(_M_X64)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
