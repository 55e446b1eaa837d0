"""What Prometheus has scraped against the view metrics, and the queries of the dashboard.

compare.py METRICS.json EXPORTER PROMETHEUS DASHBOARD.json
"""

import json
import math
import subprocess
import sys
import time
import urllib.parse
import urllib.request

metrics_file, exporter, prometheus, dashboard = sys.argv[1:]
TIMEOUT_S = 180


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def ask(query):
    url = "http://%s/api/v1/query?%s" % (prometheus, urllib.parse.urlencode({"query": query}))
    answer = json.loads(get(url))
    if answer["status"] != "success":
        sys.exit("%s: %s" % (query, answer))
    return answer["data"]["result"]


def until(what, happens):
    """Asks again until it is true; a program that has just started may not listen yet."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        try:
            if happens():
                print("ok - " + what)
                return
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit("never true: " + what)


until("postgres_exporter is scraped", lambda: ask("tiered_storage_server_preloaded == 1"))
until("sql_exporter is scraped",
      lambda: ask('sql_tiered_storage_tier{col="rank", tier="hdd"}'))

found = {}
for series in ask('{__name__=~"tiered_storage_.+"}'):
    labels = series["metric"]
    name = labels.pop("__name__")
    for label in ("instance", "job", "server", "datname"):
        labels.pop(label, None)
    found[name, frozenset(labels.items())] = float(series["value"][1])
missing = different = 0
metrics = json.load(open(metrics_file, encoding="utf-8"))
for metric in metrics:
    # An empty label is none for Prometheus.
    key = metric["name"], frozenset((k, v) for k, v in metric["labels"].items() if v != "")
    if key not in found:
        missing += 1
        print("missing:", key)
    elif not math.isclose(found[key], metric["value"], rel_tol=1e-3, abs_tol=1e-6):
        different += 1
        print("different:", key, found[key], metric["value"])
hot = sum(metric["name"] == "tiered_storage_relation_size_bytes" for metric in metrics)
if missing or different or not 51 <= hot <= 53:
    sys.exit("%d missing, %d different, %d relations" % (missing, different, hot))
print("ok - all %d values are as in the view metrics" % len(metrics))

lint = subprocess.run(["promtool", "check", "metrics"], input="".join(
    line + "\n" for line in get("http://%s/metrics" % exporter).splitlines()
    if "tiered_storage_" in line), capture_output=True, text=True, check=False)
if lint.returncode != 0:
    sys.exit("promtool check metrics: " + lint.stdout + lint.stderr)
print("ok - their names and units are as Prometheus wants them")

empty = []
queries = [target["expr"] for panel in json.load(open(dashboard, encoding="utf-8"))["panels"]
           for target in panel["targets"]]
for query in queries:
    if not ask(query.replace("$database", ".*")) and "_busy_ratio" not in query:
        empty.append(query)
if empty or len(queries) < 10:
    sys.exit("the dashboard asks in vain: %s" % empty)
print("ok - each of the %d queries of the dashboard has an answer" % len(queries))
