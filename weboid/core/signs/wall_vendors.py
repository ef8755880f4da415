"""The vendors of bot walls with their distinctive marks, as one table; ``core/signs/botwall`` judges by it.

Each entry names specimens: pages in public repositories, tests that quote them, or a vendor's own template or document.
The collections: cs1 = codemanki/cloudscraper:test/fixtures, cs2 = VeNoMouS/cloudscraper:tests/fixtures, antibot =
microlinkhq/is-antibot:src/providers.json and providers, waf = EnableSecurity/wafw00f:wafw00f/plugins, robots =
nrjones8/robots-dot-txt-archive-bot:data.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Vendor:
    """How one vendor's walls are recognised; any one of these is enough.

    `headers` are (name, part of the value in lower case) that only a wall has; `guarding` ones are in all answers of
    a guarded host, so they count only with a refusal code. `ends` are parts of the URL to which a visitor is
    redirected. All others are bytes of the body in lower case. `unique` ones are the beginning of an element with its
    quotation marks, which neither a text nor JSON can hold: no other document has them, however long it is. `marks`
    stand in tags and scripts, `sayings` in the text; both count in short documents only. `refusals` count only with a
    refusal code, for living pages of guarded hosts have them, too.
    """

    name: str
    headers: tuple[tuple[str, str], ...] = ()
    guarding: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...] = ()
    unique: tuple[bytes, ...] = ()
    marks: tuple[bytes, ...] = ()
    sayings: tuple[bytes, ...] = ()
    refusals: tuple[bytes, ...] = ()


VENDORS: Final = (
    Vendor(
        # cs1 of 2015 to 2019, cs2 of 2019 and 2020; developers.cloudflare.com on `cf-mitigated`. Its own script
        # (challenge-platform/scripts/jsd) and the Turnstile widget stand in living pages.
        "cloudflare",
        headers=(("cf-mitigated", "challenge"),),
        unique=(b'action="/cdn-cgi/l/chk_captcha', b'action="/cdn-cgi/l/chk_jschl'),
        marks=(
            b"_cf_chl_opt",
            b"cf-browser-verification",
            b"cf_chl_prog",
            b"/cdn-cgi/l/chk_",
            b"__cf_chl_captcha_tk__",
            b"__cf_chl_jschl_tk__",
            b"__cf_chl_managed_tk__",
            b"__cf_chl_f_tk",
            b"jschl_vc",
            b"cf-im-under-attack",
        ),
        refusals=(b"cf-error-details", b"/cdn-cgi/challenge-platform/", b"challenges.cloudflare.com"),
    ),
    Vendor(
        # techdocs.akamai.com (crypto and behavioural challenges); waf kona.
        "akamai",
        marks=(b"/_sec/cp_challenge/", b"sec-if-cpt-container", b"bm-verify="),
        refusals=(b"errors.edgesuite.net", b"reference&#32;&#35;", b"reference #18."),
    ),
    Vendor(
        # robots dotgov_domains/nvsos.gov ("Pardon Our Interruption"); living pages of its customers have the script of
        # dotgov_domains/adrcnj.gov (?SWJIYLWA=), walls the frame (?CWUDNSAI=, ?SWUDNSAI=).
        "imperva",
        marks=(b"/_incapsula_resource?cwudnsai=", b"/_incapsula_resource?swudnsai="),
        sayings=(b"incapsula incident id",),
        refusals=(b"_incapsula_resource", b"distilcaptchaform", b"cdn.distilnetworks.com"),
    ),
    Vendor(
        # antibot datadome; docs.datadome.co (block page).
        "datadome",
        guarding=(("x-datadome", ""), ("x-dd-b", "")),
        ends=("geo.captcha-delivery.com",),
        marks=(b"captcha-delivery.com/captcha", b"captcha-delivery.com/interstitial", b"ct.captcha-delivery.com/c.js"),
        refusals=(b"captcha-delivery.com",),
    ),
    Vendor(
        # waf perimeterx; docs.humansecurity.com (challenge page).
        "perimeterx",
        marks=(b'id="px-captcha"', b"id='px-captcha'", b"px-captcha-wrapper", b"/captcha/captcha.js?a=c&u="),
        refusals=(b"px-captcha", b"window._pxappid", b"perimeterx"),
    ),
    Vendor(
        # docs.aws.amazon.com/waf (challenge and captcha actions); robots dotgov_domains/phila.gov for CloudFront.
        "aws-waf",
        headers=(("x-amzn-waf-action", ""),),
        marks=(b"awswafcookiedomainlist", b"window.gokuprops", b"awswafintegration.forcerefreshtoken"),
        refusals=(b"awswaf.com",),
    ),
    Vendor(
        # cs1 sucuri_waf_18_08_2016, sucuri_waf_11_08_2019; waf sucuri.
        "sucuri",
        headers=(("x-sucuri-block", ""),),
        marks=(b"sucuri_cloudproxy_js",),
        refusals=(b"sucuri website firewall",),
    ),
    Vendor(
        # ddos-guard.net (JS challenge).
        "ddos-guard",
        guarding=(("server", "ddos-guard"),),
        marks=(b"check.ddos-guard.net/check.js", b"/.well-known/ddos-guard/js-challenge/", b"ddg-captcha"),
        refusals=(b"/.well-known/ddos-guard/",),
    ),
    Vendor(
        # TecharoHQ/anubis:web/index.templ, lib/challenge/{metarefresh,preact,proofofwork}; it hands on the site's own
        # Open Graph data. antibot providers/anubis/failed.json.
        "anubis",
        ends=("/.within.website/",),
        unique=(b'<script id="anubis_challenge"', b'<script id="anubis_version"'),
        marks=(b"anubis_challenge", b"/.within.website/x/cmd/anubis"),
    ),
    Vendor(
        # WeebDataHoarder/go-away:embed/templates.
        "go-away",
        unique=(b'="/.well-known/.git.gammaspectra.live/',),
        marks=(b"/.well-known/.git.gammaspectra.live/",),
    ),
    Vendor(
        # haproxy-protection's script template, quoted with its src in public copies (find "/.basedflare/js/").
        "basedflare",
        ends=("/.basedflare/bot-check",),
        unique=(b'<script src="/.basedflare/js/',),
    ),
    Vendor(
        # crowdsecurity/lua-cs-bouncer:templates/{ban,captcha}.html.
        "crowdsec",
        sayings=(b"<title>crowdsec captcha", b"<title>crowdsec ban"),
    ),
    # docs.imunify360.com (WebShield).
    Vendor("imunify360", marks=(b"wsidchk",), refusals=(b"imunify360",)),
    Vendor(
        # siteground.com (anti-bot).
        "siteground",
        headers=(("sg-captcha", "challenge"),),
        ends=("/.well-known/sgcaptcha/",),
        marks=(b"/.well-known/sgcaptcha/",),
    ),
    Vendor(
        # docs.litespeedtech.com (reCAPTCHA), whose form is sent to this address.
        "litespeed",
        ends=("/.lsrecap/recaptcha",),
        marks=(b"/.lsrecap/recaptcha",),
    ),
    Vendor(
        # vercel.com/docs (attack challenge mode).
        "vercel",
        headers=(("x-vercel-mitigated", "challenge"),),
        marks=(b"/.well-known/vercel/security/",),
        sayings=(b"<title>vercel security checkpoint",),
    ),
    Vendor(
        # TheWebScrapingClub/webscraping-from-0-to-hero:Pages/Antibot/Kasada.md; living pages load its p.js or c.js.
        "kasada",
        headers=(("x-kpsdk-ct", ""),),
        marks=(b"window.kpsdk={}", b"kpsdk.start=kpsdk.now()"),
        refusals=(b"149e9513-01fa-4fb0-aad4-566afd725d1b", b"window.kpsdk"),
    ),
    Vendor(
        # perfdrive.com's captcha; living pages of its customers have its `__uzdbm_` variables.
        "radware",
        ends=("validate.perfdrive.com", "captcha.perfdrive.com"),
        marks=(b"captcha.perfdrive.com",),
        refusals=(b"__uzdbm_", b"perfdrive.com"),
    ),
    Vendor(
        # waf f5bigipasm; my.f5.com on "Request Rejected"; KqSMea8/ISI-PROJECT2:HtmlRobotsFiles/www.lotnisko-chopina.pl.
        "f5",
        marks=(b'window["bobcmn"]',),
        sayings=(
            b"please enable javascript to view the page content.<br/>your support id",
            b"the requested url was rejected. please consult",
        ),
    ),
    # waf wordfence.
    Vendor("wordfence", sayings=(b"generated by wordfence",), refusals=(b"your access to this site has been limited",)),
    Vendor(
        # yandex.com/support/captcha; its SmartCaptcha widget stands in living forms.
        "yandex",
        headers=(("x-yandex-captcha", "captcha"),),
        ends=("/showcaptcha",),
        marks=(b"checkboxcaptcha",),
        refusals=(b"smart-captcha",),
    ),
    Vendor(
        # antibot providers/google/failed.json.
        "google",
        ends=("google.com/sorry/",),
        unique=(b'<form id="captcha-form" action="index"',),
        sayings=(b"our systems have detected unusual traffic",),
    ),
    # antibot amazon.
    Vendor("amazon", ends=("/errors/validatecaptcha",), marks=(b'action="/errors/validatecaptcha"', b"opfcaptcha")),
    # antibot providers/weibo/failed.json.
    Vendor("weibo", ends=("passport.weibo.com/visitor",), sayings=(b"<title>sina visitor system",)),
    Vendor(
        # help.aliyun.com/waf (JavaScript validation).
        "alibaba",
        marks=(b"acw_sc__v2", b"aliyun_waf_", b"/_____tmd_____/punish"),
        refusals=(b"errors.aliyun.com",),
    ),
    Vendor(
        # Public solvers that quote its page of code 468 (find "SafeLineChallenge(").
        "safeline",
        marks=(b"safelinechallenge(", b"/.safeline/"),
    ),
    # Public solvers that quote its page of code 521 (find "__jsl_clearance").
    Vendor("jiasule", marks=(b"__jsl_clearance",), refusals=(b"static.jiasule.com", b"notice-jiasule")),
    Vendor("yunsuo", marks=(b"security_session_verify", b"yunsuo_session", b"security_verify_data")),
    # waf tencent, huaweicloud, safedog, newdefend, yundun.
    Vendor("tencent", refusals=(b"waf.tencent",)),
    Vendor("huawei", guarding=(("server", "huaweicloudwaf"),), refusals=(b"hws_security@",)),
    Vendor("safedog", refusals=(b"safedogsite/", b"404.safedog.cn")),
    Vendor("newdefend", refusals=(b"www.newdefend.com/feedback", b"/nd-block/")),
    Vendor("yundun", guarding=(("server", "yundun"),), refusals=(b"blocked by yundun cloud waf",)),
    Vendor("baidu", ends=("wappass.baidu.com",), sayings=("<title>百度安全验证".encode(),)),
    # Tests of public programs that quote its page of code 401 (find "/__qrator/qauth_utm_v2"); waf qrator.
    Vendor("qrator", guarding=(("server", "qrator"),), marks=(b'"/__qrator/qauth_', b"qauth_handle_validate_success")),
    # Public programs that quote its page (find "static.stormwall.pro").
    Vendor("stormwall", marks=(b"static.stormwall.pro/",)),
    # waf variti.
    Vendor("variti", guarding=(("server", "variti"),)),
    Vendor(
        # Public copies of its page (find "Waiting for the redirectiron"); waf bitninja.
        "bitninja",
        sayings=(
            b"<title>waiting for the redirectiron",
            b"<title>visitor anti-robot validation",
            b"security check by bitninja",
        ),
    ),
    # Public tests that quote its page of code 247 (find "window.rbzns"); waf reblaze.
    Vendor("reblaze", guarding=(("server", "reblaze"),), marks=(b"window.rbzns", b";;rbzns=")),
    # learn.microsoft.com/azure/web-application-firewall (JavaScript challenge).
    Vendor("azure-waf", refusals=(b"azwaf",)),
    Vendor("bunny", marks=(b"/.bunny-shield/",), refusals=(b"bunny shield",)),
    # antibot ("fullstory-challenge"); fastly.com/documentation (client challenges).
    Vendor("fastly", marks=(b"/_fs-ch-",)),
    # waf fortiweb, barracuda, stackpath, modsecurity, naxsi, shieldsecurity, comodo.
    Vendor("fortiweb", refusals=(b"fgd_icon", b"fortigate application control", b"web page blocked!")),
    Vendor("barracuda", refusals=(b"barracuda networks",)),
    Vendor("stackpath", refusals=(b'protected by <a href="https://www.stackpath.com', b"<title>stackpath")),
    Vendor("modsecurity", refusals=(b"generated by mod_security", b"rules of the mod_security module")),
    Vendor("naxsi", guarding=(("x-data-origin", "naxsi"),), refusals=(b"blocked by naxsi",)),
    Vendor("shield", refusals=(b"you were blocked by the shield",)),
    Vendor("arvancloud", guarding=(("server", "arvancloud"),)),
    Vendor("dosarrest", guarding=(("server", "dosarrest"),)),
    # kyprizel/testcookie-nginx-module, as free hosting services use it.
    Vendor("cookie-test", marks=(b"slowaes.decrypt",)),
    Vendor(
        # A widget of these in a living page is a part of some form.
        "captcha",
        refusals=(b"g-recaptcha", b"h-captcha", b"hcaptcha.com/1/api.js", b"recaptcha/api.js", b"cf-turnstile"),
    ),
)
CAPTCHA: Final = VENDORS[-1].refusals
