"""The articles of the made-up wiki, and the life of each link and host by days; content only.

Days count from the beginning of the story. An invented island, invented sources, no real name; every host ends in
.demo, a domain that does not exist, but those of examples and of the archive that a page cites, a made-up one here.
"""

from collections.abc import Mapping
from typing import Final

from weboid.core.record.reasons import Reason
from weboid.core.url.classify import UrlClass
from weboid.demo.links import (
    UP,
    Article,
    cited_copy,
    dead,
    dead_with_host,
    doubtful,
    host_life,
    unwatched,
    works,
)
from weboid.demo.wikipages import InterwikiEntry
from weboid.demo.world import (
    Behaviour,
    BotWall,
    Chain,
    Code,
    HostBehaviour,
    HostState,
    Life,
    Loop,
    Page,
    Redirect,
    Spell,
    Trouble,
)

HOST_LIVES: Final[Mapping[str, Life[HostBehaviour]]] = {
    # The domain was not renewed, and nobody took it.
    "ferryline.demo": host_life((16, HostState.DNS_GONE)),
    # A lightning strike: ten days without a server.
    "lighthouse.demo": host_life((27, HostState.REFUSED), (37, UP)),
    # A move to another content management system, announced as such.
    "council.demo": host_life((21, Code(503, retry_after_s=86_400)), (33, UP)),
    # Renewed eight days too late.
    "bakery.demo": host_life((40, HostState.DNS_GONE), (48, UP)),
    # Its name server has no data any more.
    "observatory.demo": host_life((26, HostState.DNS_SERVFAIL)),
    # The machine still accepts connections and does nothing with them.
    "skarvey.demo": host_life((20, Trouble.SILENCE)),
    "vault.demo": (Spell(0, HostState.TLS_BROKEN),),
}

UNLINKED: Final[Mapping[str, Behaviour]] = {
    "http://council.demo/login": Page(title="Please sign in"),
    "http://collections.demo/object/12": Page(title="A boat model"),
    "http://collections.demo/object/31": Page(title="A harpoon"),
    "http://isles.demo/wiki/Skarvey": Page(title="Skarvey, an isle"),
}
"""URLs that no article links to: targets of redirects and of interwiki links."""

INTERWIKI: Final = (
    InterwikiEntry("isles", "http://isles.demo/wiki/$1"),
    InterwikiEntry("sister", "http://sister.demo/wiki/$1", local=True),
)

LOST_PAGES: Final = "Lost pages of Nordholm"
"""The article with a link for each state of copies."""

_HISTORY = works("http://harbour.demo/history", "A short history of the harbour")
_TIMETABLE = dead_with_host("http://ferryline.demo/timetable", "Timetable of the ferry", Reason.DNS_GONE)
_FARES = dead_with_host("http://ferryline.demo/fares", "Fares", Reason.DNS_GONE)
_HOURS = dead("http://tidalmill.demo/opening-hours", "Opening hours", Reason.NOT_FOUND, (9, Code(404)))
_BROCHURE = dead("http://tidalmill.demo/brochure", "Brochure for visitors", Reason.GONE, (17, Code(410)))
_FIGUREHEAD = dead(
    "http://museum.demo/object/77", "A figurehead", Reason.NOT_FOUND, (15, Redirect("http://collections.demo/77"))
)
_PANS = dead("http://brewery.demo/pans", "The pans", Reason.RESET, (12, Trouble.RESET))
_PILOTS = doubtful("http://pilots.demo/rules", "Rules of the pilots", Reason.LOGIN, (62, Code(401)))
_LEAFLET = works(
    "http://library.demo/leaflets/tidal-power.pdf",
    "Leaflet on tidal power (PDF)",
    (6, Code(404, kind="application/pdf", size_kib=80)),
    reason=Reason.CODE_CORRECTED,
)

ARTICLES: Final = (
    Article(
        "Harbour of Nordholm",
        "The harbour of Nordholm is the only deep-water harbour of the isle. Its inner basin was dug by hand and falls "
        "dry twice a day.\nSince the herring left, it serves the ferry to Skarvey, a handful of crabbers and many "
        "visitors.",
        (
            works("http://harbour.demo/", "The harbour's own site"),
            _HISTORY,
            works("http://harbour.demo/tide-tables.pdf", "Tide tables (PDF)", (0, Page("application/pdf", 48))),
            works("http://harbour.demo/notices", "Notices to mariners", (0, Chain(3)), reason=Reason.MOVED),
            works(
                "http://harbour.demo/old-map",
                "Map of the basins",
                (18, Redirect("/map?basin=inner")),
                reason=Reason.MOVED,
            ),
            works("http://harbour.demo/map?basin=inner", "The inner basin"),
            _TIMETABLE,
        ),
        interwiki=(("isles", "Skarvey"), ("sister", "Harbour")),
    ),
    Article(
        "Tidal mill",
        "The tidal mill stands on the dam between basin and sea. The flood fills the pond through a gate that shuts by "
        "itself, and the ebb drives the wheel.\nIt ground barley until the year of the great storm and is a museum "
        "today.",
        (
            works("http://tidalmill.demo/", "The mill's site"),
            _HOURS,
            _BROCHURE,
            works(
                "http://tidalmill.demo/restoration",
                "The restoration of the wheel",
                (24, Code(404)),
                (50, Page(title="The restoration of the wheel")),
                was_dead=True,
            ),
            works(
                "http://tidalmill.demo/wheel",
                "How the wheel works",
                (11, Code(404)),
                (20, Page(title="How the wheel works")),
            ),
            _LEAFLET,
        ),
    ),
    Article(
        "Nordholm lighthouse",
        "The lighthouse is built of red granite and shows two white flashes every fifteen seconds. Its last keeper "
        "left the tower to a family of jackdaws.",
        (
            works("http://lighthouse.demo/", "Friends of the lighthouse"),
            works("http://lighthouse.demo/lamp", "The lamp and its lens"),
            works("http://lighthouse.demo/keepers?from=1871&to=1964", "List of the keepers"),
            dead_with_host("http://observatory.demo/fog", "Days with fog, by year", Reason.DNS_ERROR),
        ),
    ),
    Article(
        "Ferry to Skarvey",
        "The ferry crosses the sound in forty minutes if the tide allows. The line has changed its owner four times "
        "and its name only once.",
        (
            _TIMETABLE,
            cited_copy(
                "20190611120000", "http://ferryline.demo/timetable", "Timetable of the ferry, as it was in June 2019"
            ),
            _FARES,
            dead_with_host("http://ferryline.demo/ships/gannet", "The ship Gannet", Reason.DNS_GONE),
            dead_with_host("http://skarvey.demo/", "The landing stage of Skarvey", Reason.TIMEOUT),
            _HISTORY,
        ),
    ),
    Article(
        "Town council of Nordholm",
        "The council has nine members and one rule of its own: no sitting during low water, when everybody has work to "
        "do.",
        (
            works("http://council.demo/minutes/1987", "Minutes of 1987"),
            doubtful("http://council.demo/budget", "Budget", Reason.REDIRECT_TO_LOGIN, (35, Redirect("/login", 302))),
            doubtful("http://council.demo/planning", "Planning register", Reason.LOGIN, (0, Code(401))),
            doubtful(
                "http://council.demo/roadworks/quay", "Works at the quay", Reason.REDIRECT_TO_ROOT, (33, Redirect("/"))
            ),
            doubtful("http://council.demo/verdict-1962", "A sealed judgement", Reason.LEGAL, (0, Code(451))),
        ),
    ),
    Article(
        "Nordholm Gazette",
        "The Gazette has appeared every Friday since there was a press on the isle. Its weather column is famous for "
        "being right a day late.",
        (
            doubtful("http://gazette.demo/storm-tide", "The storm tide", Reason.FORBIDDEN, (0, BotWall())),
            doubtful("http://gazette.demo/lanterns", "Night of lanterns", Reason.FORBIDDEN, (13, BotWall())),
            doubtful("http://gazette.demo/archive/1931", "The volume of 1931", Reason.PAYMENT, (0, Code(402))),
            doubtful("http://tickets.demo/press-museum", "Tickets", Reason.BOT_WALL, (0, BotWall(challenge=True))),
        ),
    ),
    Article(
        "Island museum",
        "The museum keeps what the sea left behind and what people did not want to lose: nets, figureheads, a whale's "
        "jaw and some thousand photographs.",
        (
            works(
                "http://museum.demo/object/12",
                "Model of a herring boat",
                (15, Redirect("http://collections.demo/object/12")),
                reason=Reason.MOVED,
            ),
            works(
                "http://museum.demo/object/31",
                "A harpoon",
                (15, Redirect("http://collections.demo/object/31", 308)),
                reason=Reason.MOVED,
            ),
            _FIGUREHEAD,
            dead("http://museum.demo/visit", "Plan a visit", Reason.REDIRECT_LOOP, (12, Loop())),
            works("http://collections.demo/", "The collections"),
            works("http://vault.demo/", "The vault of photographs"),
            works(
                "https://vault.demo/plates", "Glass plates", (0, Page(title="Glass plates")), reason=Reason.NEEDS_HTTP
            ),
        ),
    ),
    Article(
        "Salt brewery",
        "Salt was boiled from sea water over peat fires. The brewery closed when a ship brought a whole load of "
        "cheaper salt as ballast.",
        (
            works("http://brewery.demo/", "Society for the salt brewery"),
            _PANS,
            works("http://bakery.demo/salt-bread", "A recipe for salt bread"),
            dead("http://guild.demo/members", "Members of the guild", Reason.SERVER_ERROR, (14, Code(500))),
            works("http://guild.demo/rules", "Rules of the guild", (43, Code(500)), (50, Page(title="Rules"))),
        ),
    ),
    Article("Skarvey", "Skarvey is an isle of sheep, without a tree and without a link."),
    Article(
        LOST_PAGES,
        "What was written about Nordholm on pages that can no longer be read. Of some an archive has a copy, of some "
        "none, and of some it shows none.",
        (_HOURS, _TIMETABLE, _BROCHURE, _PANS, _FARES, _FIGUREHEAD, _PILOTS),
    ),
    Article(
        "\"Quoted\" & '</script><script>alert(1)</script>' \u2028 \u202eflipped\u202c \u2066isolated\u2069",
        "An article for testing: </script><script>alert(2)</script> <img src=x onerror=alert(3)> "
        "{{1}} ' \" \u2029 \u202e.",
        (
            works('http://harbour.demo/"><script>alert(1)</script>', '"><script>alert(4)</script>'),
            works("http://harbour.demo/it's%20\u2028here", "A separator in the path"),
            works("http://harbour.demo/%E2%80%AEfdp.exe", "A path that runs backwards"),
            works("http://harbour.demo/?q=]]>&amp;--><b>", "Closing marks of everything"),
            dead("http://harbour.demo/</script><script>alert(5)</script>", "gone", Reason.NOT_FOUND, (3, Code(404))),
            unwatched("javascript:alert(1)", UrlClass.IGNORED, "A script"),
            unwatched("mailto:keeper@lighthouse.demo", UrlClass.IGNORED, "A mailbox"),
            unwatched("http://www.example.org/", UrlClass.EXAMPLE, "An example"),
            unwatched(
                "https://en.wikipedia.beta.wmcloud.org/wiki/Harbour", UrlClass.OWN_FARM, "Another wiki of the farm"
            ),
            *(
                unwatched(url, UrlClass.INVALID)
                for url in (
                    "http:///example.org",
                    "http://http://example.org/",
                    "http://docs/about.htm",
                    "http://a document title http://example.org/x",
                    "http://example.com:8o8o/foo",
                    "http://example.c/x",
                    "http://300.1.2.3/",
                )
            ),
        ),
    ),
    Article("Nordholm harbour", redirect="Harbour of Nordholm"),
)
