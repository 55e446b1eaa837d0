"""A table of which a journal outside of the server knows every row."""

import random

from server import Lost, Problem, SqlError

ROWS = 700

CREATE = """
CREATE FUNCTION pad_of(id integer, v integer) RETURNS text LANGUAGE sql IMMUTABLE
	AS $$ SELECT repeat(md5(id || ':' || v), 12) $$;
-- Every eighth row has a value that is stored out of line.
CREATE FUNCTION big_of(id integer, v integer) RETURNS text LANGUAGE sql IMMUTABLE
	AS $$ SELECT CASE WHEN id % 8 = 0 THEN repeat(md5(id || '/' || v), 120) END $$
"""

CREATE_TABLE = """
CREATE TABLE stock (id integer PRIMARY KEY USING INDEX TABLESPACE {0}, v integer NOT NULL, pad text NOT NULL, big text)
	WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off) TABLESPACE {0};
ALTER TABLE stock ALTER big SET STORAGE EXTERNAL;
CREATE INDEX stock_v_idx ON stock (v) TABLESPACE {0};
INSERT INTO stock SELECT i, 0, pad_of(i, 0), big_of(i, 0) FROM generate_series(1, {1}) i
"""

# None: nothing is known of the end of the statement.
UNKNOWN = object()


class Stock:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows = {}			# id: v
        self.maybe = {}			# id: v or None (deleted), of statements whose end nobody saw
        self.version = 0

    def create(self, connection, tablespace):
        if connection.query("SELECT to_regproc('pad_of')") == [(None,)]:
            connection.query(CREATE)
        connection.query(CREATE_TABLE.format(tablespace, ROWS))
        connection.query("DELETE FROM stock WHERE id % 5 = 1")
        connection.query("VACUUM (FREEZE) stock")
        self.rows = {i: 0 for i in range(1, ROWS + 1) if i % 5 != 1}
        self.maybe = {}

    @staticmethod
    def tablespaces(connection, table="stock"):
        return dict(connection.query(f"""
            SELECT c.relname::text, coalesce(t.spcname, 'pg_default')
            FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
            WHERE c.oid = '{table}'::regclass
               OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = '{table}'::regclass)
               OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN ('{table}'::regclass,
                   (SELECT reltoastrelid FROM pg_class WHERE oid = '{table}'::regclass)))"""))

    # ---- changes ----------------------------------------------------------

    def next_change(self):
        """A statement, and what is true after it: {id: v or None}."""
        self.version += 1
        version = self.version
        kind = self.random.random()
        if kind < 0.03:
            return "VACUUM (TRUNCATE ON) stock", {}
        if kind < 0.06:
            # Often the end of the table, which vacuum then cuts off.
            first = max(self.rows, default=0) - self.random.randrange(40)
            gone = {i: None for i in self.rows if i >= first} if self.random.random() < 0.5 else {}
            return f"DELETE FROM stock WHERE id >= {first if gone else 1 << 30}", gone
        if kind < 0.25 and len(self.rows) < ROWS * 1.2 or not self.rows:
            first = max(self.rows, default=0) + 1
            new = {first + i: version for i in range(self.random.choice((1, 3, 30)))}
            return (f"INSERT INTO stock SELECT i, {version}, pad_of(i, {version}), big_of(i, {version}) "
                    f"FROM generate_series({first}, {first + len(new) - 1}) i", new)
        chosen = self.random.choice(list(self.rows))
        if kind < 0.4 and len(self.rows) > ROWS // 2:
            return f"DELETE FROM stock WHERE id = {chosen}", {chosen: None}
        return (f"UPDATE stock SET v = {version}, pad = pad_of(id, {version}), big = big_of(id, {version}) "
                f"WHERE id = {chosen}", {chosen: version})

    def apply(self, change):
        for key, version in change.items():
            if version is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = version

    def change(self, connection):
        """
        One statement.  While the end of another one is unknown there are only
        questions, so that no second answer depends on it.
        """
        if self.maybe:
            connection.query("SELECT count(*) FROM stock")
            return
        statement, change = self.next_change()
        try:
            connection.query(statement)
        except Lost:
            self.maybe = change
            raise
        except SqlError as error:
            # Whoever is told of the end of the server may have committed.
            if error.severity in ("FATAL", "PANIC"):
                self.maybe = change
            raise
        self.apply(change)

    # ---- checks -----------------------------------------------------------

    def check(self, connection):
        """Rows as the journal knows them, by every path; or Problem."""
        self.check_rows(connection)
        self.check_structure(connection)

    def check_rows(self, connection):
        # Else it would grow and grow, with what the load has left.
        connection.query("VACUUM stock")
        connection.query("SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off")
        found = {int(key): int(version) for key, version in connection.query("SELECT id, v FROM stock")}
        differing = compare(found, self.rows)
        if differing and self.maybe:
            self.apply(self.maybe)
            differing = compare(found, self.rows)
        if differing:
            raise Problem(f"rows differ from the journal: {differing}")
        self.maybe = {}
        bad = connection.value("SELECT count(*) FROM stock WHERE pad <> pad_of(id, v) OR big IS DISTINCT FROM big_of(id, v)")
        if bad != "0":
            raise Problem(f"{bad} rows have wrong contents")
        sums = "SELECT count(*), coalesce(sum({0}), 0) FROM stock WHERE {0} >= 0"
        scanned = [connection.query(sums.format(column)) for column in ("id", "v")]
        connection.query("RESET enable_indexscan; RESET enable_indexonlyscan; SET enable_seqscan = off")
        indexed = [connection.query(sums.format(column)) for column in ("id", "v")]
        plan = "".join(row[0] for row in connection.query(f"EXPLAIN {sums.format('id')}"))
        connection.query("RESET ALL")
        if "Index Only Scan" not in plan:
            raise Problem(f"not the plan that this is about: {plan}")
        if scanned != indexed:
            raise Problem(f"index-only scans say {indexed}, sequential scans {scanned}")

    @staticmethod
    def check_structure(connection, table="stock"):
        for statement in (
                "SELECT bt_index_check(i.indexrelid::regclass, true) FROM pg_index i WHERE i.indrelid IN "
                f"('{table}'::regclass, (SELECT reltoastrelid FROM pg_class WHERE oid = '{table}'::regclass)) "
                "AND NULLIF(bt_index_check(i.indexrelid::regclass, true)::text, '') IS NOT NULL",
                f"SELECT * FROM verify_heapam('{table}', check_toast => true)",
                "SELECT v.* FROM pg_class c, verify_heapam(c.reltoastrelid::regclass) v "
                f"WHERE c.oid = '{table}'::regclass",
                f"SELECT 'not all visible', v FROM pg_check_visible('{table}') v",
                f"SELECT 'not all frozen', v FROM pg_check_frozen('{table}') v"):
            try:
                wrong = connection.query(statement)
            except SqlError as error:
                if error.severity == "FATAL":
                    raise
                raise Problem(f"{statement[:60]}: {error}") from error
            if wrong:
                raise Problem(f"{statement[:60]}: {wrong[:3]}")


def compare(found, expected):
    missing = [key for key in expected if key not in found]
    extra = [key for key in found if key not in expected]
    other = [key for key in expected if key in found and found[key] != expected[key]]
    if not missing and not extra and not other:
        return ""
    return (f"{len(missing)} missing {missing[:5]}, {len(extra)} too many {extra[:5]}, "
            f"{len(other)} of another version {other[:5]} (of {len(expected)})")
