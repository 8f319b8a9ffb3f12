from neardup_solr import errors as errors
from neardup_solr import types as types
from neardup_solr.api.collections import connect as connect
from neardup_solr.api.collections import dead_letters as dead_letters
from neardup_solr.api.collections import delete as delete
from neardup_solr.api.collections import index as index
from neardup_solr.api.collections import init as init
from neardup_solr.api.collections import mark as mark
from neardup_solr.api.collections import report as report
from neardup_solr.api.collections import retry as retry
from neardup_solr.api.collections import search as search
from neardup_solr.api.existing import annotate as annotate
from neardup_solr.api.existing import doctor as doctor
from neardup_solr.api.existing import lint as lint
from neardup_solr.api.existing import reband as reband
from neardup_solr.api.existing import strip as strip
from neardup_solr.api.files import answer as answer
from neardup_solr.api.files import duplicates as duplicates
from neardup_solr.api.files import evaluate as evaluate
from neardup_solr.api.files import explain as explain
from neardup_solr.api.files import read as read
from neardup_solr.api.files import review as review
from neardup_solr.api.files import signatures as signatures
from neardup_solr.api.files import tune as tune
from neardup_solr.api.new_documents import gate as gate
from neardup_solr.api.new_documents import serve as serve
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
from neardup_solr.verbs.report import Report as Report

__all__: list[str]
_PLACES: dict[str, str]
_SUBMODULES: dict[str, str]
__version__: str
