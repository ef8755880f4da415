"""Notices in place of a document: a login, a refusal, a fault, a question for consent. For copies in archives (A-1).

They are judged more strictly than on living pages: of a copy there may be a better one, nobody can click a notice away
in it, and who is refused it only gets another. Nothing here makes a living page doubtful (C-11).
"""

import re
from typing import Final
from urllib.parse import urlsplit

from weboid.core.document.document import Document
from weboid.core.document.folding import first_of, folded, phrases
from weboid.core.signs.login_walls import is_consent_url, is_login_url

_FORM_WORDS: Final = 25
"""A page with a password field and fewer words is a login, whatever it is called."""
_LOGIN_WORDS: Final = 250
_SCRIPTED_WORDS: Final = 40
"""A page that is called a login and has fewer words gets its form from scripts."""
_NOTICE_WORDS: Final = 150
_CONSENT_WORDS: Final = 400
_LOGIN: Final = phrases(
    "log in|login|sign in|signin|sign on|log on|single sign on|member login|anmelden|anmeldung|einloggen|se connecter|"
    "iniciar sesión|inicio de sesión|iniciar sessão|fazer login|accedi|inloggen|aanmelden|zaloguj się|logowanie|"
    "авторизация|войти|увійти|giriş yap|oturum aç|logga in|log ind|logg inn|kirjaudu|přihlášení|přihlásit se|"
    "bejelentkezés|autentificare|σύνδεση|로그인|تسجيل الدخول|התחברות|đăng nhập|ログイン|登录|登入|"
    "password required|password protected|passwort erforderlich|passwortgeschützt|subscribers only|members only"
)
_REFUSED: Final = phrases(
    "access denied|access forbidden|access to this page has been denied|request rejected|request blocked|forbidden|"
    "403 forbidden|not acceptable|just a moment|pardon our interruption|attention required|security check|"
    "you have been blocked|your ip country is blocked|user agent is banned|the request could not be satisfied|"
    "waf block|are you a robot|robot check|zugriff verweigert|accès refusé|acceso denegado|accesso negato|acesso negado"
)
_FAULT: Final = phrases(
    "database error|error establishing a database connection|internal server error|server error|runtime error|"
    "application error|fatal error|service unavailable|service temporarily unavailable|bad gateway|gateway timeout|"
    "gateway time out|site maintenance|maintenance mode|under maintenance|scheduled maintenance|down for maintenance|"
    "wartungsarbeiten|wartungsmodus|site offline|temporarily unavailable|temporarily offline|too many connections|"
    "en maintenance|en mantenimiento|in manutenzione|технические работы|メンテナンス中|bandwidth limit exceeded"
)
_CONSENT: Final = phrases(
    "before you continue|before you continue to google search|before you continue to youtube|cookie consent|"
    "cookies required|cookie required|cookies are required|please enable cookies|we value your privacy|"
    "your privacy choices|we need your consent|consent required|cookie wall|privacy gate|privacy settings|"
    "your privacy is important to us|is part of the yahoo family of brands|gdpr consent|"
    "bevor sie zu google weitergehen|bevor sie zu youtube weitergehen|bevor sie fortfahren|zustimmung erforderlich|"
    "wir benötigen ihre zustimmung|wir brauchen ihre zustimmung|ihre zustimmung|datenschutz einstellungen|"
    "cookie einstellungen|mit werbung weiterlesen|cookies zustimmen|privatsphäre einstellungen|"
    "avant d accéder à google|avant d accéder à youtube|avant de continuer|votre consentement|gérer vos cookies|"
    "antes de ir a google|antes de continuar|su consentimiento|valoramos su privacidad|prima di continuare|"
    "il tuo consenso|voordat je verdergaat|toestemming voor cookies|cookietoestemming|cookies accepteren|"
    "zanim przejdziesz|zgoda na cookies|vaše soukromí|innan du fortsätter|før du fortsætter"
)
_FAULT_CODE: Final = re.compile(r"(?:error |http |fehler )?50[0-9]\b")


def notice_in(asked: str, document: Document) -> str | None:
    """The stable word for the notice that stands in place of the document of the URL `asked`; None if there is none."""
    words = len(document.words)
    if document.is_article or words > _CONSENT_WORDS:
        return None
    if _is_login(asked, document, words):
        return "login"
    titles = [folded(text) for text in (document.title, *document.headings)]
    if words <= _NOTICE_WORDS:
        if _has(_REFUSED, titles):
            return "bot-wall"
        if _has(_FAULT, titles) or any(_FAULT_CODE.match(text) for text in titles):
            return "fault"
    is_consent = document.canonical is not None and is_consent_url(document.canonical)
    return "consent" if is_consent or _has(_CONSENT, titles) else None


def _is_login(asked: str, document: Document, words: int) -> bool:
    """True if a document is a login, which a front page or the URL of a login may be."""
    if urlsplit(asked).path in ("", "/") or is_login_url(asked):
        return False
    if document.asks_password and words <= _FORM_WORDS:
        return True
    if words > (_LOGIN_WORDS if document.asks_password else _SCRIPTED_WORDS):
        return False
    return _has(_LOGIN, [folded(document.title)])


def _has(candidates: tuple[str, ...], titles: list[str]) -> bool:
    return any(first_of(candidates, title) for title in titles)
