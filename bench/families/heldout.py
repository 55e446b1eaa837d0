"""One family of bench/heldout: trains, asks, measures, judges, and prints the tables.

The server runs, with the database loaded onto the HDD.  See bench/heldout.
"""

import argparse
import math
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "layouts"))
import ablation  # noqa: E402  pylint: disable=wrong-import-position
import layouts  # noqa: E402  pylint: disable=wrong-import-position

CLIENTS = 8
# Each client's transactions: as many in each layout, however fast it is.
WARM_UP = 250
TRAINING_S = 120
SAMPLE_S = 10
WINDOWS = 5
WINDOW_S = 30
STATIONARY_CAPACITY = 25
PART_OF_RATE = 0.8
HDD_IOPS = 150
HDD_MB_PER_S = 130
SSD_IOPS = 4000
SSD_MB_PER_S = 500
# Of the time, of the device that has most to do: below it processors and waiting decide.
DEVICES_DECIDE = 0.8
# Rules for each capacity that are measured again, the best of the first round.
RIVALS = 3
RULES = {
    "indexes": layouts.RULES["indexes first"],
    "tables": layouts.RULES["tables first"],
    "reads/byte": layouts.RULES["reads per byte"],
    "gain/byte": layouts.RULES["gain per byte"],
    "newest": layouts.RULES["newest first"],
}
# Of all reads and writes; what does less is not tried by the search.
MATTERS = 0.005
SATURATED_CAPACITY = 50
SATURATED_PARTS = 5
# Of --seconds; the first part is without moves.
SATURATED_PART = 3
# In the first part: of fewer intervals nothing tells a rate from an event.
SATURATED_SAMPLES = 8
# Of the time; what is written for less than that, file systems write for themselves.
LEAST_WRITES = 0.05


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("family", "directory", "raw"):
        parser.add_argument(name)
    for name in ("devices", "throttle", "hdd", "ssd", "bindir", "capacities", "parts", "components", "pgdata", "server-user"):
        parser.add_argument(f"--{name}")
    for name in ("seed", "seconds", "rounds", "search"):
        parser.add_argument(f"--{name}", type=int)
    return parser.parse_args()


class Bench:
    def __init__(self, options):
        self.options = options
        self.family = options.family
        self.place_dir = os.path.join(options.directory, "devices")
        here = os.path.dirname(os.path.abspath(__file__))
        self.script = os.path.join(here, f"{self.family}.pgbench")
        with open(os.path.join(here, f"{self.family}.reports"), encoding="utf-8") as file:
            self.reports = [line.strip() for line in file if line.strip()]
        self.capacities = [int(p) for p in options.capacities.split(",")]
        self.tiers_sql = None
        # By per cent: how many times as much is to get done, at least and at most.
        self.speedups = {}
        self.throttled = False

    def raw(self, text):
        with open(self.options.raw, "a", encoding="utf-8") as file:
            file.write(f"{self.family}: {text}\n")

    # -- server and devices ------------------------------------------------

    def sql(self, *statements):
        command = [f"{self.options.bindir}/psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1"]
        for statement in statements:
            command += ["-c", statement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{self.family}: {statements}: {done.stderr}")
        return done.stdout.rstrip("\n")

    def rows(self, *statements):
        out = self.sql(*statements)
        return [line.split("\t") for line in out.split("\n")] if out else []

    def throttle(self):
        command = [self.options.devices, "throttle", *self.options.throttle.split(), self.place_dir]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def unthrottle(self):
        subprocess.run([self.options.devices, "unthrottle", self.place_dir], check=True, stdout=subprocess.DEVNULL)

    def drop_page_cache(self):
        command = ["find", f"{self.place_dir}/ssd", f"{self.place_dir}/hdd", "-type", "f", "-size", "+0", "-exec", "dd",
                   "of={}", "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none", ";"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)

    def counters(self):
        values = []
        for device in (self.options.hdd, self.options.ssd):
            with open(f"/sys/block/{device}/stat", encoding="utf-8") as file:
                stat = file.read().split()
            values.append((int(stat[0]), int(stat[2]) * 512 / 1e6, int(stat[4]), int(stat[6]) * 512 / 1e6))
        return values

    @staticmethod
    def difference(before, after):
        return [tuple(b - a for a, b in zip(x, y)) for x, y in zip(before, after)]

    @staticmethod
    def device_text(difference):
        return "; ".join(f"{name} {d[0]} reads {d[1]:.1f} MB, {d[2]} writes {d[3]:.1f} MB"
                         for name, d in zip(("hdd", "ssd"), difference))

    def reset(self, template="loaded"):
        """The database as it was loaded, or left by the training."""
        self.unthrottle()
        self.databases("DROP DATABASE IF EXISTS bench", f"CREATE DATABASE bench TEMPLATE {template} STRATEGY file_copy")

    def databases(self, *statements):
        for statement in statements:
            subprocess.run([f"{self.options.bindir}/psql", "-X", "-q", "-d", "postgres", "-c", statement], check=True,
                           env=os.environ | {"PGOPTIONS": "-c client_min_messages=warning"})

    # -- the load ----------------------------------------------------------

    def start_load(self, seconds, seed, rate=None, transactions=None, progress=None):
        """As fast as they can, or so many transactions per second; for so long, or so many of each client."""
        much = ["-t", str(transactions)] if transactions else ["-T", str(seconds)]
        command = [f"{self.options.bindir}/pgbench", "-n", "-c", str(CLIENTS), "-j", "1", *much, "-M", "prepared",
                   f"--random-seed={seed}", "-f", self.script]
        if rate is not None:
            command.append(f"--rate={rate:.3f}")
        if progress is not None:
            command.append(f"--progress={progress}")
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_load(self, process):
        out, err = process.communicate()
        found = re.search(r"^number of transactions actually processed: (\d+)", out, re.M)
        if process.returncode != 0 or found is None or re.search(r"number of failed transactions: [1-9]", out):
            sys.exit(f"{self.family}: {out}{err}")
        return int(found.group(1))

    def run_load(self, seconds, seed):
        return self.end_load(self.start_load(seconds, seed))

    def warm_up(self, seed):
        self.end_load(self.start_load(None, seed, transactions=WARM_UP))

    # -- what the product sees and says ------------------------------------

    def create_extension(self):
        self.sql("DROP EXTENSION IF EXISTS tiered_storage", "CREATE EXTENSION tiered_storage", self.tiers_sql)

    def calibrate(self):
        self.sql("CREATE EXTENSION tiered_storage")
        self.sql(*(f"SELECT tiered_storage.add_tier('{t}', '{t}', reserve_fraction => 0)" for t in ("ssd", "hdd")))
        self.throttle()
        self.sql(*(f"SELECT count(*) FROM tiered_storage.calibrate_tier('{t}', max_seconds => 8, max_bytes => 64 << 20)"
                   for t in ("ssd", "hdd")))
        self.unthrottle()
        self.tiers_sql = self.sql(
            "SELECT string_agg(format('SELECT tiered_storage.add_tier(%L, %L, reserve_fraction => 0, "
            " device => %L)', tier_name, tier_name, jsonb_build_object('random_read_ms', random_read_ms,"
            " 'random_write_ms', random_write_ms, 'sequential_read_mb_per_s', sequential_read_mb_per_s,"
            " 'sequential_write_mb_per_s', sequential_write_mb_per_s, 'fsync_ms', fsync_ms, 'parallelism', parallelism)), '; ') FROM _tiered_storage.tier")
        self.raw(f"tiers: {self.tiers_sql}")
        self.sql("DROP EXTENSION tiered_storage")

    def keep_trained(self):
        """For the layouts: advice is about what is there by then."""
        self.sql("DROP EXTENSION tiered_storage")
        self.databases("DROP DATABASE IF EXISTS trained", "ALTER DATABASE bench RENAME TO trained")

    def load_units(self):
        self.oids = {}
        for oid, name, kind, size in self.rows(
                "SELECT relation::oid, relation, kind, size_bytes FROM tiered_storage.recommend_placement(include_unchanged => true)"
                " WHERE current_tier IS NOT NULL ORDER BY relation::oid"):
            self.oids[name] = (int(oid), kind, int(size))
        self.total = sum(size for _, _, size in self.oids.values())

    def place(self, names):
        on = "','".join(sorted(names))
        everything = "','".join(sorted(self.oids))
        moves = self.rows(
            "SELECT format('ALTER %s %s SET TABLESPACE %I', CASE c.relkind WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END, c.oid::regclass, w.spcname)"
            " FROM pg_class c JOIN pg_tablespace w ON w.spcname = CASE WHEN c.oid::regclass::text IN"
            f" ('{on}') THEN 'ssd' ELSE 'hdd' END JOIN pg_tablespace s ON s.oid = CASE c.reltablespace WHEN 0 THEN"
            " (SELECT dattablespace FROM pg_database WHERE datname = current_database()) ELSE c.reltablespace END"
            f" WHERE c.oid::regclass::text IN ('{everything}') AND w.oid <> s.oid")
        for (move,) in moves:
            self.sql(move)

    def advise(self):
        """What is to be on the SSD, by what is known now."""
        return {name for (name,) in self.rows(
            "SELECT relation FROM tiered_storage.recommend_placement(include_unchanged => true) WHERE recommended_tier = 'ssd'")}

    def set_capacity(self, percent, more=0):
        self.sql(f"SELECT tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', {self.total * percent // 100 + more}))")

    def size_now(self):
        return int(self.sql("SELECT sum(size_bytes) FROM tiered_storage.recommend_placement(include_unchanged => true)"))

    def train(self, tier, rate=None, checkpoints=None, goes_on=False):
        """The load with everything on this tier; then what it did may be asked for.  Checkpoints begin at
        these times, since what they write depends on how many there are; else as often as the device lets them."""
        self.reset()
        self.place(self.oids if tier == "ssd" else [])
        self.sql("VACUUM", "CHECKPOINT")
        self.drop_page_cache()
        self.warm_up(self.options.seed)
        self.sql("CHECKPOINT", "SELECT pg_stat_reset()")
        self.create_extension()
        self.throttle()
        self.sql("CALL tiered_storage.sample()")
        before = self.counters()
        begin = time.monotonic()
        load = self.start_load(TRAINING_S, self.options.seed + 1, rate)
        began = []
        while load.poll() is None:
            time.sleep(0.2)
            if checkpoints is None:
                due = (began[-1] if began else 0) + SAMPLE_S
            else:
                due = checkpoints[len(began)] if len(began) < len(checkpoints) else math.inf
            if time.monotonic() - begin >= due and load.poll() is None:
                began.append(time.monotonic() - begin)
                self.sql("CHECKPOINT", "CALL tiered_storage.sample()")
        did = self.end_load(load)
        elapsed = time.monotonic() - begin
        self.sql("CHECKPOINT")
        after = self.counters()
        self.sql("CALL tiered_storage.sample()")
        self.unthrottle()
        done = self.difference(before, after)
        for row in self.rows("SELECT device, explained, fit_factor, fit_residual, request_fit_factor, request_fit_residual"
                             " FROM _tiered_storage.device_io"):
            self.raw(f"device {row}")
        for row in self.rows("SELECT relation_oid::regclass, round(total_page_writes), round(total_merged_writes) FROM _tiered_storage.relation_state"
                             " WHERE total_page_writes > 0 ORDER BY total_page_writes DESC LIMIT 12"):
            self.raw(f"page writes, merged: {row}")
        self.raw(f"training on {tier}: {did} transactions in {elapsed:.1f} s; {self.device_text(done)}; checkpoints after"
                 f" {', '.join(f'{at:.0f}' for at in began)} s and at the end")
        if not goes_on:
            self.forget_intervals()
        self.raw_observed(tier)
        return done, elapsed, did / elapsed, began

    def forget_intervals(self):
        """Without intervals nothing speaks against a rate, and nothing is known of growth."""
        self.sql("UPDATE _tiered_storage.relation_state SET evidence_interval_s = 0",
                 "UPDATE _tiered_storage.tablespace_growth SET evidence_interval_s = 0")

    def raw_observed(self, tier):
        for row in self.rows(
                "SELECT r.relation, r.size_bytes / 1000000, r.kind, round(e.random_read_s_per_hour::numeric, 2),"
                " round(e.sequential_read_s_per_hour::numeric, 2), round(e.write_s_per_hour::numeric, 2)"
                " FROM tiered_storage.recommend_placement(include_unchanged => true) r,"
                " _tiered_storage.explain_placement(r.relation) e WHERE e.tier_name = 'hdd' AND e.io_s_per_hour > 1"
                " ORDER BY e.io_s_per_hour DESC"):
            self.raw(f"seen on {tier}: {row[0]}: {row[1]} MB, {row[2]}; on the HDD {row[3]} s/h random, {row[4]} sequential, {row[5]} written")

    def ask(self, trained):
        advice = {}
        for percent in self.capacities:
            self.set_capacity(percent)
            advice[percent] = self.advise()
            self.raw(f"trained on {trained}, advice for {percent} %: {', '.join(sorted(advice[percent]))}")
            tentative = self.rows("SELECT relation FROM tiered_storage.recommend_placement() WHERE confidence = 'tentative' ORDER BY 1")
            self.raw(f"trained on {trained}, tentative moves for {percent} %: {', '.join(name for (name,) in tentative)}")
            summary = self.rows("SELECT advised_bytes, available_bytes, coalesce(limited_by, ''), coalesce(reason, '') FROM _tiered_storage.placement_summary()"
                                " WHERE tier_name = 'ssd'")
            self.raw(f"trained on {trained}, summary for {percent} %: {summary}")
            if trained == "hdd":
                self.note_speedup(percent)
        return advice

    def note_speedup(self, percent):
        ((low, high, waits),) = self.rows("SELECT simulated_speedup_low, simulated_speedup_high, device_wait_fraction"
                                          " FROM _tiered_storage.simulate_placement() WHERE tier_name IS NULL")
        self.raw(f"predicted for {percent} %: {low or 'nothing'} to {high or 'no bound'} times as much; waits of clients for files: {waits}")
        if low:
            self.speedups.setdefault(percent, (float(low), float(high) if high else math.inf))

    def ask_units(self):
        """For the rules: what the product thinks of each, and what was read."""
        rows = self.rows(
            "SELECT r.relation::oid, r.relation, r.kind, r.size_bytes,"
            " COALESCE(i.idx_blks_read, t.heap_blks_read + COALESCE(t.toast_blks_read, 0) + COALESCE(t.tidx_blks_read, 0)),"
            " h.io_s_per_hour, s.io_s_per_hour"
            " FROM tiered_storage.recommend_placement(include_unchanged => true) r"
            " LEFT JOIN pg_statio_all_tables t ON t.relid = r.relation LEFT JOIN pg_statio_all_indexes i ON i.indexrelid = r.relation,"
            " _tiered_storage.explain_placement(r.relation) h, _tiered_storage.explain_placement(r.relation) s"
            " WHERE h.tier_name = 'hdd' AND s.tier_name = 'ssd' ORDER BY r.relation::oid")
        return [layouts.Unit(row, 0) for row in rows]

    def predicted_write_s(self, elapsed):
        (row,) = self.rows(
            "SELECT sum(e.write_s_per_hour) FROM tiered_storage.recommend_placement(include_unchanged => true) r,"
            " _tiered_storage.explain_placement(r.relation) e WHERE e.tier_name = 'hdd'")
        return float(row[0]) * elapsed / 3600

    # -- cells -------------------------------------------------------------

    def cell(self, names, number):
        # Each begins with the same data: what one has added would be in the way of the next.
        self.reset("trained")
        self.place(names)
        self.sql("VACUUM", "CHECKPOINT")
        self.drop_page_cache()
        self.warm_up(self.options.seed + 100)
        self.sql("CHECKPOINT")
        self.throttle()
        before = self.counters()
        begin = time.monotonic()
        # The same transactions in each layout of a round.
        did = self.run_load(self.options.seconds, self.options.seed + 1000 + number)
        self.sql("CHECKPOINT")
        elapsed = time.monotonic() - begin
        score = did / elapsed
        done = self.difference(before, self.counters())
        needed = max(max((reads + writes) / iops, (read + written) / bandwidth) for (reads, read, writes, written), iops, bandwidth
                     in zip(done, (HDD_IOPS, SSD_IOPS), (HDD_MB_PER_S, SSD_MB_PER_S)))
        self.raw(f"round {number}, score {score:.2f}, {self.device_text(done)}, devices {needed:.2f} s of {elapsed:.2f}, on SSD:"
                 f" {', '.join(sorted(names)) or 'nothing'}")
        print(f"heldout: {self.family}, round {number}: {score:.1f} with {', '.join(sorted(names)) or 'nothing'}"[:150], file=sys.stderr)
        return score, needed / max(did, 1), needed / elapsed


class Measured:
    """Scores of layouts, each measured once unless more is asked for; and of the device that has most
    to do, seconds per transaction, and the share of the time."""

    def __init__(self, bench, units):
        self.bench = bench
        self.units = units
        self.known = []
        self.scores = {}
        self.needed = {}
        self.busy = {}

    def same(self, layout):
        """Two that differ by what does next to nothing of what either leaves on the HDD, are one: measured apart, one
        of them is ahead by chance.  By what the server's counters say was read, and by all that the product says."""

        def differ_little(other, amount):
            least = min(sum(amount(u) for u in self.units if u.name not in on) for on in (layout, other))
            return sum(amount(u) for u in self.units if u.name in layout ^ other) <= MATTERS * least

        for other in self.known:
            if differ_little(other, lambda u: u.reads) and differ_little(other, lambda u: u.hdd):
                return other
        self.known.append(layout)
        return layout

    def measure(self, layout, number):
        score, needed, busy = self.bench.cell(layout, number)
        self.scores.setdefault(layout, []).append(score)
        self.needed.setdefault(layout, []).append(needed)
        self.busy.setdefault(layout, []).append(busy)

    def score(self, layout):
        if layout not in self.scores:
            self.measure(layout, 0)
        return statistics.median(self.scores[layout])

    def again(self, chosen):
        for number in range(1, self.bench.options.rounds):
            order = sorted(chosen, key=sorted)
            for layout in order if number % 2 else reversed(order):
                if len(self.scores[layout]) <= number:
                    self.measure(layout, number)

    def print_spread(self):
        """How far apart the same layout's measurements are: less than that no two layouts can be told apart by one of each."""
        repeated = [values for values in self.scores.values() if len(values) > 1]
        if repeated:
            spreads = sorted((max(values) - min(values)) / statistics.median(values) for values in repeated)
            print(f"  the same layout again: {len(repeated)} layouts, each measured {min(map(len, repeated))} times and more; from its slowest to its fastest"
                  f" {100 * statistics.median(spreads):.0f} % of its median (median of the layouts), at most {100 * spreads[-1]:.0f} %")

    @staticmethod
    def later(values):
        """All rounds but the first: that has chosen them, by what it happened to see."""
        return values[1:] or values

    def ratios(self, ours, theirs):
        """In the rounds that both were measured in."""
        return self.later([a / b for a, b in zip(self.scores[ours], self.scores[theirs])])

    def by_device(self, ours, theirs):
        """As if nothing but the devices took time."""
        return statistics.median(self.later([b / a for a, b in zip(self.needed[ours], self.needed[theirs])]))

    def do_devices_decide(self, *layouts):
        return all(statistics.median(self.later(self.busy[layout])) >= DEVICES_DECIDE for layout in layouts)


def neighbour(units, layout, capacity, chance):
    """One that matters changes its place; by chance others leave, and the hottest come, as there is room."""
    whole = sum(u.hdd for u in units)
    matter = [u for u in units if u.hdd >= MATTERS * whole]
    size = {u.name: u.size for u in units}
    flipped = chance.choice(matter)
    new = set(layout) ^ {flipped.name}
    if flipped.name in new:
        others = sorted(new - {flipped.name})
        chance.shuffle(others)
        while sum(size[n] for n in new) > capacity and others:
            new.discard(others.pop())
    for unit in RULES["reads/byte"](units):
        if unit is not flipped and sum(size[n] for n in new) + unit.size <= capacity:
            new.add(unit.name)
    return frozenset(new) if sum(size[n] for n in new) <= capacity else layout


def verdict(text, good, resolved=True):
    print(f"  {text}: {('met' if good else 'MISSED') if resolved else 'not resolved'}")


def interval(ratios):
    """Of their median, at 95 % or as near to it as so many rounds allow: by order, whatever their distribution is."""
    ordered = sorted(ratios)
    n = len(ordered)
    tail, cut = 0.0, 0
    while cut < n // 2:
        tail += math.comb(n, cut) / 2 ** n
        if 2 * tail > 0.05:
            break
        cut += 1
    cut = max(cut - 1, 0)
    return ordered[cut], ordered[n - 1 - cut]


def judge_ratio(text, ratios, least, devices_decide):
    """The same is asked of both verdicts: all of the interval on one side, and devices that decide."""
    low, high = interval(ratios)
    verdict(f"{text}, {statistics.median(ratios):.3f} ({low:.3f} .. {high:.3f})", low >= least, devices_decide and (low >= least or high < least))


def judge_layouts(bench, units, advice):
    measured = Measured(bench, units)
    chance = random.Random(bench.options.seed)
    size = {u.name: u.size for u in units}
    all_hdd, all_ssd = frozenset(), frozenset(size)
    plans = {}
    measured.same(all_hdd)
    measured.same(all_ssd)
    for percent in bench.capacities:
        capacity = bench.total * percent // 100
        # The advice comes first: what is the same is measured as that.
        measured.same(frozenset(advice[percent]))
        plans[percent] = {name: measured.same(frozenset(u.name for u in layouts.fill(rule(units), capacity))) for name, rule in RULES.items()}
    order = [all_hdd, all_ssd]
    for percent in bench.capacities:
        order += [measured.same(frozenset(advice[percent])), *plans[percent].values()]
    for layout in dict.fromkeys(order):
        measured.score(layout)
    best = {}
    for percent in bench.capacities:
        capacity = bench.total * percent // 100
        fitting = [l for l in measured.scores if sum(size[n] for n in l) <= capacity]
        best[percent] = max(fitting, key=measured.score)
        for _ in range(bench.options.search):
            tried = measured.same(neighbour(units, best[percent], capacity, chance))
            if measured.score(tried) > measured.score(best[percent]):
                best[percent] = tried
    chosen = {all_hdd}
    for percent in bench.capacities:
        rules = sorted(set(plans[percent].values()), key=lambda l: (-measured.score(l), sorted(l)))
        chosen |= {measured.same(frozenset(advice[percent])), best[percent], *rules[:RIVALS]}
    measured.again(chosen)

    hdd = measured.score(all_hdd)
    print(f"\n  throughput, all HDD is 1 ({hdd:.1f} per second), all SSD is {measured.score(all_ssd) / hdd:.1f}")
    print(f"  {'SSD %':<7}{'advice':>8}" + "".join(f"{name:>12}" for name in RULES) + f"{'best':>8}{'to best rule':>14}{'regret %':>10}")
    verdicts, fits = [], []
    for percent in bench.capacities:
        ours = measured.same(frozenset(advice[percent]))
        rules = plans[percent]
        capacity = bench.total * percent // 100
        fitting = [l for l in measured.scores if sum(size[n] for n in l) <= capacity and len(measured.scores[l]) == bench.options.rounds]

        def ahead(layout):
            return statistics.median(measured.ratios(layout, ours))

        rule = max((r for r in rules if rules[r] in fitting), key=lambda r: ahead(rules[r]))
        top = max(fitting, key=ahead)
        to_rule = measured.ratios(ours, rules[rule])
        to_top = measured.ratios(ours, top)
        regret = 100 * (1 - statistics.median(to_top))
        print(f"  {percent:<7}{measured.score(ours) / hdd:>8.2f}" + "".join(f"{measured.score(rules[name]) / hdd:>12.2f}" for name in RULES) +
              f"{measured.score(top) / hdd:>8.2f}{statistics.median(to_rule):>14.3f}{regret:>10.1f}")
        verdicts.append((f"{percent} %: of the best rule of thumb, {rule} (at least 0.97; {measured.by_device(ours, rules[rule]):.3f} by device time)",
                         to_rule, 0.97, measured.do_devices_decide(ours, rules[rule])))
        verdicts.append((f"{percent} %: of the best of {len(measured.scores)} measured (at least 0.9; {measured.by_device(ours, top):.3f} by device time)",
                         to_top, 0.9, ours == top or measured.do_devices_decide(ours, top)))
        fits.append((f"{percent} %: the advice fits", sum(size[n] for n in advice[percent]) <= capacity))
    print()
    for judged in verdicts:
        judge_ratio(*judged)
    for text, good in fits:
        verdict(text, good)
    judge_speedups(bench, {percent: statistics.median(measured.ratios(measured.same(frozenset(advice[percent])), all_hdd))
                           for percent in bench.capacities})
    measured.print_spread()


def judge_ablation(bench, units, ablated):
    """Where what is placed differs without a component: measured with and without it, in turns."""
    if bench.options.rounds < 2:
        return
    wanted = [c for c in ablated.advice if not bench.options.components or c in bench.options.components.split(",")]
    for percent in bench.capacities:
        measured = Measured(bench, units)
        ours = measured.same(ablated.advice["nothing"][percent][0])
        without = {}
        for component in wanted:
            without.setdefault(measured.same(ablated.advice[component][percent][0]), []).append(component)
        without.pop(ours, None)
        for number in range(bench.options.rounds if without else 0):
            order = [ours, *without]
            for layout in order if number % 2 else reversed(order):
                measured.measure(layout, number)
        for layout, components in without.items():
            ratios = [a / b for a, b in zip(measured.scores[ours], measured.scores[layout])]
            low, high = interval(ratios)
            print(f"  {percent} %: with it {statistics.median(ratios):.3f} ({low:.3f} .. {high:.3f}) times what is done without"
                  f" ({statistics.median(measured.scores[ours]):.1f} per second): {', '.join(components)}", flush=True)


def judge_gains(bench, units, advice):
    """Of the advice alone, and of what was predicted for it."""
    measured = Measured(bench, units)
    all_hdd = measured.same(frozenset())
    ours = {percent: measured.same(frozenset(advice[percent])) for percent in bench.capacities}
    for number in range(bench.options.rounds):
        for layout in dict.fromkeys([all_hdd, *ours.values()]):
            measured.measure(layout, number)
    judge_speedups(bench, {percent: statistics.median(a / b for a, b in zip(measured.scores[layout], measured.scores[all_hdd]))
                           for percent, layout in ours.items()})
    measured.print_spread()


def judge_speedups(bench, found):
    """What was said of the clients' gain before anything was moved, against what they gained."""
    inside = 0
    for percent, times in found.items():
        if percent not in bench.speedups:
            print(f"  {percent} %: no gain of clients was predicted: nobody has looked what they wait for")
            continue
        low, high = bench.speedups[percent]
        inside += low <= times <= high
        print(f"  {percent} %: {low:.2f} to {high:.2f} times as much predicted, {times:.2f} measured: {'inside' if low <= times <= high else 'OUTSIDE'}")
    if bench.speedups:
        print(f"  inside the predicted range: {inside} of {len(bench.speedups)}")


def judge_writes(bench, done, elapsed):
    _, _, requests, megabytes = done[0]
    needed = max(requests / HDD_IOPS, megabytes / HDD_MB_PER_S)
    predicted = bench.predicted_write_s(elapsed)
    text = f"writes: {predicted:.1f} s predicted, {needed:.1f} s by the device's {requests} requests and {megabytes:.0f} MB"
    if needed < LEAST_WRITES * elapsed:
        print(f"  {text}: next to none, not judged")
    else:
        verdict(f"{text} (within 25 %)", abs(predicted - needed) <= 0.25 * needed)


def judge_same(bench, units, ours, theirs, label, from_where):
    """What does next to nothing stays where it is, and is where it was."""
    whole = sum(u.hdd for u in units)
    matter = {u.name for u in units if u.hdd >= MATTERS * whole}

    def jaccard(names):
        both = sum(bench.oids[n][2] for n in names & ours[percent] & theirs[percent])
        either = sum(bench.oids[n][2] for n in names & (ours[percent] | theirs[percent]))
        return both / either if either else 1.0

    def saved(names):
        return sum(u.gain() for u in units if u.name in names)

    for percent in bench.capacities:
        # Two that are worth the same may be exchanged; that is no other advice.
        worth = saved(theirs[percent]) / saved(ours[percent]) if saved(ours[percent]) > 0 else 1.0
        text = (f"{label}: {percent} %: Jaccard {jaccard(matter):.2f} by bytes of what causes at least {100 * MATTERS:.1f} % of the I/O"
                f" (at least 0.9), {jaccard(set(bench.oids)):.2f} of all; {from_where} saves {worth:.3f} of what that from the HDD does")
        if label == "same":
            verdict(text, jaccard(matter) >= 0.9)
        else:
            print(f"  {text.replace(' (at least 0.9)', '')}")


def judge_overfull(bench):
    for percent in bench.capacities:
        bench.set_capacity(percent)
        ((moves, leave, after, available),) = bench.rows(
            "SELECT count(*), coalesce(sum(r.size_bytes), 0), max(s.advised_bytes), max(s.available_bytes)"
            " FROM _tiered_storage.placement_summary() s LEFT JOIN tiered_storage.recommend_placement() r ON true WHERE s.tier_name = 'ssd'")
        verdict(f"overfull: {percent} %: {moves} moves, {int(leave) / 1e6:.0f} MB leave, {int(after) / 1e6:.0f} MB remain of"
                f" {int(available) / 1e6:.0f} MB", int(moves) > 0 and int(after) <= int(available))


def start_report(bench, window):
    return subprocess.Popen([f"{bench.options.bindir}/psql", "-X", "-q", "-A", "-t", "-c",
                             bench.reports[(window + bench.options.seed) % len(bench.reports)]], stdout=subprocess.DEVNULL)


def end_report(bench, report):
    if report.wait() != 0:
        sys.exit(f"{bench.family}: a report failed")


def stationary(bench):
    """With everything on the HDD at first, at four fifths of the rate that it can serve beside a report: what it
    could not serve would be done after the first moves, and the load would not be the same any more."""
    bench.reset()
    bench.sql("VACUUM", "CHECKPOINT")
    bench.drop_page_cache()
    bench.warm_up(bench.options.seed)
    bench.throttle()
    begin = time.monotonic()
    report = start_report(bench, WINDOWS - 1)
    rate = PART_OF_RATE * bench.run_load(WINDOW_S, bench.options.seed + 2) / (time.monotonic() - begin)
    end_report(bench, report)
    bench.sql("CHECKPOINT", "SELECT pg_stat_reset()")
    bench.create_extension()
    bench.throttle()
    bench.sql("CALL tiered_storage.sample()")
    size = bench.size_now()
    counts = []
    for window in range(WINDOWS):
        begin = sampled = time.monotonic()
        load = bench.start_load(WINDOW_S, bench.options.seed + 200 + window, rate)
        report = start_report(bench, window)
        while load.poll() is None:
            time.sleep(0.2)
            if time.monotonic() - sampled >= WINDOW_S / 6 and time.monotonic() - begin < WINDOW_S - 2:
                sampled = time.monotonic()
                bench.sql("CALL tiered_storage.sample()")
        did = bench.end_load(load)
        end_report(bench, report)
        bench.sql("CALL tiered_storage.sample()")
        # What has come meanwhile has room.
        bench.set_capacity(STATIONARY_CAPACITY, max(bench.size_now() - size, 0))
        moves = bench.rows("SELECT relation, recommended_tier, confidence, size_bytes / 1000000, round(saved_io_s_per_hour::numeric, 2), reason"
                           " FROM tiered_storage.recommend_placement()")
        firm = [m for m in moves if m[2] == "firm"]
        counts.append((len(firm), len(moves) - len(firm), did))
        for move in moves:
            bench.raw(f"window {window + 1}: {move[2]}: {move[0]} to {move[1]}, {move[3]} MB, saves {move[4]} s/h: {move[5]}")
        print(f"heldout: {bench.family}, window {window + 1}: {counts[-1]}", file=sys.stderr)
        doing = moves if window == 0 else firm
        bench.unthrottle()
        new = {name for (name,) in bench.rows("SELECT relation FROM tiered_storage.recommend_placement(include_unchanged => true)"
                                              " WHERE current_tier = 'ssd'")}
        for name, tier, *_ in doing:
            (new.add if tier == "ssd" else new.discard)(name)
        bench.place(new)
        bench.sql("CALL tiered_storage.sample()")
        bench.throttle()
    bench.unthrottle()
    print(f"\n  stationary, firm + other moves advised after each window: {', '.join(f'{a} + {b}' for a, b, _ in counts)};"
          f" transactions {', '.join(str(n) for _, _, n in counts)}")
    later = sum(a for a, _, _ in counts[1:])
    verdict(f"stationary: {later} firm moves in the windows 2 to {WINDOWS} (none)", later == 0)


class Mover(threading.Thread):
    """Moves beside the load, and notes what it took."""

    def __init__(self, bench, statements):
        super().__init__()
        self.bench = bench
        self.statements = statements
        self.done = []
        self.failed = None

    def run(self):
        begin = time.monotonic()
        for name, statement in self.statements:
            at = time.monotonic()
            done = subprocess.run([f"{self.bench.options.bindir}/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement], capture_output=True,
                                  text=True, check=False)
            self.bench.raw(f"{statement}: {done.stderr}")
            if done.returncode != 0:
                self.failed = done.stderr
                return
            self.done.append((name, at - begin, time.monotonic() - at))


def saturate(bench, way, statements):
    """The load for so long, and after a while the moves; statements: what moves, asked when it begins.  Returns
    transactions per second in each part of the time, the mover, and client-seconds in lock waits."""
    bench.reset()
    bench.sql("VACUUM", "CHECKPOINT")
    bench.drop_page_cache()
    bench.warm_up(bench.options.seed)
    bench.sql("CHECKPOINT", "SELECT pg_stat_reset()")
    bench.create_extension()
    bench.throttle()
    bench.sql("CALL tiered_storage.sample()")
    bench.set_capacity(SATURATED_CAPACITY)
    part = SATURATED_PART * bench.options.seconds
    begin = looked = time.monotonic()
    sampled = 0.0
    load = bench.start_load(SATURATED_PARTS * part, bench.options.seed + 300, progress=part)
    mover = None
    waits = 0.0
    while load.poll() is None:
        time.sleep(0.5)
        elapsed = time.monotonic() - begin
        if mover is None and elapsed - sampled >= part / SATURATED_SAMPLES:
            sampled = elapsed
            bench.sql("CALL tiered_storage.sample()")
        if mover is None and elapsed >= part:
            mover = Mover(bench, statements())
            mover.start()
        waiting = int(bench.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'pgbench'"))
        waits += waiting * (time.monotonic() - looked)
        looked = time.monotonic()
    out, err = load.communicate()
    if load.returncode != 0 or mover is None:
        sys.exit(f"{bench.family}: {out}{err}")
    bench.unthrottle()
    ended = not mover.is_alive()
    mover.join()
    if mover.failed is not None:
        sys.exit(f"{bench.family}: {way}: {mover.failed}")
    parts = re.findall(r"^progress: ([0-9.]+) s, ([0-9.]+) tps, lat ([0-9.]+) ms", err, re.M)
    print(f"  {way}\n    transactions/s in each {part} s (moves begin after the first):"
          f" {', '.join(tps for _, tps, _ in parts)}; mean latency {', '.join(ms for _, _, ms in parts)} ms;"
          f" clients waited for locks {waits:.1f} s{'' if ended else '; the moves did not end in that time'}", flush=True)
    return mover


def saturated(bench):
    """Everything is on an HDD that has more to do than it can: does it get better while relations leave, and how soon?"""
    plan = []

    def by_advice():
        plan.clear()
        for row in bench.rows("SELECT relation, size_bytes FROM tiered_storage.recommend_placement() WHERE recommended_tier = 'ssd'"):
            plan.append((row[0], int(row[1])))
        for row in bench.rows("SELECT relation, size_bytes / 1000000, current_tier, recommended_tier, confidence, round(saved_io_s_per_hour::numeric, 2), reason"
                              " FROM tiered_storage.recommend_placement(include_unchanged => true) WHERE size_bytes >= 1000000"
                              " ORDER BY saved_io_s_per_hour DESC NULLS LAST"):
            bench.raw(f"advised: {row}")
        bench.raw_observed("the saturated HDD")
        return [("apply_placement", "CALL tiered_storage.apply_placement('tentative')")]

    def altered():
        return [(name, f"ALTER {'INDEX' if bench.oids[name][1] == 'index' else 'TABLE'} {name} SET TABLESPACE ssd")
                for name, _ in sorted(plan, key=lambda p: p[1])]

    print(f"\n  saturated: {CLIENTS} clients as fast as they can for {SATURATED_PARTS * SATURATED_PART * bench.options.seconds} s, an SSD of {SATURATED_CAPACITY} %")
    # What would it be otherwise?  The cache fills, and the kernel writes what is dirty.
    saturate(bench, "nothing is moved", lambda: [])
    saturate(bench, "apply_placement()", by_advice)
    print("    moved, each with seconds since the first began, seconds it took, of these waiting for locks: " + "; ".join(
        f"{name} ({size} MB) {at} {took} {wait}{'' if state == 'done' else ' ' + state}" for name, size, at, took, wait, state in bench.rows(
            "SELECT relation || ' to ' || to_tier, size_bytes / 1000000, round(extract(epoch FROM started_at - min(started_at) OVER ()), 1),"
            " round((elapsed_ms / 1000.0)::numeric, 1), round((lock_wait_ms / 1000.0)::numeric, 1), state FROM _tiered_storage.moves ORDER BY started_at")), flush=True)
    mover = saturate(bench, "ALTER ... SET TABLESPACE of the same, the smallest first", altered)
    print("    moved, each with seconds since the first began, and seconds it took: " +
          "; ".join(f"{name} {at:.1f} {took:.1f}" for name, at, took in mover.done), flush=True)


def main():
    bench = Bench(arguments())
    bench.reset()
    bench.calibrate()
    bench.create_extension()
    bench.sql("CALL tiered_storage.sample()")
    bench.load_units()
    print(f"\n{bench.family}: {len(bench.oids)} units, {bench.total / 1e6:.0f} MB\n")
    if any(part in bench.options.parts for part in ("training", "layouts", "repeat", "gains", "ablation")):
        done, elapsed, rate, checkpoints = bench.train("hdd", goes_on="ablation" in bench.options.parts)
        judge_writes(bench, done, elapsed)
        units = bench.ask_units()
        from_hdd = bench.ask("hdd")
        ablated = ablation.Ablation(bench, units) if "ablation" in bench.options.parts else None
        if ablated:
            ablated.ask_all()
            ablated.print_differences()
        bench.keep_trained()
    if "training" in bench.options.parts:
        # The same load: as many transactions as the HDD could do, and as many checkpoints.
        bench.train("ssd", rate, checkpoints)
        from_ssd = bench.ask("ssd")
        judge_same(bench, units, from_hdd, from_ssd, "same", "from the SSD")
        judge_overfull(bench)
    if "repeat" in bench.options.parts:
        # What is not the same from the same device is not for the device.
        bench.train("hdd", rate, checkpoints)
        judge_same(bench, units, from_hdd, bench.ask("hdd"), "repeat", "the second")
    if "stationary" in bench.options.parts:
        stationary(bench)
    if "saturated" in bench.options.parts:
        saturated(bench)
    if "gains" in bench.options.parts:
        judge_gains(bench, units, from_hdd)
    if "ablation" in bench.options.parts:
        judge_ablation(bench, units, ablated)
    if "layouts" in bench.options.parts:
        judge_layouts(bench, units, from_hdd)
    sys.stdout.flush()


main()
