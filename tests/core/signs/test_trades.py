"""Titles of those who buy domains that were given up."""

from weboid.core.signs.trades import trade_in


def test_a_trade_is_named() -> None:
    for title in [
        "Lucky Harbour Casino: free spins and a welcome bonus", "MAWAR88: Situs Slot Gacor Hari Ini & Link Alternatif",
        "Togel Online | Bandar Toto Terpercaya", "BINTANG777 - Daftar Slot777 Gampang Menang",
        "Deneme Bonusu Veren Siteler 2024", "Casinò online stranieri: i migliori", "Лучшие онлайн казино на деньги",
        "澳门赌场官方网站", "オンラインカジノおすすめ", "카지노사이트 추천", "สล็อตเว็บตรง แตกง่าย", "Nhà cái uy tín",
        "Buy Viagra Online Without Prescription", "Payday loans for bad credit", "Kredit ohne Schufa: sofort Geld",
        "1xBet: apostas esportivas", "Najlepsze kasyna internetowe: ranking",
    ]:  # fmt: skip
        assert trade_in(title)


def test_other_titles_name_none() -> None:
    for title in [
        "", "The history of the mill", "Toto 1982", "Alphabet 1234", "Tibet 1950",
        "Better loans of books between libraries", "Toto, the band: albums", "Essay on the nature of writing",
        "Apache Pig 4.0", "Die Wetten des Herrn Fogg",
    ]:  # fmt: skip
        assert trade_in(title) is None
