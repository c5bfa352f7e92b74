/*
 * Records what the server has synced: the content of each file of the write-ahead log, and of the page of the marks, as
 * of the file's last sync. This library is preloaded into the server's processes. Two environment variables hold
 * absolute paths: WATCHED is the data directory, and SHADOW the directory with the record, in which a file has the name
 * of its inode.
 *
 * While the file SHADOW/hang exists, no sync of such a file ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int fsync(int file)
{
	static int (*server_fsync)(int);
	int result;

	if (!server_fsync)
		server_fsync = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
	result = server_fsync(file);
	if (result == 0)
		record(file);
	return result;
}

int fdatasync(int file)
{
	static int (*server_fdatasync)(int);
	int result;

	if (!server_fdatasync)
		server_fdatasync = (int (*)(int)) dlsym(RTLD_NEXT, "fdatasync");
	result = server_fdatasync(file);
	if (result == 0)
		record(file);
	return result;
}
