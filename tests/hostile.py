"""Ids and values that query syntax, JSON or an address would take for something else."""

HOSTILE = [
    "plain", "two words", " leading", "trailing ", "a,b", "a\tb", "a\nb", "a\rb", 'a"b', "a'b",
    "a\\b", "a\\", '"', "\\", "a:b", "*", "?", "a*", "*:*", "(a)", "[a TO b]", "{a}", "a~2", "a^5",
    "AND", "NOT a", "+a -b", "a&&b", "a||b", "/a.*/", "{!term f=id}x", "$id", "${id}", "${a:b}",
    "_query_:x", "a!b", "a/../b", "<a>&amp;</a>", "é\u0301 日本語 😀 \u202e",
]  # fmt: skip
