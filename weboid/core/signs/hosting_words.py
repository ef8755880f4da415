"""Data to recognise the pages that servers, panels and hosting services show where nobody has put a site, or has "
"lost it.

``core/signs/hosting`` judges by it. A title or heading is listed only as a whole, a saying only if no page about
something else says it. Specimens: ispconfig = cyberkathosting/ispconfig3.old:server/conf/index/standard_index.html_*,
hestia = hestiacp/hestiacp:install/common/templates/web, vesta = serghey-rodin/vesta:install/*/templates/web, cpanel =
egovernment-ro/teatrulmetropolis:cgi-sys, polish = KqSMea8/ISI-PROJECT2:HtmlRobotsFiles, bounty =
bbsetup/public-bugbounty-data.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from weboid.core.document.folding import phrases
from weboid.core.signs.missing_words import Vocabulary, by_word, vocabulary


@dataclass(frozen=True, slots=True)
class Default:
    """The default page of one product: titles or headings as wholes, sayings of its text, bytes of its markup."""

    name: str
    titles: str = ""
    sayings: str = ""
    marks: tuple[bytes, ...] = ()


DEFAULTS: Final = (
    # nginx/nginx:docs/html/index.html; bounty arlo (Amazon Linux); openresty, tengine and angie changed its name only.
    Default(
        "nginx",
        "welcome to nginx|welcome to nginx on amazon linux|welcome to nginx on red hat enterprise linux|"
        "welcome to nginx on fedora|welcome to nginx on debian|welcome to openresty|welcome to tengine|welcome to "
        "angie|"
        "test page for the nginx http server|test page for the nginx http server on amazon linux|"
        "test page for the nginx http server on fedora|test page for the nginx http server on epel|"
        "test page for the nginx http server on red hat enterprise linux",
        "nginx web server is successfully installed|openresty web platform is successfully installed|"
        "tengine web server is successfully installed|proper operation of the nginx http server",
    ),
    # apache/httpd:docs/docroot/index.html; the packages of Debian, Ubuntu, Fedora and their kin; bounty telekom, att.
    Default(
        "apache",
        "it works|apache2 ubuntu default page it works|apache2 debian default page it works|"
        "apache2 default page it works|apache2 ubuntu default page|apache2 debian default page|apache http server "
        "test page|"
        "test page for the apache http server|test page for the apache web server|test page for apache installation|"
        "test page for the apache http server on red hat enterprise linux|red hat enterprise linux test page|"
        "fedora test page|centos test page|almalinux test page|rocky linux test page|oracle linux test page|"
        "test page for the http server on rocky linux|http server test page powered by centos|"
        "http server test page powered by rocky linux|test page for the http server on almalinux|"
        "test page for the apache http server on fedora|test page for the ssl tls aware apache installation on web "
        "site|"
        "apache http server test page powered by centos|test page for the apache http server on amazon linux|"
        "test page for the http server on fedora|test page for the http server on red hat enterprise linux|"
        "amazon linux ami test page|scientific linux test page|test page for the apache http server interworx cp",
        "proper operation of the apache http server|proper operation of the apache web server|"
        "proper operation of the apache2 server|proper operation of the http server after it has been installed|"
        "proper operation of an http server|apache is functioning normally|apache is working on your cpanel|"
        "this ip is being shared among many domains",
    ),
    # apache/tomcat:webapps/ROOT/index.jsp.
    Default(
        "tomcat", "apache tomcat", "you ve successfully installed tomcat|you ve successfully installed apache tomcat"
    ),
    # caddyserver/dist:welcome/index.html.
    Default("caddy", "caddy works", "congratulations おめてとう"),
    # Public copies of Debian's index.lighttpd.html (find "You should replace this page with your own web pages").
    Default(
        "lighttpd",
        "placeholder page|welcome page|welcome to lighttpd",
        "you should replace this page with your own web pages as soon as possible|"
        "owner of this web site has not put up any web pages yet",
    ),
    # Windows Server's iisstart.htm.
    Default(
        "iis",
        "iis windows server|iis windows|iis7|iis8|iis 8 5|iis 10 0|microsoft internet information services 8|"
        "internet information services|iis windows server 2016|welcome to iis 7 0",
    ),
    # docs.litespeedtech.com (example virtual host).
    Default("litespeed", "welcome to openlitespeed|openlitespeed web server|congratulations openlitespeed"),
    # cpanel defaultwebpage.cgi; cPanel's index of new accounts.
    Default(
        "cpanel",
        "default web site page|default website page|future home of something quite cool|cpanel default page",
        "if you feel you have reached this page in error please contact the web site owner|"
        "log in to launch this site|future home of something quite cool",
    ),
    # docs.plesk.com (virtual host template); bounty foxycart (Media Temple).
    Default(
        "plesk",
        "domain default page|web server s default page|server default page|default page plesk|"
        "default parallels plesk panel page|default plesk page|plesk default page",
        "this page is generated by plesk|this page has been generated automatically|this page is autogenerated by "
        "plesk|"
        "you see this page because there is no web site at this address|"
        "this page was generated by parallels plesk panel|"
        "if you are seeing this message the website for is not available at this time",
    ),
    # hestia skel, unassigned; vesta skel.
    Default(
        "hestia",
        "we re working on it",
        "your new web server is ready to use|this site is currently under construction please check back soon",
    ),
    Default("vesta", "coming soon", "powered by vesta"),
    # ispconfig, in fifteen languages, with a link to the product.
    Default(
        "ispconfig",
        "this is the default index page of your website|esta é a página index padrão de seu site|"
        "toto je standardní stránka vašeho webu|dies ist die standard index seite ihres webs|"
        "esta es la página principal del sitio|tämä on sivustosi oletusaloitussivu|"
        "ceci est la page d'index standard de votre site|ovo je standardna index stranica vaše web stranice|"
        "ez az oldal az ön weboldalának eredeti kezdőoldala|questa è la pagina predefinita|"
        "dit is de standaard indexpagina van uw website|detta är en standard index sida på din webbplats|"
        "ovo je standardna indeksna strana vaše internet prezentacije|"
        "αυτή είναι η προεπιλεγμένη αρχική σελίδα του δικτυακού σας τόπου|"
        "bem vindo ao seu site|vítejte na vašem webu|herzlich willkommen auf ihrer website|welcome to your website|"
        "bienvenido a su sitio web|tervetuloa internet sivullesi|bienvenue sur votre site|"
        "dobrodošli na vašu web stranicu|üdvözöljük az your website|benvenuti sul vostro sito|welkom op uw website|"
        "välkommen till din webbplats|dobrodošli na vašu internet prezentaciju",
        "this is the default index page of your website",
        (b'href="http://www.ispconfig.org', b'href="https://www.ispconfig.org'),
    ),
    # aaPanel/aaPanel:data/defaultDoc.html, aaPanel/BaoTa:data/defaultDoc.html, and its pages for unknown sites.
    Default(
        "aapanel",
        "site is created successfully|congratulations the site is created successfully|恭喜站点创建成功|恭喜 "
        "站点创建成功|"
        "没有找到站点|抱歉没有找到站点|抱歉 没有找到站点|site not found aapanel",
        "this page is automatically generated by the system|本页面由系统自动生成|"
        "您的请求在web服务器中没有找到对应的站点|"
        "your request did not find a corresponding site in the web server",
    ),
    # usmannasir/cyberpanel:index.html.
    Default("cyberpanel", "cyberpanel installed", "you have successfully installed cyberpanel"),
    # DirectAdmin's index of new users and its shared address.
    Default("directadmin", "this is the default page for this domain", "this is a placeholder page for"),
    # docs.ispmanager.com (index of a new site).
    Default(
        "ispmanager",
        "сайт создан|сайт успешно создан|поздравляем сайт создан|сайт только что создан|"
        "поздравляем ваш сайт успешно создан|сайт создан и готов к работе|веб сервер работает|"
        "добро пожаловать на ваш новый сайт|домен не прилинкован ни к одной из директорий на сервере|"
        "сайт не настроен на сервере|сайт не настроен",
        "здесь будет размещён ваш сайт|на этом месте будет размещён сайт|замените этот файл|"
        "домен не прилинкован ни к одной из директорий|сайт создан в панели управления|"
        "этот файл создан автоматически|страница создана автоматически|файл index html в каталоге",
    ),
    # The pages of new and of unknown domains at Xserver, Sakura, Lolipop and others.
    Default(
        "japanese hosting",
        "無効なurlです|ドメイン設定が完了していません|初期ドメインのページ|サーバー初期ページ|"
        "このドメインは設定されていません|"
        "ホームページが設定されていません|初期ページ|サイト準備中",
        "プログラム設定の反映待ちである可能性があります|ドメイン設定の反映待ち|"
        "ウェブサーバーにファイルがアップロードされていません|"
        "このページは サーバーの初期ページ|まだホームページのデータがアップロードされていません|"
        "ホームページのデータがアップロードされていません|ファイルをアップロードしてください",
    ),
    # polish mPanel, dhosting.pl, ConsultingService, FusionSystem, Areda, TechMedia.
    Default(
        "polish hosting",
        "brak konfiguracji dla domeny|domena utrzymywana na serwerach consultingservice pl|domena utrzymywana w "
        "fusionsystem|"
        "dhosting pl pod tym adresem nie znajduje się żaden serwis www|"
        "dhosting pl pod tym adresem nie znajduje sie zaden serwis www",
        "nie utworzono serwera www dla tej domeny|pod tym adresem nie znajduje się żaden serwis www|"
        "pod tym adresem nie znajduje sie zaden serwis www|nie ma jeszcze dostępnej strony www|"
        "nie ma jeszcze dostepnej strony www|nie ma jeszcze założonej strony internetowej|"
        "nie ma jeszcze zalozonej strony internetowej|utrzymywana w rozproszonej sieci",
    ),
    # robots non_dotgov_gov_urls/endicottny.com; the pages of services for names that nobody has set up.
    Default(
        "service",
        "squarespace domain not claimed|domain not claimed|website not configured|no website configured at this "
        "address|"
        "there is no website configured at this address|account is not configured|website is not configured|"
        "fastly error unknown domain|domain not configured|domain is not configured|site not configured|"
        "this domain is not configured|website is almost ready|your website is almost ready",
        "there is no website configured at this address|this domain has been mapped to squarespace but",
    ),
    # The same said by hosting services of other languages.
    Default(
        "hosting",
        "hier entsteht eine neue internetpräsenz|hier entsteht eine neue website|hier entsteht eine neue homepage|"
        "hier entsteht in kürze eine neue internetpräsenz|standardseite|standard seite|platzhalterseite|"
        "page par défaut|page d'accueil par défaut|página predeterminada|página por defecto|"
        "página por defecto del servidor|página padrão|página padrão do servidor|pagina predefinita|"
        "pagina di default|standaardpagina|strona domyślna|domyślna strona|strona startowa serwera|"
        "страница по умолчанию|стандартная страница|сторінка за замовчуванням|varsayılan sayfa|standardsida|"
        "standardside|oletussivu|výchozí stránka|predvolená stránka|alapértelmezett oldal|"
        "alapértelmezett weboldal|pagina implicită|προεπιλεγμένη σελίδα|стандартна страница|zadana stranica|"
        "podrazumevana stranica|privzeta stran|halaman default|halaman bawaan|trang mặc định|الصفحة الافتراضية|"
        "صفحه پیش فرض|דף ברירת מחדל|기본 페이지|默认页面|默认网页|預設頁面|预设页面|デフォルトページ|default page|"
        "default index page|default website",
        "diese seite wurde automatisch erstellt|diese seite wurde automatisch generiert|"
        "hier entsteht eine neue internetpräsenz|dies ist die standardseite|cette page a été générée automatiquement|"
        "ceci est la page par défaut|esta página se ha generado automáticamente|esta es la página por defecto|"
        "esta es la página predeterminada|esta é a página padrão|questa è la pagina predefinita|"
        "questa pagina è stata generata automaticamente|dit is de standaardpagina|"
        "ta strona została wygenerowana automatycznie|to jest domyślna strona|эта страница создана автоматически|"
        "это страница по умолчанию|bu sayfa otomatik olarak oluşturulmuştur|bu varsayılan sayfadır|"
        "toto je výchozí stránka|ez az alapértelmezett oldal|ini adalah halaman default|đây là trang mặc định|"
        "هذه هي الصفحة الافتراضية|这是默认页面|此页面由系统自动生成|this page is the default page|"
        "this is the default page|this is a default page|this is the default web page for this server|"
        "upload your website files|no content has been added yet",
    ),
)

WEAK: Final = frozenset(
    phrases("it works|coming soon|welcome page|placeholder page|internet information services|初期ページ")
)
"""Titles that other pages have, too; so are all of the entry ``hosting``."""

_SUSPENDED: Final[dict[str, tuple[str, str, str]]] = {
    # hestia suspend, vesta suspend, cpanel suspendedpage.cgi, atomia/puppet-atomia:files/default_files/suspend.php.
    "en": (
        "account|website|web site|site|hosting|hosting account|domain|web hosting|hosting service",
        "suspended|has been suspended|is suspended|is currently suspended|has been disabled|has been deactivated|"
        "currently suspended|temporarily suspended|deactivated|disabled|is disabled|was suspended|"
        "is temporarily suspended|has been temporarily suspended",
        "this your the of for a by our notice",
    ),
    "de": (
        "konto|account|website|webseite|webpräsenz|internetpräsenz|domain|seite|webspace|hosting|kundenkonto|"
        "benutzerkonto|internetseite|webhosting",
        "gesperrt|wurde gesperrt|ist gesperrt|deaktiviert|wurde deaktiviert|ist deaktiviert|vorübergehend gesperrt|"
        "ist vorübergehend gesperrt|suspendiert|wurde suspendiert|ist derzeit gesperrt|derzeit gesperrt|"
        "wurde vorübergehend gesperrt|zeitweise gesperrt|vorübergehend deaktiviert|wurde stillgelegt",
        "dieses diese dieser ihr das die der zurzeit",
    ),
    # azucrinarecords/azucrinarecords.github.io:cgi-sys/suspendedpage.cgi for Portuguese.
    "pt": (
        "conta|site|sítio|página|hospedagem|domínio|website|alojamento",
        "suspensa|suspenso|foi suspensa|foi suspenso|está suspensa|está suspenso|encontra-se suspensa|"
        "encontra-se suspenso|desativada|desativado|bloqueada|bloqueado|temporariamente suspenso|"
        "temporariamente suspensa|está temporariamente suspenso",
        "esta este sua seu a o de temporariamente",
    ),
    # CamComercioSM/cdnsicam:plantillas/whm-cpanel/sitio-suspendido.php for Spanish.
    "es": (
        "cuenta|sitio|sitio web|página|página web|web|hosting|dominio|alojamiento|servicio",
        "suspendida|suspendido|ha sido suspendida|ha sido suspendido|está suspendida|está suspendido|deshabilitado|"
        "deshabilitada|desactivada|desactivado|ha sido desactivada|ha sido desactivado|temporalmente suspendido|"
        "temporalmente suspendida|se encuentra suspendida|se encuentra suspendido|bloqueada|bloqueado|"
        "temporalmente fuera de servicio|está temporalmente suspendida|está temporalmente suspendido",
        "esta este su la el de temporalmente",
    ),
    "fr": (
        "compte|site|site web|site internet|hébergement|domaine|page",
        "suspendu|est suspendu|a été suspendu|désactivé|est désactivé|a été désactivé|temporairement suspendu|"
        "est actuellement suspendu|est temporairement suspendu|bloqué|a été bloqué|suspendue|a été temporairement "
        "suspendu",
        "ce cet votre le la l d cette",
    ),
    "it": (
        "account|sito|sito web|hosting|dominio|pagina|spazio web|servizio",
        "sospeso|è sospeso|è stato sospeso|sospesa|disattivato|è stato disattivato|disabilitato|è stato disabilitato|"
        "temporaneamente sospeso|è temporaneamente sospeso|bloccato|è stato bloccato|momentaneamente sospeso",
        "questo questa il tuo l",
    ),
    "nl": (
        "account|website|site|hosting|hostingpakket|domein|webruimte|hostingaccount",
        "geblokkeerd|is geblokkeerd|opgeschort|is opgeschort|uitgeschakeld|is uitgeschakeld|gesuspendeerd|"
        "is gesuspendeerd|tijdelijk geblokkeerd|is tijdelijk opgeschort|gedeactiveerd|is gedeactiveerd|"
        "tijdelijk opgeschort|is tijdelijk geblokkeerd",
        "deze dit uw de het momenteel",
    ),
    "pl": (
        "konto|strona|serwis|witryna|hosting|domena|usługa|serwer",
        "zawieszone|zostało zawieszone|zawieszona|została zawieszona|zablokowane|zostało zablokowane|zablokowana|"
        "została zablokowana|jest zablokowane|jest zablokowana|jest zawieszone|jest zawieszona|wyłączona|"
        "została wyłączona|zablokowany|został zablokowany|zawieszony|został zawieszony|zostalo zawieszone|"
        "zostala zablokowana|zostalo zablokowane",
        "ta to ten tymczasowo twoje czasowo internetowa www",
    ),
    "ru": (
        "аккаунт|сайт|хостинг|домен|учётная запись|услуга|виртуальный хостинг|веб сайт|работа сайта|"
        "обслуживание сайта|обслуживание",
        "заблокирован|приостановлен|отключен|отключён|был заблокирован|временно отключен|временно заблокирован|"
        "временно приостановлен|приостановлена|заблокирована|отключена|временно приостановлена|приостановлено|"
        "деактивирован|временно отключён|выключен",
        "этот данный ваш на хостинге за неуплату администратором пользователя эта",
    ),
    "uk": (
        "акаунт|сайт|хостинг|домен|обліковий запис|роботу сайту",
        "заблоковано|призупинено|відключено|заблокований|призупинений|вимкнено|тимчасово заблоковано|"
        "тимчасово призупинено|тимчасово відключено",
        "цей ваш даний",
    ),
    "tr": (
        "hesap|hesabı|hesabınız|site|sitesi|web sitesi|hosting|hosting hesabı|alan adı|web sitesi",
        "askıya alındı|askıya alınmıştır|askıya alınmış|durduruldu|durdurulmuştur|kapatılmıştır|pasif durumdadır|"
        "devre dışı bırakıldı|geçici olarak durdurulmuştur|geçici olarak askıya alınmıştır|geçici olarak durduruldu",
        "bu",
    ),
    "sv": (
        "konto|kontot|webbplats|webbplatsen|webbhotell|webbhotellet|hemsida|hemsidan|domänen",
        "avstängd|avstängt|är avstängd|är avstängt|har stängts av|spärrad|är spärrad|har spärrats|"
        "tillfälligt avstängd|är tillfälligt avstängd|inaktiverat|har inaktiverats",
        "detta denna den",
    ),
    "da": (
        "konto|kontoen|hjemmeside|hjemmesiden|websted|webstedet|webhotel|webhotellet|domænet|website",
        "suspenderet|er suspenderet|er blevet suspenderet|lukket|er lukket|er blevet lukket|spærret|er spærret|"
        "deaktiveret|er deaktiveret|midlertidigt lukket|er midlertidigt lukket",
        "denne dette din",
    ),
    "no": (
        "konto|kontoen|nettsted|nettstedet|nettside|nettsiden|webhotell|webhotellet|domenet",
        "suspendert|er suspendert|stengt|er stengt|har blitt stengt|sperret|er sperret|deaktivert|er deaktivert|"
        "midlertidig stengt|er midlertidig stengt|har blitt suspendert",
        "denne dette din",
    ),
    "fi": (
        "tili|sivusto|verkkosivusto|webhotelli|palvelu|kotisivut",
        "suljettu|on suljettu|jäädytetty|on jäädytetty|poistettu käytöstä|on poistettu käytöstä|lukittu|on lukittu|"
        "tilapäisesti suljettu|on tilapäisesti suljettu|väliaikaisesti suljettu|on väliaikaisesti suljettu",
        "tämä",
    ),
    "cs": (
        "účet|web|webová stránka|stránka|stránky|webhosting|hosting|doména|služba|webové stránky|webhostingový účet",
        "pozastaven|byl pozastaven|zablokován|byl zablokován|je pozastaven|je zablokován|pozastavena|zablokována|"
        "deaktivován|byl deaktivován|dočasně pozastaven|byla pozastavena|jsou pozastaveny|byla zablokována|"
        "byl dočasně pozastaven",
        "tento tato váš tyto",
    ),
    "sk": (
        "účet|web|stránka|webhosting|hosting|doména|webová stránka",
        "pozastavený|bol pozastavený|zablokovaný|bol zablokovaný|je pozastavený|pozastavená|bola pozastavená|"
        "zablokovaná|deaktivovaný|dočasne pozastavený",
        "tento táto váš",
    ),
    "hu": (
        "fiók|tárhely|weboldal|oldal|honlap|domain|szolgáltatás",
        "felfüggesztve|fel van függesztve|felfüggesztették|felfüggesztésre került|letiltva|le van tiltva|zárolva|"
        "felfüggesztett|ideiglenesen felfüggesztve|letiltásra került",
        "a az ez ezt",
    ),
    "ro": (
        "contul|cont|site ul|situl|site|website ul|găzduirea|domeniul",
        "suspendat|este suspendat|a fost suspendat|suspendată|a fost suspendată|dezactivat|a fost dezactivat|blocat|"
        "a fost blocat|este suspendată",
        "acest această temporar dumneavoastră",
    ),
    "el": (
        "λογαριασμός|ιστότοπος|ιστοσελίδα|φιλοξενία|λογαριασμού",
        "έχει ανασταλεί|ανεστάλη|σε αναστολή|είναι σε αναστολή|απενεργοποιήθηκε|έχει απενεργοποιηθεί|"
        "έχει τεθεί σε αναστολή|αναστολή",
        "ο η αυτός αυτή αυτό το",
    ),
    "bg": (
        "акаунтът|акаунт|сайтът|сайт|хостингът|хостинг|уебсайт",
        "спрян|е спрян|е временно спрян|временно спрян|блокиран|е блокиран|деактивиран|е деактивиран",
        "този вашият",
    ),
    "sr": (
        "nalog|račun|sajt|web stranica|hosting|korisnički račun|налог|сајт",
        "suspendovan|je suspendovan|suspendiran|je suspendiran|suspendirana|je suspendirana|blokiran|je blokiran|"
        "privremeno suspendiran|je privremeno suspendovan|deaktiviran|суспендован|је суспендован",
        "ovaj ova vaš овај",
    ),
    "sl": (
        "račun|spletna stran|gostovanje",
        "je suspendiran|suspendiran|je onemogočen|je začasno onemogočena",
        "vaš ta",
    ),
    "id": (
        "akun|situs|website|hosting|layanan|situs web",
        "ditangguhkan|telah ditangguhkan|dinonaktifkan|telah dinonaktifkan|disuspend|telah disuspend|diblokir|"
        "sedang ditangguhkan|ditangguhkan sementara",
        "ini anda sementara",
    ),
    "vi": (
        "tài khoản|website|trang web|hosting|dịch vụ|tên miền",
        "bị tạm ngưng|đã bị tạm ngưng|tạm ngưng|bị khóa|đã bị khóa|bị đình chỉ|đã bị đình chỉ|tạm khóa|đã tạm ngưng|"
        "đang tạm ngưng",
        "này của bạn đang",
    ),
    "ar": (
        "الحساب|حساب|الموقع|موقع|الاستضافة",
        "موقوف|معلق|تم تعليق|تم إيقاف|متوقف|معطل|تم تعطيل|موقوف مؤقتا|معلق مؤقتا",
        "هذا لقد",
    ),
    "fa": (
        "حساب|اکانت|سایت|هاست|وب سایت|حساب کاربری|وبسایت|دامنه",
        "مسدود شده است|معلق شده است|تعلیق شده است|مسدود شده|معلق شده|مسدود است|غیر فعال شده است|مسدود گردیده است|"
        "به حالت تعلیق درآمده است",
        "این شما موقتا",
    ),
    "he": ("החשבון|האתר|חשבון|אתר", "הושעה|מושעה|הוקפא|נחסם", "זה הזה"),
    "hi": ("खाता|साइट|वेबसाइट|खाते", "निलंबित|निलंबित कर दिया गया है|निलंबित है|निलंबित किया गया", "यह इस को आपका"),
    "ko": (
        "계정|계정이|계정은|사이트|사이트가|사이트는|호스팅|홈페이지가|웹사이트가",
        "정지되었습니다|중지되었습니다|일시 정지되었습니다|정지됨|일시 중지되었습니다|차단되었습니다|정지된 "
        "계정입니다|이용이 정지되었습니다",
        "이 해당 귀하의",
    ),
}
_SUSPENDED_SPACELESS: Final = (
    # aaPanel/BaoTa's page of a stopped site is the third.
    "账户已暂停|网站已暂停|站点已暂停|该站点已经被管理员停止运行|该账户已被暂停|该网站已被暂停|账号已被暂停|"
    "帐户已被暂停|"
    "您的账户已被暂停|帳戶已被暫停|此帳號已被停用|帳號已停用|站点已停用|主机已暂停|空间已到期|网站已到期|网站暂停服务|"
    "您的网站已被暂停|此帳戶已被停用|此帳戶已被暫停|网站已被关闭|此账户已被暂停|此网站已被暂停|"
    "アカウントは停止されています|アカウントが停止されました|アカウントは一時停止されています|サイトは停止されています|"
    "このアカウントは停止|アカウントは現在停止|サイトは一時停止|サーバーアカウントは停止|アカウント停止|"
    "บัญชีถูกระงับ|บัญชีนี้ถูกระงับ|เว็บไซต์ถูกระงับ|เว็บไซต์นี้ถูกระงับ|ถูกระงับการใช้งาน"
)


@cache
def defaults() -> tuple[tuple[str, frozenset[str], tuple[str, ...], tuple[bytes, ...]], ...]:
    """The default pages: name, folded titles, folded sayings, marks."""
    return tuple((page.name, frozenset(phrases(page.titles)), phrases(page.sayings), page.marks) for page in DEFAULTS)


@cache
def suspensions() -> dict[str, Vocabulary]:
    """By language, how it is said that an account or a site is suspended."""
    return {code: vocabulary(*texts) for code, texts in _SUSPENDED.items()}


@cache
def suspenders() -> dict[str, frozenset[str]]:
    """The codes of these languages by the longest word of each state."""
    return by_word(suspensions())


@cache
def spaceless_suspensions() -> tuple[str, ...]:
    """The same as whole phrases, in languages without spaces."""
    return tuple(phrase.replace(" ", "") for phrase in phrases(_SUSPENDED_SPACELESS))
