"""tune: bands and rows for a demand, and their cost, or a model of what people answered."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.answers import DIFFERENT, SAME
from neardup_solr.answers.verdicts import Answered
from neardup_solr.arguments import Frame, Id, MeasureName, OneOrMore, Way, checked, require
from neardup_solr.errors import SettingsError
from neardup_solr.files import check_apart, check_place, write_lines
from neardup_solr.measures import model as models
from neardup_solr.measures.em import FLOOR
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.logistic import FEWEST, can_learn, learn, leave_out
from neardup_solr.measures.model import Model
from neardup_solr.measures.pairs import number_pairs, pairs_of
from neardup_solr.memory import Spill
from neardup_solr.minhash import plans, sign, signature
from neardup_solr.minhash.plans import Tuning
from neardup_solr.progress import Failures, OnError, OnProgress
from neardup_solr.records import Document, filter_usable, ordered
from neardup_solr.settings import (
    DEFAULT_SETTINGS,
    FIRST_TEXTS,
    Settings,
    fit_shingles,
    refuse_settings,
    settings_of,
)
from neardup_solr.solr.collection import Collection, waiting
from neardup_solr.sources import SourceLike, reading_of
from neardup_solr.sources.choice import fill_in
from neardup_solr.verbs.duplicates import compare, plan
from neardup_solr.verbs.duplicates.read import Work, read_documents
from neardup_solr.verbs.evaluate.id_pairs import id_pairs, known_pairs

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.read import Compared
else:
    Compared = Any


class Influence(NamedTuple):
    """Bits that a measure or a field adds to the odds of a match, if equal and if different.

    Texts are "different" by a measure if they are hardly alike. What the measure `fields` says of a
    field is in it.
    """

    name: str
    equal: float
    different: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Model learned from answers, and its results.

    `answered`: effect of the answers; `is_default`: True if the answers were too few to learn from;
    `documents`: documents read; `candidates`: pairs compared; `found`: unanswered pairs that the
    model finds; `right`: answers that the model predicts when trained without them;
    `default_right`: answers that the default predicts; `unlike`: answers about pairs too dissimilar
    to learn from.
    """

    model: Model
    answered: Answered
    is_default: bool
    documents: int
    candidates: int
    found: int
    right: int
    default_right: int
    unlike: int

    @property
    def influences(self) -> list[Influence]:
        """Bits that each measure and field adds to the odds of a match, the largest first."""
        model, influences = self.model, list[Influence]()
        bits = (model.weights[1:] / math.log(2)).tolist()
        for name, weight in zip(models.MEASURES, bits, strict=False):
            influences.append(Influence(name, weight * _steps(1.0), weight * _steps(FLOOR)))
        if model.evidence is not None:
            share = model.weights[1 + len(models.MEASURES)]
            table = {(row.field, row.level): share * row.bits for row in model.evidence.table()}
            for name, weight in zip(model.fields, bits[-len(model.fields) :], strict=True):
                equal, different = (
                    float(table[name, level] + weight * _steps(agreement))
                    for level, agreement in (("equal", 1.0), ("different", 0.0))
                )
                influences.append(Influence(name, equal, different))
        return sorted(influences, key=lambda each: -abs(each.equal - each.different))

    @checked
    def write(self, path: str | Path) -> None:
        """Write the model to a JSON file, to pass as `model` to functions such as `duplicates`.

        Raises SourceError if the file cannot be written.
        """
        write_lines(Path(path), [self.model.to_text()])


def train(output: str | Path | None = None, **given: Any) -> Training:
    """Train a model by answers about the documents that `duplicates` would compare.

    `given` are arguments of that; the model is written to `output`, if that is named.
    """
    work = plan(**given)
    require(work.measure.needs_texts, "a model compares texts, not estimates",
            "choose a different `measure`")  # fmt: skip
    if output is not None:
        read = {f"`{name}`": Path(given[name]) for name in ("answers", "model") if given.get(name)}
        source, *others = work.sides
        check_apart(read | {"`output`": Path(output)}, source=source, against=[*others][:1])
        check_place(Path(output))
    with waiting(work.sides, work.patience), Spill(memory=work.memory) as spill:
        trained = _train(work, spill)
    if output is not None:
        trained.write(output)
    return trained


def _train(work: Work, spill: Spill) -> Training:
    documents = read_documents(work, spill)
    documents.joins_numbers = False  # as the measure of a model
    living = documents.living().tolist()
    forms = documents.forms()
    counts = count_words([forms[row] for row in living], documents.settings.normalization)
    matcher = compare.make_records(work, documents, counts)
    copies = compare.find_copies(work, documents, matcher.columns)
    distinct = len(documents if copies is None else copies.distinct) - len(documents.dead)
    way = work.choose_way(distinct, documents.fits)
    candidates = compare.find_candidates(work, documents, way, copies, matcher.columns).pairs
    answers = compare.find_answered(documents, work.judged or ())
    name: Any = work.measure.name

    judged = {word: number_pairs(answers.pairs[word]) for word in (SAME, DIFFERENT)}
    numbers = np.unique(np.concatenate([number_pairs(candidates), *judged.values()]))
    alike, values = matcher.compare(pairs_of(numbers), name)
    is_same = np.isin(numbers[alike], judged[SAME])
    is_open = ~(is_same | np.isin(numbers[alike], judged[DIFFERENT]))
    judged_rows = np.flatnonzero(~is_open)
    are_same = is_same[judged_rows]
    same = int(np.count_nonzero(are_same))

    default = models.make_default(name, work.kinds)
    guesses = models.judge(values, default)
    fit = learn(values, guesses, judged_rows, are_same, as_wholes=matcher.as_wholes)
    is_default = len(judged_rows) < FEWEST or not can_learn(guesses[judged_rows], are_same)
    model = replace(
        default,
        weights=default.weights if is_default else fit.weights,
        floor=default.floor if is_default else fit.floor,
        evidence=matcher.weights,
        once=bool(matcher.border),
        same=same,
        different=len(judged_rows) - same,
    )
    is_match = models.judge(values[is_open], model) >= model.threshold
    left_out = leave_out(values[judged_rows], are_same, fit) >= model.threshold
    return Training(
        model=model,
        answered=answers.answered,
        is_default=is_default,
        documents=len(living),
        candidates=len(numbers),
        found=int(np.count_nonzero(is_match)),
        right=int(np.count_nonzero(left_out == are_same)),
        default_right=int(np.count_nonzero((guesses[judged_rows] >= model.threshold) == are_same)),
        unlike=sum(map(len, judged.values())) - len(judged_rows),
    )


def _steps(similarity: float) -> float:
    return (similarity - models.NEUTRAL) / models.SCALE


T = TypeVar("T")
# The arguments of a model; the others are those of bands.
OF_MODELS = (
    "source", "answers", "fields", "measure", "by", "against", "output", "id", "text",
    "settings", "patience", "on_error", "on_progress",
)  # fmt: skip
NAME_ANSWERS = "name the answer file with `answers`"
NEIGHBOURS = 2  # numbers of rows shown above and below the recommended number


@dataclass(frozen=True)
class Sample:
    """A sample of so many `documents`, and the documents of known `pairs`.

    `signatures` are empty for texts without words. Raises SettingsError for a sample of fewer than
    two documents, and for known pairs of which none has both documents.
    """

    pairs: Sequence[tuple[str, str]]
    documents: int
    ids: Sequence[str]
    signatures: Mapping[str, sign.Signature]

    def __post_init__(self) -> None:
        if len(self.ids) < 2:
            raise SettingsError("there are fewer than two documents", "give two or more")
        if self.pairs and not self.present:
            reason = f"no known pair (of {len(self.pairs)}) has both documents in the source"
            raise SettingsError(reason, "check that the pairs have the ids of these documents")

    @cached_property
    def present(self) -> list[tuple[str, str]]:
        """The known pairs that have both documents."""
        return [pair for pair in self.pairs if self.signatures.keys() >= {*pair}]

    @cached_property
    def agreements(self) -> tuple[int, ...]:
        """The pairs of the sample by their number of agreeing hashes."""
        signatures = [self.signatures[id] for id in self.ids]
        with_words = [signature for signature in signatures if len(signature)]
        if not with_words:
            raise SettingsError("no document in the sample has words", "check the text")
        totals = plans.count_agreements(np.stack(with_words)).tolist()
        totals[0] += math.comb(len(signatures), 2) - math.comb(len(with_words), 2)
        return tuple(totals)

    @cached_property
    def sides(self) -> NDArray[np.uint32]:
        """Both signatures of the known pairs with words, shape (2, pairs, hashes)."""
        pairs = [[self.signatures[id] for id in pair] for pair in self.present]
        whole = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
        shaped = np.array(whole, dtype=np.uint32).reshape(-1, 2, len(self.agreements) - 1)
        return np.ascontiguousarray(shaped.transpose(1, 0, 2))

    @property
    def known(self) -> tuple[int, ...]:
        """The known pairs by their number of agreeing hashes, () without such pairs."""
        if not self.present:
            return ()
        equal = (self.sides[0] == self.sides[1]).sum(axis=1)
        totals = np.bincount(equal, minlength=len(self.agreements))
        totals[0] += len(self.present) - len(equal)
        return tuple(totals.tolist())

    def judge(self, plan: plans.Plan) -> plans.Choice:
        """Estimate what a plan costs, and measure its recall by the bands of the known pairs."""
        candidates = plans.expect_candidates(self.agreements, self.documents, plan)
        size = plans.estimate_bytes(plan.bands, len(self.agreements) - 1)
        choice = plans.Choice(plan=plan, candidates=candidates, index_bytes=size)
        if not self.present:
            return choice
        keys = [sign.hash_bands(side, plan.bands, plan.rows) for side in self.sides]
        caught = int((keys[0] == keys[1]).any(axis=1).sum())
        all_pairs = max(caught, self.documents * candidates / 2)
        precision = caught / all_pairs if all_pairs else 1.0
        return replace(choice, recall=caught / len(self.present), precision=precision)


def draw_sample(items: Iterable[T], size: int, seed: int) -> tuple[list[T], int]:
    """Draw a random sample of a stream, and count it (Vitter 1985, algorithm R)."""
    draw = random.Random(seed)
    sample: list[T] = []
    count = 0
    for count, item in enumerate(items, start=1):
        if count <= size:
            sample.append(item)
        elif (place := draw.randrange(count)) < size:
            sample[place] = item
    return sample, count


if TYPE_CHECKING:

    @overload
    def tune(source: Any, *, answers: str | Path, **given: Any) -> Training: ...
    @overload
    def tune(source: Any, *, answers: None = None, **given: Any) -> Tuning: ...


@checked  # type: ignore[misc]  # those above name only what chooses the result
def tune(
    source: Collection | SourceLike,
    *,
    answers: str | Path | None = None,
    fields: OneOrMore | Mapping[str, str] | None = None,
    measure: MeasureName = "auto",
    by: Way | None = None,
    against: Compared | None = None,
    output: str | Path | None = None,
    catch: float = 0.5,
    miss: float = 0.01,
    avoid: float = 0.03,
    load: float = 0.001,
    hashes: int | None = None,
    sample: int = 5_000,
    seed: int = 1,
    known: Sequence[tuple[Id, Id]] | str | Path | Frame | None = None,
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Tuning | Training:
    """Choose bands and rows that meet given limits, or train a model on answers.

    Example: `nd.tune("listings.csv", catch=0.6).choice.plan.bands`

    Bands miss a pair with similarity `catch` with a probability of at most `miss`. They make a pair
    with similarity `avoid` a candidate with a probability of at most `load`. All four are 0 to 1.
    `hashes` defaults to the number in the settings. The cost is estimated from a random sample and
    all documents of `known` pairs; for a collection, from stored signatures.

    With `answers`, a model learns which documents match, from four measures of the texts
    and from any `fields`. Parameters for bands are then ignored, and `known` is refused. The model
    is written to `output`; pass that file to `duplicates` as `model`. If the Solr of a collection
    is away, the call waits for it, at most `patience` (seconds, or "5m").

    Raises ArgumentError if a number is out of range; SettingsError if no bands meet the limits, or
    the collection has no signatures, too few documents or none of the known pairs; SourceError if a
    file cannot be read; SolrError if Solr does not answer.
    """
    arguments = locals() | fill_in(locals(), by_fields=answers is not None)
    if answers is not None:
        require(known is None, "`known` cannot be combined with `answers`", "omit one of them")
        return train(**{name: arguments[name] for name in OF_MODELS})
    of_model = fields is None and against is None and by is None and output is None
    require(of_model, "`fields`, `by`, `against` and `output` require `answers`", NAME_ANSWERS)
    demand = plans.Demand(catch=catch, miss=miss, avoid=avoid, load=load)
    require(sample > 1, f"`sample` cannot be {sample}", "give 2 or more documents")
    fits = hashes is None or 1 <= hashes <= plans.MOST_HASHES
    require(fits, f"`hashes` cannot be {hashes}", f"give 1 to {plans.MOST_HASHES:,} (default: 128)")
    is_file = isinstance(known, str | Path)
    ids = known_pairs(str(known)) if is_file else id_pairs("known", () if known is None else known)
    pairs = sorted({ordered(str(first), str(second)) for first, second in ids})
    failures, current = Failures(on_error), None
    if isinstance(source, Collection):
        refuse_settings(settings, "omit `settings`, or tune on a file")
        with waiting([source], patience):
            used = _read_settings(source, hashes)
        current = plans.plan(used.bands, used.rows, demand)
        read: Callable[..., _Read] = partial(_read_collection, source)
    else:
        opened, reading = reading_of(source, "number", id=arguments["id"], text=arguments["text"])
        documents = sources.documents(opened, reading=reading, on_error=failures.add)
        first = list(islice(documents, FIRST_TEXTS))
        documents = chain(first, documents)
        lengths = (len(document.text) for document in first)
        used = settings_of(settings, fit_shingles(settings, DEFAULT_SETTINGS, lengths))
        if hashes is not None:  # the bands of settings are not used
            used = replace(used, hashes=hashes, bands=1, rows=1, signatures=0)
        read = partial(_sign_source, filter_usable(documents, failures.add), used)
    plan = plans.solve(demand, hashes or used.hashes)
    with waiting([source], patience):
        drawn = Sample(pairs, *read(sample, seed, {id for pair in pairs for id in pair}))
    failures.warn()
    near = range(plan.rows - NEIGHBOURS, plan.rows + NEIGHBOURS + 1)
    others = [other for other in plans.catching(demand, hashes or used.hashes)
              if other.rows in near and other.rows != plan.rows]  # fmt: skip
    return Tuning(
        demand=demand,
        settings=used,
        documents=drawn.documents,
        sampled=len(drawn.ids),
        agreements=drawn.agreements,
        choice=drawn.judge(plan),
        others=tuple(map(drawn.judge, others)),
        current=drawn.judge(current) if current else None,
        known=drawn.known,
        absent=len(pairs) - len(drawn.present),
        failed=failures.count,
    )


def _read_settings(collection: Collection, hashes: int | None) -> Settings:
    """Read the settings of a collection that has signatures of at least `hashes` hashes."""
    stored = collection.needed_settings()
    stored.require("signature")
    if hashes is not None and hashes > stored.hashes:
        reason = f"the collection stores {stored.hashes} hashes, but `hashes` is {hashes}"
        raise SettingsError(reason, "tune on a file (neardup tune FILE), and index it again")
    return stored


_Read = tuple[int, list[str], dict[str, sign.Signature]]  # documents in all, ids drawn, signatures


def _read_collection(collection: Collection, size: int, seed: int, wanted: Set[str]) -> _Read:
    """Draw from the stored signatures of a collection, and read those of the wanted ids."""
    ids, documents = draw_sample(collection.ids(), size, seed)
    stored = collection.stored(list(dict.fromkeys([*ids, *sorted(wanted)])), ["signature"])
    signatures = {row["id"]: signature.decode(row.get("signature", "")) for row in stored}
    return documents, [id for id in ids if id in signatures], signatures


def _sign_source(
    documents: Iterable[Document], settings: Settings, size: int, seed: int, wanted: Set[str]
) -> _Read:
    """Draw from the documents of a source, each id once, and sign these and the wanted ones."""
    chosen: dict[str, Document] = {}

    def deduplicate() -> Iterator[Document]:
        seen = set()
        for document in documents:
            if document.id not in seen:
                seen.add(document.id)
                if document.id in wanted:
                    chosen[document.id] = document
                yield document

    sampled, count = draw_sample(deduplicate(), size, seed)
    texts = {document.id: document.text for document in (*sampled, *chosen.values())}
    signed = sign.sign(list(texts.values()), settings)
    empty = np.empty(0, dtype=np.uint32)
    signatures = {
        id: row if words else empty
        for id, row, words in zip(texts, signed.signatures, signed.words, strict=True)
    }
    return count, [document.id for document in sampled], signatures
