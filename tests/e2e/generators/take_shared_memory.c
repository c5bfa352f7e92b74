/* take_shared_memory() allocates all free shared memory of the server. */

#include "postgres.h"

#include "fmgr.h"
#include "storage/shmem.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(take_shared_memory);

/* Returns the number of allocations. */
Datum
take_shared_memory(PG_FUNCTION_ARGS)
{
	int32		pieces = 0;

	while (ShmemAllocNoError(1) != NULL)
		pieces++;
	PG_RETURN_INT32(pieces);
}
