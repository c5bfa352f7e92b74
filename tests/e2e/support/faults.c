/*
 * Faults of a disk, pauses, and lack of memory: this library is preloaded into the server's processes, and changes fsync,
 * fdatasync, gettimeofday and malloc.
 *
 * A slow disk: each sync takes a number of milliseconds longer. The environment variable SLOW_DISK names the file that
 * holds the number, which a test can change while the server runs. A signal does not end the delay, because it does not
 * end a write to a disk either. Each such sync adds a byte to the file SLOW_DISK.syncs.
 *
 * A record of what the server has synced: the content of each file of the write-ahead log, and of the page of the marks,
 * as of the file's last sync. Two environment variables hold absolute paths: WATCHED is the data directory, and SHADOW
 * the directory with the record, in which a file has the name of its inode. While the file SHADOW/hang exists, no sync
 * of such a file ends.
 *
 * A pause after the extension has read the clock: the environment variable PAUSES is the absolute path of a directory.
 * While it has a file whose name is the number of a process, a call of the extension in this process does not return. The
 * process then also creates the file NUMBER.paused.
 *
 * No memory: the environment variable NO_MEMORY is the path of a file. While it exists, the extension gets none.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Returns the number of milliseconds by which a sync is delayed. */
static long delay(void)
{
	const char *path = getenv("SLOW_DISK");
	char text[32];
	ssize_t length = 0;
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (file >= 0)
	{
		length = read(file, text, sizeof text - 1);
		close(file);
	}
	text[length > 0 ? length : 0] = 0;
	return atol(text);
}

/* Counts a sync that is delayed. */
static void count(void)
{
	char path[PATH_MAX];
	int file;

	snprintf(path, sizeof path, "%s.syncs", getenv("SLOW_DISK"));
	file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (file < 0 || write(file, ".", 1) != 1)
		abort();
	close(file);
}

/* Copies a file, and replaces the target atomically: the process may be killed before the rename. */
static void copy(const char *from, const char *to, const char *shadow)
{
	char buffer[65536], new[PATH_MAX];
	int in = open(from, O_RDONLY), out;
	ssize_t got;

	if (in < 0)
		return;
	snprintf(new, sizeof new, "%s/new.%d", shadow, (int) getpid());
	out = open(new, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while ((got = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, got) != got)
			break;
	close(in);
	close(out);
	rename(new, to);
}

/* Records the content of a file that the server has synced, if it is a watched one. */
static void record(int file)
{
	const char *watched = getenv("WATCHED"), *shadow = getenv("SHADOW");
	char link[64], path[PATH_MAX], to[PATH_MAX];
	struct stat facts;
	ssize_t length;
	size_t prefix;

	if (!watched || !shadow)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof path - 1);
	prefix = strlen(watched);
	if (length < (ssize_t) prefix)
		return;
	path[length] = 0;
	if (strncmp(path, watched, prefix) != 0 || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
		return;
	if (strncmp(path + prefix, "/pg_wal/", 8) != 0 && strcmp(path + prefix, "/global/8672") != 0)
		return;
	snprintf(to, sizeof to, "%s/hang", shadow);
	while (access(to, F_OK) == 0)
		usleep(1000);
	snprintf(to, sizeof to, "%s/%lu", shadow, (unsigned long) facts.st_ino);
	copy(path, to, shadow);
}

static int sync_with_faults(const char *name, int file)
{
	int (*sync)(int) = (int (*)(int)) dlsym(RTLD_NEXT, name);
	struct timespec end;
	long milliseconds = delay();
	int result, error;

	if (milliseconds > 0)
	{
		count();
		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_sec += milliseconds / 1000;
		end.tv_nsec += milliseconds % 1000 * 1000000;
		if (end.tv_nsec >= 1000000000)
		{
			end.tv_sec++;
			end.tv_nsec -= 1000000000;
		}
	}
	result = sync(file);
	error = errno;
	if (result == 0)
		record(file);
	while (milliseconds > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
	errno = error;
	return result;
}

int fsync(int file) { return sync_with_faults("fsync", file); }

int fdatasync(int file) { return sync_with_faults("fdatasync", file); }

/* Returns whether an address is one of the extension's library. */
static int is_of_extension(void *address)
{
	Dl_info facts;

	return dladdr(address, &facts) && facts.dli_fname && strstr(facts.dli_fname, "/scru.so");
}

extern void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	const char *path = getenv("NO_MEMORY");
	int is_refused = path && is_of_extension(__builtin_return_address(0)) && access(path, F_OK) == 0;

	return is_refused ? NULL : __libc_malloc(size);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	const char *pauses = getenv("PAUSES");
	char path[PATH_MAX], reached[PATH_MAX];
	struct timespec now;
	int file;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	if (!pauses)
		return 0;
	snprintf(path, sizeof path, "%s/%d", pauses, (int) getpid());
	if (access(path, F_OK) != 0 || !is_of_extension(__builtin_return_address(0)))
		return 0;
	snprintf(reached, sizeof reached, "%s/%d.paused", pauses, (int) getpid());
	file = open(reached, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (file >= 0)
		close(file);
	while (access(path, F_OK) == 0)
		usleep(1000);
	return 0;
}
