/*
 * Makes a disk slow: each fsync and fdatasync takes a number of milliseconds longer. This library is preloaded into the
 * server's processes. The environment variable SLOW_DISK names the file that holds the number, which a test can change
 * while the server runs. A signal does not end the delay, because it does not end a write to a disk either.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Returns the number of milliseconds in the file; 0 if there is none. */
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

static int sync_slowly(const char *name, int file)
{
	int (*sync)(int) = (int (*)(int)) dlsym(RTLD_NEXT, name);
	struct timespec end;
	long milliseconds = delay();
	int result, error;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += milliseconds / 1000;
	end.tv_nsec += milliseconds % 1000 * 1000000;
	if (end.tv_nsec >= 1000000000)
	{
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	result = sync(file);
	error = errno;
	while (milliseconds > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
	errno = error;
	return result;
}

int fsync(int file) { return sync_slowly("fsync", file); }

int fdatasync(int file) { return sync_slowly("fdatasync", file); }
