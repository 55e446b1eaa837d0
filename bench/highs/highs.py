"""Solves what place.c wrote by HiGHS, and checks the placement that it wrote.

    highs.py FILE SECONDS

Prints: seconds, MB of this process at most, objective, lower bound, status of
HiGHS; then the objective of the placement in the file, added up here, and "kept"
or what it violates.
"""

import resource
import sys
import time

import highspy
import numpy as np


def read(name):
    with open(name, "rb") as file:
        n, tiers, resources = (int(x) for x in np.fromfile(file, np.int32, 3))
        cost = np.fromfile(file, float, n * tiers).reshape(n, tiers)
        use = np.fromfile(file, float, n * tiers * resources).reshape(n, tiers, resources)
        limit = np.fromfile(file, float, tiers * resources).reshape(tiers, resources)
        tier = np.fromfile(file, np.int32, n)
    return cost, use, limit, tier


def check(cost, use, limit, tier):
    if len(tier) != len(cost) or tier.min() < 0 or tier.max() >= cost.shape[1]:
        return float("nan"), "not-a-placement"
    units = np.arange(len(tier))
    for t in range(limit.shape[0]):
        used = use[units[tier == t], t].sum(axis=0)
        if (used > limit[t] * (1 + 1e-12)).any():
            return float("nan"), f"too-much-on-tier-{t}"
    return cost[units, tier].sum(), "kept"


def solve(cost, use, limit, seconds):
    n, tiers = cost.shape
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("time_limit", float(seconds))
    highs.setOptionValue("mip_rel_gap", 1e-6)
    lp = highspy.HighsLp()
    rows = [(t, r) for t in range(tiers) for r in range(limit.shape[1]) if np.isfinite(limit[t, r])]
    # Rows in shares of their limit: then tolerances mean the same in all of them.
    columns = []
    for t in range(tiers):
        here = [(k, r) for k, (s, r) in enumerate(rows) if s == t]
        columns.append(([k for k, _ in here], [r for _, r in here]))
    starts, index, value = [0], [], []
    for u in range(n):
        for t in range(tiers):
            index.append(np.array([u]))
            value.append(np.array([1.0]))
            which, resources = columns[t]
            shares = use[u, t, resources] / limit[t, resources] if resources else np.array([])
            index.append(n + np.array(which, dtype=int))
            value.append(shares)
            starts.append(starts[-1] + 1 + len(which))
    lp.num_col_ = n * tiers
    lp.num_row_ = n + len(rows)
    lp.col_cost_ = cost.ravel()
    lp.col_lower_ = np.zeros(n * tiers)
    # Too large alone: no.
    alone = (use > limit).any(axis=2).ravel()
    lp.col_upper_ = np.where(alone, 0.0, 1.0)
    lp.row_lower_ = np.concatenate([np.ones(n), np.full(len(rows), -highspy.kHighsInf)])
    lp.row_upper_ = np.ones(n + len(rows))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.array(starts, dtype=np.int32)
    lp.a_matrix_.index_ = np.concatenate(index).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(value)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * (n * tiers)
    highs.passModel(lp)
    begin = time.process_time()
    highs.run()
    elapsed = time.process_time() - begin
    info = highs.getInfo()
    status = highs.modelStatusToString(highs.getModelStatus()).replace(" ", "-")
    return elapsed, info.objective_function_value, info.mip_dual_bound, status


def main():
    cost, use, limit, tier = read(sys.argv[1])
    elapsed, objective, bound, status = solve(cost, use, limit, sys.argv[2])
    ours, verdict = check(cost, use, limit, tier)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{elapsed:.3f} {megabytes:.0f} {objective:.9g} {bound:.9g} {status} {ours:.9g} {verdict}")


main()
