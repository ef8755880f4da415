"""Scripts for pywikibot, found by ``pwb`` once ``weboid[bot]`` is installed (B): thin shells around ``weboid/bot``.

They are a package of their own, next to ``weboid``, because pywikibot's entry point wants a folder of scripts with a
package ``i18n`` inside.
"""

from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).parent
"""Where pywikibot finds the scripts; the name of this folder must be that of the package."""
