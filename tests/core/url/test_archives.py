"""Web archives by their URLs (A-2): the service, the original and the moment, for each form of each service."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.archives import ARCHIVES, BY_NUMBER, Standing, snapshot_of
from weboid.core.url.urls import MAX_URL, normal, parse

PAGE = "http://www.mill.demo/wheel?a=1&b=2"
IN_A_PARAMETER = "http%3A%2F%2Fwww.mill.demo%2Fwheel%3Fa%3D1%26b%3D2"
FULL = "20110203040506"
CACHE = "webcache.googleusercontent.com/search?q=cache:"

STAMPED = {
    "wayback": [
        f"https://web.archive.org/web/{FULL}/{PAGE}",
        f"https://web.archive.org/web/{FULL}id_/{PAGE}",
        f"http://web.archive.org:80/web/{FULL}/{PAGE}",
        f"https://www.archive.org/web/{FULL}/{PAGE}",
        f"http://wayback.archive.org/web/{FULL}/{PAGE}",
        f"http://replay.web.archive.org/{FULL}/{PAGE}",
        f"https://web.archive.org/web/{FULL}/http:/www.mill.demo/wheel?a=1&b=2",
        f"https://web.archive.org/web/{FULL}/www.mill.demo/wheel?a=1&b=2",
        f"https://web.archive.org/web/{FULL}/http://www.mill.demo:80/wheel?a=1&b=2#top",
    ],
    "archive.today": [
        f"https://archive.today/{FULL}/{PAGE}",
        f"http://www.archive.is/2011.02.03-040506/{PAGE}",
        f"https://archive.ph/{FULL}/{PAGE}",
    ],
    "archive-it": [
        f"https://wayback.archive-it.org/all/{FULL}/{PAGE}",
        f"https://wayback.archive-it.org/1234/{FULL}mp_/{PAGE}",
    ],
    "loc": [
        f"http://webarchive.loc.gov/lcwa0010/{FULL}/{PAGE}",
        f"http://webarchive.loc.gov/all/{FULL}/{PAGE}",
        f"https://webarchive-beta.loc.gov/playback-services/general/{FULL}/{PAGE}",
    ],
    "arquivo": [
        f"https://arquivo.pt/wayback/{FULL}/{PAGE}",
        f"https://arquivo.pt/noFrame/replay/{FULL}/{PAGE}",
        f"https://arquivo.pt/wayback/wayback/{FULL}mp_/{PAGE}",
    ],
    "stanford": [f"https://swap.stanford.edu/{FULL}/{PAGE}", f"https://swap.stanford.edu/web/{FULL}/{PAGE}"],
    "bibalex": [f"http://web.archive.bibalex.org:80/web/{FULL}/{PAGE}"],
    "nationalarchives": [
        f"https://webarchive.nationalarchives.gov.uk/{FULL}/{PAGE}",
        f"https://webarchive.nationalarchives.gov.uk/ukgwa/{FULL}/{PAGE}",
        f"http://webarchive.nationalarchives.gov.uk/tna/{FULL}/{PAGE}",
    ],
    "parliament": [f"http://webarchive.parliament.uk/{FULL}/{PAGE}"],
    "ukwa": [
        f"https://www.webarchive.org.uk/wayback/archive/{FULL}mp_/{PAGE}",
        f"https://www.webarchive.org.uk/wayback/en/archive/{FULL}mp_/{PAGE}",
        f"https://beta.webarchive.org.uk/wayback/archive/{FULL}/{PAGE}",
    ],
    "nrscotland": [f"https://webarchive.nrscotland.gov.uk/{FULL}/{PAGE}"],
    "proni": [f"http://webarchive.proni.gov.uk/{FULL}/{PAGE}"],
    "vefsafn": [
        f"http://wayback.vefsafn.is/wayback/{FULL}/{PAGE}",
        f"https://vefsafn.is/{FULL}/{PAGE}",
        f"https://vefsafn.is/is/{FULL}/{PAGE}",
    ],
    "europarchive": [f"http://collection.europarchive.org/nli/{FULL}/{PAGE}"],
    "internetmemory": [f"http://collections.internetmemory.org/nli/{FULL}/{PAGE}"],
    "collectionscanada": [f"http://www.collectionscanada.gc.ca/webarchives/{FULL}/{PAGE}"],
    "bac-lac": [
        f"http://webarchive.bac-lac.gc.ca:8080/wayback/{FULL}/{PAGE}",
        f"https://webarchiveweb.wayback.bac-lac.canada.ca/web/{FULL}/{PAGE}",
    ],
    "banq": [f"https://waext.banq.qc.ca/wayback/{FULL}/{PAGE}"],
    "warp": [f"https://warp.da.ndl.go.jp/collections/{FULL}/{PAGE}"],
    "nla": [
        f"https://webarchive.nla.gov.au/gov/{FULL}/{PAGE}",
        f"https://webarchive.nla.gov.au/gov/wayback/{FULL}/{PAGE}",
        f"https://web.archive.org.au/awa/{FULL}/{PAGE}",
        f"http://pandora.nla.gov.au/nph-wb/{FULL}/{PAGE}",
    ],
    "padicat": [
        f"http://www.padi.cat:8080/wayback/{FULL}/{PAGE}",
        f"https://wayback.padicat.cat/wayback/{FULL}/{PAGE}",
    ],
    "nlb": [f"http://eresources.nlb.gov.sg/webarchives/wayback/{FULL}/{PAGE}"],
    "nuk": [
        f"http://nukrobi2.nuk.uni-lj.si:8080/wayback/{FULL}/{PAGE}",
        f"https://arhiv.nuk.uni-lj.si/wayback/{FULL}/{PAGE}",
    ],
    "veebiarhiiv": [f"http://veebiarhiiv.digar.ee/a/{FULL}/{PAGE}"],
    "bib-bvb": [f"http://langzeitarchivierung.bib-bvb.de/wayback/{FULL}/{PAGE}"],
    "webharvest": [f"https://www.webharvest.gov/congress110th/{FULL}/{PAGE}"],
    "perma": [f"http://perma-archives.org/warc/{FULL}/{PAGE}"],
    "wikiwix": [f"http://archive.wikiwix.com/cache/{FULL}/{PAGE}"],
    "yorku": [f"https://digital.library.yorku.ca/wayback/{FULL}/{PAGE}"],
    "mementoweb": [f"https://timetravel.mementoweb.org/memento/{FULL}/{PAGE}"],
    "webrecorder": [f"https://webrecorder.io/ann/mills/{FULL}/{PAGE}"],
    "ghostarchive": [f"https://ghostarchive.org/archive/{FULL}/{PAGE}"],
    "nlnz": [
        f"https://ndhadeliver.natlib.govt.nz/webarchive/{FULL}/{PAGE}",
        f"https://ndhadeliver.natlib.govt.nz/webarchive/wayback/{FULL}mp_/{PAGE}",
    ],
    "haw": [f"https://haw.nsk.hr/wayback/{FULL}/{PAGE}", f"https://haw.nsk.hr/wayback/haw/{FULL}/{PAGE}"],
    "nli": [f"https://wayback.nli.org.il/{FULL}/{PAGE}", f"https://wayback.nli.org.il/wayback/{FULL}/{PAGE}"],
    "rhizome": [f"https://webarchives.rhizome.org/mills/{FULL}/{PAGE}"],
    "megalodon": [
        f"https://megalodon.jp/2011-0203-0405-06/{PAGE}",
        "https://megalodon.jp/2011-0203-0405-06/http://www.mill.demo:80/wheel?a=1&b=2",
        "http://www.megalodon.jp/ref/2011-0203-0405-06/www.mill.demo/wheel?a=1&b=2",
    ],
}

OTHERS = [
    (f"https://web.archive.org/web/*/{PAGE}", "wayback", PAGE, None),
    (f"https://web.archive.org/web/{PAGE}", "wayback", PAGE, None),
    (f"https://web.archive.org/web/2*/{PAGE}", "wayback", PAGE, None),
    (f"https://web.archive.org/web/2011/{PAGE}", "wayback", PAGE, "2011-01-01 00:00:00"),
    (f"https://web.archive.org/web/2011020/{PAGE}", "wayback", PAGE, "2011-02-01 00:00:00"),
    (f"https://web.archive.org/web/20111303/{PAGE}", "wayback", PAGE, None),
    (f"https://web.archive.org/web/2011/{IN_A_PARAMETER}", "wayback", PAGE, "2011-01-01 00:00:00"),
    ("https://web.archive.org/web/2011/javascript:alert(1)", "wayback", None, "2011-01-01 00:00:00"),
    ("https://web.archive.org/web/2011/http://no-dot/", "wayback", None, "2011-01-01 00:00:00"),
    ("https://archive.today/AbCdE", "archive.today", None, None),
    ("https://archive.md/", "archive.today", None, None),
    ("https://archive.ph/wip/AbCdE", "archive.today", None, None),
    # The nine digits are the moment, in base 62: a known example of the service's own.
    (f"https://www.webcitation.org/5kQWuVJsz?url={IN_A_PARAMETER}", "webcite", PAGE, "2009-10-10 19:09:17"),
    ("http://webcitation.org/5kQWuVJsz", "webcite", None, "2009-10-10 19:09:17"),
    (f"https://www.webcitation.org/query?url={IN_A_PARAMETER}&date=2011-02-03", "webcite", PAGE, "2011-02-03 00:00:00"),
    ("https://www.webcitation.org/query?id=1234567890", "webcite", None, None),
    (f"http://pandora.nla.gov.au/pan/10063/20110203-0405/{PAGE[7:]}", "nla", PAGE, "2011-02-03 04:05:00"),
    (f"http://pandora.nla.gov.au/nph-arch/2011/S2011-Feb-3/{PAGE}", "nla", PAGE, "2011-02-03 00:00:00"),
    ("http://pandora.nla.gov.au/nph-arch/2011/S2011-Xyz-3/http://mill.demo/", "nla", "http://mill.demo/", None),
    ("https://perma.cc/AB12-CD34", "perma", None, None),
    (f"http://archive.wikiwix.com/cache/?url={IN_A_PARAMETER}&apiresponse=1", "wikiwix", PAGE, None),
    (f"http://archive.wikiwix.com/cache/index2.php?url={IN_A_PARAMETER}", "wikiwix", PAGE, None),
    (f"http://archive.wikiwix.com/cache/index2.php?apiresponse=1&url={IN_A_PARAMETER}", "wikiwix", PAGE, None),
    ("http://web.archive.org/20020126134537/www.mill.demo/", "wayback", "http://www.mill.demo/", "2002-01-26 13:45:37"),
    (f"https://wayback.archive-it.org/all/{PAGE}", "archive-it", PAGE, None),
    (f"https://wayback.archive-it.org/1068/*/{PAGE}", "archive-it", PAGE, None),
    (f"https://arquivo.pt/wayback/{PAGE}", "arquivo", PAGE, None),
    (f"https://webarchive.nationalarchives.gov.uk/ukgwa/*/{PAGE}", "nationalarchives", PAGE, None),
    (f"https://www.webarchive.org.uk/wayback/en/archive/{PAGE}", "ukwa", PAGE, None),
    (f"https://web.archive.org.au/awa/{PAGE}", "nla", PAGE, None),
    ("https://ghostarchive.org/archive/AbC12", "ghostarchive", None, None),
    ("http://www.freezepage.com/1296705906ABCDEFGHIJ", "freezepage", None, "2011-02-03 04:05:06"),
    (f"http://{CACHE}AbCdEfGhIjK:www.mill.demo/a+old+mill&hl=de", "google-cache", "http://www.mill.demo/a", None),
    (f"https://{CACHE}http://mill.demo/", "google-cache", "http://mill.demo/", None),
]


def test_a_snapshot_tells_its_service_its_original_and_its_moment() -> None:
    for name, url in ((name, url) for name, urls in STAMPED.items() for url in urls):
        found = snapshot_of(url)
        assert found, url
        assert (found.archive.name, str(found.original)) == (name, normal(PAGE)), url
        assert found.taken == datetime(2011, 2, 3, 4, 5, 6, tzinfo=UTC), url


def test_other_forms_tell_what_they_tell() -> None:
    for url, name, original, taken in OTHERS:
        found = snapshot_of(url)
        assert found, url
        assert (found.archive.name, found.original and str(found.original)) == (name, original and normal(original)), (
            url
        )
        assert (found.taken and f"{found.taken:%Y-%m-%d %H:%M:%S}") == taken, url


def test_every_service_has_a_vector_and_a_number_of_its_own() -> None:
    assert {archive.name for archive in ARCHIVES} == STAMPED.keys() | {name for _, name, _, _ in OTHERS}
    assert len(BY_NUMBER) == len(ARCHIVES) == len({archive.name for archive in ARCHIVES}) >= 20
    assert min(BY_NUMBER) > 0
    hosts = [host for archive in ARCHIVES for host in archive.hosts]
    assert len(hosts) == len(set(hosts))
    assert all(parse(f"http://{host}/").host == host and not host.startswith("www.") for host in hosts)


def test_numbers_stand_in_the_store_and_never_change() -> None:
    found = {archive.number: archive.name for archive in ARCHIVES}
    assert [found[number] for number in (1, 2, 3, 4, 9, 21, 28, 33, 35, 36, 40)] == [
        "wayback", "archive.today", "webcite", "archive-it", "nationalarchives", "nla", "perma", "ghostarchive",
        "google-cache", "nlnz", "megalodon",
    ]  # fmt: skip


def test_nobody_is_sent_to_what_is_dead_or_has_attacked_others() -> None:
    standing = {archive.name: archive.standing for archive in ARCHIVES}
    assert standing["archive.today"] is Standing.BARRED
    assert standing["webcite"] is Standing.DEAD
    assert standing["google-cache"] is Standing.NO_ARCHIVE
    assert standing["wayback"] is Standing.OFFERED
    assert not any(archive.is_offered for archive in ARCHIVES if archive.standing is not Standing.OFFERED)
    assert sum(archive.is_offered for archive in ARCHIVES) >= 20


def test_no_address_of_archive_today_passes_for_an_ordinary_page() -> None:
    for host in ["archive.is", "www.archive.fo", "archive.li", "archive.vn", "ARCHIVE.PH", "archive.md"]:
        for path in ("", "/", "/AbCdE", "/o/AbCdE/http://mill.demo/", "/?run=1&url=http://mill.demo/", "/faq"):
            found = snapshot_of(f"https://{host}{path}")
            assert found, host
            assert found.archive.standing is Standing.BARRED, host


def test_what_is_no_snapshot_is_none() -> None:
    for url in [
        "https://archive.org/details/mills", "https://archive.org/2011/mill.html", "https://web.archive.org/",
        "https://www.webarchive.org.uk/wayback/english/archive/2011/http://mill.demo/",
        "https://megalodon.jp/mill.demo", "https://arquivo.pt/page/search", "https://digital.library.yorku.ca/mills",
        "http://www.collectionscanada.gc.ca/mills/", "https://wayback.archive-it.org/all/",
        f"https://web.archive.org.evil.demo/web/{FULL}/{PAGE}",
        f"https://evil.demo/https://web.archive.org/web/{FULL}/{PAGE}",
        f"https://web.archive.org:2222/web/{FULL}/{PAGE}", f"ftp://web.archive.org/web/{FULL}/{PAGE}",
        f"javascript:https://web.archive.org/web/{FULL}/{PAGE}", f"web.archive.org/web/{FULL}/{PAGE}", "//", "", "\x00",
        "http://[", "https://web.archive.org/web/" + "9" * MAX_URL,
    ]:  # fmt: skip
        assert snapshot_of(url) is None


@given(
    st.sampled_from([url for urls in STAMPED.values() for url in urls] + [url for url, *_ in OTHERS]),
    st.integers(0, 90),
    st.text(max_size=12),
)
def test_whatever_stands_in_a_url_of_an_archive_nothing_raises(url: str, place: int, text: str) -> None:
    found = snapshot_of(url[:place] + text + url[place:])
    if found and found.original:
        assert parse(str(found.original)) == found.original


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    assert snapshot_of(text) is None or "." in text
    for host in ("https://web.archive.org/web/2011/", "https://archive.is/", "https://perma.cc/warc/"):
        found = snapshot_of(host + text)
        assert found is None or found.original is None or parse(str(found.original)) == found.original
