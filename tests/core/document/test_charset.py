"""Decoding: any bytes become characters (C-11)."""

from hypothesis import given
from hypothesis import strategies as st
from webencodings.labels import LABELS

from weboid.core.document.charset import decoder_of


def decoded(body: bytes, content_type: str = "") -> str:
    rest, decoder = decoder_of(body, content_type)
    return decoder.decode(rest)


def test_a_page_is_read_as_it_was_written() -> None:
    for body, content_type, text in [
        (b"caf\xc3\xa9", "", "café"),
        (b"caf\xe9", "", "café"),
        (b"caf\xe9", "text/html; charset=ISO-8859-1", "café"),
        (b"\x93caf\xe9\x94", "text/html; charset=latin1", "“café”"),
        (b"caf\xc3\xa9", 'text/html;charset = "UTF-8"', "café"),
        (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=iso-8859-1", "café"),
        ("\ufeffcafé".encode("utf-16-le"), "", "café"),
        ("\ufeffcafé".encode("utf-16-be"), "text/html; charset=utf-8", "café"),
        ("Привет".encode("cp1251"), "text/html; charset=windows-1251", "Привет"),
        ("Привет".encode("koi8-r"), "text/html; charset=KOI8-R", "Привет"),
        ("ページ".encode("cp932"), "text/html; charset=Shift_JIS", "ページ"),
        ("ページ".encode("euc_jp"), "text/html; charset=euc-jp", "ページ"),
        ("页面".encode("gb18030"), "text/html; charset=gb2312", "页面"),
        ("頁面".encode("big5"), "text/html; charset=big5", "頁面"),
        ("페이지".encode("cp949"), "text/html; charset=euc-kr", "페이지"),
        ("łódź".encode("iso8859-2"), "text/html; charset=iso-8859-2", "łódź"),
        ("łódź".encode("iso8859-2"), "text/html; charset=csISOLatin2", "łódź"),
        ("שלום".encode("iso8859-8"), "text/html; charset=ISO-8859-8-I", "שלום"),
        ("Ελλάδα".encode("iso8859-7"), "text/html; charset=ECMA-118", "Ελλάδα"),
        ("Привіт".encode("koi8-u"), "text/html; charset=koi8-ru", "Привіт"),
        ("页面".encode("gb18030"), "text/html; charset=iso-ir-58", "页面"),
        (b"caf\xe9", "text/html; charset=latin-1", "café"),
        # The header outranks the page's own word, and a page that calls itself UTF-16 in ASCII is not.
        ('<meta charset="windows-1251">é'.encode(), "text/html; charset=utf-8", '<meta charset="windows-1251">é'),
        ('<meta charset="utf-16">é'.encode(), "", '<meta charset="utf-16">é'),
    ]:
        assert decoded(body, content_type) == text


def test_a_short_page_that_declares_no_charset_is_guessed_where_it_makes_sense() -> None:
    for text, charset in [
        ("お探しのページは見つかりませんでした。", "cp932"), ("ページが見つかりません", "euc_jp"), ("Página", "cp1252"),
        ("<h1>404</h1>Страница не найдена", "cp1251"), ("Указанный пользователь", "koi8-r"), ("Hyvää yötä", "cp1252"),
        ("Désolé, la page n'a pas été trouvée", "cp1252"),
    ]:  # fmt: skip
        assert decoded(text.encode(charset), "text/html") == text
    assert decoded("Страница".encode()[:-1] + b" \xff") == "Страниц\ufffd \ufffd"
    assert decoded(("Пользователь " * 30).encode("cp1251")).startswith("Ïîëüçîâàòåëü")


def test_a_page_may_declare_its_charset_itself() -> None:
    for declaration in [
        '<meta charset="windows-1251">',
        "<META CHARSET=windows-1251>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        '<?xml version="1.0" encoding="windows-1251"?>',
    ]:
        assert decoded(f"{declaration}Привет".encode("cp1251"), "text/html").endswith("Привет")


def test_only_charsets_of_the_web_are_believed() -> None:
    for name in ["idna", "rot13", "zlib", "unicode_escape", "no-such-charset", "undefined", ""]:
        assert decoded("é".encode(), f"text/html; charset={name}") == "é"


def test_every_label_of_the_standard_is_known() -> None:
    for label in sorted(LABELS):
        # Without a declaration that is understood, these bytes are read as UTF-8.
        assert (decoded("é".encode(), f"text/html; charset={label.upper()}") == "é") is (LABELS[label] == "utf-8")


def test_what_cannot_be_decoded_is_dropped_or_replaced() -> None:
    assert decoded("é€".encode()[:-1]) == "é"
    assert decoded(b"a\xffb", "text/html; charset=utf-8") == "a\ufffdb"
    # Browsers refuse this encoding: only ASCII is read of it.
    assert decoded(b"<b>\xb0\xa1\x0e</b>", "text/html; charset=iso-2022-kr") == "<b>\ufffd\ufffd\x0e</b>"


@given(
    st.binary(max_size=300), st.text(max_size=60) | st.sampled_from(["text/html; charset=iso-2022-jp", "charset=hz"])
)
def test_no_bytes_make_it_raise(body: bytes, content_type: str) -> None:
    assert len(decoded(body, content_type)) <= len(body)
