"""The one script of pages for people, which completes titles in the form and selects wikitext that is clicked (W-3);
and its place in the security policy.

It stands in the page, and the policy names it by its hash (CSP, script-src): no other script runs there, not even one
of this service, whose calls for gadgets are scripts too (W-1). The list that it fills is the browser's own (datalist),
which has its keys and names for screen readers already; without the script the form is the same. Browsers do not
enlarge that list with the page.
"""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

SCRIPT: Final = (Path(__file__).parents[1] / "static/titles.js").read_text(encoding="utf-8")
SOURCE: Final = f"'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'"
