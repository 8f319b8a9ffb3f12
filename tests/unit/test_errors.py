"""The error tree: facts as attributes, pickling, next steps."""

import pickle

import pytest

from neardup_solr import errors as e

EXAMPLES = [
    e.SourceError("x.csv", "is empty", "name another", code="file-empty"),
    e.RecordError("x.csv, line 2", "the id is empty", "", code="id-invalid"),
    e.SettingsError("rows must be 1 or more", "choose others", code="settings-differ"),
    e.ArgumentError("`rows` cannot be 0", "give 1 or more", code="argument-out-of-range"),
    e.DataError("the field 'born' has no date", "compare it as text", code="values-unfit"),
    e.JobError("another run of this job is in progress", "wait", code="job-busy"),
    e.SolrError("http://h/solr", "refuses", "look into its log", code="collection-exists"),
    e.SolrUnreachable("http://h/solr", "connection refused"),
    e.SolrUnreachable("http://h/solr", "connection refused", "check that it is running"),
    e.SolrUnauthorized("http://h/solr", 401),
    e.SolrAnswerError("http://h/solr", 500, "Solr says: no", "look", code="solr-failed"),
    e.SolrHalted("http://h/solr/x", "No space left on device"),
    e.CoreMissing("http://h/solr", "listings"),
    e.CoreMissing("http://127.0.0.1:18983/solr", "listings", True),
    e.SchemaError("http://h/solr/x", ["content_ng", "signature"]),
    e.DocumentNotFound("http://h/solr/x", "7"),
    e.TemplateError(["a cluster"], "a template, not copies"),
    e.ServerError("no Java", "install it", code="java-missing"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error: e.NeardupError) -> None:
    """An error that crosses processes keeps its text and its facts."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
    assert again.code == error.code != "other"
    assert again.code in e.CODES


def test_a_record_has_a_next_step() -> None:
    """As all errors have; its text is without it."""
    error = e.RecordError("x.csv, line 2", "too_large: more than 9 bytes", code="record-too-large")
    assert "max_doc_bytes" in error.next_step
    assert str(error) == "x.csv, line 2: too_large: more than 9 bytes"
    assert e.RecordError("x.csv, line 2", "odd").next_step


def test_every_error_is_in_the_examples_and_the_drawing() -> None:
    """The tree at the top of the module names every class, and each has an example here."""
    classes = {name for name, value in vars(e).items() if isinstance(value, type)
               and issubclass(value, e.NeardupError)}  # fmt: skip
    assert classes - {"NeardupError"} == {type(error).__name__ for error in EXAMPLES}
    assert e.__doc__ is not None
    assert all(name in e.__doc__ for name in classes)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_are_one_line(error: e.NeardupError) -> None:
    """Each error is a single line."""
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:secret@h/x", "http://…@h/x"),
        ("http:/me:secret@h/x", "http:/…@h/x"),
        ("https://secret@h and ftp://a:b@c", "https://…@h and ftp://…@c"),
        ("http://h/x", "http://h/x"),
        ("somebody@example.org: http://h", "somebody@example.org: http://h"),
    ],
)
def test_an_address_by_mistake_shows_no_password(text: str, shown: str) -> None:
    """Whether it was named as a source or as a setting."""
    for error in (e.SourceError(text, "is none", "x"), e.SettingsError(text, "x")):
        assert str(error).startswith(shown)
        assert "secret" not in repr(error)
