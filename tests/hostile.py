"""Ids and values that query syntax, JSON or an address would take for something else."""

HOSTILE = [
    "plain", "two words", " leading", "trailing ", "a,b", "a\tb", "a\nb", "a\rb", 'a"b', "a'b",
    "a\\b", "a\\", '"', "\\", "a:b", "*", "?", "a*", "*:*", "(a)", "[a TO b]", "{a}", "a~2", "a^5",
    "AND", "NOT a", "+a -b", "a&&b", "a||b", "/a.*/", "{!term f=id}x", "$id", "${id}", "${a:b}",
    "_query_:x", "a!b", "a/../b", "<a>&amp;</a>", "é\u0301 日本語 😀 \u202e",
]  # fmt: skip

# More of them: other parsers of Solr, forms and addresses, JSON, numbers and dates, routes, letters
# that look alike or fold, marks that nobody sees, the longest id there may be.
MORE = [
    "PLAIN", "-plain", "plain -twin", "a;b", "a%20b", "%2F", "a&fq=*:*", "a#b", "a=b", "a?b=c",
    "a\x00b", "a\x1fb", "a\u2028b", "\ufeffa", '" OR id:*', "') OR ('1'='1", "{!lucene}*:*",
    "{!terms f=id}a,b", "{!frange l=0}1", "id:[* TO *]", "*:* -id:x", "$any", "#{id}", "null", "[]",
    "{}", "007", "7", "1e3", "2026-01-01T00:00:00Z", "!a", "a/2!b", "\u00e9", "e\u0301", "\u0130",
    "a\u200db", "\U0001d538" * 128,
]  # fmt: skip
