"""Pages that stand where the content was, by kind and language: what hosters, resellers and site builders say.

They are written as such pages read, without a look at the lists by which Weboid knows them.
One law: none of them is content, whatever its code; the one exception is what a wall shows to machines only.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from weboid.demo.world import Page

_PARKED: Final = {
    "en": ("{host}", "This domain name has been registered and parked.\nRelated searches: Flights, Hotels, Loans"),
    "de": ("{host}", "Diese Domain wurde registriert und ist geparkt.\nVerwandte Suchanfragen: Reisen, Kredite"),
    "fr": ("{host}", "Ce nom de domaine est réservé et parqué par son titulaire.\nRecherches associées : Voyages"),
    "es": ("{host}", "Este dominio está registrado y aparcado.\nBúsquedas relacionadas: Viajes, Seguros"),
    "ru": ("{host}", "Домен зарегистрирован и припаркован.\nПохожие запросы: Путешествия, Кредиты"),
    "ja": ("{host}", "このドメインは登録されていますが、現在使用されていません。"),
}
_FOR_SALE: Final = {
    "en": ("{host} is for sale", "The domain name {host} is for sale. Make an offer or buy it now."),
    "de": ("{host} steht zum Verkauf", "Die Domain {host} steht zum Verkauf. Jetzt ein Angebot machen."),
    "fr": ("{host} est à vendre", "Le nom de domaine {host} est à vendre. Faites une offre."),
    "es": ("{host} está en venta", "El dominio {host} está en venta. Haga una oferta."),
    "it": ("{host} è in vendita", "Il dominio {host} è in vendita. Fai un'offerta."),
    "pt": ("{host} está à venda", "O domínio {host} está à venda. Faça uma oferta."),
    "nl": ("{host} is te koop", "De domeinnaam {host} is te koop. Doe een bod."),
    "pl": ("{host} na sprzedaż", "Domena {host} jest na sprzedaż. Złóż ofertę."),
    "ru": ("{host} продаётся", "Домен {host} продаётся. Сделайте предложение."),
    "zh": ("{host}", "您正在访问的域名 {host} 可以出售！联系我们购买。"),
}
_SOFT_404: Final = {
    "en": ("Page not found", "We are sorry, but the page you requested could not be found. Try the search."),
    "de": ("Seite nicht gefunden", "Die angeforderte Seite wurde leider nicht gefunden. Versuchen Sie die Suche."),
    "fr": ("Page introuvable", "Désolé, la page que vous cherchez n'existe pas ou plus."),
    "es": ("Página no encontrada", "Lo sentimos, la página que busca no existe."),
    "it": ("Pagina non trovata", "Spiacenti, la pagina richiesta non è disponibile."),
    "pt": ("Página não encontrada", "Desculpe, a página que procura não existe."),
    "nl": ("Pagina niet gevonden", "Helaas bestaat de gevraagde pagina niet meer."),
    "pl": ("Nie znaleziono strony", "Przepraszamy, szukana strona nie istnieje."),
    "ru": ("Страница не найдена", "К сожалению, запрошенная страница не найдена."),
    "ja": ("ページが見つかりません", "お探しのページは移動または削除された可能性があります。"),
    "zh": ("页面不存在", "抱歉，您访问的页面不存在或已被删除。"),
    "ar": ("الصفحة غير موجودة", "عذرا، الصفحة التي تبحث عنها غير موجودة."),
}
_REDESIGN: Final = {
    "en": (
        "Welcome to our new website",
        "We have a new look. Discover our products, our services and our team.\n"
        "Our new catalogue is out now. Subscribe to the newsletter and never miss an offer again.\n"
        "Call us on weekdays from nine to five, or come and see us in our shop in the old town hall.",
    ),
    "de": (
        "Willkommen auf unserer neuen Website",
        "Wir haben uns neu erfunden. Entdecken Sie unsere Produkte, unsere Leistungen und unser Team.\n"
        "Der neue Katalog ist da. Abonnieren Sie den Rundbrief und verpassen Sie kein Angebot mehr.\n"
        "Rufen Sie uns werktags von neun bis fünf an oder besuchen Sie uns im Laden am alten Rathaus.",
    ),
    "fr": (
        "Bienvenue sur notre nouveau site",
        "Notre site change de visage. Découvrez nos produits, nos services et notre équipe.\n"
        "Le nouveau catalogue est arrivé. Abonnez-vous à notre lettre et ne manquez plus aucune offre.\n"
        "Appelez-nous en semaine de neuf à cinq heures, ou venez nous voir dans notre boutique.",
    ),
}
_SOLD: Final = {
    "en": (
        "Lucky Harbour Casino: free spins and a welcome bonus",
        "Play the best slots, roulette and blackjack online. Every new player gets a welcome bonus and free spins.\n"
        "Our live dealers are waiting for you day and night. Withdraw your winnings within minutes.\n"
        "Read our guide to the strategies of the professionals and compare the highest payouts of the year.",
    ),
    "de": (
        "Kredit ohne Auskunft im Vergleich",
        "Vergleichen Sie die günstigsten Kredite ohne Auskunft und erhalten Sie sofort eine Zusage.\n"
        "Wählen Sie Betrag und Laufzeit, füllen Sie den Antrag aus und bekommen Sie Ihr Geld in einem Tag.\n"
        "In unserem Ratgeber lesen Sie, worauf es bei Zinsen, Raten und Gebühren wirklich ankommt.",
    ),
    "pl": (
        "Najlepsze kasyna internetowe: ranking",
        "Sprawdź ranking kasyn i odbierz bonus powitalny oraz darmowe spiny bez depozytu.\n"
        "Graj w automaty, ruletkę i pokera o każdej porze, także na telefonie komórkowym.\n"
        "Przeczytaj nasz poradnik o wypłatach, limitach i programach lojalnościowych dla stałych graczy.",
    ),
}
_CHALLENGE: Final = {
    "en": ("Just a moment...", "Verify you are human by completing the action below."),
    "de": ("Einen Moment bitte", "Bitte bestätigen Sie, dass Sie ein Mensch sind."),
    "fr": ("Un instant", "Veuillez vérifier que vous êtes un être humain."),
    "ru": ("Один момент", "Подтвердите, что вы не робот."),
}
_LOGIN: Final = {
    "en": ("Sign in", "User name", "Password"),
    "de": ("Anmelden", "Benutzername", "Passwort"),
    "fr": ("Se connecter", "Identifiant", "Mot de passe"),
    "ru": ("Вход", "Имя пользователя", "Пароль"),
}


def _pages(texts: Mapping[str, tuple[str, str]]) -> Mapping[str, Page]:
    return MappingProxyType(
        {lang: Page(title=title, text=text, lang=lang, shows=False) for lang, (title, text) in texts.items()}
    )


def _login(lang: str, title: str, name: str, password: str) -> Page:
    html = (
        f'<!doctype html>\n<html lang="{lang}"><title>{title}</title>\n<h1>{title}</h1>\n<form method="post">'
        f'<label>{name} <input name="user"></label> <label>{password} <input type="password" name="word"></label>'
        f"<button>{title}</button></form>\n</html>\n"
    )
    return Page(html=html, lang=lang, shows=False)


STOCK: Final[Mapping[str, Mapping[str, Page]]] = MappingProxyType(
    {
        "parked": _pages(_PARKED),
        "for-sale": _pages(_FOR_SALE),
        "soft-404": _pages(_SOFT_404),
        "redesign": _pages(_REDESIGN),
        "sold": _pages(_SOLD),
        "challenge": _pages(_CHALLENGE),
        "login": MappingProxyType({lang: _login(lang, *words) for lang, words in _LOGIN.items()}),
    }
)
"""Pages by kind and language."""
