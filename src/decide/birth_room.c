/*-------------------------------------------------------------------------
 *
 * decide/birth_room.c
 *		Is there room for new partitions on a tier?
 *
 * How much a new partition will hold nobody knows, so the marks of the tier decide, as they
 * do when something leaves it: between the two of them, all stays as it is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/base/sql.h"
#include "src/decide/birth_room.h"
#include "src/decide/fullness.h"

/* Fractions of the capacity between which nothing changes. */
typedef struct Marks
{
	double		leave;
	double		come;
} Marks;

TierBirthRooms *
tier_birth_rooms_create(const TierSet *set)
{
	TierBirthRooms *rooms = palloc(sizeof(TierBirthRooms));

	rooms->set = set;
	rooms->levels = palloc0(sizeof(TierFullnessLevel) * Max(set->ntiers, 1));
	rooms->is_known = palloc0(sizeof(bool) * Max(set->ntiers, 1));
	return rooms;
}

static const TierFullnessLevel *
level_of(TierBirthRooms *rooms, int tier)
{
	TierFullnessQuestion question = {0};

	if (!rooms->is_known[tier])
	{
		rooms->levels[tier] = tier_fullness_level(rooms->set, tier, &question);
		rooms->is_known[tier] = true;
	}
	return &rooms->levels[tier];
}

/* Those of its fullness policy come before its own; the reserve takes from both alike. */
static Marks
marks_of(const TierTier *tier)
{
	double		high = tier->emptied_above > 0.0 ? tier->emptied_above : tier->high_watermark;
	double		low = tier->emptied_above > 0.0 ? tier->emptied_to : tier->low_watermark;
	Marks		marks;

	marks.leave = Min(high, 1.0 - tier->reserve_fraction);
	marks.come = marks.leave * low / high;
	return marks;
}

static char *
why_tier_full(TierBirthRooms *rooms, int tier, bool is_set)
{
	const TierTier *t = &rooms->set->tiers[tier];
	Marks		marks = marks_of(t);
	double		mark = is_set ? marks.leave : marks.come;
	double		bytes;

	if (t->capacity_bytes <= 0)
		return NULL;
	bytes = tier_fullness_bytes(level_of(rooms, tier));
	if (bytes <= mark * (double) t->capacity_bytes)
		return NULL;
	return psprintf("tier \"%s\" has no room for them: %s of its %s are taken, and they are "
					"created there only %s %.3g%%", NameStr(t->name), tier_size_text(bytes),
					tier_size_text((double) t->capacity_bytes),
					is_set ? "up to" : "below", 100.0 * mark);
}

/* A tier may have several file systems, of which this one may be the fullest. */
static char *
why_disk_full(const TierSet *set, const TierTablespace *tablespace, bool is_set)
{
	const TierTier *t = &set->tiers[tablespace->tier];
	const TierDevice *device = tablespace->device;
	Marks		marks = marks_of(t);
	double		kept_bytes = t->reserve_fraction * (double) device->total_bytes;
	double		capacity_bytes = (double) device->total_bytes;

	if (device->total_bytes < 0)
		return NULL;
	if (t->capacity_bytes > 0)
		capacity_bytes = Min(capacity_bytes, (double) t->capacity_bytes);
	if (!is_set)
		kept_bytes += (marks.leave - marks.come) * capacity_bytes;
	if ((double) device->free_bytes > kept_bytes)
		return NULL;
	return psprintf("the file system of tablespace \"%s\" has no room for them: %s are free, "
					"and they are created there only above %s", NameStr(tablespace->name),
					tier_size_text((double) device->free_bytes), tier_size_text(kept_bytes));
}

char *
tier_birth_why_full(TierBirthRooms *rooms, Oid tablespace_oid, bool is_set)
{
	const TierTablespace *tablespace = tier_set_tablespace(rooms->set, tablespace_oid);
	char	   *why;

	if (tablespace == NULL)
		return NULL;
	why = why_tier_full(rooms, tablespace->tier, is_set);
	return why != NULL ? why : why_disk_full(rooms->set, tablespace, is_set);
}
