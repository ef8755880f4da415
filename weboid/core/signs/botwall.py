"""Bot walls: answers that demand a proof of being human instead of sending the document (U-5, U-7).

The vendors are in ``core/signs/wall_vendors``; login and consent walls are in ``core/signs/login_walls``.
One law: a wall is a refusal, never a failure; and a vendor's script in a document with its own text is no wall.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from weboid.core.document.document import Document
from weboid.core.document.folding import first_of, folded, phrases
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.wall_vendors import CAPTCHA, VENDORS, Vendor

_REFUSALS: Final = frozenset({401, 403, 405, 406, 409, 415, 418, 420, 428, 429, 444, 468, 493})
"""The codes of refusals. With other codes a vendor's name is no wall: it may report that the host behind it is down."""
CODES: Final = _REFUSALS | {200, 202, 203, 247, 400, 436, 500, 503, 512, 521}
"""The codes that walls use. Not 404 and 410: these are statements of the server behind the wall."""
_TEXT_WORDS: Final = 150
"""A document sent with success that has more words is the document itself, unless a mark is unique."""
_REFUSED_WORDS: Final = 1_000
"""The same of what is not sent with success: it is not the document anyway, so that its words may be many."""
_CAPTCHA_WORDS: Final = 60
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«:]+\s+|\s*[|»«•]\s*|(?<=\S):\s")
_OWN_FORM: Final = re.compile(
    rb"<textarea(?![^>]{0,200}captcha)|<input\b[^>]{0,300}?\stype\s*+=\s*+[\"']?(?:password|email|text|tel|search)\b"
)
"""Fields that a person fills in: a captcha beside them guards a form, not the document."""
_RAW: Final = (b"script", b"style", b"noscript", b"iframe", b"title")

_HEADERS: Final = frozenset(name for vendor in VENDORS for name, _ in vendor.headers)
_ANY_HEADER: Final = _HEADERS | frozenset(name for vendor in VENDORS for name, _ in vendor.guarding)
_ENDS: Final = re.compile("|".join(re.escape(end) for vendor in VENDORS for end in vendor.ends))
_UNIQUE: Final = tuple((mark, vendor.name) for vendor in VENDORS for mark in vendor.unique)

_TITLES: Final = phrases(
    "Bekrefter at du ikke er en bot|Controllo se sei un robot|Even checken of je een bot bent|"
    "Kontrollime, et sa ei ole bott|Making sure you're not a bot|Provjeravamo da niste bot|"
    "Robota ez zarela ziurtatzen|Sinisigurado na hindi ka isang bot|Stadfester at du ikkje er bot|"
    "Varmistetaan ettet ole robotti|access denied|are you a robot|are you human|attention required cloudflare|"
    "beveiligingscontrole|bot check|bot verification|captcha|challenge validation|checking your browser|"
    "client challenge|controllo di sicurezza|ddos guard|ddos guard net|ddos protection|een ogenblik geduld|"
    "egy pillanat|ein moment|einen moment bitte|even geduld|hetkinen|human check|human verification|"
    "jeszcze chwila|just a moment|just a moment please|making sure you re not a bot|momencik|nur einen moment|"
    "one moment please|pardon our interruption|please verify you are a human|please wait cloudflare|"
    "please wait ddos guard|please wait verification|request rejected|robot check|robot or human|security check|"
    "security checkpoint|security verification|sicherheitsabfrage|tunggu sebentar|um momento|un attimo|"
    "un instant|un moment|un momento|un momento por favor|vent litt|verifica di sicurezza|"
    "verificando seu navegador|verification required|verify you are human|verifying your browser|"
    "visitor anti robot validation|Bot olmadığınızdan emin oluyoruz|Certificando de que você não é um bot|"
    "Dein Browser wird geprüft|Geng úr skugga um að þú sért ekki botti|Je m'assure que vous n'êtes pas un robot |"
    "Kollar så att du inte är en bot|Sprawdzamy, czy nie jesteś botem|"
    "Stengiamasi užtikrinti, jog jūs nesate robotas|Ujišťujeme se, že nejste robot|bir dakika lütfen|chwileczkę|"
    "chờ một chút|comprobación de seguridad|et øjeblik|et øyeblikk|ett ögonblick|güvenlik doğrulaması|"
    "güvenlik kontrolü|kontrola bezpieczeństwa|moment prosím|o clipă|okamžik prosím|ověření|ověřování|"
    "sicherheitsprüfung|sicherheitsüberprüfung|säkerhetskontroll|un momento…|verificación de seguridad|"
    "verificação de segurança|vui lòng đợi|vänta ett ögonblick|vérification de sécurité|"
    "¡Asegurándonos de que no eres un robot|überprüfung|Đảm bảo bạn không phải là bot|περιμένετε|"
    "Перевірка, чи ви не бот|Проверяем, что вы не бот|Уверяваме се, че не си бот|зачекайте|один момент|"
    "перевірка безпеки|подождите|проверка безопасности|проверка браузера|підтвердження безпеки|хвилинку|רק רגע|"
    "التحقق الأمني|بررسی امنیتی|لحظة من فضلك|لحظة واحدة من فضلك|لطفا صبر کنید|يرجى الانتظار|"
    "ตรวจสอบให้แน่ใจว่าคุณไม่ใช่บอท|รอสักครู่|あなたがボットでないことを確認しています！|しばらくお待ちください|"
    "セキュリティチェック|人机验证|安全检查|安全检测|安全驗證|安全验证|正在确认你是不是机器人！|"
    "正在確認你是不是機器人！|真人验证|請稍候|请稍候|请稍等|보안 확인|잠시만 기다려 주세요|잠시만 기다리십시오"
)
_OWN_TITLES: Final = phrases("attention required cloudflare|please wait cloudflare")
"""Titles of pages with long explanations; specimen KqSMea8/ISI-PROJECT2:HtmlRobotsFiles/opinieblog.pl."""
_DEMANDS: Final = phrases(
    "enable javascript and cookies to continue|checking your browser before|"
    "checking if the site connection is secure|verify you are human|verify that you are human|"
    "verifying you are human|prove you are human|prove that you are human|confirm you are human|"
    "confirm that you are human|you are not a robot|you re not a robot|i m not a robot|i am not a robot|"
    "are you a robot|you are not a bot|you re not a bot|unusual traffic|ddos protection by|"
    "complete the security check|needs to review the security of your connection|automated requests|"
    "press and hold|please complete the captcha|solve the captcha|you have been blocked|"
    "your request has been blocked|please turn javascript on and reload the page|made us think you were a bot|"
    "your user agent is banned|request blocked we can t connect to the server|your support id is|"
    "complete the challenge to access|please complete the challenge|rejected due to a potential security risk|"
    "activity and behavior on this site made us think that you are a bot|bestätigen sie dass sie ein mensch sind|"
    "dass sie kein roboter sind|überprüfen sie dass sie ein mensch sind|ich bin kein roboter|"
    "aktivieren sie javascript und cookies|vous n êtes pas un robot|vous êtes humain|vous êtes un humain|"
    "vous êtes un être humain|activer javascript et les cookies|que eres humano|que no eres un robot|"
    "no soy un robot|habilite javascript y las cookies|che sei umano|che non sei un robot|non sono un robot|"
    "que você é humano|que não é um robô|não sou um robô|dat u een mens bent|geen robot bent|"
    "że jesteś człowiekiem|nie jesteś robotem|что вы человек|что вы не робот|я не робот|підтвердьте що ви людина|"
    "ви не робот|insan olduğunuzu doğrulayın|robot olmadığınızı|att du är människa|inte är en robot|"
    "ověřte že jste člověk|nejste robot|bạn là con người|bukan robot|请完成安全验证|确认您是真人|验证您是真人|"
    "人机身份验证|私はロボットではありません|ロボットではないことを|人間であることを確認|사람인지 확인|"
    "로봇이 아닙니다|أنك إنسان|لست روبوتا|ربات نیستید|confirmando que você é humano|verificando se você é humano|"
    "que você é um ser humano|que es un ser humano|que eres un ser humano|que usted es humano|"
    "di essere un essere umano|che tu sia un essere umano|che sei un essere umano|ob sie ein mensch sind|"
    "vous êtes bien humain|confirmez que vous êtes|of u een mens bent|dat je een mens bent|"
    "czy jesteś człowiekiem|insan olduğunuz doğrulanıyor|человек ли вы|проверка что вы человек|jste člověk|"
    "ви людина|是否是真人|您是人类|您是人類|驗證您是人類|進行安全驗證|进行安全验证|人間であることの|"
    "人間であることを|사람임을 확인|사람인지 확인하는|أنك بشر|انسان هستید|anda manusia|anda adalah manusia|"
    "คุณเป็นมนุษย์|שאתם בני אדם|שאתה אנושי|שאתם אנושיים|आप मानव हैं|आप इंसान हैं|ότι είστε άνθρωπος|"
    "că sunteți om|că ești om|hogy ön ember|at du er et menneske|että olet ihminen|че сте човек|že ste človek|"
    "da ste čovjek|da ste čovek|javascript und cookies aktivieren|activez javascript et les cookies|"
    "habilita javascript y las cookies|activa javascript y las cookies|ative o javascript e os cookies|"
    "habilite o javascript e os cookies|abilita javascript e i cookie|abilitare javascript e i cookie|"
    "schakel javascript en cookies in|włącz javascript i pliki cookie|włącz obsługę javascript|"
    "включите javascript и файлы cookie|включите javascript и cookie|javascript ve çerezleri etkinleştirin|"
    "aktivera javascript och cookies|slå på javascript og informasjonskapsler|aktiver javascript og cookies|"
    "ota javascript ja evästeet käyttöön|povolte javascript a cookies|启用 javascript 和 cookie|"
    "啟用 javascript 和 cookie|javascript と cookie を有効|javascript 및 쿠키|увімкніть javascript|"
    "bật javascript và cookie|aktifkan javascript dan cookie|making sure you re not a bot"
)


def wall_by_headers(code: int, headers: Mapping[str, str], final: str) -> Suspicion | None:
    """The wall recognised by headers or by the final URL, None if there is none; `headers` have lower-case names."""
    if code not in CODES:
        return None
    guards = code in _REFUSALS and code != 401  # 401 is what the host behind the guard says of a login
    # Nearly every answer ends here, without a comparison for each vendor.
    if headers.keys().isdisjoint(_ANY_HEADER if guards else _HEADERS) and not _ENDS.search(final.lower()):
        return None
    parts = urlsplit(final)
    place = f"{parts.netloc}{parts.path}".lower()
    for vendor in VENDORS:
        telling = vendor.headers + vendor.guarding if guards else vendor.headers
        for name, part in telling:
            if name in headers and part in headers[name].lower():
                return _wall(vendor.name, f"header:{name}")
        if any(end in place for end in vendor.ends):
            return _wall(vendor.name, "redirect")
    return None


def wall_by_content(code: int, body: bytes, document: Document) -> Suspicion | None:
    """The wall recognised by content, None if there is none.

    `body` is the bounded beginning of the answer's body, `document` the document read from it.
    """
    if code not in CODES or not body:
        return None
    page = body.lower()
    for mark, name in _UNIQUE:
        if mark in page:
            return _wall(name, "page")
    if folded(document.title) in _OWN_TITLES and _in_markup(b"captcha-bypass", page):
        return _wall("cloudflare", "title")
    words = len(document.words)
    if code <= 299:
        return _instead(page, document) if words <= _TEXT_WORDS and not document.is_article else None
    return _refusal(code, page, document) if words <= _REFUSED_WORDS else None


def _instead(page: bytes, document: Document) -> Suspicion | None:
    """The wall that was sent in place of the document, with a code of success."""
    for vendor in VENDORS:
        if any(_in_markup(mark, page) for mark in vendor.marks) or any(mark in page for mark in vendor.sayings):
            return _wall(vendor.name, "page")
    if _OWN_FORM.search(page) or not (demand := _demand(document)):
        return None
    if any(folded(part) in _TITLES for part in (document.title, *_SEPARATOR.split(document.title))):
        return _wall("unnamed", "title", f"demand:{demand}")
    if len(document.words) < _CAPTCHA_WORDS and any(mark in page for mark in CAPTCHA):
        return _wall("unnamed", f"demand:{demand}")
    return None


def _refusal(code: int, page: bytes, document: Document) -> Suspicion | None:
    """The wall in an answer that is no success."""
    for vendor in VENDORS:
        if any(mark in page for mark in _telling(vendor, code)):
            return _wall(vendor.name, "page")
    words = len(document.words)
    demand = _demand(document) if words <= _TEXT_WORDS else None
    if first_of(_TITLES, folded(document.title)) and (demand or words < _CAPTCHA_WORDS):
        return _wall("unnamed", "title", *([f"demand:{demand}"] if demand else []))
    return _wall("unnamed", f"demand:{demand}") if demand else None


def _telling(vendor: Vendor, code: int) -> Iterator[bytes]:
    yield from vendor.marks
    yield from vendor.sayings
    if code in _REFUSALS:
        yield from vendor.refusals


def _in_markup(mark: bytes, page: bytes) -> bool:
    """Whether the first occurrence of a mark is in a tag or in a script and the like, not in a text about it."""
    place = page.find(mark)
    if place < 0:
        return False
    opened = page.rfind(b"<", 0, place)
    if opened > page.rfind(b">", 0, place):
        return True
    return any(page.rfind(b"<" + name, 0, place) > page.rfind(b"</" + name, 0, place) for name in _RAW)


def _demand(document: Document) -> str | None:
    """The phrase with which a document demands a human."""
    said = f"{document.title} {' '.join(document.headings)} {document.text} {document.unscripted_text}"
    return first_of(_DEMANDS, folded(said[:4_000]))


def _wall(name: str, *signals: str) -> Suspicion:
    return Suspicion(Reason.BOT_WALL, (f"vendor:{name}", *signals))
