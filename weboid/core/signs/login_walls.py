"""Login walls and consent walls: pages that ask for a login or for consent instead of showing the content (C-8, U-7).

A consent page is no reason for doubt: people get to the content behind it by one click. If the URL itself is that of a
login page, a login page is the right answer.
"""

import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from weboid.core.document.document import Document
from weboid.core.document.folding import folded, phrases, segments, words_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion

_LOGIN_WORDS: Final = words_of(
    "login log-in signin sign-in sign_in logon log-on anmelden anmeldung einloggen sso saml2 saml shibboleth openid "
    "connexion se-connecter iniciar-sesion acceder accedi inloggen logowanie zaloguj giris entrar servicelogin "
    "authorize wayf adfs authenticate idpdiscovery"
)
# These words have other meanings, too ("auth", "account"), so they count only with one of the fields below.
_ENTRANCE_WORDS: Final = words_of(
    "auth account accounts session sessions user users identity members member oauth oauth2"
)
_RETURN_FIELDS: Final = words_of(
    "next return returnto return_to returnurl return_url returnuri redirect redirect_uri redirecturl redirect_url "
    "redirect_to redirectto continue destination goto relaystate samlrequest came_from backurl wtrealm callbackurl "
    "targeturl"
)
_LOGIN_HOST: Final = re.compile(r"(?:login|signin|sso|auth|idp|accounts|shibboleth|adfs|cas|wayf)\.")
_CONSENT_HOSTS: Final = ("consent.", "cookieconsent.", "myprivacy.", "privacy-gate.", "guce.")
_CONSENT_WORDS: Final = words_of(
    "consent collectconsent cookieconsent cookie-consent cookiewall cookie-wall privacy-gate privacygate "
    "gdpr-consent consent-wall cookie_consent cookiesconsent privacywall"
)
_WALL_WORDS: Final = 120
_TITLES: Final = frozenset(
    phrases(
        "log in|login|sign in|signin|sign on|log on|please log in|please sign in|login required|"
        "authentication required|member login|user login|account login|single sign on|sign in to your account|"
        "anmelden|anmeldung|einloggen|bitte anmelden|se connecter|connexion|identification|iniciar sesión|acceder|"
        "inicio de sesión|identificarse|accedi|accesso|login richiesto|entrar|iniciar sessão|inloggen|aanmelden|"
        "zaloguj się|logowanie|вход|войти|авторизация|вхід|увійти|giriş|giriş yap|oturum aç|logga in|log ind|"
        "logg inn|kirjaudu|kirjaudu sisään|přihlášení|přihlásit se|bejelentkezés|autentificare|conectare|σύνδεση|"
        "είσοδος|로그인|تسجيل الدخول|ورود|כניסה|התחברות|đăng nhập|masuk|ログイン|サインイン|登录|登入|用户登录|"
        "會員登入|login page|sign in page"
    )
)


def is_login_url(url: str) -> bool:
    """True if a URL is of a login page: by host, by a segment of the path, or by a field with the URL to return to."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    segments = set(re.split(r"[/.;]", parts.path.lower()))
    if _LOGIN_HOST.match(host) or not _LOGIN_WORDS.isdisjoint(segments):
        return True
    return not _ENTRANCE_WORDS.isdisjoint(segments) and not _RETURN_FIELDS.isdisjoint(_fields(parts.query))


def is_consent_url(url: str) -> bool:
    """True if a URL is of a page that asks for consent to cookies and the like before it shows the content."""
    parts = urlsplit(url)
    segments = set(re.split(r"[/.;]", parts.path.lower()))
    return (parts.hostname or "").startswith(_CONSENT_HOSTS) or not _CONSENT_WORDS.isdisjoint(segments)


def login_suspicion(asked: str, document: Document) -> Suspicion | None:
    """The suspicion of a login form in place of the document: a password field, little text, and a title of a login.

    `asked` is the URL that was requested.
    """
    if not document.asks_password or len(document.words) > _WALL_WORDS or is_login_url(asked):
        return None
    if urlsplit(asked).path in ("", "/"):
        return None  # a service for members may have a login form as its start page
    if any(folded(part) in _TITLES for text in (document.title, *document.headings) for part in segments(text)):
        return Suspicion(Reason.LOGIN, ("password-field", "title"))
    return None


def _fields(query: str) -> set[str]:
    try:
        return {name.lower() for name, _ in parse_qsl(query, keep_blank_values=True, max_num_fields=100)}
    except ValueError:
        return set()
