"""The language of a text by its words, whatever its document declares."""

from weboid.core.document.fingerprint import words
from weboid.core.document.language import UNKNOWN, language_of, number_of

TEXTS = {
    "en": "The mill was built by the monks of the abbey and it is not open to visitors in the winter, for the road to "
    "it is closed; we hope that you will come with us in the spring.",
    "de": "Die Mühle wurde von den Mönchen der Abtei gebaut und ist im Winter nicht für Besucher offen, weil der Weg "
    "zu ihr gesperrt ist; wir hoffen, dass Sie im Frühling mit uns kommen.",
    "fr": "Le moulin fut construit par les moines de l'abbaye et il est fermé aux visiteurs en hiver, car la route est "
    "barrée pour les voitures; nous espérons que vous viendrez avec nous dans la vallée au printemps.",
    "es": "El molino fue construido por los monjes de la abadía y no se puede visitar en el invierno, porque la "
    "carretera que lleva al pueblo está cerrada; esperamos que venga con nosotros en la primavera.",
    "id": "Situs ini adalah tempat untuk bermain dengan nyaman dan aman, yang dapat anda akses dari mana saja; pada "
    "halaman ini anda akan menemukan cara daftar dan bonus untuk anggota baru di dalam situs.",
    "tr": "Bu site için bir hesap açmak çok kolay ve her gün yeni bir bonus ile oyun oynamak için daha çok neden var, "
    "ya da bir arkadaş ile en iyi masa için yer ayırtın.",
    "pl": "Młyn został zbudowany przez mnichów z opactwa i nie jest otwarty dla gości w zimie, bo droga do niego jest "
    "zamknięta; mamy nadzieję, że na wiosnę się to zmieni.",
    "vi": "Trang này là nơi các bạn có thể chơi với những người khác và được nhận thưởng cho một trận đấu trong ngày, "
    "khi đã có tài khoản của nhà cái.",
    "ru": "Мельница была построена монахами и закрыта зимой для посетителей.",
    "ja": "この水車小屋は修道院の僧によって建てられ、冬の間は閉まっています。",
    "zh": "这座磨坊由修道院的僧侣建造，冬季不对游客开放。",
    "ko": "이 방앗간은 수도원의 수도사들이 지었으며 겨울에는 문을 닫습니다.",
    "th": "โรงสีแห่งนี้สร้างโดยพระสงฆ์และปิดในฤดูหนาว",
    "ar": "بنى الرهبان هذه الطاحونة وهي مغلقة في الشتاء أمام الزوار",
}


def test_a_text_is_known_by_its_words_or_its_script() -> None:
    for code in TEXTS:
        assert language_of(words(TEXTS[code])) == number_of(code) != UNKNOWN


def test_what_says_too_little_or_is_in_two_languages_is_in_none() -> None:
    for text in ["", "Home About Contact News Press Login " * 9, "kak lom pun tok " * 40, TEXTS["en"][:20]]:
        assert language_of(words(text)) == UNKNOWN
    assert language_of(words(TEXTS["en"] + 2 * TEXTS["de"])) == UNKNOWN


def test_a_script_outweighs_names_and_menus_in_latin_letters() -> None:
    assert language_of(words(TEXTS["ru"] + " Menu Home Login Facebook")) == number_of("ru")


def test_relatives_and_variants_are_one_language() -> None:
    assert number_of("de-AT") == number_of("DE_ch") == number_of("de")
    assert number_of("nb") == number_of("da")
    assert number_of("uk") == number_of("ru")
    assert number_of("x-klingon") == UNKNOWN


def test_the_stored_numbers_stay_as_they_are() -> None:
    codes = (
        "ru el he ar hi th ka hy am ko ja zh en de fr es pt it nl sv da fi pl cs hu ro tr id vi hr lt ca eu cy tl sw"
    )
    assert [number_of(code) for code in codes.split()] == list(range(1, 37))
