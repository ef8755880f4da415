"""Data to recognise parked and for-sale domains: services, name servers and phrases in the big languages.

How many of them are needed is decided in ``core/signs/parked``. A phrase is listed only if it is about the domain
itself, unlike what shops and estate agents write.
"""

from functools import cache
from typing import Final

from weboid.core.document.folding import phrases, words_of

MARKETS: Final = words_of(
    "sedo.com sedo.de dan.com undeveloped.com afternic.com hugedomains.com buydomains.com domainmarket.com "
    "brandbucket.com squadhelp.com atom.com efty.com uniregistry.com domainnamesales.com flippa.com godaddy.com "
    "namecheap.com dynadot.com namesilo.com porkbun.com spaceship.com epik.com sav.com name.com gname.com 4.cn 22.cn "
    "ename.com juming.com reg.ru nic.ru nicsell.com catched.com dropcatch.com snapnames.com namejet.com "
    "perfectdomain.com brandforce.com saw.com mediaoptions.com above.com domainagents.com networksolutions.com "
    "register.com domain.com namebright.com kupujdomeny.pl aftermarket.pl premium.pl onamae.com domeneshop.no "
    "united-domains.de domaincostclub.com expireddomains.com nameliquidate.com"
)
"""Registrable domains where domains are sold; a redirect from another domain to one of them indicates a sale."""

PARKING: Final = words_of(
    "sedoparking.com parkingcrew.net parkingcrew.com bodis.com parklogic.com skenzo.com voodoo.com rookmedia.net "
    "smartname.com fabulous.com trafficz.com namedrive.com domainsponsor.com dsparking.com dsredirection.com "
    "cashparking.com parked.com internettraffic.com ztomy.com whypark.com dotzup.com parkingdots.com "
    "domainparking.ru domaincntrol.com parking-page.net namebrightstatic.com domainhop.com astoriacompany.com "
    "domainapps.com parkweb.net pqparking.com cnparking.com onlydomains-parking.com giantpanda.com zeropark.com "
    "tcpark.com team-internet.com"
)
"""Registrable domains of services that provide the content of parked domains by redirects, frames and scripts."""

PARKING_MARKS: Final = (
    "img1.wsimg.com/parking-lander",
    "d38psrni17bvxu.cloudfront.net",
    "google.com/adsense/domains",
    "google.com/afs/ads/i/iframe.html",
    "parkingpage.namecheap.com",
    "parking.reg.ru",
    "parking.namesilo.com",
    "sedo.com/services/parking",
    "above.com/marketplace",
)
"""Parts of URLs of frames and scripts with the same purpose, on hosts that have other purposes, too."""

LANDER_SCRIPTS: Final = (
    b'{window.location.href="/lander"}',
    b"{window.location.href='/lander'}",
    b'window.lander_system="',
    b"img1.wsimg.com/parking-lander/",
)
"""Bytes of GoDaddy's two variants, in lower case: one sends on to ``/lander``, the other is that page. Specimens:
public tests that quote them whole (find "window.LANDER_SYSTEM").
"""

LANDER_MARKS: Final = (
    b'location.href="/lander"',
    b"location.href='/lander'",
    b'location.href = "/lander"',
    b'location.replace("/lander")',
    b'window.park = "',
    b'window.park="',
    b"data-adblockkey=",
    b"/_zcr/",
)
"""Bytes that the documents of some services contain, in lower case."""

NAME_SERVERS: Final = words_of(
    "sedoparking.com bodis.com parkingcrew.net above.com abovedomains.com dan.com undeveloped.com afternic.com "
    "hugedomains.com parklogic.com skenzo.com voodoo.com rookdns.com smartname.com fabulous.com trafficz.com "
    "namedrive.com dsredirection.com cashparking.com parked.com ztomy.com domainparking.ru parkingspa.com "
    "uniregistrymarket.link eftydns.com brandbucket.com domainmarket.com dnsowl-parking.com ibspark.com "
    "nsresolution.com giantpanda.com searchreinvented.com expirenotification.com expired-domain.com"
)
"""Registrable domains of name servers that serve nothing but parked domains."""

_SALE: Final[dict[str, str]] = {
    "en": (
        "domain is for sale|domain name is for sale|domain may be for sale|domain name may be for sale|"
        "buy this domain|purchase this domain|this domain is available for sale|this premium domain|own this domain|"
        "inquire about this domain|make an offer on this domain|interested in this domain|get this domain|"
        "this domain could be yours|acquire this domain|this web page is parked for sale|this website is for sale|"
        "lease to own this domain|domain is available for purchase"
    ),
    "de": (
        "domain steht zum verkauf|domain ist zu verkaufen|domain steht möglicherweise zum verkauf|"
        "domain könnte zum verkauf stehen|domainname steht zum verkauf|diese domain erwerben|domain ist käuflich"
    ),
    "fr": "nom de domaine est à vendre|acheter ce nom de domaine",
    "es": "dominio está en venta|comprar este dominio|nombre de dominio en venta|compre este dominio",
    "it": "dominio è in vendita|acquista questo dominio|comprare questo dominio|acquistare questo dominio",
    "pt": "domínio está à venda|comprar este domínio|compre este domínio",
    "nl": "domein is te koop|domeinnaam is te koop|domeinnaam te koop|koop deze domeinnaam",
    "pl": "domena jest na sprzedaż|kup tę domenę|domena jest do sprzedania",
    "ru": (
        "домен продается|домен продаётся|купить этот домен|доменное имя продается|домен выставлен на продажу|"
        "этот домен продается"
    ),
    "uk": "домен продається|купити цей домен",
    "tr": "alan adı satılık|alan adı satılıktır|bu alan adını satın al|satılık alan adı|domain satılıktır",
    "sv": (
        "domänen är till salu|domän till salu|köp denna domän|köp domänen|domänen kan vara till salu|"
        "domännamnet är till salu"
    ),
    "da": "domænet er til salg|domæne til salg|køb dette domæne|domænenavnet er til salg",
    "no": "domenet er til salgs|domene til salgs|kjøp dette domenet|domenenavnet er til salgs",
    "fi": "verkkotunnus on myynnissä|verkkotunnus myytävänä|osta tämä verkkotunnus|domain myytävänä",
    "cs": "doména je na prodej|doména na prodej|koupit tuto doménu|doména k prodeji",
    "hu": "domain eladó|a domain eladó|ez a domain eladó|domain név eladó",
    "ro": "domeniu de vânzare|domeniul este de vânzare|cumpără acest domeniu|acest domeniu este de vânzare",
    "el": "το domain πωλείται|όνομα χώρου πωλείται|domain προς πώληση|αγοράστε αυτό το domain",
    "ko": "도메인을 판매합니다|이 도메인을 구입|이 도메인은 판매 중입니다|도메인은 판매중입니다",
    "ar": "النطاق للبيع|الدومين للبيع|شراء هذا النطاق|اسم النطاق للبيع",
    "fa": "دامنه فروشی است|این دامنه به فروش می رسد|دامنه برای فروش|خرید این دامنه",
    "he": "הדומיין למכירה|דומיין למכירה|קנה את הדומיין",
    "vi": "tên miền này đang được rao bán|mua tên miền này|tên miền đang bán",
    "id": "domain ini dijual|domain dijual|beli domain ini",
    "ja": "このドメインは販売中|このドメインを買う|ドメインは売り出し中|ドメイン名は販売",
    "zh": (
        "此域名出售|本域名出售|域名正在出售|购买此域名|该域名正在出售|此域名可出售|此網域出售|購買此網域|"
        "该域名可以转让|本域名转让"
    ),
}

_PARKED: Final[dict[str, str]] = {
    "en": (
        "domain is parked|domain name is parked|parked free courtesy of|web page is parked|page is parked|"
        "this domain has recently been registered|this domain has been registered|this domain is registered|"
        "this domain has expired|domain name has expired|this domain name was recently registered|"
        "this is a parked domain|domain is pending renewal|this domain is managed by|domain has been parked|"
        "domain has been purchased and parked|parked at loopia|this domain was registered by|"
        "hosted by a free parking|website is parked|domain is for future use|"
        "parked domain name on hostinger dns system|parked on the bun|"
        "this domain isn t connected to a website yet|domain name has been registered with gandi|"
        "domain was successfully created with ovhcloud|is parked free courtesy of|domain is parked at|"
        "domain is parked on|domain is parked with|domain is reserved for a customer"
    ),
    "de": (
        "domain ist geparkt|domain wurde geparkt|domain wurde registriert|diese domain ist registriert|"
        "domain ist bereits registriert|diese domain wurde gesperrt|domain ist abgelaufen|domain ist reserviert|"
        "domain wurde soeben freigeschaltet|diese domain wurde erfolgreich registriert|"
        "domain wurde erfolgreich bestellt|domain wurde für einen kunden registriert|"
        "domain ist für einen kunden reserviert|domain wurde reserviert"
    ),
    "fr": (
        "domaine est parqué|nom de domaine est parqué|ce nom de domaine a été enregistré|ce domaine est réservé|"
        "domaine a expiré|nom de domaine est réservé|ce domaine a été enregistré|"
        "votre domaine a bien été créé chez|domaine a bien été créé chez|ce domaine vient d'être enregistré|"
        "nom de domaine vient d'être réservé|nom de domaine est parqué chez|nom de domaine a été réservé"
    ),
    "es": (
        "dominio está aparcado|dominio ha expirado|dominio está registrado|este dominio ha sido registrado|"
        "dominio parqueado|este dominio está registrado|dominio está aparcado en|dominio está reservado|"
        "dominio ha sido reservado"
    ),
    "it": (
        "dominio è parcheggiato|dominio è scaduto|dominio registrato da|dominio è stato registrato|"
        "questo dominio è stato registrato|dominio è registrato presso|dominio è parcheggiato presso"
    ),
    "pt": (
        "domínio está estacionado|domínio expirou|domínio está registrado|domínio registado|"
        "este domínio está registado|este domínio foi registrado|este domínio foi registado|"
        "domínio está reservado"
    ),
    "nl": (
        "domein is geparkeerd|domeinnaam is geparkeerd|domeinnaam is geregistreerd|gereserveerd voor een klant|"
        "domein is gereserveerd|domeinnaam is verlopen|is gereserveerd door een klant|"
        "is geregistreerd door een klant|domeinnaam is gereserveerd|domein is geregistreerd"
    ),
    # KqSMea8/ISI-PROJECT2:HtmlRobotsFiles (AfterMarket.pl and others, some without accents).
    "pl": (
        "domena jest zaparkowana|domena wygasła|domena jest utrzymywana|domena została zarejestrowana|"
        "domena zostala zarejestrowana|domena utrzymywana jest na serwerach|domena utrzymywana na serwerach|"
        "zainteresowany tą domeną|zainteresowany ta domena|domena jest zarejestrowana|domena została zaparkowana|"
        "ta domena została zarejestrowana|domena jest zaparkowana w"
    ),
    "ru": (
        "домен припаркован|срок регистрации домена истек|домен не прилинкован|домен зарегистрирован|"
        "домен припаркована|срок действия домена истек|домен не продлен|домен успешно зарегистрирован|"
        "домен не делегирован|домен зарегистрирован и припаркован|срок регистрации домена истёк"
    ),
    "uk": "домен припарковано|термін реєстрації домену|домен зареєстровано|домен успішно зареєстровано",
    "tr": ("alan adı park edilmiştir|bu alan adı tescil edilmiştir|alan adının süresi dolmuş|park edilmiş alan adı"),
    "sv": (
        "domänen är parkerad|domänen är registrerad|domännamnet är parkerat|parkerad hos loopia|"
        "domänen är registrerad hos|den här domänen är parkerad|denna domän är parkerad|denna domän är reserverad"
    ),
    "da": (
        "domænet er parkeret|domænet er registreret|domænet er parkeret hos|dette domæne er parkeret|"
        "dette domæne er reserveret|dette domæne er registreret"
    ),
    "no": (
        "domenet er parkert|domenet er registrert|domenet er parkert hos|dette domenet er registrert|"
        "dette domenet er parkert"
    ),
    "fi": (
        "verkkotunnus on pysäköity|verkkotunnus on rekisteröity|verkkotunnus on parkkeerattu|"
        "tämä verkkotunnus on rekisteröity|verkkotunnus on varattu"
    ),
    "cs": (
        "doména je zaparkována|doména je parkována|doména je zaregistrována|platnost domény vypršela|"
        "doména je registrována|doména zaparkována|tato doména je zaregistrována|doména byla zaregistrována|"
        "doména byla úspěšně zaregistrována"
    ),
    "hu": "domain parkol|a domain regisztrálva",
    "ro": "domeniul este parcat|domeniul a expirat|domeniul este înregistrat",
    "ko": "도메인이 만료|주차된 도메인",
    "ar": "نطاق محجوز|انتهت صلاحية النطاق|النطاق محجوز",
    "fa": "دامنه پارک شده|دامنه منقضی شده|این دامنه ثبت شده",
    "vi": "tên miền đã hết hạn|tên miền đã được đăng ký|tên miền đang được đỗ",
    "id": "domain ini telah kedaluwarsa|domain ini telah terdaftar|domain ini diparkir",
    "ja": "このドメインは取得されています|このドメインは現在使用されていません|このドメインはお名前",
    "zh": "域名已过期|域名已注册|该域名已过期|域名已被注册|此域名已到期|域名已到期|網域已過期",
}

_GENERIC_SALE: Final = (
    "buy the domain|domain for sale|domain kaufen|domein kopen|kup domenę|купить домен|продажа домена|продаж домену|"
    "domain zu verkaufen|domain zum verkauf|nom de domaine à vendre|dominio en venta|dominio in vendita|"
    "domínio à venda|domein te koop|domena na sprzedaż|domínio para venda|prodej domény|도메인 판매|도메인 구매|"
    "فروش دامنه|bán tên miền|ドメイン販売|ドメインを購入|域名出售|域名转让|網域出售|satılık domain|"
    "domena do kupienia|dominio a la venta"
)
_GENERIC_PARKED: Final = (
    "domain parking|parked domain|domain expired|suspended domain|renew your domain|geparkte domain|dominio aparcado|"
    "dominio parcheggiato|domínio estacionado|geparkeerd domein|domena zaparkowana|парковка домена|parkerad domän|"
    "parkeret domæne|parkert domene|parkovaná doména|parkolt domain|domain parkoltatás|domeniu parcat|파킹 도메인|"
    "도메인 파킹|域名停放|域名停靠|ドメインパーキング|パーキングページ|domain terparkir|domain has expired|"
    "alan adı park|dominio estacionado|dominio caducado|ドメインの有効期限"
)
"""Phrases about domains in general, also used in explanations and by traders: they count only together with the
domain's own name or a service.
"""

_TAILS: Final = (
    "for sale|is for sale|zu verkaufen|steht zum verkauf|zum verkauf|à vendre|est à vendre|en venta|está en venta|"
    "in vendita|è in vendita|à venda|está à venda|te koop|is te koop|na sprzedaż|продается|продаётся|продається|"
    "satılık|satılıktır|till salu|är till salu|til salg|til salgs|er til salg|myytävänä|na prodej|eladó|de vânzare|"
    "πωλείται|판매|للبيع|فروشی|למכירה|dijual|rao bán|may be for sale|is available for purchase|"
    "is available for sale|domain name for sale|domain for sale"
)
"""Words that directly follow a domain's own name where it is sold."""

_COMMERCE: Final = (
    "make an offer|make offer|buy now|your offer|submit offer|inquire now|lease to own|price on request|get a price|"
    "request a quote for this domain|sponsored listings|related searches|related links|related search topics|"
    "secure payment by|domain broker|escrow|angebot abgeben|jetzt kaufen|preis anfragen|gesponserte links|"
    "ähnliche suchvorgänge|faire une offre|acheter maintenant|liens sponsorisés|recherches associées|"
    "hacer una oferta|comprar ahora|búsquedas relacionadas|fai un offerta|acquista ora|fazer oferta|comprar agora|"
    "doe een bod|nu kopen|złóż ofertę|kup teraz|сделать предложение|предложить цену|teklif ver|ge ett bud|giv et bud|"
    "gi et bud|tee tarjous"
)


@cache
def sale_phrases() -> tuple[str, ...]:
    """The folded phrases that offer the domain."""
    return phrases("|".join(_SALE.values()))


@cache
def parked_phrases() -> tuple[str, ...]:
    """The folded phrases that say that the domain has no site."""
    return phrases("|".join(_PARKED.values()))


@cache
def generic_phrases() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folded phrases of sale and of parking that count only together with the domain's own name or a service."""
    return phrases(_GENERIC_SALE), phrases(_GENERIC_PARKED)


@cache
def sale_tails() -> tuple[str, ...]:
    """The folded words that offer what precedes them."""
    return phrases(_TAILS)


@cache
def commerce_phrases() -> tuple[str, ...]:
    """The folded phrases that are common with parking and sale, but also in other documents."""
    return phrases(_COMMERCE)
