---------------------------------------------------------------------------
-- The report: the page.
---------------------------------------------------------------------------

/*
 * The page that says what the facts are.
 *
 * Colours are chosen so that text has a contrast of 4.5 and marks one of 3 at least, light
 * and dark; no colour says what a word or a shape does not say as well.
 */
CREATE FUNCTION _tiered_storage.report_page(facts jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH wait AS (
		SELECT jsonb_agg(jsonb_build_object('name', p.name, 'lines', jsonb_build_array(
				jsonb_build_object('note', _tiered_storage.report_words(p.total) || ' active',
					'parts', p.parts))) ORDER BY p.place) AS rows
		FROM (SELECT p.place, p.name, sum((r ->> p.key)::float8) AS total,
				jsonb_object_agg('w' || c.n, r -> p.key) AS parts
			FROM jsonb_array_elements(NULLIF(facts #> '{load,rows}', 'null')) r
			JOIN unnest('{cpu,relations,wal,temp,slru,other_io,lock,lwlock,other}'::text[])
				WITH ORDINALITY c (class, n) ON r ->> 'metric' = 'wait_' || c.class
			CROSS JOIN (VALUES (0, 'before', 'first_per_s'), (1, 'this period', 'second_per_s'))
				p (place, name, key)
			GROUP BY p.place, p.name) p
		WHERE p.total IS NOT NULL),
	load AS (
		SELECT jsonb_agg(r || jsonb_build_object('name', replace(r ->> 'metric', '_', ' '),
			'first', _tiered_storage.report_cell(r ->> 'first_per_s', v.unit),
			'second', _tiered_storage.report_cell(r ->> 'second_per_s', v.unit),
			'first_tx', _tiered_storage.report_cell(r ->> 'first_per_xact', v.unit),
			'second_tx', _tiered_storage.report_cell(r ->> 'second_per_xact', v.unit),
			'ratio', _tiered_storage.report_cell(r ->> 'ratio', '&times;')) ORDER BY n) AS rows
		FROM jsonb_array_elements(NULLIF(facts #> '{load,rows}', 'null')) WITH ORDINALITY x (r, n)
		CROSS JOIN LATERAL (SELECT CASE r ->> 'unit' WHEN 'bytes' THEN 'bytes' WHEN 'ratio'
			THEN '%' ELSE '#' END AS unit) v
		WHERE r ->> 'metric' <> ALL ('{period,prorated}')),
	file AS (
		SELECT jsonb_agg(f || jsonb_build_object('class', CASE WHEN v.is_total THEN '<strong>'
					|| (f ->> 'file_class') || '</strong>' ELSE f ->> 'file_class' END,
				'place', COALESCE(f ->> 'place', 'all')) ORDER BY n)
			FILTER (WHERE v.is_total OR v.bytes > 0) AS rows
		FROM jsonb_array_elements(facts -> 'files') WITH ORDINALITY x (f, n)
		CROSS JOIN LATERAL (SELECT (f ->> 'is_total')::boolean AS is_total,
			COALESCE((f ->> 'read_bytes_per_hour')::float8, 0)
				+ COALESCE((f ->> 'write_bytes_per_hour')::float8, 0) AS bytes) v),
	class AS (
		SELECT jsonb_agg(jsonb_build_object('name', c.file_class, 'lines', jsonb_build_array(
			jsonb_build_object('note', COALESCE(_tiered_storage.report_words(c.reads, 'bytes/h'),
				'not counted'), 'parts', jsonb_build_object('read', c.reads)),
			jsonb_build_object('note', COALESCE(_tiered_storage.report_words(c.writes, 'bytes/h'),
				'not counted'), 'parts', jsonb_build_object('written', c.writes))))
			ORDER BY c.n) AS rows
		FROM (SELECT f ->> 'file_class' AS file_class, min(n) AS n,
				COALESCE(max((f ->> 'read_bytes_per_hour')::float8)
					FILTER (WHERE (f ->> 'is_total')::boolean),
					sum((f ->> 'read_bytes_per_hour')::float8)) AS reads,
				max((f ->> 'write_bytes_per_hour')::float8)
					FILTER (WHERE (f ->> 'is_total')::boolean) AS writes
			FROM jsonb_array_elements(facts -> 'files') WITH ORDINALITY x (f, n) GROUP BY 1) c),
	written AS (
		SELECT jsonb_agg(w || jsonb_build_object('tier', CASE WHEN (w ->> 'is_total')::boolean
				THEN '<strong>all</strong>' ELSE _tiered_storage.report_cell(w ->> 'tier_name',
					'tier', facts -> 'classes') END) ORDER BY n) AS rows,
			jsonb_agg(jsonb_build_object('name', COALESCE(_tiered_storage.report_escape(
				w ->> 'tier_name'), 'no tier'), 'lines', jsonb_build_array(jsonb_build_object(
				'note', _tiered_storage.report_words((SELECT sum(p.value::float8)
					FROM jsonb_each_text(v.parts) p), 'bytes/h'), 'parts', v.parts))) ORDER BY n)
				FILTER (WHERE NOT (w ->> 'is_total')::boolean) AS bars
		FROM jsonb_array_elements(facts -> 'writes') WITH ORDINALITY x (w, n)
		CROSS JOIN LATERAL (SELECT jsonb_build_object('w1', w -> 'page_write_bytes_per_hour',
			'w2', w -> 'maintenance_write_bytes_per_hour', 'w3', (w ->> 'wal_bytes_per_hour')
				::float8 - (w ->> 'full_page_image_bytes_per_hour')::float8,
			'w4', w -> 'full_page_image_bytes_per_hour', 'w5', w -> 'moved_bytes_per_hour')
			AS parts) v),
	wear AS (
		SELECT jsonb_agg(d || jsonb_build_object('of_it', (d ->> 'written_bytes_per_day')::float8
				/ NULLIF((d ->> 'endurance_bytes_per_day')::float8, 0),
			'verdict', CASE d ->> 'wear_exceeded' WHEN 'true' THEN 'more than it endures'
				WHEN 'false' THEN 'endures it' ELSE 'not known' END) ORDER BY n) AS rows
		FROM jsonb_array_elements(facts -> 'wear') WITH ORDINALITY x (d, n)),
	advice AS (
		SELECT COALESCE(jsonb_agg(r || jsonb_build_object('name', _tiered_storage.report_cell(
				r ->> 'relation', 'name'), 'why', concat_ws('; mostly for query ',
				r ->> 'reason', _tiered_storage.clip(r ->> 'query', 80))) ORDER BY n), '[]')
			|| CASE WHEN (a ->> 'others')::float8 > 0 THEN jsonb_build_object('name',
				_tiered_storage.report_cell(a ->> 'others', 'others'),
				'size_bytes', a -> 'others_bytes', 'saved_io_s_per_hour', a -> 'others_io_s',
				'saved_wait_s_per_hour', a -> 'others_wait_s', 'price_delta_per_month',
				a -> 'others_price', 'move_cost_s', a -> 'others_cost_s',
				'why', 'all are in recommend_placement()') ELSE '[]' END AS rows
		FROM (SELECT facts -> 'advice' AS a) f
		LEFT JOIN jsonb_array_elements(a -> 'rows') WITH ORDINALITY x (r, n) ON true
		WHERE jsonb_array_length(a -> 'rows') > 0 GROUP BY a),
	section AS MATERIALIZED (SELECT s.*, row_number() OVER () AS n FROM (VALUES
	('answer', NULL, 'What to do', NULL, _tiered_storage.report_answer(facts), NULL),
	('tiers', 'Tiers', 'Tiers', 'The tiers, how full they are, and when they will be full '
		'without moves.', _tiered_storage.report_tiers(facts),
		'No tier is defined in this database.'),
	('heat', 'Heat map', 'Heat map', 'Blocks read and pages written per hour by the busiest '
		'relations, hottest first. The thin line beneath a row is the tier that the relation was '
		'on at that time; a diamond is a move.', _tiered_storage.report_heat_map(facts),
		CASE WHEN facts ->> 'sampler' IS NULL THEN 'No sample was taken yet. The worker takes '
			'them, or <code>CALL tiered_storage.sample();</code>'
		ELSE 'No relation of this database was read or written in this period, as far as it was '
			'sampled.' END),
	('budget', 'Budget curve', 'How much of the fast tier pays off', 'Device time and queues of '
		'the best placement, for each size of ' || COALESCE('tier ' || _tiered_storage.report_cell(
			NULLIF(facts #>> '{curve,tier_name}', ''), 'name'), 'the fastest tier')
		|| '.', _tiered_storage.report_budget(facts),
		COALESCE(_tiered_storage.report_escape(facts #>> '{curve,why}'),
			'No device time has been observed yet.')),
	('recommendations', 'Recommendations', 'Recommendations', 'Recommended moves, highest saving '
		'first; a negative saving makes room for others, or saves money.',
		(SELECT _tiered_storage.report_table('recommendations-table', 'Recommended moves',
			'{Relation|name|html,Kind|kind|text,From|current_tier|tier,To|recommended_tier|tier,
				Size|size_bytes|bytes,Device time saved|saved_io_s_per_hour|s/h,
				Price per month|price_delta_per_month,Confidence|confidence|text,
				Firm|firm_when|text,Why|why|why}',
			a.rows, facts -> 'classes') FROM advice a),
		COALESCE('The advice: ' || _tiered_storage.report_escape(facts #>> '{advice,all,reason}')
			|| '.', 'No relation to place has been observed.')),
	('moves', 'Moves', 'Moves in the period', NULL, _tiered_storage.report_moved(facts),
		'No move ran in this period.' || COALESCE(' Worker: ' || _tiered_storage.report_escape(
			facts #>> '{worker,reason}') || '.', '')),
	('load', 'Load', 'Load of two periods', format(CASE
			WHEN facts #>> '{load,why}' IS NOT NULL THEN NULL
			WHEN facts -> 'load' ? 'before' THEN 'This one, %s to %s, beside the one before it, '
				'from %s on.%s'
			ELSE '%s to %s, as far as it was sampled; the period before it was not sampled.'
			END, _tiered_storage.report_cell(facts #>> '{load,from}', 'time'),
			_tiered_storage.report_cell(facts #>> '{load,to}', 'time'),
			_tiered_storage.report_cell(facts #>> '{load,before}', 'time'),
			CASE WHEN (facts #>> '{load,cut}')::boolean THEN ' Only what was sampled counts.'
				ELSE '' END),
		(SELECT COALESCE(_tiered_storage.report_bars('waits',
			'What sessions did: the two periods',
			'Two bars of the sessions that were active at once, by what they did or waited for.',
			w.rows, '{w1|on CPU,w2|relations,w3|WAL,w4|temporary files,w5|SLRU,w6|other I/O,
				w7|locks,w8|internal locks,w9|other}'), '<p class="empty"><strong>Nothing to '
			'show.</strong> What sessions waited for was not sampled in both periods; without '
			'<code>shared_preload_libraries</code> it never is.</p>')
		|| _tiered_storage.report_table('load-table', 'Load per second and per transaction; waits '
			'per second are sessions active at once', '{Metric|name|text,Unit|unit|text,
				Per second before|first|n,Per second now|second|n,Ratio|ratio|n,
				Per transaction before|first_tx|n,Per transaction now|second_tx|n}',
			l.rows) FROM wait w CROSS JOIN load l WHERE l.rows IS NOT NULL),
		_tiered_storage.report_escape(facts #>> '{load,why}')),
	('files', 'Files', 'I/O by class of files', 'Over the last sampled day: relations, WAL, '
		'temporary files and SLRUs, and what their sessions waited for.',
		(SELECT _tiered_storage.report_bars('file-classes',
			'Bytes read and written by class of files',
			'Two bars for each class: bytes read and bytes written per hour.', c.rows,
			'{read|read,written|written}')
		|| _tiered_storage.report_table('files-table', 'I/O per hour by class and place',
			'{Class|class|html,Place|place|name,Tier|tier_name|tier,Reads|reads_per_hour,
				Read|read_bytes_per_hour|bytes/h,Writes|writes_per_hour,
				Written|write_bytes_per_hour|bytes/h,Fsyncs|fsyncs_per_hour,
				Waits|wait_s_per_hour|s/h,Waits saved if fastest|saved_s_per_hour|s/h,
				What is not known|null_reason|why}', f.rows, facts -> 'classes')
		FROM class c CROSS JOIN file f),
		'There are fewer than two samples, or nothing was read or written between them.'),
	('writes', 'Writes and wear', 'Write amplification and wear', 'What the permanent relations '
		'of this database write for each byte of a changed row; and all writes to the '
		'devices, beside their endurance.',
		(SELECT COALESCE(_tiered_storage.report_bars('write-kinds',
			'Bytes written per hour by tier and kind', 'A bar for each tier, by what was written.',
			w.bars, '{w1|pages,w2|maintenance,w3|WAL,w4|full-page images,w5|moves}')
		|| _tiered_storage.report_table('writes-table', 'Bytes written for changed rows',
			'{Tier|tier|html,Rows changed|row_changes_per_hour|/h,
				Bytes of rows|row_bytes_per_hour|bytes/h,Pages|page_write_bytes_per_hour|bytes/h,
				Maintenance|maintenance_write_bytes_per_hour|bytes/h,
				WAL|wal_bytes_per_hour|bytes/h,
				of it page images|full_page_image_bytes_per_hour|bytes/h,
				Moves|moved_bytes_per_hour|bytes/h,Amplification|amplification|&times;}',
			w.rows), '<p class="empty"><strong>Nothing to show.</strong> ' || CASE
			WHEN facts #>> '{sampler,wal_since}' IS NULL THEN 'No sample was taken yet.'
			ELSE 'Nothing was written.' END || E'</p>\n')
		|| CASE WHEN d.rows IS NOT NULL THEN _tiered_storage.report_table('wear-table',
			'Writes to devices, and their endurance', '{Device|device|name,Tier|tier_name|tier,
				Written per day|written_bytes_per_day|bytes/day,
				Moves|moved_bytes_per_day|bytes/day,
				Endured per day|endurance_bytes_per_day|bytes/day,of that|of_it|%,
				Life used|used_fraction|%,Lasts|expected_life_years|years,Verdict|verdict|text,
				What is not known|reason|why}', d.rows, facts -> 'classes') ELSE '' END
		FROM written w CROSS JOIN wear d), NULL),
	('unknown', 'Not known', 'What is not known, and why', NULL,
		_tiered_storage.report_unknown(facts), NULL))
		s (id, short, title, lead, body, why_empty))
	SELECT format(E'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
		'<meta name="viewport" content="width=device-width, initial-scale=1">'
		|| E'\n<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">'
		|| E'\n<title>Storage report of %s</title>\n<style>', _tiered_storage.report_escape(
			facts ->> 'database'))
		|| $css$
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--ink:#1a2230;--dim:#525d6e;
--line:#d9dee6;
--soft:#eceff3;--accent:#1d5fb4;--accent2:#a8480b;--bad:#b3261e;--code:#eef2f7;
--t0:#0f766e;--t1:#b45309;--t2:#6d4bb5;--t3:#3f6b1d;--t4:#a3326d;--t5:#4b5563;
--h1:#fdf0e0;--h2:#fcdcb4;--h3:#f9bb7e;--h4:#f08f4d;--h5:#d9602b;--h6:#aa3515;--h7:#711a0c;
--w1:#1d5fb4;--w2:#0f9488;--w3:#d98a1f;--w4:#a8480b;--w5:#7a55c7;--w6:#5f7f2a;--w7:#b3261e;
--w8:#c2558f;--w9:#8a94a3}
@media (prefers-color-scheme:dark){:root{--page:#12161d;--card:#1a2029;--ink:#e7ebf1;
--dim:#a5b0bf;
--line:#343d4a;--soft:#252d38;--accent:#74adf5;--accent2:#f0a060;--bad:#ff8a80;--code:#242c37;
--t0:#3fc5b7;--t1:#f0a443;--t2:#b79cf5;--t3:#98c763;--t4:#ef8dbf;--t5:#aab4c3;
--h1:#33241c;--h2:#54301f;--h3:#7c3d1f;--h4:#ab5522;--h5:#d97a35;--h6:#f3a964;--h7:#ffe0b3;
--w1:#74adf5;--w2:#3fc5b7;--w3:#f2bb5c;--w4:#f0854b;--w5:#b79cf5;--w6:#98c763;--w7:#ff8a80;
--w8:#ef8dbf;--w9:#8b96a6}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);line-height:1.5;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;
font-variant-numeric:tabular-nums}
header,main,footer{max-width:1240px;margin:0 auto;padding:0 20px}
header{padding-top:36px}
h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:21px;line-height:1.3;margin:0 0 4px}
h3{font-size:16px;margin:20px 0 6px}
a{color:var(--accent)}
.over{margin:0 0 6px;color:var(--dim);font-size:14px}
.meta{margin:0;color:var(--dim);font-size:14px}
nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;margin:16px 0 0;padding:0;list-style:none;
font-size:14px}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:22px 0;
padding:22px 24px}
.lead{color:var(--dim);margin:0 0 16px;max-width:75ch}
.answer{font-size:21px;line-height:1.5;margin:6px 0 10px;max-width:62ch}
.answer data,.answer bdi{font-weight:650}
.do{margin:0 0 18px}
.empty{margin:8px 0 0;padding:12px 14px;background:var(--soft);border-radius:6px;max-width:80ch}
code{font:13px/1.4 ui-monospace,"SFMono-Regular",Menlo,Consolas,"Liberation Mono",monospace;
background:var(--code);padding:2px 5px;border-radius:4px;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:0}
.tile{background:var(--soft);border-radius:8px;padding:12px 14px}
.tile dt{font-size:14px;color:var(--dim)}
.tile dd{margin:2px 0 0;font-size:25px;line-height:1.25;font-weight:600}
.tile small{display:block;font-size:14px;font-weight:400;color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(270px,1fr));gap:16px 28px}
.card h3{margin:6px 0 0;display:flex;align-items:center;gap:8px}
.card p{margin:0;font-size:14px;color:var(--dim)}
.card .big{font-size:28px;font-weight:600;color:var(--ink);line-height:1.3}
.big small{font-size:14px;font-weight:400;color:var(--dim)}
.card .fine{margin-top:2px}
.card .remark{color:var(--ink);margin-top:2px}
.gauge{display:block;width:100%;height:40px;margin:6px 0 2px}
figure{margin:0 0 18px}
.scroll{overflow-x:auto;max-width:100%;position:relative;
background:linear-gradient(to right,var(--card) 40%,transparent) 0 0/40px 100% local,
linear-gradient(to left,var(--card) 40%,transparent) 100% 0/40px 100% local,
linear-gradient(to right,var(--line),transparent) 0 0/9px 100% scroll,
linear-gradient(to left,var(--line),transparent) 100% 0/9px 100% scroll;
background-repeat:no-repeat}
.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.chart{display:block;width:100%;min-width:760px;height:auto;font-size:12px}
text{fill:var(--ink);font-size:12px}
.tick,.dim{fill:var(--dim)}
.note{font-weight:600;paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}
.mid{text-anchor:middle}.end{text-anchor:end}
.grid{stroke:var(--line);stroke-width:1;fill:none}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;color:var(--dim);margin-top:8px}
.legend span{display:inline-flex;align-items:center;gap:6px}
.legend i,.tier i,.card h3 i{display:inline-block;width:12px;height:12px;border-radius:3px;
flex:none;
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.tier{white-space:nowrap}.tier i{margin-right:6px;width:10px;height:10px}
.legend .line{height:4px;border-radius:0;width:16px}
svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.track{fill:var(--soft);background:var(--soft)}
.legend .track{border:1px solid var(--dim)}
.others{fill:var(--dim);background:var(--dim)}
.reserve{fill:var(--line);background:var(--line)}
.mark{stroke:var(--ink);stroke-width:2;fill:none;vector-effect:non-scaling-stroke}
.legend .mark{width:2px;background:var(--ink);border-radius:0}
.unknown{fill:var(--dim);fill-opacity:.28;background:var(--dim);opacity:.6}
rect.unknown{opacity:1}
.moved{fill:var(--ink);stroke:var(--card);stroke-width:1.5}
.legend .moved{background:var(--ink);transform:rotate(45deg) scale(.7);border-radius:0}
.curve{stroke:var(--accent);stroke-width:2.5;fill:none}
.today{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4;fill:none}
.copy{stroke:var(--dim);stroke-width:2;stroke-opacity:.55;fill:none}
.legend .copy{background:var(--dim)}
.done{fill:var(--accent);background:var(--accent)}
.legend .done,.legend .open{border-radius:50%}
.open{fill:var(--card);stroke:var(--dim);stroke-width:2}
.legend .open{border:2px solid var(--dim)}
.failed{stroke:var(--bad);stroke-width:3;fill:none}
.legend .failed{background:linear-gradient(45deg,transparent 40%,var(--bad) 40%,var(--bad) 60%,
transparent 60%),
linear-gradient(-45deg,transparent 40%,var(--bad) 40%,var(--bad) 60%,transparent 60%)}
.read{fill:var(--accent);background:var(--accent)}
.written{fill:var(--w3);background:var(--w3)}
table{border-collapse:collapse;width:calc(100% - 1px);font-size:14px;margin:0 0 14px}
caption{text-align:left;font-weight:600;padding:10px 0 6px}
caption span{position:sticky;left:0;display:inline-block;max-width:min(100%,80vw)}
th,td{text-align:left;padding:6px 12px 6px 0;border-bottom:1px solid var(--line);
vertical-align:top;
white-space:nowrap}
th{font-weight:400}
thead th{color:var(--dim);font-size:13px;border-bottom:1px solid var(--dim);vertical-align:bottom;
white-space:normal;min-width:56px}
thead .n,td.n{text-align:right}
th:last-child,td:last-child{padding-right:0}
.why{display:block;white-space:normal;min-width:140px}
time,data{white-space:nowrap}
summary{cursor:pointer;color:var(--accent);padding:6px 0}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
white-space:nowrap}
.skip{position:absolute;left:-999px}.skip:focus{left:12px;top:8px;background:var(--card);
padding:6px}
footer{color:var(--dim);font-size:14px;padding-bottom:40px}
@media (max-width:600px){header,main,footer{padding:0 12px}header{padding-top:22px}
section{padding:16px 14px}
h1{font-size:24px}.answer{font-size:18px}
.why{min-width:220px}
th:first-child:not(:only-child){position:sticky;left:0;background:var(--card);max-width:165px;
white-space:normal;overflow-wrap:anywhere}th:first-child[scope=row]{min-width:124px;font-size:13px}
#recommendations th[scope=row],#moves th[scope=row]{min-width:158px}}
@media print{@page{size:A4;margin:14mm}:root{--page:#fff}body{background:#fff;font-size:11px}
header,main,footer{max-width:none;padding:0}nav{display:none}
section{border:0;border-top:1px solid var(--line);border-radius:0;padding:12px 0;margin:0}
figure,.card,.tile,tr,.lead{break-inside:avoid}h2,h3,caption,.lead{break-after:avoid}
#recommendations{break-before:page}
#recommendations th:last-child,#recommendations td:last-child{display:none}
.scroll{overflow:visible;background:none}.chart{min-width:0}table{font-size:8px}
th,td{padding:3px 6px 3px 0}thead th{font-size:8px;min-width:0}
.why,td>code{width:auto!important;min-width:0!important;max-width:none!important;font-size:8px}
#recommendations .why,#moves .why{min-width:130px!important}
code{font-size:.95em}
th,td{white-space:normal}td.n{white-space:nowrap}
tbody th,.why,td>code{overflow-wrap:anywhere}
.tiles{grid-template-columns:repeat(4,1fr)}.tile dd,.card .big{font-size:18px}
.tile dt,.tile small,.card p,.legend{font-size:11px}
.answer{font-size:15px}#heat details{display:none}}
$css$ || (SELECT string_agg(format('.%s{fill:var(--%1$s);background:var(--%1$s)}', class), E'\n')
			FROM unnest('{t0,t1,t2,t3,t4,t5,h1,h2,h3,h4,h5,h6,h7,w1,w2,w3,w4,w5,w6,w7,w8,w9}'
				::text[]) class)
		|| E'\n.tx{fill:var(--dim);background:var(--dim)}\n</style>\n</head>\n<body>\n'
		|| E'<a class="skip" href="#answer">To the answer</a>\n<header>\n'
		|| format(E'<p class="over">tiered_storage %s</p>\n<h1>Storage report of %s</h1>\n'
		'<p class="meta">Period: %s to %s (%s). Other figures are as of %s. '
		|| E'PostgreSQL %s%s%s.</p>\n', _tiered_storage.report_escape(facts ->> 'version'),
			_tiered_storage.report_cell(facts ->> 'database', 'name'),
			_tiered_storage.report_cell(facts ->> 'from', 'time'),
			_tiered_storage.report_cell(facts ->> 'to', 'time'),
			_tiered_storage.report_escape(facts ->> 'zone'),
			_tiered_storage.report_cell(facts ->> 'now', 'time'),
			_tiered_storage.report_escape(split_part(facts ->> 'server', ' ', 1)),
			CASE WHEN (facts ->> 'standby')::boolean THEN ', a standby' ELSE '' END,
			', ' || '<bdi>' || _tiered_storage.report_escape(facts ->> 'cluster') || '</bdi>')
		|| '<nav aria-label="Sections"><ul>' || (SELECT string_agg(format(
			'<li><a href="#%s">%s</a></li>', s.id, s.short), '' ORDER BY s.n)
			FROM section s WHERE s.short IS NOT NULL) || E'</ul></nav>\n</header>\n<main>\n'
		|| (SELECT string_agg(format(E'<section id="%s" aria-labelledby="%1$s-head">\n'
				|| E'<h2 id="%1$s-head">%s</h2>\n', s.id, s.title)
			|| COALESCE('<p class="lead">' || NULLIF(s.lead, '') || E'</p>\n', '')
			|| COALESCE(s.body, '<p class="empty"><strong>Nothing to show.</strong> '
				|| s.why_empty || E'</p>\n', '') || E'</section>\n', '' ORDER BY s.n)
			FROM section s)
		|| E'</main>\n<footer><p>Made by <code>tiered_storage.report()</code>. Device time is '
		'what a device is busy for; s/h are seconds of it per hour. kB, MB, GB and TB are powers '
		|| E'of 1024, except in prices, which are per 10^9 bytes.</p></footer>\n</body>\n</html>\n'
$$;
