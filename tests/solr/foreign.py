"""Collections that someone else made, on the embedded Solr: own schema, own configuration."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import neardup_solr as nd
from tests.solr import api

# The defaults of /select are those of a shop: another parser, and all words are needed.
CONFIG = """<config>
  <luceneMatchVersion>9.12</luceneMatchVersion>
  {factory}
  <updateHandler class="solr.DirectUpdateHandler2">{log}</updateHandler>
  <requestHandler name="/select" class="solr.SearchHandler">
    <lst name="defaults">
      <str name="defType">edismax</str>
      <str name="qf">title body</str>
      <str name="q.op">AND</str>
    </lst>
    {select}
  </requestHandler>
</config>
"""
MANAGED = (
    '<schemaFactory class="ManagedIndexSchemaFactory"><bool name="mutable">{}</bool>'
    '<str name="managedSchemaResourceName">managed-schema.xml</str></schemaFactory>'
)
CLASSIC = '<schemaFactory class="ClassicIndexSchemaFactory"/>'
LOG = "<updateLog/>"

# A shop of books: stored, indexed only, docValues only, copied, dynamic and nested fields.
SCHEMA = """<schema name="shop" version="1.6">
  <fieldType name="string" class="solr.StrField" sortMissingLast="true" docValues="true"/>
  <fieldType name="plong" class="solr.LongPointField" docValues="true"/>
  <fieldType name="text" class="solr.TextField">
    <analyzer>
      <tokenizer class="solr.StandardTokenizerFactory"/>
      <filter class="solr.LowerCaseFilterFactory"/>
    </analyzer>
  </fieldType>
  <fieldType name="_nest_path_" class="solr.NestPathField"/>
  <field name="sku" type="string" indexed="true" stored="true" required="true"/>
  <field name="_version_" type="plong" indexed="false" stored="false"/>
  <field name="_root_" type="string" indexed="true" stored="false" docValues="false"/>
  <field name="_nest_path_" type="_nest_path_"/>
  <field name="title" type="text" indexed="true" stored="true"/>
  <field name="body" type="text" indexed="true" stored="true" multiValued="true"/>
  <field name="price" type="plong" indexed="true" stored="false"/>
  <field name="catchall" type="text" indexed="true" stored="false" multiValued="true"/>
  {more}
  <dynamicField name="*_s" type="string" indexed="true" stored="true"/>
  <dynamicField name="*_txt" type="text" indexed="true" stored="true"/>
  <copyField source="title" dest="catchall"/>
  <copyField source="body" dest="catchall"/>
  {key}
</schema>
"""
KEY = "<uniqueKey>sku</uniqueKey>"
# A field that takes long to index, and to replay: its text has 150,000 parts.
SLOW_TEXT = " ".join(["x" * 100] * 40)
SLOW = """<fieldType name="slow" class="solr.TextField"><analyzer>
<tokenizer class="solr.WhitespaceTokenizerFactory"/>
<filter class="solr.NGramFilterFactory" minGramSize="1" maxGramSize="50"/>
</analyzer></fieldType><field name="slow" type="slow" indexed="true" stored="false"/>"""


@contextmanager
def collection(
    *, schema: str = SCHEMA, more: str = "", key: str = KEY,
    factory: str = MANAGED.format("true"), log: str = LOG, select: str = "", name: str = "",
) -> Iterator[nd.Collection]:  # fmt: skip
    """A fresh core of the embedded Solr with that schema and configuration."""
    name = name or f"foreign_{uuid.uuid4().hex[:12]}"
    url = api.embedded_base()
    configset = api.configsets(url) / name
    (configset / "conf").mkdir(parents=True)
    (configset / "conf" / "solrconfig.xml").write_text(
        CONFIG.format(factory=factory, log=log, select=select)
    )
    file = "schema.xml" if factory == CLASSIC else "managed-schema.xml"
    (configset / "conf" / file).write_text(schema.format(more=more, key=key))
    api.admin(url, "cores", action="CREATE", name=name, configSet=name)
    solr = nd.connect(url, name)
    try:
        yield solr
    finally:
        api.drop(solr)
        shutil.rmtree(configset)
