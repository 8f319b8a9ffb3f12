"""Choose bands and rows that meet a demand, by a sample of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

from neardup_solr import sources
from neardup_solr.errors import SettingsError
from neardup_solr.minhash import band_plans
from neardup_solr.minhash.band_plans import Tuning
from neardup_solr.progress import Failures
from neardup_solr.records import Document, filter_usable, ordered
from neardup_solr.settings import Settings, refuse_settings
from neardup_solr.settings_by_name import DEFAULT_SETTINGS, FIRST_TEXTS, fit_shingles, settings_of
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.patience import keep_patience
from neardup_solr.sources import reading_of
from neardup_solr.verbs.evaluate.id_pairs import id_pairs, known_pairs
from neardup_solr.verbs.tune.request import TuneRequest
from neardup_solr.verbs.tune.sample import Drawn, Sample, read_collection, sign_source

NEIGHBOURS = 2  # numbers of rows shown above and below the recommended number


def tune_bands(request: TuneRequest) -> Tuning:
    """Choose bands and rows that meet the demand of a request, and estimate what they cost."""
    source, demand, hashes = request.source, request.demand, request.hashes
    pairs, failures, current = _read_known(request.known), Failures(request.on_error), None
    if isinstance(source, Collection):
        refuse_settings(request.settings, "omit `settings`, or tune on a file")
        with keep_patience([source], request.patience):
            settings = _read_settings(source, hashes)
        current = band_plans.plan(settings.bands, settings.rows, demand)
        draw: Callable[..., Drawn] = partial(read_collection, source)
    else:
        settings, documents = _open_source(request, failures)
        draw = partial(sign_source, documents, settings)
    plan = band_plans.solve(demand, hashes or settings.hashes)
    wanted = {id for pair in pairs for id in pair}
    with keep_patience([source], request.patience):
        sample = Sample(pairs, *draw(request.sample, request.seed, wanted))
    failures.warn()
    near = range(plan.rows - NEIGHBOURS, plan.rows + NEIGHBOURS + 1)
    others = [other for other in band_plans.catching(demand, hashes or settings.hashes)
              if other.rows in near and other.rows != plan.rows]  # fmt: skip
    return Tuning(
        demand=demand,
        settings=settings,
        documents=sample.documents,
        sampled=len(sample.ids),
        agreements=sample.agreements,
        choice=sample.judge(plan),
        others=tuple(map(sample.judge, others)),
        current=sample.judge(current) if current else None,
        known=sample.known,
        absent=len(pairs) - len(sample.present),
        failed=failures.count,
    )


def _read_known(known: object) -> list[tuple[str, str]]:
    """Read known pairs, each once, in natural order."""
    is_file = isinstance(known, str | Path)
    pairs = (
        known_pairs(str(known)) if is_file else id_pairs("known", () if known is None else known)
    )
    return sorted({ordered(str(first), str(second)) for first, second in pairs})


def _open_source(request: TuneRequest, failures: Failures) -> tuple[Settings, Iterator[Document]]:
    """Open a source, and choose the settings by its first texts."""
    source, reading = reading_of(request.source, "number", id=request.id, text=request.text)
    documents = sources.open_source(source, reading).documents(failures.add)
    first = list(islice(documents, FIRST_TEXTS))
    lengths = (len(document.text) for document in first)
    fitted = fit_shingles(request.settings, DEFAULT_SETTINGS, lengths)
    settings = settings_of(request.settings, fitted)
    if request.hashes is not None:  # the bands of settings are not used
        settings = replace(settings, hashes=request.hashes, bands=1, rows=1, signatures=0)
    return settings, filter_usable(chain(first, documents), failures.add)


def _read_settings(collection: Collection, hashes: int | None) -> Settings:
    """Read the settings of a collection that has signatures of at least `hashes` hashes."""
    stored = collection.needed_settings()
    stored.require("signature")
    if hashes is not None and hashes > stored.hashes:
        reason = f"the collection stores {stored.hashes} hashes, but `hashes` is {hashes}"
        step = "tune on a file (neardup tune FILE), and index it again"
        raise SettingsError(reason, step, code="settings-differ")
    return stored
