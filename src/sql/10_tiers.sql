---------------------------------------------------------------------------
-- Tiers: their figures, their tablespaces, and the devices beneath these.
---------------------------------------------------------------------------

/*
 * Lower and upper limit of each number of a tier.
 *
 * A value beyond them is a typing error, or meant to make every later computation fail.
 * NaN is above all of them.
 */
CREATE FUNCTION _tiered_storage.tier_limits(OUT property text, OUT lowest numeric,
	OUT highest numeric)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	VALUES
		('rank'::text,                0::numeric, 1000000::numeric),
		('random_read_ms',            1e-6,       1e6),
		('random_write_ms',           1e-6,       1e6),
		('sequential_read_mb_per_s',  1e-6,       1e9),
		('sequential_write_mb_per_s', 1e-6,       1e9),
		('fsync_ms',                  1e-6,       1e6),
		('parallelism',               1e-3,       1e6),
		('price_per_gb_month',        1e-9,       1e9),	-- or 0
		('price_per_million_reads',   1e-9,       1e9),
		('capacity_bytes',            1,          1152921504606846976),
		('reserve_fraction',          0,          0.999999),
		('endurance_tbw',             1e-9,       1e12),
		('endurance_dwpd',            1e-9,       1e6),
		('compression_ratio',         1,          1e6),
		('restored_rank',             0,          1000000)
$$;

/* The first of these numbers that is beyond its limits, in words; null: none is. */
CREATE FUNCTION _tiered_storage.tier_misfit(figures jsonb, OUT property text, OUT detail text)
RETURNS record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l.property, format('%s is %s, and must be between %s and %s.', l.property,
		left(v.value, 40) || CASE WHEN length(v.value) > 40 THEN '...' ELSE '' END, l.lowest,
		l.highest)
	FROM _tiered_storage.tier_limits() l JOIN jsonb_each_text(figures) v ON v.key = l.property
	WHERE v.value::numeric NOT BETWEEN l.lowest AND l.highest
		AND NOT (l.property = 'price_per_gb_month' AND v.value::numeric = 0)
	LIMIT 1
$$;

/*
 * Whether these are possible watermarks: fractions of the capacity, the low one below the high
 * one.
 */
CREATE FUNCTION _tiered_storage.tier_watermarks_fit(low float8, high float8) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN low > 0 AND low < high AND high <= 1;

/*
 * Storage tiers of this database; read them in the view tiered_storage.tiers, change them with
 * add_tier() and alter_tier().
 */
CREATE TABLE _tiered_storage.tier
(
	tier_name name NOT NULL PRIMARY KEY CHECK (tier_name OPERATOR(pg_catalog.<>) ''),
	rank integer NOT NULL,
	profile text NOT NULL,
	random_read_ms float8 NOT NULL,
	random_write_ms float8 NOT NULL,
	sequential_read_mb_per_s float8 NOT NULL,
	sequential_write_mb_per_s float8 NOT NULL,
	fsync_ms float8 NOT NULL,
	parallelism float8 NOT NULL,
	price_per_gb_month numeric NOT NULL,
	price_is_assumed boolean NOT NULL,
	capacity_bytes bigint,
	reserve_fraction float8 NOT NULL,
	low_watermark float8 NOT NULL,
	high_watermark float8 NOT NULL,
	endurance_tbw float8,
	endurance_dwpd float8,
	price_per_million_reads float8,
	compressed boolean NOT NULL,
	compression_ratio float8,
	-- created by discover_tiers() and never changed by a person since: not dumped, and replaced
	-- when a person defines a tier of this name
	discovered boolean NOT NULL,
	-- a restore has brought it, or a row that names it: more of what belongs to it may come
	restored boolean,
	-- the rank that a restore has brought; null: none has, or ranks were given since
	restored_rank integer,
	CHECK (_tiered_storage.tier_watermarks_fit(low_watermark, high_watermark)),
	CHECK ((_tiered_storage.tier_misfit(pg_catalog.to_jsonb(tier))).property IS NULL)
);

/*
 * The tier of each tablespace; a tablespace belongs to one tier at most.
 *
 * The name survives dump and restore, the OID survives a rename: in the cluster that wrote
 * the row (system_identifier) the OID counts, elsewhere the name.  refresh_tablespaces()
 * updates both.
 */
CREATE TABLE _tiered_storage.tier_tablespace
(
	tablespace_name name NOT NULL PRIMARY KEY,
	tablespace_oid oid NOT NULL,
	system_identifier bigint NOT NULL,
	tier_name name NOT NULL REFERENCES _tiered_storage.tier ON UPDATE CASCADE ON DELETE CASCADE,
	discovered boolean NOT NULL,
	UNIQUE (tablespace_oid, system_identifier)
);
CREATE INDEX tier_tablespace_tier_name_idx ON _tiered_storage.tier_tablespace (tier_name);

/*
 * Gives the tier of that name, if it exists, all other values of t; policies and pins keep
 * referring to it.
 *
 * The name is not set: an UPDATE that names a key column takes a stronger row lock, even
 * if the value stays the same, and would wait for open transactions that have pinned
 * something to the tier.
 */
CREATE FUNCTION _tiered_storage.tier_overwrite(t _tiered_storage.tier, only_discovered boolean)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	UPDATE _tiered_storage.tier x SET
			rank = t.rank, profile = t.profile,
			random_read_ms = t.random_read_ms, random_write_ms = t.random_write_ms,
			sequential_read_mb_per_s = t.sequential_read_mb_per_s,
			sequential_write_mb_per_s = t.sequential_write_mb_per_s,
			fsync_ms = t.fsync_ms, parallelism = t.parallelism,
			price_per_gb_month = t.price_per_gb_month, price_is_assumed = t.price_is_assumed,
			capacity_bytes = t.capacity_bytes, reserve_fraction = t.reserve_fraction,
			low_watermark = t.low_watermark, high_watermark = t.high_watermark,
			endurance_tbw = t.endurance_tbw, endurance_dwpd = t.endurance_dwpd,
			price_per_million_reads = t.price_per_million_reads,
			compressed = t.compressed, compression_ratio = t.compression_ratio,
			discovered = t.discovered, restored = t.restored,
			restored_rank = t.restored_rank
		WHERE x.tier_name = t.tier_name AND (x.discovered OR NOT only_discovered);
	RETURN FOUND;
END
$$;

/* Whether the client itself runs COPY or INSERT into a table of this schema, as a restore does. */
CREATE FUNCTION _tiered_storage.is_restore() RETURNS boolean
LANGUAGE C STABLE
AS 'MODULE_PATHNAME', 'tier_is_restore';

/*
 * Empty; a restore locks it, and so waits until no other transaction restores such a table.
 *
 * Only roles that may write the tables of a restore may lock it.
 */
CREATE TABLE _tiered_storage.restore_turn (turn boolean PRIMARY KEY);

/*
 * Trigger: a restore waits until no other transaction restores such a table.
 *
 * A parallel restore loads tables side by side, but of these only one at a time: none would see
 * what another has inserted, and they would wait for each other's rows.  Before the first row,
 * so that who waits here holds nothing.
 */
CREATE FUNCTION _tiered_storage.restore_in_turn() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF _tiered_storage.is_restore() THEN
		LOCK TABLE _tiered_storage.restore_turn IN EXCLUSIVE MODE;
	END IF;
	RETURN NULL;
END
$$;

/*
 * Trigger: a discovered tier or tablespace gives way to one that is restored or defined by a
 * person.
 *
 * A restore first runs CREATE EXTENSION, which discovers tiers, and then loads the dumped
 * rows, which replace what was only discovered.  The row of a discovered tier is
 * overwritten in place, because policies may refer to it.  A tier that a person has defined does
 * not keep tablespaces that were only discovered for its name; nor does a tablespace that was
 * renamed since the dump have two rows.
 */
CREATE FUNCTION _tiered_storage.tier_before_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	is_known boolean;
BEGIN
	IF TG_TABLE_NAME = 'tier_tablespace' THEN
		DELETE FROM _tiered_storage.tier_tablespace t
			WHERE t.discovered AND (t.tablespace_name = NEW.tablespace_name
				OR (t.tablespace_oid, t.system_identifier)
					= (NEW.tablespace_oid, NEW.system_identifier));
		RETURN NEW;
	END IF;
	/* Who else inserts rows is a function, or the update of the extension. */
	NEW.restored := _tiered_storage.is_restore();
	NEW.restored_rank := CASE WHEN NEW.restored AND NEW.profile <> '' THEN NEW.rank END;
	is_known := EXISTS (SELECT FROM _tiered_storage.tier t WHERE t.tier_name = NEW.tier_name);
	IF NEW.restored AND NOT is_known AND (SELECT count(*) FROM _tiered_storage.tier) >= 32 THEN
		DELETE FROM _tiered_storage.tier t
			WHERE t.tier_name = (SELECT x.tier_name FROM _tiered_storage.tier x
				WHERE x.discovered AND x.restored IS NOT TRUE
					AND NOT _tiered_storage.tier_in_use(x.tier_name)
				ORDER BY x.rank DESC, x.tier_name LIMIT 1);
	END IF;
	IF NOT is_known AND (SELECT count(*) FROM _tiered_storage.tier) >= 32 THEN
		PERFORM _tiered_storage.refuse('program_limit_exceeded', 'too many tiers',
			detail => 'At most 32 tiers can be defined.',
			hint => 'A tier can have more than one tablespace.');
	END IF;
	IF NOT _tiered_storage.tier_overwrite(NEW, true) THEN
		RETURN NEW;
	END IF;
	IF NEW.restored AND NOT NEW.discovered THEN
		DELETE FROM _tiered_storage.tier_tablespace t
			WHERE t.tier_name = NEW.tier_name AND t.discovered;
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER tier_before_insert BEFORE INSERT ON _tiered_storage.tier
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.tier_before_insert();
CREATE TRIGGER tier_restore_in_turn BEFORE INSERT ON _tiered_storage.tier
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.restore_in_turn();
CREATE TRIGGER tier_tablespace_before_insert BEFORE INSERT ON _tiered_storage.tier_tablespace
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.tier_before_insert();

/*
 * Trigger: while a restore loads tables in any order, tiers that rows name in these columns may
 * come later.
 *
 * A parallel restore loads tables in any order, whatever their foreign keys, and a row that names
 * a tier may come before it.  Then the tier gets a row for the time being (its profile is ''),
 * which its own replaces as that of a tier that was discovered.  Functions of the extension have
 * looked for the tier, and get the error of the foreign key.
 */
CREATE FUNCTION _tiered_storage.expect_tiers() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	restored jsonb := to_jsonb(NEW);
	expected name;
	t _tiered_storage.tier;
BEGIN
	IF NOT _tiered_storage.is_restore() THEN
		RETURN NEW;
	END IF;
	FOREACH expected IN ARRAY TG_ARGV LOOP
		expected := restored ->> expected::text;
		/* Waits for a session that removes an unused tier; none can begin from then on. */
		PERFORM FROM _tiered_storage.tier x WHERE x.tier_name = expected FOR KEY SHARE;
		IF FOUND THEN
			UPDATE _tiered_storage.tier x SET restored = true
				WHERE x.tier_name = expected AND x.discovered AND x.restored IS NOT TRUE;
			CONTINUE;
		END IF;
		CONTINUE WHEN expected IS NULL;
		t := _tiered_storage.tier_new(expected, false, true);
		t := _tiered_storage.tier_with_profile(t, 'sata_ssd');
		t.profile := '';
		t.rank := (SELECT least(COALESCE(max(x.rank) + 1, 0), 1000000)
			FROM _tiered_storage.tier x);
		INSERT INTO _tiered_storage.tier SELECT (t).*;
	END LOOP;
	/* The OIDs are of the database that was dumped, even if the row comes back to it. */
	IF TG_TABLE_NAME IN ('policy', 'pin') THEN
		NEW.database_oid := 0;
	END IF;
	/*
	 * Nor are those of roles and tablespaces any that exist, if they were made anew meanwhile, as
	 * pg_dumpall --clean does.  Those that exist have been renamed at most.
	 */
	IF NOT (CASE TG_TABLE_NAME WHEN 'tier_tablespace'
			THEN (restored ->> 'tablespace_oid')::oid IN (SELECT s.oid FROM pg_tablespace s)
			ELSE (SELECT bool_and((restored ->> k.key)::oid IN (SELECT r.oid FROM pg_roles r))
				FROM unnest('{created_by_oid,pinned_by_oid,owner_oid}'::text[]) k (key)
				WHERE restored ? k.key) END) THEN
		NEW.system_identifier := 0;
	END IF;
	RETURN NEW;
END
$$;
CREATE TRIGGER tier_tablespace_restore_in_turn BEFORE INSERT ON _tiered_storage.tier_tablespace
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.restore_in_turn();
CREATE TRIGGER tier_tablespace_expect_tiers BEFORE INSERT ON _tiered_storage.tier_tablespace
	FOR EACH ROW EXECUTE FUNCTION _tiered_storage.expect_tiers('tier_name');

/*
 * Trigger: removes discovered tiers that have lost their last tablespace.
 *
 * After a restore has given all tablespaces of a discovered tier to others, that tier is
 * nothing any more, unless the restore has brought it: what uses it may still come.  Not before
 * the whole table has been loaded: a discovered tier that is restored has its tablespaces only
 * then.
 */
CREATE FUNCTION _tiered_storage.tier_after_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _tiered_storage.remove_unused_tiers(NULL);
	RETURN NULL;
END
$$;
CREATE TRIGGER tier_tablespace_after_insert AFTER INSERT ON _tiered_storage.tier_tablespace
	FOR EACH STATEMENT EXECUTE FUNCTION _tiered_storage.tier_after_insert();

/* A discovered tier that a policy or a pin uses is dumped together with it. */
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.tier',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT pg_catalog.unnest('
		'ARRAY[p.tier_name, p.index_tier, p.return_tier]) FROM '
		'_tiered_storage.policy p UNION ALL SELECT p.tier_name FROM _tiered_storage.pin p '
		'UNION ALL SELECT f.tier_name FROM _tiered_storage.fullness_policy f '
		'UNION ALL SELECT f.target_name FROM _tiered_storage.fullness_policy f)');
SELECT pg_catalog.pg_extension_config_dump('_tiered_storage.tier_tablespace',
	'WHERE NOT discovered OR tier_name OPERATOR(pg_catalog.=) ANY (SELECT pg_catalog.unnest('
		'ARRAY[p.tier_name, p.index_tier, p.return_tier]) FROM '
		'_tiered_storage.policy p UNION ALL SELECT p.tier_name FROM _tiered_storage.pin p '
		'UNION ALL SELECT f.tier_name FROM _tiered_storage.fullness_policy f '
		'UNION ALL SELECT f.target_name FROM _tiered_storage.fullness_policy f)');

/*
 * The directory, device and file system of each tablespace except pg_global.
 */
CREATE FUNCTION _tiered_storage.tablespace_devices(
	OUT tablespace_name name, OUT tablespace_oid oid, OUT path text,
	OUT path_exists boolean, OUT writable boolean, OUT device text,
	OUT filesystem text, OUT mount_point text, OUT kind text,
	OUT rotational boolean, OUT is_virtual boolean, OUT compressed boolean,
	OUT file_system_id bigint, OUT total_bytes bigint, OUT used_bytes bigint,
	OUT free_bytes bigint,
	OUT profile text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_tablespace_devices';

/*
 * Which database has assigned a tablespace to which tier, as published by the workers; empty
 * without shared_preload_libraries.
 */
CREATE FUNCTION _tiered_storage.tablespace_claims(
	OUT tablespace_oid oid, OUT database_oid oid, OUT tier_name name)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'tier_tablespace_claims';

/*
 * The existing tablespaces of each tier, with renames and restores into another cluster
 * resolved.
 *
 * Which tablespace of this cluster a row means, also after a restore or a rename.
 */
CREATE VIEW _tiered_storage.tier_tablespaces AS
	SELECT tt.tier_name, t.rank, ts.oid AS tablespace_oid, ts.spcname AS tablespace_name,
		tt.discovered, tt.tablespace_name AS stored_name
	FROM _tiered_storage.tier_tablespace tt
	JOIN _tiered_storage.tier t ON t.tier_name = tt.tier_name
	CROSS JOIN pg_control_system() c
	JOIN pg_tablespace ts ON CASE WHEN tt.system_identifier = c.system_identifier
			THEN ts.oid = tt.tablespace_oid
			ELSE ts.spcname = tt.tablespace_name END;
