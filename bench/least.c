/*
 * The least that a new ID takes: functions for the server that do what no generator can do without, and nothing else.
 * tools/bench.sh compiles them for the server that is measured.
 */
#include "postgres.h"

#include <sys/time.h>

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(least8);
PG_FUNCTION_INFO_V1(least16);

/* Where a generator of the whole server has it in shared memory. Alone, a process takes as long here. */
static uint64 last = 1;

/* Eight bytes: the clock is read, and one step made from a word that others may change meanwhile. */
Datum
least8(PG_FUNCTION_ARGS)
{
	uint64		seen = __atomic_load_n(&last, __ATOMIC_ACQUIRE);
	struct timeval now;

	gettimeofday(&now, NULL);
	if (now.tv_sec == 0 ||
		!__atomic_compare_exchange_n(&last, &seen, seen + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		PG_RETURN_INT64(0);
	PG_RETURN_INT64(seen + 1);
}

/* Sixteen bytes: the clock is read into memory of the query's. */
Datum
least16(PG_FUNCTION_ARGS)
{
	struct timeval *now = palloc(sizeof(struct timeval));

	gettimeofday(now, NULL);
	PG_RETURN_POINTER(now);
}
