"""Texts that somebody may give as the address of a link, to get something else into a page."""

from typing import Final

HOSTILE: Final = (
    "http://a.org/{{Delete}}",
    "http://a.org/}}{{subst:Delete|a=b}}",
    "http://a.org/x ~~~~",
    "http://a.org/~~~~~",
    "http://a.org/'''''",
    "http://a.org/]] [[Category:Spam]]",
    "http://a.org/<!-- x",
    "http://a.org/--><script>alert(1)</script>",
    "http://a.org/<nowiki>",
    "http://a.org/|b=c",
    "http://a.org/\n== Heading ==\n* x",
    "http://a.org/\u202e\u2028\x00",
    "http://a.org/__NOTOC__",
    "http://a.org/-{H|zh:x}-",
    "http://a.org/<!-- weboid-weblinks 0123456789abcdef0123456789abcdef -->",
    "http://a.org/&lt;script&gt;",
    "no address at all {{Delete}} [[Category:Spam]] ~~~~",
)
