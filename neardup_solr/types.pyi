from neardup_solr.answers import Answer as Answer
from neardup_solr.argument_types import Action as Action
from neardup_solr.argument_types import By as By
from neardup_solr.argument_types import FieldKind as FieldKind
from neardup_solr.argument_types import Judgement as Judgement
from neardup_solr.argument_types import Linkage as Linkage
from neardup_solr.argument_types import MeasureName as MeasureName
from neardup_solr.argument_types import PairMeasure as PairMeasure
from neardup_solr.argument_types import Way as Way
from neardup_solr.dead_letter_file import Letter as Letter
from neardup_solr.minhash.band_plans import Tuning as Tuning
from neardup_solr.progress import OnError as OnError
from neardup_solr.progress import OnProgress as OnProgress
from neardup_solr.progress import Progress as Progress
from neardup_solr.records import Member as Member
from neardup_solr.records import Passage as Passage
from neardup_solr.sources import SourceLike as SourceLike
from neardup_solr.verbs.annotate.summary import AnnotateSummary as AnnotateSummary
from neardup_solr.verbs.annotate.summary import StripSummary as StripSummary
from neardup_solr.verbs.doctor import Diagnosis as Diagnosis
from neardup_solr.verbs.duplicates.request import Compared as Compared
from neardup_solr.verbs.explain.explanation import Explanation as Explanation
from neardup_solr.verbs.gate.decisions import Decisions as Decisions
from neardup_solr.verbs.index_run import IndexSummary as IndexSummary
from neardup_solr.verbs.init import Preparation as Preparation
from neardup_solr.verbs.lint import Lint as Lint
from neardup_solr.verbs.mark import Marks as Marks
from neardup_solr.verbs.retry import RetrySummary as RetrySummary
from neardup_solr.verbs.review.session import Reviewed as Reviewed
from neardup_solr.verbs.signatures import SignaturesSummary as SignaturesSummary
from neardup_solr.verbs.tune.training import Training as Training

__all__: list[str]
_PLACES: dict[str, str]
