"""Counts and times of a service, in the names of Prometheus."""

from __future__ import annotations

import math
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from neardup_solr.log import Log
from neardup_solr.verbs.serve.log_lines import to_warning
from neardup_solr.verbs.serve.service import READY_SECONDS, Service


class Metrics:
    """Counts and times, in the names of Prometheus."""

    def __init__(self, service: Service, log: Log) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        place: dict[str, Any] = {"registry": self.registry, "namespace": "neardup"}
        self.requests = Counter("requests", "Requests", ["path", "status"], **place)
        self.seconds = Histogram(
            "request_seconds", "Time to answer", ["path"], **place,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )  # fmt: skip
        self.documents = Counter("documents", "Documents in requests", ["path"], **place)
        self.decisions = Counter("decisions", "Decisions", ["action"], **place)
        self.refused = Counter("refused", "Requests refused because too many were waiting", **place)
        self.at_work = Gauge("requests_in_flight", "Requests being processed or waiting", **place)
        self.unsigned = Gauge("unsigned_documents", "Documents without a signature", **place)
        self.dropped = Counter("log_lines_dropped", "Lines of the log that were dropped", **place)
        self.solr_up = Gauge("solr_up", "1 if the collection can be served", **place)
        self.solr_up.set_function(lambda: not service.find_problem(READY_SECONDS))
        self.unsigned.set_function(lambda: math.nan if (n := service.unsigned) is None else n)
        log.to_line, log.on_drop = to_warning, self.dropped.inc
