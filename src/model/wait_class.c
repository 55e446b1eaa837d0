/*-------------------------------------------------------------------------
 *
 * model/wait_class.c
 *		Maps a wait event to the kind of file that is waited for.
 *
 * Events are identified by names, because their numbers differ between major versions.
 *
 *-------------------------------------------------------------------------
 */
#include "src/model/wait_class.h"

#include <stddef.h>
#include <string.h>

typedef struct WaitRule
{
	const char *type;
	const char *prefix;			/* of the event's name */
	const char *suffix;			/* NULL: any */
	TierWaitClass wait_class;
} WaitRule;

/* The first one that fits decides. */
static const WaitRule rules[] = {
	{"IO", "DataFile", NULL, TIER_WAIT_RELATION},
	{"IO", "RelationMap", NULL, TIER_WAIT_RELATION},
	{"IO", "Aio", NULL, TIER_WAIT_RELATION},	/* only relations are read so */
	{"IO", "WAL", NULL, TIER_WAIT_WAL},
	{"IO", "Wal", NULL, TIER_WAIT_WAL},
	{"IO", "BufFile", NULL, TIER_WAIT_TEMP},
	{"IO", "Buffile", NULL, TIER_WAIT_TEMP},	/* 17 respelled some */
	{"IO", "SLRU", NULL, TIER_WAIT_SLRU},
	{"IO", "Slru", NULL, TIER_WAIT_SLRU},
	{"IO", "", NULL, TIER_WAIT_OTHER_IO},

	/* Another process reads the block, or writes it. */
	{"IPC", "BufferIO", NULL, TIER_WAIT_RELATION},
	{"IPC", "BufferIo", NULL, TIER_WAIT_RELATION},

	{"LWLock", "AioUring", NULL, TIER_WAIT_RELATION},	/* a process waits for
														 * the read itself */
	{"LWLock", "WAL", NULL, TIER_WAIT_WAL},
	{"LWLock", "", "SLRU", TIER_WAIT_SLRU},
	{"LWLock", "Xact", "Buffer", TIER_WAIT_SLRU},
	{"LWLock", "Subtrans", "Buffer", TIER_WAIT_SLRU},
	{"LWLock", "MultiXact", "Buffer", TIER_WAIT_SLRU},
	{"LWLock", "CommitTs", "Buffer", TIER_WAIT_SLRU},
	{"LWLock", "Notify", "Buffer", TIER_WAIT_SLRU},
	{"LWLock", "Serial", "Buffer", TIER_WAIT_SLRU},
	{"LWLock", "", NULL, TIER_WAIT_LWLOCK},

	{"Lock", "", NULL, TIER_WAIT_LOCK},
};

static bool
ends_with(const char *name, const char *suffix)
{
	size_t		length = strlen(name);
	size_t		suffix_length = strlen(suffix);

	return length >= suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

TierWaitClass
tier_wait_classify(const char *type, const char *event)
{
	if (type == NULL)
		return TIER_WAIT_CPU;
	if (event == NULL)
		event = "";
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
	{
		const WaitRule *rule = &rules[i];

		if (strcmp(rule->type, type) == 0 &&
			strncmp(rule->prefix, event, strlen(rule->prefix)) == 0 &&
			(rule->suffix == NULL || ends_with(event, rule->suffix)))
			return rule->wait_class;
	}
	return TIER_WAIT_OTHER;
}

const char *
tier_wait_class_name(TierWaitClass wait_class)
{
	switch (wait_class)
	{
		case TIER_WAIT_CPU:
			return "cpu";
		case TIER_WAIT_RELATION:
			return "relations";
		case TIER_WAIT_WAL:
			return "wal";
		case TIER_WAIT_TEMP:
			return "temp";
		case TIER_WAIT_SLRU:
			return "slru";
		case TIER_WAIT_OTHER_IO:
			return "other_io";
		case TIER_WAIT_LOCK:
			return "lock";
		case TIER_WAIT_LWLOCK:
			return "lwlock";
		default:
			return "other";
	}
}
