"""The settings that suit the first texts of a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neardup_solr.measures.auto import choose_measure
from neardup_solr.minhash import sign
from neardup_solr.progress import LOG
from neardup_solr.settings import LONG_TEXT, Settings
from neardup_solr.settings_by_name import ANNOTATED, DEFAULT_SETTINGS, fit_shingles, settings_of


def choose_by_texts(
    settings: Settings | Mapping[str, Any] | None, usual: Settings, texts: Sequence[str]
) -> Settings:
    """Choose the measure and the size of shingles by texts.

    Long texts have no shingles, which a line says, if the `usual` settings are the default and no
    fields are named.
    """
    normalization = settings_of(settings, usual).normalization
    lengths = [len(form.split()) for form in sign.normal_forms(texts, normalization)]
    words = sorted(lengths)[len(lengths) // 2] if lengths else 0
    names_fields = isinstance(settings, Settings) or "fields" in (settings or ())
    if words > LONG_TEXT and usual == DEFAULT_SETTINGS and not names_fields:
        left_out = "word shingles and signature terms are left out (`fields`=all keeps them)"
        LOG.warning("bands suffice for texts of about %d words: %s", words, left_out)
        usual = ANNOTATED
    return fit_settings(settings, usual, texts, lengths)


def fit_settings(
    settings: Settings | Mapping[str, Any] | None,
    usual: Settings,
    texts: Sequence[str],
    words: Sequence[int],
) -> Settings:
    """Return the `usual` settings with the measure and the shingles for texts of so many words."""
    measure = choose_measure(settings_of(settings, usual), words)[0]
    fitted = fit_shingles(settings, usual, map(len, texts))
    return fitted if measure == "words" else replace(fitted, measure=measure)
