"""tune: bands and rows for a demand, and their cost, or a model of what people answered."""

from __future__ import annotations

from neardup_solr.minhash.band_plans import Tuning
from neardup_solr.verbs.tune.bands import tune_bands
from neardup_solr.verbs.tune.request import TuneRequest
from neardup_solr.verbs.tune.training import Training, train


def run_tune(request: TuneRequest) -> Tuning | Training:
    """Choose bands and rows that meet a demand, or train a model if answers are named."""
    request = request.choose_columns()
    request.check()
    return tune_bands(request) if request.answers is None else train(request)
