"""Login walls and consent walls (C-8)."""

from support.pages import page, prose

from weboid.core.document.document import document_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.login_walls import is_consent_url, is_login_url, login_suspicion

ASKED = "http://site.test/deep/page"
FORM = "<form><input name=u><input type=password name=p></form>"


def test_login_pages_are_known_by_their_address_and_others_are_none() -> None:
    for url in [
        "https://login.site.test/", "https://accounts.site.test/ServiceLogin?continue=x",
        "http://site.test/user/login?next=/deep/page", "http://site.test/Login.aspx", "http://site.test/anmelden",
        "http://site.test/oauth2/auth?redirect_uri=x", "http://site.test/users/sign_in",
        "http://site.test/auth/?returnUrl=%2Fdeep", "https://groups.site.test/access-error?continue=x",
        "https://idp.site.test/idp/profile/SAML2/Redirect/SSO?SAMLRequest=x",
    ]:  # fmt: skip
        assert is_login_url(url)
    for url in [
        ASKED, "http://site.test/blogging", "http://site.test/users/anna", "http://site.test/account-of-a-journey",
        "http://site.test/auth/story", "http://site.test/?next=2", "http://catalogin.test/",
    ]:  # fmt: skip
        assert not is_login_url(url)


def test_consent_pages_are_known_by_their_address_and_pages_about_consent_are_none() -> None:
    for url in [
        "https://consent.site.test/m?continue=http://site.test/", "https://myprivacy.publisher.test/consent?siteKey=1",
        "https://guce.site.test/consent?x=1", "http://a.test/v2/collectConsent", "https://www.zeit.de/zustimmung?url=a",
        "http://site.test/privacy-gate?x", "http://site.test/cookiewall/", "https://choice.npr.test/index.html?origin=",
        "https://www.golem.de/sonstiges/zustimmung/auswahl.html?from=https%3A%2F%2Fwww.golem.de%2Fnews%2Fa.html",
    ]:  # fmt: skip
        assert is_consent_url(url)
    for url in [ASKED, "http://a.test/consent-and-law", "http://a.test/age-of-consent.html", "http://s.de/zustimmung"]:
        assert not is_consent_url(url)


def test_a_login_form_in_place_of_a_page_is_a_refusal_and_one_on_a_page_is_none() -> None:
    for title in ["Log in", "Site | Sign in", "Anmelden – Site", "Connexion", "Вход", "ログイン"]:
        seen = login_suspicion(ASKED, document_of(page(title, body=FORM)))
        assert (seen and seen.reason) is Reason.LOGIN, title
    for asked, title, body in [
        (ASKED, "A story", f"<p>{prose(60)}</p>{FORM}"), (ASKED, "Log in", f"<p>{prose(300)}</p>{FORM}"),
        (ASKED, "Log in", "<p>How to log in</p>"), (ASKED, "Log in and write", FORM),
        ("http://site.test/login", "Log in", FORM), ("http://site.test/", "Log in", FORM),
    ]:  # fmt: skip
        assert login_suspicion(asked, document_of(page(title, body=body))) is None
