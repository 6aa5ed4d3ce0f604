/* Lets one call of the C library for files or sockets fail, or all from one on: loaded with LD_PRELOAD by
 * tests/support/failing_io.py. Everything that this process does with files goes through here, by whichever library:
 * Python, SQLite, the hub's client, the tokenizers. Calls count where their file lies below the watched folder, and
 * where their socket was opened by this side (listen and accept make it another's); those that make a descriptor count
 * wherever it leads to.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    OPEN = 1 << 0, CREATE = 1 << 1, READ = 1 << 2, WRITE = 1 << 3, SYNC = 1 << 4, STAT = 1 << 5, RENAME = 1 << 6,
    UNLINK = 1 << 7, MKDIR = 1 << 8, LIST = 1 << 9, TRUNCATE = 1 << 10, LOCK = 1 << 11, CLOSE = 1 << 12,
    CHMOD = 1 << 13, MAP = 1 << 14, CONNECT = 1 << 15, SEND = 1 << 16, RECEIVE = 1 << 17,
    DESCRIPTOR = 1 << 18,
};
enum { FD_COUNT = 1 << 16, FILE_OF_OURS = 1, SOCKET_OF_OURS = 2 };

static unsigned char kinds[FD_COUNT];
static char watched[PATH_MAX];
static size_t watched_length;
static int calls_that_fail, fault_errno, lasting;
static long nth = -1, counted, struck;
static char first_struck[PATH_MAX + 64];

/* --- what Python asks ------------------------------------------------------------------------------------------- */

void failing_io_watch(const char *folder)
{
    watched_length = 0;
    snprintf(watched, sizeof watched, "%s/", folder);
    watched_length = strlen(watched);
}

/* From here on count the calls in this set, and let the n-th (from 0) fail; none where n is negative. */
void failing_io_arm(int calls, int error, long n, int goes_on)
{
    __atomic_store_n(&nth, -1, __ATOMIC_SEQ_CST);
    calls_that_fail = calls, fault_errno = error, lasting = goes_on;
    counted = struck = 0, first_struck[0] = 0;
    __atomic_store_n(&nth, n, __ATOMIC_SEQ_CST);
}

long failing_io_heal(void)
{
    __atomic_store_n(&calls_that_fail, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&nth, -1, __ATOMIC_SEQ_CST);
    return struck;
}

long failing_io_counted(void) { return counted; }
const char *failing_io_where(void) { return first_struck; }

/* --- who fails -------------------------------------------------------------------------------------------------- */

static int is_ours(int folder, const char *path)
{
    if (path == NULL || watched_length == 0)
        return 0;
    if (path[0] != '/')
        return folder >= 0 && folder < FD_COUNT && kinds[folder] == FILE_OF_OURS;
    return strncmp(path, watched, watched_length) == 0 || strncmp(path, watched, watched_length - 1) == 0;
}

static int kind_of(int fd) { return fd >= 0 && fd < FD_COUNT ? kinds[fd] : 0; }
static void mark(int fd, int kind) { if (fd >= 0 && fd < FD_COUNT) kinds[fd] = (unsigned char)kind; }

static int fails(int call, const char *name, const char *path, int fd)
{
    if (!(call & __atomic_load_n(&calls_that_fail, __ATOMIC_SEQ_CST)))
        return 0;
    long number = __atomic_fetch_add(&counted, 1, __ATOMIC_SEQ_CST), n = __atomic_load_n(&nth, __ATOMIC_SEQ_CST);
    if (n < 0 || number < n || (number > n && !lasting))
        return 0;
    if (__atomic_fetch_add(&struck, 1, __ATOMIC_SEQ_CST) == 0) {
        char link[64], target[PATH_MAX] = "";
        if (path == NULL) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t length = readlink(link, target, sizeof target - 1);
            target[length > 0 ? length : 0] = 0;
            path = target;
        }
        if (watched_length && strncmp(path, watched, watched_length) == 0)
            path += watched_length;
        snprintf(first_struck, sizeof first_struck, "%s %s", name, path);
    }
    errno = call == CONNECT ? ECONNREFUSED : fault_errno;
    return 1;
}

#define OF_PATH(call, name, folder, path) (is_ours(folder, path) && fails(call, name, path, -1))
#define OF_FILE(call, name, fd) (kind_of(fd) == FILE_OF_OURS && fails(call, name, NULL, fd))
#define OF_SOCKET(call, name, fd) (kind_of(fd) == SOCKET_OF_OURS && fails(call, name, NULL, fd))

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (real == NULL) \
        *(void **)&real = dlsym(RTLD_NEXT, name)

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* SQLite asks ten seconds long for a lock that fails before it gives up: here half a second. No sleep of
 * Python comes by. */
int usleep(useconds_t duration)
{
    REAL(int, "usleep", useconds_t);
    return real(duration / 20);
}

/* --- opening and closing ---------------------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

static int opened(const char *name, int folder, const char *path, int flags, mode_t mode)
{
    int ours = is_ours(folder, path);
    if (fails(DESCRIPTOR, "open", path, -1))
        return -1;
    if (ours && fails(flags & O_CREAT ? CREATE : OPEN, name, path, -1))
        return -1;
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    mark(fd, ours ? FILE_OF_OURS : 0);
    return fd;
}

#define OPENS(name, extra) \
    int name(const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return opened("open", AT_FDCWD, path, flags | extra, mode); \
    }
OPENS(open, 0)
OPENS(open64, O_LARGEFILE)

#define OPENS_AT(name, extra) \
    int name(int folder, const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return opened("open", folder, path, flags | extra, mode); \
    }
OPENS_AT(openat, 0)
OPENS_AT(openat64, O_LARGEFILE)

#define OPENS_STREAM(name) \
    FILE *name(const char *path, const char *mode) \
    { \
        REAL(FILE *, #name, const char *, const char *); \
        int failed = fails(DESCRIPTOR, "fopen", path, -1) || OF_PATH(mode[0] == 'r' ? OPEN : CREATE, "fopen", AT_FDCWD, path); \
        return failed ? NULL : real(path, mode); \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

int close(int fd)
{
    int failed = OF_FILE(CLOSE, "close", fd), error = errno;
    mark(fd, 0);
    int result = (int)syscall(SYS_close, fd);
    if (failed)
        errno = error;
    return failed ? -1 : result;
}

int dup(int fd)
{
    REAL(int, "dup", int);
    int copy = fails(DESCRIPTOR, "dup", NULL, fd) ? -1 : real(fd);
    mark(copy, kind_of(fd));
    return copy;
}

int dup2(int fd, int copy)
{
    REAL(int, "dup2", int, int);
    int result = real(fd, copy);
    mark(result, kind_of(fd));
    return result;
}

/* --- reading and writing ---------------------------------------------------------------------------------------- */

#define READS(name, arguments, names, types) \
    ssize_t name arguments \
    { \
        REAL(ssize_t, #name, types); \
        if (OF_FILE(READ, #name, fd) || OF_SOCKET(RECEIVE, #name, fd)) \
            return -1; \
        return real names; \
    }
#define TYPES(...) __VA_ARGS__
READS(read, (int fd, void *to, size_t size), (fd, to, size), TYPES(int, void *, size_t))
READS(pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), TYPES(int, void *, size_t, off_t))
READS(pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), TYPES(int, void *, size_t, off64_t))
READS(readv, (int fd, const struct iovec *to, int count), (fd, to, count), TYPES(int, const struct iovec *, int))
READS(preadv, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at),
      TYPES(int, const struct iovec *, int, off_t))
READS(preadv64, (int fd, const struct iovec *to, int count, off64_t at), (fd, to, count, at),
      TYPES(int, const struct iovec *, int, off64_t))
READS(preadv2, (int fd, const struct iovec *to, int count, off_t at, int flags), (fd, to, count, at, flags),
      TYPES(int, const struct iovec *, int, off_t, int))
READS(preadv64v2, (int fd, const struct iovec *to, int count, off64_t at, int flags), (fd, to, count, at, flags),
      TYPES(int, const struct iovec *, int, off64_t, int))
READS(recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), TYPES(int, void *, size_t, int))

/* A disk that is full takes half of what it is given, and refuses the rest; so half is there. */
#define WRITES(name, arguments, types, half, names) \
    ssize_t name arguments \
    { \
        REAL(ssize_t, #name, types); \
        if (OF_FILE(WRITE, #name, fd) || OF_SOCKET(SEND, #name, fd)) { \
            int error = errno; \
            if (kind_of(fd) == FILE_OF_OURS && size > 1 && real half < 0) \
                return -1; \
            errno = error; \
            return -1; \
        } \
        return real names; \
    }
WRITES(write, (int fd, const void *from, size_t size), TYPES(int, const void *, size_t), (fd, from, size / 2),
       (fd, from, size))
WRITES(pwrite, (int fd, const void *from, size_t size, off_t at), TYPES(int, const void *, size_t, off_t),
       (fd, from, size / 2, at), (fd, from, size, at))
WRITES(pwrite64, (int fd, const void *from, size_t size, off64_t at), TYPES(int, const void *, size_t, off64_t),
       (fd, from, size / 2, at), (fd, from, size, at))
WRITES(send, (int fd, const void *from, size_t size, int flags), TYPES(int, const void *, size_t, int),
       (fd, from, size, flags), (fd, from, size, flags))

#define GATHERS(name, arguments, types, names) \
    ssize_t name arguments \
    { \
        REAL(ssize_t, #name, types); \
        return OF_FILE(WRITE, #name, fd) ? -1 : real names; \
    }
GATHERS(writev, (int fd, const struct iovec *from, int count), TYPES(int, const struct iovec *, int), (fd, from, count))
GATHERS(pwritev, (int fd, const struct iovec *from, int count, off_t at), TYPES(int, const struct iovec *, int, off_t),
        (fd, from, count, at))
GATHERS(pwritev64, (int fd, const struct iovec *from, int count, off64_t at),
        TYPES(int, const struct iovec *, int, off64_t), (fd, from, count, at))

#define SENDS_FILE(name, place) \
    ssize_t name(int to, int from, place *at, size_t count) \
    { \
        REAL(ssize_t, #name, int, int, place *, size_t); \
        return OF_FILE(WRITE, #name, to) || OF_FILE(READ, #name, from) ? -1 : real(to, from, at, count); \
    }
SENDS_FILE(sendfile, off_t)
SENDS_FILE(sendfile64, off64_t)

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t count, unsigned flags)
{
    REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    if (OF_FILE(WRITE, "copy_file_range", to) || OF_FILE(READ, "copy_file_range", from))
        return -1;
    return real(from, from_at, to, to_at, count, flags);
}

/* What a power cut leaves for sure: files as they were when they were synced last, in a folder beside the watched one.
 * Between failing_io_hold and failing_io_let_go none is synced. */
static char safe[PATH_MAX];
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

void failing_io_keep_safe(const char *folder) { snprintf(safe, sizeof safe, "%s/", folder); }
void failing_io_hold(void) { pthread_mutex_lock(&keeping); }
void failing_io_let_go(void) { pthread_mutex_unlock(&keeping); }

static void keep_safe(int fd)
{
    char link[64], path[PATH_MAX], copy[2 * PATH_MAX], block[1 << 16];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    if (!safe[0] || strncmp(path, watched, watched_length))
        return;
    snprintf(copy, sizeof copy, "%s%s", safe, path + watched_length);
    int from = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
    int to = (int)syscall(SYS_openat, AT_FDCWD, copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (from >= 0 && to >= 0 && (length = syscall(SYS_read, from, block, sizeof block)) > 0)
        (void)!syscall(SYS_write, to, block, length);
    syscall(SYS_close, from);
    syscall(SYS_close, to);
}

#define SYNCS(name) \
    int name(int fd) \
    { \
        REAL(int, #name, int); \
        if (OF_FILE(SYNC, #name, fd)) \
            return -1; \
        pthread_mutex_lock(&keeping); \
        int result = real(fd); \
        if (result == 0 && kind_of(fd) == FILE_OF_OURS) \
            keep_safe(fd); \
        pthread_mutex_unlock(&keeping); \
        return result; \
    }
SYNCS(fsync)
SYNCS(fdatasync)

#define CUTS(name, offset) \
    int name(int fd, offset size) \
    { \
        REAL(int, #name, int, offset); \
        return OF_FILE(TRUNCATE, #name, fd) ? -1 : real(fd, size); \
    }
CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

#define ALLOCATES(name, offset) \
    int name(int fd, offset at, offset size) \
    { \
        REAL(int, #name, int, offset, offset); \
        return OF_FILE(TRUNCATE, #name, fd) ? errno : real(fd, at, size); \
    }
ALLOCATES(posix_fallocate, off_t)
ALLOCATES(posix_fallocate64, off64_t)

#define MAPS(name, offset) \
    void *name(void *at, size_t size, int protection, int flags, int fd, offset from) \
    { \
        if (!(flags & MAP_ANONYMOUS) && OF_FILE(MAP, "mmap", fd)) \
            return MAP_FAILED; \
        return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, from); \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

/* --- locks ------------------------------------------------------------------------------------------------------ */

/* Giving a lock back fails on no disk, and SQLite keeps it until the process ends where it does. */

#define CONTROLS(name) \
    int name(int fd, int command, ...) \
    { \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        if ((command == F_SETLK || command == F_SETLKW || command == F_GETLK) && \
            ((struct flock *)argument)->l_type != F_UNLCK && OF_FILE(LOCK, "lock", fd)) \
            return -1; \
        int result = (int)syscall(SYS_fcntl, fd, command, argument); \
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) \
            mark(result, kind_of(fd)); \
        return result; \
    }
CONTROLS(fcntl)
CONTROLS(fcntl64)

int flock(int fd, int operation)
{
    REAL(int, "flock", int, int);
    return OF_FILE(LOCK, "flock", fd) ? -1 : real(fd, operation);
}

/* --- names ------------------------------------------------------------------------------------------------------ */

#define NAMES(call, result, failed, name, arguments, types, names, folder, path) \
    result name arguments \
    { \
        REAL(result, #name, types); \
        return OF_PATH(call, #name, folder, path) ? failed : real names; \
    }
#define STATS(name, buffer) \
    NAMES(STAT, int, -1, name, (const char *path, buffer *found), TYPES(const char *, buffer *), (path, found), \
          AT_FDCWD, path)
STATS(stat, struct stat)
STATS(stat64, struct stat64)
STATS(lstat, struct stat)
STATS(lstat64, struct stat64)
STATS(statvfs, struct statvfs)
STATS(statvfs64, struct statvfs64)
#define STATS_FILE(name, buffer) \
    int name(int fd, buffer *found) \
    { \
        REAL(int, #name, int, buffer *); \
        return OF_FILE(STAT, #name, fd) ? -1 : real(fd, found); \
    }
STATS_FILE(fstat, struct stat)
STATS_FILE(fstat64, struct stat64)
#define STATS_AT(name, buffer) \
    NAMES(STAT, int, -1, name, (int folder, const char *path, buffer *found, int flags), \
          TYPES(int, const char *, buffer *, int), (folder, path, found, flags), folder, path)
STATS_AT(fstatat, struct stat)
STATS_AT(fstatat64, struct stat64)
NAMES(STAT, int, -1, statx, (int folder, const char *path, int flags, unsigned mask, struct statx *found),
      TYPES(int, const char *, int, unsigned, struct statx *), (folder, path, flags, mask, found), folder, path)
NAMES(STAT, int, -1, access, (const char *path, int mode), TYPES(const char *, int), (path, mode), AT_FDCWD, path)
NAMES(STAT, int, -1, faccessat, (int folder, const char *path, int mode, int flags),
      TYPES(int, const char *, int, int), (folder, path, mode, flags), folder, path)
NAMES(CHMOD, int, -1, chmod, (const char *path, mode_t mode), TYPES(const char *, mode_t), (path, mode), AT_FDCWD, path)
NAMES(CHMOD, int, -1, fchmodat, (int folder, const char *path, mode_t mode, int flags),
      TYPES(int, const char *, mode_t, int), (folder, path, mode, flags), folder, path)
NAMES(MKDIR, int, -1, mkdir, (const char *path, mode_t mode), TYPES(const char *, mode_t), (path, mode), AT_FDCWD, path)
NAMES(MKDIR, int, -1, mkdirat, (int folder, const char *path, mode_t mode), TYPES(int, const char *, mode_t),
      (folder, path, mode), folder, path)
NAMES(UNLINK, int, -1, unlink, (const char *path), TYPES(const char *), (path), AT_FDCWD, path)
NAMES(UNLINK, int, -1, rmdir, (const char *path), TYPES(const char *), (path), AT_FDCWD, path)
NAMES(UNLINK, int, -1, unlinkat, (int folder, const char *path, int flags), TYPES(int, const char *, int),
      (folder, path, flags), folder, path)
NAMES(RENAME, int, -1, rename, (const char *path, const char *to), TYPES(const char *, const char *), (path, to),
      AT_FDCWD, path)
NAMES(RENAME, int, -1, renameat, (int folder, const char *path, int other, const char *to),
      TYPES(int, const char *, int, const char *), (folder, path, other, to), folder, path)
DIR *opendir(const char *path)
{
    REAL(DIR *, "opendir", const char *);
    return fails(DESCRIPTOR, "opendir", path, -1) || OF_PATH(LIST, "opendir", AT_FDCWD, path) ? NULL : real(path);
}

/* --- descriptors of other kinds --------------------------------------------------------------------------------- */

#define MAKES(name, arguments, types, names) \
    int name arguments \
    { \
        REAL(int, #name, types); \
        return fails(DESCRIPTOR, #name, "", -1) ? -1 : real names; \
    }
MAKES(pipe, (int *pair), TYPES(int *), (pair))
MAKES(pipe2, (int *pair, int flags), TYPES(int *, int), (pair, flags))
MAKES(socketpair, (int domain, int type, int protocol, int *pair), TYPES(int, int, int, int *),
      (domain, type, protocol, pair))
MAKES(epoll_create1, (int flags), TYPES(int), (flags))
MAKES(eventfd, (unsigned count, int flags), TYPES(unsigned, int), (count, flags))
MAKES(memfd_create, (const char *called, unsigned flags), TYPES(const char *, unsigned), (called, flags))

/* --- sockets ---------------------------------------------------------------------------------------------------- */

int socket(int domain, int type, int protocol)
{
    REAL(int, "socket", int, int, int);
    int fd = fails(DESCRIPTOR, "socket", "", -1) ? -1 : real(domain, type, protocol);
    mark(fd, domain == AF_INET || domain == AF_INET6 ? SOCKET_OF_OURS : 0);
    return fd;
}

int listen(int fd, int backlog)
{
    REAL(int, "listen", int, int);
    mark(fd, 0);
    return real(fd, backlog);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    REAL(int, "accept4", int, struct sockaddr *, socklen_t *, int);
    int accepted = fails(DESCRIPTOR, "accept", "", -1) ? -1 : real(fd, address, length, flags);
    mark(accepted, 0);
    return accepted;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    REAL(int, "connect", int, const struct sockaddr *, socklen_t);
    return OF_SOCKET(CONNECT, "connect", fd) ? -1 : real(fd, address, length);
}

ssize_t recvfrom(int fd, void *to, size_t size, int flags, struct sockaddr *address, socklen_t *length)
{
    REAL(ssize_t, "recvfrom", int, void *, size_t, int, struct sockaddr *, socklen_t *);
    return OF_SOCKET(RECEIVE, "recvfrom", fd) ? -1 : real(fd, to, size, flags, address, length);
}

ssize_t sendto(int fd, const void *from, size_t size, int flags, const struct sockaddr *address, socklen_t length)
{
    REAL(ssize_t, "sendto", int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    return OF_SOCKET(SEND, "sendto", fd) ? -1 : real(fd, from, size, flags, address, length);
}
