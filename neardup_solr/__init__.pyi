from neardup_solr import errors as errors
from neardup_solr import types as types
from neardup_solr.api.annotate import annotate as annotate
from neardup_solr.api.answer import answer as answer
from neardup_solr.api.connect import connect as connect
from neardup_solr.api.dead_letters import dead_letters as dead_letters
from neardup_solr.api.delete import delete as delete
from neardup_solr.api.doctor import doctor as doctor
from neardup_solr.api.duplicates import duplicates as duplicates
from neardup_solr.api.evaluate import evaluate as evaluate
from neardup_solr.api.explain import explain as explain
from neardup_solr.api.gate import gate as gate
from neardup_solr.api.index import index as index
from neardup_solr.api.init import init as init
from neardup_solr.api.lint import lint as lint
from neardup_solr.api.mark import mark as mark
from neardup_solr.api.passages import passages as passages
from neardup_solr.api.read import read as read
from neardup_solr.api.reband import reband as reband
from neardup_solr.api.report import report as report
from neardup_solr.api.retry import retry as retry
from neardup_solr.api.review import review as review
from neardup_solr.api.search import search as search
from neardup_solr.api.serve import serve as serve
from neardup_solr.api.signatures import signatures as signatures
from neardup_solr.api.strip import strip as strip
from neardup_solr.api.tune import tune as tune
from neardup_solr.arguments import Source as Source
from neardup_solr.errors import ArgumentError as ArgumentError
from neardup_solr.errors import CoreMissing as CoreMissing
from neardup_solr.errors import NeardupError as NeardupError
from neardup_solr.errors import RecordError as RecordError
from neardup_solr.errors import SettingsError as SettingsError
from neardup_solr.errors import SolrError as SolrError
from neardup_solr.errors import SolrHalted as SolrHalted
from neardup_solr.errors import SolrUnreachable as SolrUnreachable
from neardup_solr.errors import SourceError as SourceError
from neardup_solr.minhash import signature as signature
from neardup_solr.records import Cluster as Cluster
from neardup_solr.records import Document as Document
from neardup_solr.records import Duplicate as Duplicate
from neardup_solr.records import Match as Match
from neardup_solr.records import Pair as Pair
from neardup_solr.settings import Settings as Settings
from neardup_solr.solr.collection import Collection as Collection
from neardup_solr.verbs.answer import Answers as Answers
from neardup_solr.verbs.duplicates.result import Duplicates as Duplicates
from neardup_solr.verbs.evaluate.evaluation import Evaluation as Evaluation
from neardup_solr.verbs.gate.decision import Decision as Decision
from neardup_solr.verbs.passages.result import Passages as Passages
from neardup_solr.verbs.report import Report as Report

__all__: list[str]
_PLACES: dict[str, str]
_SUBMODULES: dict[str, str]
__version__: str
