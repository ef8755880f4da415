"""Hosts for people (L-6): Unicode next to punycode, and punycode alone where Unicode would mislead."""

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.display import unicode_host
from weboid.core.url.hosts import InvalidUrl, host_form


def shown(host: str) -> str | None:
    return unicode_host(host_form(host))


def test_a_name_of_one_script_is_shown_as_its_readers_write_it() -> None:
    for host in [
        "bücher.example", "faß.de", "straße.example.org", "l·lull.cat", "ørsted.dk", "việtnam.vn", "пример.рф",
        "www.президент.рф", "правительство.example.com", "παράδειγμα.δοκιμή", "例え.テスト",
        "日本語とカタカナー.jp", "東京tokyo.jp",
        "例子.測試", "ㄅㄆ漢字abc.tw", "실례.테스트", "한국語abc.kr", "उदाहरण.परीक्षा", "உதாரணம்.பரிட்சை", "ตัวอย่าง.ไทย",
        "მაგალითი.გე", "օրինակ.հայ", "דוגמה.טעסט", "مثال.إختبار", "www.موقع.وزارة", "موقع٣.وزارة",
    ]:  # fmt: skip
        assert shown(host) == host


def test_a_name_without_punycode_has_no_other_form() -> None:
    for host in [
        "example.org", "192.0.2.1", "2001:db8::1", "r3---sn-4g5e.example.org", "under_score.example.org",
        "axn--b.example.org",
    ]:  # fmt: skip
        assert unicode_host(host) is None


def test_scripts_that_do_not_belong_together_are_punycode_alone() -> None:
    for host in [
        "pаypal.com",  # Cyrillic а
        "аpple.com",
        "gооgle.com",
        "microsоft.com",
        "facebοok.com",  # Greek ο
        "wikipеdia.org", "www.xn--80ak6aa92e.pаypal.com", "ѕсоре-a.com", "αbc.gr", "жλ.com", "あж.jp", "ㄅあ.com",
        "한あ.kr", "paypalー.com",
        "a̸b.com",  # a stroke over a letter
        "ꭺꮲꮲꮮꭼ.com",  # Cherokee, which looks like Latin
        "ⲣⲁⲩⲣⲁⅼ.com",  # Coptic and a numeral
    ]:  # fmt: skip
        assert shown(host) is None


def test_what_is_not_seen_or_read_in_another_order_is_punycode_alone() -> None:
    for host in [
        "نامه\u200cای.com",  # a joiner that Persian needs, and nobody sees
        "क्\u200dष.com",
        "☃.net",  # UTS 46 has it, IDNA 2008 does not
        "💩.la",
        "1.مثال.إختبار",  # a digit jumps to the other side
    ]:
        assert shown(host) is None


def test_punycode_that_nobody_can_read_stays_as_it_is() -> None:
    for host in ["xn--a.com", "xn--.com", "xn--a-ecp.ru", "xn--bcher-kv.example", "xn--fa-hia-.de"]:
        assert unicode_host(host) is None


def test_a_whole_word_of_lookalikes_is_shown_for_punycode_stands_next_to_it() -> None:
    assert shown("аррӏе.com") == "аррӏе.com"
    assert host_form("аррӏе.com") == "xn--80ak6aa92e.com"


def test_a_name_with_several_labels_is_shown_whole_or_not_at_all() -> None:
    assert shown("bücher.pаypal.com") is None


@given(st.text(max_size=40))
def test_what_is_shown_is_the_same_name(text: str) -> None:
    try:
        host = host_form(f"{text}.пример.рф")
    except InvalidUrl:
        return
    text_shown = unicode_host(host)
    assert text_shown is None or (host_form(text_shown) == host and text_shown.isprintable() and text_shown != host)


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_no_punycode_is_an_error(text: str) -> None:
    unicode_host(f"xn--{text}.com")
