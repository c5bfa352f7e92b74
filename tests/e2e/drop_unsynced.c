/*
 * Records the state that a directory would have after a loss of power: its names as of its last sync, and the content
 * of each file as of the file's last sync before that. This library is preloaded into the server's processes, and
 * updates the record at each fsync. Two environment variables hold absolute paths: WATCHED is the directory, SHADOW is
 * the record.
 *
 * SHADOW/inodes/INODE is the synced content of the file with this inode. SHADOW/names has the files that survive.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *watched(void) { return getenv("WATCHED"); }
static const char *shadow(void) { return getenv("SHADOW"); }

/* Copies a file, and replaces the target atomically. */
static void copy(const char *from, const char *to)
{
	char buffer[4096], new[PATH_MAX];
	int in = open(from, O_RDONLY), out;
	ssize_t got;

	if (in < 0)
		return;
	/* Not in SHADOW/names, because the process may be killed before the rename. */
	snprintf(new, sizeof new, "%s/new.%d", shadow(), (int) getpid());
	out = open(new, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while ((got = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, got) != got)
			break;
	close(in);
	close(out);
	rename(new, to);
}

/*
 * Records a sync of the directory. Each name gets the synced content of its file; it is empty if the file was not
 * synced. New names are added before old ones are removed, because the process may be killed in between.
 */
static void keep_names(void)
{
	char name[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
	struct dirent *entry;
	struct stat facts;
	DIR *directory;

	directory = opendir(watched());
	while (directory && (entry = readdir(directory)))
	{
		snprintf(name, sizeof name, "%s/%s", watched(), entry->d_name);
		if (entry->d_name[0] == '.' || stat(name, &facts) != 0)
			continue;
		snprintf(from, sizeof from, "%s/inodes/%lu", shadow(), (unsigned long) facts.st_ino);
		snprintf(to, sizeof to, "%s/names/%s", shadow(), entry->d_name);
		if (access(from, F_OK) == 0)
			copy(from, to);
		else
			close(open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600));
	}
	if (directory)
		closedir(directory);
	snprintf(to, sizeof to, "%s/names", shadow());
	directory = opendir(to);
	while (directory && (entry = readdir(directory)))
	{
		snprintf(name, sizeof name, "%s/%s", watched(), entry->d_name);
		snprintf(to, sizeof to, "%s/names/%s", shadow(), entry->d_name);
		if (entry->d_name[0] != '.' && access(name, F_OK) != 0)
			unlink(to);
	}
	if (directory)
		closedir(directory);
}

int fsync(int file)
{
	static int (*server_fsync)(int);
	char link[64], path[PATH_MAX], to[PATH_MAX];
	struct stat facts;
	ssize_t length, parent;
	int result, wants_stop;

	if (!server_fsync)
		server_fsync = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
	result = server_fsync(file);
	if (result != 0 || !watched() || !shadow())
		return result;
	/* A test creates SHADOW/stop to suspend the next process that syncs a file of the directory. */
	snprintf(to, sizeof to, "%s/stop", shadow());
	wants_stop = access(to, F_OK) == 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return result;
	path[length] = 0;
	/* The directory itself survives a loss of power once its parent has been synced. */
	parent = strrchr(watched(), '/') - watched();
	if (length == parent && strncmp(path, watched(), parent) == 0)
	{
		snprintf(to, sizeof to, "%s/parent", shadow());
		close(open(to, O_WRONLY | O_CREAT, 0600));
	}
	else if (strcmp(path, watched()) == 0)
		keep_names();
	else if (strncmp(path, watched(), strlen(watched())) == 0 && fstat(file, &facts) == 0)
	{
		if (wants_stop && unlink(to) == 0)
			raise(SIGSTOP);
		snprintf(to, sizeof to, "%s/inodes/%lu", shadow(), (unsigned long) facts.st_ino);
		copy(path, to);
	}
	return result;
}
