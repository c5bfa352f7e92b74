/* take_shared_memory() takes what is left of the server's shared memory, as some greedy extension might. */

#include "postgres.h"

#include "fmgr.h"
#include "storage/shmem.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(take_shared_memory);

/* How many pieces there were. */
Datum
take_shared_memory(PG_FUNCTION_ARGS)
{
	int32		pieces = 0;

	while (ShmemAllocNoError(1) != NULL)
		pieces++;
	PG_RETURN_INT32(pieces);
}
