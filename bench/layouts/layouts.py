"""Which layouts bench/placement measures, and what came of it.

    layouts.py plan   DIR SEED NUMBER      writes DIR/layouts
    layouts.py rivals DIR                  reads DIR/cells too, prints the numbers of
                                           the layouts that verdicts are about so far
    layouts.py judge  DIR NAME LEVEL TAU   prints the tables and the verdicts

A layout is the set of units (tables and indexes) that are on the SSD.  Files are
lines of fields separated by tabs:

    units       oid, name, kind, bytes, reads, cost on the HDD, cost on the SSD
                (device-seconds per hour, as the product says), then for each
                capacity 1 if the product recommends the SSD
    capacities  percent, bytes
    layouts     number, predicted cost, what it stands for, OIDs on the SSD (or -)
    cells       repetition, number of the layout, score; higher is better

LEVEL is the percentage of which the share of the all-SSD gain has a target, or 0.
TAU is "yes" where the rank correlation has a target.
"""

import itertools
import random
import statistics
import sys

# All layouts are enumerated up to so many units.
EXHAUSTIVE = 12


class Unit:
    def __init__(self, fields, ncapacities):
        self.oid = int(fields[0])
        self.name = fields[1]
        self.kind = fields[2]
        self.size = int(fields[3])
        self.reads = float(fields[4])
        self.hdd = float(fields[5])
        self.ssd = float(fields[6])
        self.advised = [field == "1" for field in fields[7 : 7 + ncapacities]]

    def gain(self):
        return self.hdd - self.ssd


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip()]


def read(directory):
    capacities = [(int(p), int(b)) for p, b in lines(f"{directory}/capacities")]
    units = [Unit(fields, len(capacities)) for fields in lines(f"{directory}/units")]
    return units, capacities


def size(layout):
    return sum(unit.size for unit in layout)


def cost(units, layout):
    return sum(unit.ssd if unit in layout else unit.hdd for unit in units)


def fill(order, capacity):
    """In this order, whatever still fits."""
    chosen = set()
    for unit in order:
        if size(chosen) + unit.size <= capacity:
            chosen.add(unit)
    return frozenset(chosen)


# Rules of thumb: in which order they fill the SSD.
RULES = {
    "indexes first": lambda units: sorted((u for u in units if u.kind == "index"), key=lambda u: (u.size, u.oid)),
    "tables first": lambda units: sorted((u for u in units if u.kind != "index"), key=lambda u: (u.size, u.oid)),
    "hottest first": lambda units: sorted(units, key=lambda u: (-u.reads, u.oid)),
    "reads per byte": lambda units: sorted(units, key=lambda u: (-u.reads / max(u.size, 8192), u.oid)),
    "gain per byte": lambda units: sorted(
        (u for u in units if u.gain() > 0), key=lambda u: (-u.gain() / max(u.size, 8192), u.oid)
    ),
    "smallest first": lambda units: sorted(units, key=lambda u: (u.size, u.oid)),
    "newest first": lambda units: sorted(units, key=lambda u: -u.oid),
}


def some_layout(units, capacity, chance):
    """Each unit with a probability of 1/2 in a random order, if it fits."""
    order = list(units)
    chance.shuffle(order)
    return fill([u for u in order if chance.random() < 0.5], capacity)


def plan(directory, seed, number):
    units, capacities = read(directory)
    chance = random.Random(seed)
    wanted = {}

    def want(layout, purpose):
        wanted.setdefault(frozenset(layout), []).append(purpose)

    indexes = [u for u in units if u.kind == "index"]
    want([], "all HDD")
    want(units, "all SSD")
    want(indexes, "indexes on SSD")
    want([u for u in units if u.kind != "index"], "tables on SSD")
    for i, (percent, _) in enumerate(capacities):
        want([u for u in units if u.advised[i]], f"advice {percent}")
    for percent, capacity in capacities:
        for name, rule in RULES.items():
            want(fill(rule(units), capacity), f"{name} {percent}")

    every = []
    if len(units) <= EXHAUSTIVE:
        for chosen in itertools.product([False, True], repeat=len(units)):
            every.append(frozenset(u for u, on in zip(units, chosen) if on))
        every.sort(key=lambda layout: (cost(units, layout), size(layout), sorted(u.oid for u in layout)))
        for percent, capacity in capacities:
            best = [layout for layout in every if size(layout) <= capacity][:2]
            for rank, layout in enumerate(best, 1):
                want(layout, f"predicted best {rank} of {percent}")
        with open(f"{directory}/predicted", "w", encoding="utf-8") as file:
            for layout in every:
                names = ", ".join(u.name for u in units if u in layout) or "nothing"
                file.write(f"{cost(units, layout):.4f}\t{size(layout)}\t{names}\n")

    # Two at random for each capacity, and as many of any size as asked for.
    for _ in range(2):
        for percent, capacity in capacities:
            want(some_layout(units, capacity, chance), f"random {percent}")
    for _ in range(1000):
        if len(wanted) >= number:
            break
        want(some_layout(units, size(units), chance), "random")

    with open(f"{directory}/layouts", "w", encoding="utf-8") as file:
        for i, (layout, purposes) in enumerate(wanted.items()):
            oids = ",".join(str(u.oid) for u in units if u in layout) or "-"
            file.write(f"{i}\t{cost(units, layout):.4f}\t{'; '.join(purposes)}\t{oids}\n")


class Measured:
    def __init__(self, number, predicted, purposes, layout):
        self.number = number
        self.predicted = predicted
        self.purposes = purposes
        self.layout = layout
        self.scores = []

    def score(self):
        return statistics.median(self.scores)


def order_of(a, b):
    return (a > b) - (a < b)


def correlation(measured):
    """Tau of the pairs that all repetitions put in the same order, how many
    these are, and tau-b of all pairs."""
    agree = resolved = 0
    concordant = ties_predicted = ties_measured = pairs = 0
    for a, b in itertools.combinations(measured, 2):
        # Less cost should be more throughput.  Equal to a millionth is equal.
        predicted = 0
        if abs(a.predicted - b.predicted) > 1e-6 * max(a.predicted, b.predicted):
            predicted = order_of(b.predicted, a.predicted)
        seen = order_of(a.score(), b.score())
        pairs += 1
        concordant += predicted * seen
        ties_predicted += predicted == 0
        ties_measured += seen == 0
        if min(a.scores) > max(b.scores) or min(b.scores) > max(a.scores):
            resolved += 1
            agree += predicted * seen
    root = ((pairs - ties_predicted) * (pairs - ties_measured)) ** 0.5
    return agree / resolved if resolved else 0.0, resolved, pairs, concordant / root if root else 0.0


def verdict(text, good):
    print(f"  {text}: {good if isinstance(good, str) else 'met' if good else 'MISSED'}")


def compare(ours, theirs, least):
    """Ours as a part of theirs, and what that is.  Both were measured in the same
    rounds; where these do not agree that it is too little, nothing is resolved."""
    ratios = [a / b for a, b in zip(ours.scores, theirs.scores)]
    ratio = statistics.median(ratios)
    if ratio >= least:
        return ratio, "met"
    return ratio, "MISSED" if max(ratios) < least else f"not resolved ({min(ratios):.3f} .. {max(ratios):.3f})"


def read_measured(directory, units):
    by_oid = {unit.oid: unit for unit in units}
    measured = []
    for number, predicted, purposes, oids in lines(f"{directory}/layouts"):
        layout = frozenset(by_oid[int(o)] for o in oids.split(",")) if oids != "-" else frozenset()
        measured.append(Measured(int(number), float(predicted), purposes.split("; "), layout))
    for _, number, score in lines(f"{directory}/cells"):
        measured[int(number)].scores.append(float(score))
    return measured


def rivals(directory):
    units, capacities = read(directory)
    measured = read_measured(directory, units)
    by_purpose = {purpose: m for m in measured for purpose in m.purposes}
    chosen = {by_purpose["all HDD"].number, by_purpose["all SSD"].number}
    for percent, capacity in capacities:
        fitting = [m for m in measured if size(m.layout) <= capacity]
        chosen.add(by_purpose[f"advice {percent}"].number)
        chosen.add(max(fitting, key=Measured.score).number)
        chosen.add(max((by_purpose[f"{r} {percent}"] for r in RULES), key=Measured.score).number)
    print(*sorted(chosen))


def judge(directory, name, level, judge_tau):
    units, capacities = read(directory)
    measured = read_measured(directory, units)
    by_purpose = {purpose: m for m in measured for purpose in m.purposes}
    hdd = by_purpose["all HDD"].score()
    ssd = by_purpose["all SSD"].score()

    print(f"  {'layout':<9}{'GB on SSD':>10}{'predicted s/h':>15}{'score':>10}{'to all HDD':>12}{'runs':>6}{'spread %':>10}  stands for")
    for m in sorted(measured, key=lambda m: m.predicted):
        spread = 100 * (max(m.scores) - min(m.scores)) / m.score()
        print(
            f"  {m.number:<9}{size(m.layout) / 1e9:>10.3f}{m.predicted:>15.2f}{m.score():>10.1f}"
            f"{m.score() / hdd:>12.2f}{len(m.scores):>6}{spread:>10.1f}  {'; '.join(m.purposes)}"
        )
    print()

    rows = []
    verdicts = []
    for percent, capacity in capacities:
        where = f"{name}, {percent} % SSD"
        # Of those measured once or in each round the latter, which are the best of the
        # first, are the ones to trust.
        rounds = max(len(m.scores) for m in measured)
        fitting = [m for m in measured if size(m.layout) <= capacity and len(m.scores) == rounds]
        advice = by_purpose[f"advice {percent}"]
        best = max(fitting, key=Measured.score)
        rule = max((r for r in RULES if by_purpose[f"{r} {percent}"] in fitting), key=lambda r: by_purpose[f"{r} {percent}"].score())
        of_rule = by_purpose[f"{rule} {percent}"]
        mean = statistics.mean([m.score() for m in measured for p in m.purposes if p == f"random {percent}"])
        to_best, is_best = compare(advice, best, 0.9)
        to_rule, is_rule = compare(advice, of_rule, 0.97)
        to_mean = advice.score() / mean
        rows.append(
            f"  {percent:<7}{advice.score() / hdd:>8.2f}{best.score() / hdd:>8.2f}{of_rule.score() / hdd:>11.2f}  {rule:<16}"
            f"{mean / hdd:>8.2f}{100 * (1 - to_best):>10.1f}{to_rule:>9.3f}{to_mean:>11.2f}"
        )
        if size(advice.layout) > capacity:
            verdicts.append((f"{where}: the advice does not fit", False))
            continue
        verdicts.append((f"{where}: {100 * (1 - to_best):.1f} % below the best measured layout that fits (at most 10)", is_best))
        verdicts.append((f"{where}: {to_rule:.3f} of the best rule of thumb, {rule} (at least 0.97)", is_rule))
        # Where nothing is 1.2 times as good, no advice can be.
        is_mean = "met" if to_mean >= 1.2 else "MISSED" if best.score() >= 1.2 * mean else "out of reach"
        verdicts.append((
            f"{where}: {to_mean:.2f} of the mean of random layouts (at least 1.20; the best measured has {best.score() / mean:.2f})",
            is_mean,
        ))
        if percent == level:
            saved = (1 / hdd - 1 / advice.score()) / (1 / hdd - 1 / ssd)
            gain = (advice.score() - hdd) / (ssd - hdd)
            verdicts.append((
                f"{where}: {100 * gain:.1f} % of what all SSD gains in throughput (at least 80),"
                f" {100 * saved:.1f} % of the time it saves; the best measured {100 * (best.score() - hdd) / (ssd - hdd):.1f} %",
                gain >= 0.8,
            ))
    print(
        f"  {'SSD %':<7}{'advice':>8}{'best':>8}{'best rule':>11}  {'which rule':<16}{'random':>8}"
        f"{'regret %':>10}{'to rule':>9}{'to random':>11}"
    )
    print(*rows, sep="\n")
    print()
    for text, good in verdicts:
        verdict(text, good)
    tau, resolved, pairs, tau_b = correlation(measured)
    text = (
        f"{name}: Kendall tau {tau:.2f} of the {resolved} of {pairs} pairs of layouts that all repetitions order alike,"
        f" {tau_b:.2f} of all pairs (tau-b)"
    )
    if judge_tau:
        verdict(f"{text} (of the former at least 0.8)", tau >= 0.8)
    else:
        print(f"  {text}")


if __name__ == "__main__":
    if sys.argv[1] == "plan":
        plan(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1] == "rivals":
        rivals(sys.argv[2])
    else:
        judge(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5] == "yes")
