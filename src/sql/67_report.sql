---------------------------------------------------------------------------
-- The report: the function that people call.
---------------------------------------------------------------------------

/* Notices are for callers of the advice; the page has the reasons. */
CREATE FUNCTION tiered_storage.report(
	from_at timestamptz DEFAULT pg_catalog.now()
		OPERATOR(pg_catalog.-) '7 days'::pg_catalog.interval,
	to_at timestamptz DEFAULT pg_catalog.now())
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	SET client_min_messages = warning
AS $$
DECLARE
	latest timestamptz;
	earliest timestamptz;
BEGIN
	IF from_at IS NULL OR to_at IS NULL THEN
		PERFORM _tiered_storage.refuse('null_value_not_allowed',
			'the period must have a begin and an end',
			hint => 'Leave an argument out for its default: the last 7 days.');
	ELSIF NOT isfinite(from_at) OR NOT isfinite(to_at) THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'the period must have a finite begin and end');
	ELSIF from_at >= to_at THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'the period must end after it begins',
			detail => format('It would begin at %s and end at %s.', from_at, to_at));
	ELSIF date_part('epoch', to_at) - date_part('epoch', from_at) < 10 THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value', 'the period is too short',
			detail => format('It would begin at %s and end at %s.', from_at, to_at),
			hint => 'The minimum is 10 seconds.');
	ELSIF date_part('epoch', to_at) - date_part('epoch', from_at) > 36525 * 86400.0 THEN
		PERFORM _tiered_storage.refuse('datetime_field_overflow', 'the period is too long',
			detail => format('It would begin at %s and end at %s.', from_at, to_at),
			hint => 'The maximum is 100 years.');
	END IF;
	SELECT GREATEST(now(), s.last_sample_at), LEAST(l.observed_since, s.last_sample_at)
		INTO latest, earliest
		FROM _tiered_storage.last_sample s
		LEFT JOIN _tiered_storage.last_load l ON true;
	IF from_at >= COALESCE(latest, now()) THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value', 'the period has not begun yet',
			detail => format('It would begin at %s.', from_at));
	ELSIF to_at <= earliest THEN
		PERFORM _tiered_storage.refuse('invalid_parameter_value',
			'nothing of the period was sampled',
			detail => format('Samples of this database begin at %s.', earliest));
	END IF;
	/* Nothing is known of the time before. */
	IF from_at < earliest THEN
		from_at := LEAST(earliest, to_at - interval '10 seconds');
	END IF;
	RETURN _tiered_storage.report_page(_tiered_storage.report_facts(from_at, to_at));
END
$$;
COMMENT ON FUNCTION tiered_storage.report IS
'HTML page about a period: advice, tiers, heat, moves, load, files and writes; default: the '
'last 7 days';
