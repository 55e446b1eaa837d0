"""Components of the advice that bench/ablation takes away, one at a time.

    ablation.py build TREE DIRECTORY PG_CONFIG

builds the library once for each component that is a change of the source.  The others are changes of what was
observed, made in a transaction that is rolled back.
"""

import os
import re
import shutil
import subprocess
import sys
import time

STATE = "UPDATE _tiered_storage.relation_state SET "
TIER = "UPDATE _tiered_storage.tier SET "
SPEEDS = ("fast", "slow")


def rates(assign):
    """The same of the rates of both half-lives."""
    return STATE + ", ".join(assign.format(s) for s in SPEEDS)


# What statistics alone say of sequential requests (cost.c), of the reads of the device.
BY_STATISTICS = """UPDATE _tiered_storage.relation_state s SET device_sequential_fast = x.share * (device_random_fast + device_sequential_fast),
device_sequential_slow = x.share * (device_random_slow + device_sequential_slow), device_random_fast = (1 - x.share) * (device_random_fast +
device_sequential_fast), device_random_slow = (1 - x.share) * (device_random_slow + device_sequential_slow)
FROM (SELECT relation_oid, CASE WHEN blocks_fetched <= 0 OR tuples <= 0 THEN 0 WHEN kind = 'i' THEN
LEAST(GREATEST(tuples_read - scans, 0) * (size_bytes / 8192.0) / tuples, GREATEST(blocks_fetched - scans, 0), (scans + 1) * size_bytes / 8192.0)
ELSE LEAST(GREATEST(tuples_read * (size_bytes / 8192.0) / tuples, scans), (scans + 1) * size_bytes / 8192.0, blocks_fetched) END
/ GREATEST(blocks_fetched, 1) AS share FROM _tiered_storage.relation_state) x WHERE x.relation_oid = s.relation_oid"""

OBSERVED = {
    "page cache": [rates("device_random_{0} = random_{0}, device_sequential_{0} = sequential_{0}")],
    "fit of devices": [
        "UPDATE _tiered_storage.relation_state SET " + ", ".join(
            f"device_random_{s} = device_random_{s} / GREATEST(f.request_fit_factor, 0.01), device_sequential_{s} = device_sequential_{s} / GREATEST(f.fit_factor, 0.01)"
            for s in SPEEDS) +
        " FROM _tiered_storage.device_io f WHERE f.explained AND tablespace_oid = (SELECT oid FROM pg_tablespace WHERE spcname = 'hdd')"
        " AND 'hdd' = ANY (f.tablespaces::text[])"],
    "random or sequential": [rates("device_random_{0} = device_random_{0} + device_sequential_{0}, device_sequential_{0} = 0")],
    "access of the executor": [BY_STATISTICS],
    "writes": [rates("page_writes_{0} = 0, merged_writes_{0} = 0, changes_{0} = 0")],
    "merged writes": [rates("merged_writes_{0} = 0")],
    "positions of scans": [STATE + "scans_slow = 0"],
    "parallelism": [TIER + "parallelism = 1"],
    "event or rate": [STATE + "evidence_interval_s = 0"],
}

# Of the source: file, what is there, what is there instead.
CODE = {
    "page writes by the WAL": [("src/model/relation_load.c", "if (basis->writes_since == 0 ||", "if (1 ||")],
    "filling of memory": [("src/model/relation_load.c", "if (!basis->memory_fills ||", "if (1 ||")],
    "largest intervals left out": [("src/model/evidence.c", "if (judgement.intervals > 2)", "if (0)")],
    "doubt": [("src/model/placement_problem.c", "now < 0 || now == tier ? 0.0 :", "now >= -1 ? 0.0 :")],
    "cost of the move": [("src/model/placement_problem.c", "TIER_PLACEMENT_MOVE_MUST_PAY * problem", "0.0 * problem")],
    "limit on device time": [("src/model/placement_problem.c",
                              "fmax(TIER_PLACEMENT_BUSY_LIMIT * S_PER_HOUR, now[t].occupied_s) * (1.0 + ROUNDING)", "INFINITY")],
    "limit on wear": [("src/model/placement_problem.c",
                       "fmax(problem->endurance_bytes_per_day[t], now[t].written_bytes) * (1.0 + ROUNDING)", "INFINITY")],
    "immaterial moves": [("src/model/materiality.c", "pass < MAX_PASSES", "pass < 0")],
    "solver: search": [("src/model/placement.c", "call.quick = problem->quick;", "call.quick = 1;")],
    "solver: large units": [("src/model/solver/solve.c", "\tif (!problem->quick)\n\t\ttier_solver_try_large", "\tif (0)\n\t\ttier_solver_try_large")],
    "solver: options": [("src/model/solver/solve.c", "if (!problem->quick && tier", "if (0 && tier")],
    "solver: second prices": [("src/model/solver/solve.c", "i < 2; i++", "i < 1; i++")],
    "solver: prices and search": [("src/model/solver/solve.c", "i < 2; i++", "i < 0; i++"),
                                  ("src/model/placement.c", "call.quick = problem->quick;", "call.quick = 1;")],
    "solver: present placement": [("src/model/solver/solve.c", "\toffer_start(&model, &best, &other);\n\treport", "\treport")],
    "solver: ranked anew": [("src/model/solver/solve.c", "model.ranks_anew = model.ntiers == 2;", "model.ranks_anew = 0;")],
    "dependence on the load": [("src/decide/advice.c", "\tmark_dependence(advice);\n\tfor", "\tfor")],
}

WHOLE = "all of it: device reads per byte"
GREEDY = "the solver: gain per byte"


def build(tree, directory, pg_config):
    os.makedirs(directory, exist_ok=True)
    for component, edits in CODE.items():
        kept = {}
        for path, old, new in edits:
            path = os.path.join(tree, path)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.count(old) != 1:
                sys.exit(f"ablation: {component}: {path} has {text.count(old)} times: {old}")
            kept.setdefault(path, text)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
        subprocess.run(["make", "-C", tree, "-s", "-j2", "with_llvm=no", f"PG_CONFIG={pg_config}"], check=True, stderr=subprocess.DEVNULL)
        shutil.copy(os.path.join(tree, "tiered_storage.so"), os.path.join(directory, library(component)))
        for path, text in kept.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def library(component):
    return re.sub(r"\W+", "_", component) + ".so"


class Ablation:
    """What is advised without each component, by what one training has observed."""

    def __init__(self, bench, units):
        self.bench = bench
        self.units = units
        self.at = bench.sql("SELECT now()")
        self.size = {u.name: u.size for u in units}
        # Component to capacity to (on the SSD, of these firm).
        self.advice = {}

    def restart(self, file):
        options = self.bench.options
        libdir = subprocess.run([f"{options.bindir}/pg_config", "--pkglibdir"], check=True, capture_output=True, text=True).stdout.strip()
        as_user = ["setpriv", f"--reuid={options.server_user}", f"--regid={options.server_user}", "--init-groups"]
        pg_ctl = [f"{options.bindir}/pg_ctl", "--silent", "--wait", "--timeout=60", f"--pgdata={options.pgdata}"]
        subprocess.run([*as_user, *pg_ctl, "stop", "--mode=fast"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        shutil.copy(file, f"{libdir}/new.so")
        os.replace(f"{libdir}/new.so", f"{libdir}/tiered_storage.so")
        subprocess.run([f"{options.directory}/in-group", *as_user, *pg_ctl, f"--log={options.directory}/server.log", "start"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def ask(self, component, edits):
        for percent in self.bench.capacities:
            rows = self.bench.rows(
                f"SET tiered_storage.test_now = '{self.at}'", "BEGIN", *edits,
                f"DO $$BEGIN PERFORM tiered_storage.alter_tier('ssd', device => jsonb_build_object('capacity_bytes', {self.bench.total * percent // 100})); END$$",
                "SELECT relation, current_tier, recommended_tier, confidence FROM tiered_storage.recommend_placement(include_unchanged => true)",
                "ROLLBACK")
            on = frozenset(r[0] for r in rows if r[2] == "ssd")
            firm = frozenset(r[0] for r in rows if r[1] != r[2] and r[3] == "firm")
            self.advice.setdefault(component, {})[percent] = (on, firm)
            self.bench.raw(f"without {component}, {percent} %: {', '.join(sorted(on))}; firm: {', '.join(sorted(firm))}")

    def greedy(self, component, key):
        for percent in self.bench.capacities:
            left, on = self.bench.total * percent // 100, []
            for unit in sorted(self.units, key=lambda u: -key(u) / max(u.size, 8192)):
                if key(unit) > 0 and unit.size <= left:
                    left -= unit.size
                    on.append(unit.name)
            self.advice.setdefault(component, {})[percent] = (frozenset(on), frozenset())

    def ask_all(self):
        begin = time.monotonic()
        self.ask("nothing", [])
        for component, edits in OBSERVED.items():
            self.ask(component, edits)
        directory = os.path.join(self.bench.options.directory, "variants")
        libdir = subprocess.run([f"{self.bench.options.bindir}/pg_config", "--pkglibdir"], check=True, capture_output=True, text=True).stdout.strip()
        whole = os.path.join(directory, "whole.so")
        shutil.copy(f"{libdir}/tiered_storage.so", whole)
        for component in CODE:
            self.restart(os.path.join(directory, library(component)))
            self.ask(component, [])
        self.restart(whole)
        self.ask("nothing, again", [])
        self.greedy(GREEDY, lambda u: u.gain())
        self.greedy(WHOLE, lambda u: u.reads)
        print(f"ablation: {len(self.advice)} answers in {time.monotonic() - begin:.0f} s", file=sys.stderr)

    def gain(self, names):
        return sum(u.gain() for u in self.units if u.name in names)

    def print_differences(self):
        print(f"  bytes that are elsewhere without it, of all, and what the rest saves by the whole model, for {', '.join(f'{p} %' for p in self.bench.capacities)};"
              " moves that are firm with it and without")
        for component, advice in self.advice.items():
            cells = []
            for percent, (on, firm) in advice.items():
                ours, ours_firm = self.advice["nothing"][percent]
                moved = sum(self.size[n] for n in on ^ ours)
                cells.append(f"{100 * moved / self.bench.total:6.1f} {self.gain(on) / max(self.gain(ours), 1e-9):6.3f} {len(ours_firm):3d} {len(firm):3d}")
            print(f"  {component:<34}" + "  |".join(cells))


if __name__ == "__main__":
    build(*sys.argv[2:5])
