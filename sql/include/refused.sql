-- pg_temp.refused(): each of a list of statements, one a line, with the SQLSTATE, message,
-- detail and hint of the error that refuses it, in one row; a line that is a comment is
-- returned as it is.  Read with ECHO none; the answer has the statements.
CREATE FUNCTION pg_temp.refused(statements text) RETURNS SETOF text LANGUAGE plpgsql AS $refused$
DECLARE
	line text;
	state text;
	message text;
	detail text;
	hint text;
BEGIN
	FOREACH line IN ARRAY string_to_array(btrim(statements, E'\n'), E'\n') LOOP
		IF line LIKE '--%' THEN
			RETURN NEXT line;
			CONTINUE;
		END IF;
		BEGIN
			EXECUTE line;
			RETURN NEXT line || ' | is not refused';
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
				detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
			RETURN NEXT concat_ws(' | ', line, state, message, NULLIF(detail, ''), NULLIF(hint, ''));
		END;
	END LOOP;
END
$refused$;
