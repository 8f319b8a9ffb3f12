"""Signs of HTML in texts: tags and entities, but no `<` of maths or code, and no other language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from neardup_solr.errors import RecordError
from neardup_solr.records import Document
from neardup_solr.regex import regex
from neardup_solr.sources.part import Piece

FIRST_TEXTS: Final = 1_000  # by which it is told whether texts are HTML
FIRST_CHARACTERS: Final = 2_000  # of each
_ELEMENTS: Final = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink"
    " blockquote body br button canvas caption center cite code col colgroup data datalist dd del"
    " details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame"
    " frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend"
    " li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol"
    " optgroup option output p param picture pre progress q rp rt ruby s samp script search section"
    " select slot small source span strike strong style sub summary sup svg table tbody td template"
    " textarea tfoot th thead time title tr track tt u ul var video wbr"
)
# Attributes that have no value. With other words behind its name, a tag is none: a <b and c> d.
_SWITCHES: Final = (
    "allowfullscreen async autoplay checked compact controls defer disabled hidden ismap itemscope"
    " loop multiple muted noshade novalidate nowrap open readonly required reversed selected"
)
ELEMENTS: Final = frozenset(_ELEMENTS.split())
SWITCHES: Final = frozenset(_SWITCHES.split())
_VALUE: Final = r"\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'=<>`]+)"
TAG: Final = regex(
    r"<(?:/([A-Za-z][\w:.-]*)\s*|([A-Za-z][\w:.-]*)"
    rf"(?:\s+(?:[\w:@.-]+{_VALUE}|{'|'.join(sorted(SWITCHES))}))*\s*/?)>"
)
# Not those that are names of variables in code, such as &sum; and &pi;.
_ENTITY: Final = regex(
    r"&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6}|amp|lt|gt|quot|apos|nbsp|[lrb][sd]quo|[lr]aquo|sbquo"
    r"|[nm]dash|hellip|bull|middot|copy|reg|trade|euro|pound|yen|cent|sect|para|deg|plusmn|times"
    r"|divide|frac(?:12|14|34)|sup[123]|micro|ord[fm]|iexcl|iquest|shy|szlig|(?:ae|oe|AE|OE)lig"
    r"|[aeiouyncAEIOUYNC](?:uml|acute|grave|circ|tilde|ring|cedil|slash)|[sS]caron"
    r"|eth|ETH|thorn|THORN|zwn?j|e[nm]sp|thinsp);"
)
_XML: Final = regex(
    r"\s*<(?:\?xml\b|[^<>]*\sxmlns(?::\w+)?\s*=\s*[\"'](?!http://www\.w3\.org/1999/xhtml))"
)


def is_html(text: str) -> bool:
    """Tell whether most tags of a text are of HTML, or it has none but entities."""
    if "<" in text:
        names = [(end or begin).lower() for end, begin in TAG.findall(text)]
        plain = [name for name in names if not is_extension(name)]
        if names:
            of_html = sum(name in ELEMENTS for name in plain)
            return 2 * of_html > len(plain) and not _XML.match(text)
    return "&" in text and _ENTITY.search(text) is not None


def is_extension(name: str) -> bool:
    """Tell whether a tag is one that others add to HTML, such as o:p of Word."""
    return ":" in name or "-" in name


def notice_html(
    label: str, notify: Callable[[str], None], pieces: Iterator[Piece]
) -> Iterator[Piece]:
    """Pass records on, with a notice if most of the first texts are HTML."""
    texts = looked = marked = 0
    for piece in pieces:
        if not isinstance(piece, RecordError):
            first: Sequence[str] = [piece.text] if isinstance(piece, Document) else piece.texts
            first = first[: FIRST_TEXTS - looked]
            looked += len(first)
            for text in first:
                texts += bool(text)
                marked += is_html(text[:FIRST_CHARACTERS])
        yield piece
        if looked >= FIRST_TEXTS:
            break
    if 2 * marked > texts:
        line = "most texts are HTML, whose tags and entities are compared as words"
        notify(f"{label}: {line}; set `strip_html` to compare them as a browser shows them")
    yield from pieces
