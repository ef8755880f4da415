"""The words with which documents report that the requested one is missing, as one table by language.

``core/signs/soft404`` combines them. The phrases are standard ones of servers and content management systems. A word is
listed only if existing documents are not named by it. Here are the big languages, all others in
``core/signs/missing_languages``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weboid.core.document.folding import phrases, words_of
from weboid.core.signs.missing_languages import OTHERS, OTHERS_SPACELESS

NUMBERS: Final = words_of("404 410 error404 404error erreur404 fehler404")
COMMON: Final = NUMBERS | words_of(
    "error fehler erreur errore erro fout błąd fel feil fejl virhe hata hiba chyba eroare blad ошибка помилка σφαλμα "
    "loi kesalahan galat خطا خطأ שגיאה 오류 에러 http https status code statuscode server "
    "unknown oops ooops oop uups ups opps whoops hoppla hups oh uh no sorry ой уупс"
)
"""Words that may accompany the phrase in any language."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One language: nouns, states said of them, and other words that such a sentence may contain; all folded.

    `sentences` are those of the states that name the document themselves. `asides` are fillers that folding divides, as
    it does where vowels are signs of their own.
    """

    nouns: tuple[str, ...]
    states: tuple[str, ...]
    fillers: frozenset[str]
    asides: tuple[str, ...]
    sentences: frozenset[str]


_SPACED: Final[dict[str, tuple[str, str, str]]] = {
    "en": (
        "page|pages|webpage|web page|document|file|url|address|resource|article|directory|web site|website|host|"
        "service|action|object|site",
        "not found|cannot be found|can't be found|could not be found|couldn't be found|can not be found|"
        "not be found|does not exist|doesn't exist|no longer exists|does not exist anymore|no longer available|"
        "isn't available|not available|has been removed|was removed|has been deleted|was deleted|cannot find|"
        "can't find|could not find|couldn't find|can not find|unable to find|is missing|missing page|is gone|"
        "isn't here|not exist|no such|wasn't found|is no longer here|no longer here|not be able to visit this page|"
        "page unavailable|is unavailable",
        "the this that a an we you your are is was were re ve s t it may might have has been be to for requested "
        "request requesting looking trying reach access seeking wanted want on here server site our by of or in at "
        "and i m but which unfortunately entered specified does seems seem like any longer moved either that iis "
        "detailed 7 8 10 0 5 1",
    ),
    "de": (
        "seite|webseite|internetseite|datei|dokument|artikel|adresse|url|websites|seiten|verzeichnis",
        "nicht gefunden|nicht finden|nicht vorhanden|existiert nicht|existiert nicht mehr|nicht mehr vorhanden|"
        "nicht verfügbar|nicht mehr verfügbar|nicht existiert|wurde gelöscht|gibt es nicht|gibt es nicht mehr|"
        "nicht auffindbar|wurde entfernt|nicht mehr gefunden|nicht gefunden werden|können wir nicht finden|"
        "konnten wir nicht finden|ist nicht mehr verfügbar|nicht mehr existiert|wurde nicht gefunden|"
        "nicht gefunden worden",
        "die diese der das dieses den gewünschte gewunschte gesuchte angeforderte angefragte aufgerufene "
        "aufgerufenen konnte konnten kann können konnen wurde werden leider sie ist es auf diesem server unter wir "
        "haben hat tut uns leid entschuldigung von ihnen angegebene suchen dieser unserem oder seite gewunscht "
        "aber nach du suchst wonach bitte entschuldige",
    ),
    "fr": (
        "page|document|fichier|article|adresse|url|fichiers|répertoire",
        "non trouvée|non trouvé|introuvable|n'existe pas|n'existe plus|n'a pas été trouvée|n'a pas été trouvé|"
        "pas trouvée|pas trouvé|n'est plus disponible|n'est pas disponible|a été supprimée|est introuvable|"
        "n'a pu être trouvée|n'a pas pu être trouvée|inexistante|inexistant|ne trouvons pas|n'avons pas trouvé|"
        "impossible de trouver|n'avons pas pu trouver|n'a pas pu être trouvé",
        "la le l cette cet ce que vous nous avez demandee demande recherchee recherchez cherchez desole desolee "
        "oups est a ou sur ce serveur site n pas pu votre de malheureusement semble il qui sommes désolés mais "
        "demandé recherché vouliez du",
    ),
    "es": (
        "página|documento|archivo|artículo|dirección|url|directorio",
        "no encontrada|no encontrado|no se encuentra|no existe|no se ha encontrado|no se encontró|"
        "no ha sido encontrada|no fue encontrada|no se pudo encontrar|no está disponible|ya no está disponible|"
        "ya no existe|no disponible|no se puede encontrar|no pudo ser encontrada|no podemos encontrar|"
        "no la encontramos|no se ha podido encontrar|no hemos podido encontrar|no hemos encontrado|no encontramos|"
        "no pudimos encontrar|no se encontraron",
        "la el esta este que lo sentimos solicitada solicitado solicita solicitaste buscas busca buscada estas "
        "esta buscando usted ha de en servidor sitio parece vaya perdon pero esa disculpá disculpa lamentamos o",
    ),
    "it": (
        "pagina|documento|file|articolo|indirizzo|url|directory",
        "non trovata|non trovato|non esiste|non esiste più|non è stata trovata|non è stato trovato|inesistente|"
        "non è disponibile|non è più disponibile|non disponibile|non è stato possibile trovare|impossibile trovare|"
        "non riusciamo a trovare|non abbiamo trovato|non è più presente|non può essere trovata|non trovati",
        "la il lo questa questo che richiesta richiesto cerchi cercata stai cercando hai ci dispiace spiacenti "
        "siamo sul server sito l è e di ma purtroppo ops o",
    ),
    "pt": (
        "página|documento|arquivo|ficheiro|artigo|endereço|url|diretório",
        "não encontrada|não encontrado|não existe|não foi encontrada|não foi encontrado|não foi possível encontrar|"
        "não existe mais|já não existe|não está disponível|não está mais disponível|inexistente|"
        "não pôde ser encontrada|não encontramos|não conseguimos encontrar|não pode ser encontrada|"
        "não pôde ser encontrado|não foi localizada|não encontrados",
        "a o esta este que voce solicitada solicitado procura procurada procurou esta procurando desculpe "
        "lamentamos pedimos desculpa no servidor site de mas requisitada essa sua ou",
    ),
    "nl": (
        "pagina|webpagina|document|bestand|artikel|adres|url|map",
        "niet gevonden|niet worden gevonden|niet vinden|bestaat niet|bestaat niet meer|niet beschikbaar|"
        "niet meer beschikbaar|kon niet worden gevonden|kan niet worden gevonden|is niet gevonden|is verwijderd|"
        "kunnen we niet vinden|niet meer worden gevonden",
        "de het deze dit die je u wij we kunnen kon kan kunt zoekt zoek bent op naar opgevraagde gevraagde "
        "opgevraagd helaas is werd op server site onze spijt ons maar waarnaar of",
    ),
    "pl": (
        "strona|strony|stronę|dokument|plik|pliku|artykuł|adres|url|adresu|podstrona|podstrony|podstronę|katalog|"
        "treści|strona www",
        "nie znaleziona|nie została znaleziona|nie znaleziono|nie istnieje|nie została odnaleziona|nie odnaleziono|"
        "nie można znaleźć|już nie istnieje|nie jest dostępna|nie udało się znaleźć|nie można odnaleźć|"
        "nie znaleźliśmy|nie ma takiej strony|brak strony|nie zostala znaleziona|nie zostala odnaleziona|"
        "nie znalezlismy|nie ma takiej podstrony",
        "ta ten podana żądana zadana szukana której ktorej szukasz przepraszamy niestety na serwerze o podanym "
        "adresie taka wybrana przykro nam ale tej ups błąd lub szukanej takiej tym adresem pod nie ma",
    ),
    "ru": (
        "страница|страницы|страницу|документ|файл|статья|адрес|url|каталог",
        "не найдена|не найден|не найдено|не существует|не удалось найти|больше не существует|не обнаружена|удалена|"
        "недоступна|была удалена|не можем найти|не смогли найти|не нашли|отсутствует|нет такой страницы|"
        "страницы нет",
        "эта этой такой такая запрошенная запрашиваемая запрашиваемой вами вы ищете которую искали к сожалению "
        "извините простите на сервере сайте по данному адресу или запрошенный запрашиваемый была нашем мы увы эту "
        "нам жаль но такую ошибка",
    ),
    "uk": (
        "сторінка|сторінки|сторінку|документ|файл|стаття|адреса|url|каталог",
        "не знайдена|не знайдено|не існує|не вдалося знайти|більше не існує|видалена|не знайдений|було видалено|"
        "неможливо знайти|не знайшли|відсутня|немає такої сторінки",
        "ця цієї цієі такої такоі запитана яку ви шукаєте шукаете на жаль вибачте на сервері або була але просите "
        "запрошену цю перепрошуємо нам",
    ),
    "tr": (
        "sayfa|sayfası|sayfaya|belge|dosya|makale|adres|url|sayfayı|sayfada|dizin",
        "bulunamadı|bulunamıyor|mevcut değil|mevcut değildir|yok|bulunmamaktadır|artık mevcut değil|kaldırılmış|"
        "bulamadık|bulunmuyor|bulunamamıştır|bulunmuyor",
        "aradığınız aradiginiz istenen istediğiniz istediginiz üzgünüz uzgunuz bu maalesef sunucuda ne yazık ki "
        "yazik istenilen ama veya",
    ),
    "sv": (
        "sidan|sida|dokumentet|filen|artikeln|adressen|url|webbsidan",
        "hittades inte|kunde inte hittas|finns inte|finns inte längre|hittas inte|kan inte hittas|ej hittad|"
        "hittar inte|kunde inte hitta|har tagits bort|existerar inte|kan inte hitta|kan tyvärr inte hitta|"
        "kunde tyvärr inte hittas|kunde inte den begärda sidan hittas|gick inte att hitta",
        "den du söker soker sökte sokte letar efter tyvärr tyvarr begärda begarda som kan vi denna ursäkta ursakta "
        "att begarde letade efterfrågade men",
    ),
    "da": (
        "siden|side|dokumentet|filen|artiklen|adressen|url|dokument|fil",
        "ikke fundet|blev ikke fundet|findes ikke|kunne ikke findes|findes ikke længere|eksisterer ikke|"
        "kunne ikke finde|er slettet|findes desværre ikke|kan ikke findes|kan ikke finde|ikke finde",
        "den du leder efter søger soger søgte beklager desværre desvaerre vi som denne ønskede onskede kan er men "
        "på udkig anmodede efterspurgte forespurgte",
    ),
    "no": (
        "siden|side|dokumentet|filen|artikkelen|adressen|url|fil|sida",
        "ikke funnet|ble ikke funnet|finnes ikke|kunne ikke finnes|finnes ikke lenger|eksisterer ikke|finner ikke|"
        "fant ikke|fant vi ikke|kunne ikke finne|er slettet|kan vi ikke finne|kan ikke finne|blir ikke funnet",
        "den du leter etter søker soker beklager dessverre vi som denne kan vi er men spør forespurte spurte",
    ),
    "fi": (
        "sivua|sivu|sivusto|tiedostoa|asiakirjaa|artikkelia|osoitetta|url|sivun",
        "ei löydy|ei löytynyt|ei ole olemassa|ei ole enää olemassa|ei voitu löytää|ei enää löydy|on poistettu|"
        "ei löydetty|emme löydä|emme löytäneet|ei ole saatavilla|sivua ei ole",
        "etsimääsi etsimaasi hakemaasi pyydettyä pyydettya valitettavasti pahoittelut pahoittelemme tätä tata "
        "kyseistä kyseista pyytämääsi sinun",
    ),
    "cs": (
        "stránka|stránku|stránky|dokument|soubor|článek|adresa|url",
        "nenalezena|nebyla nalezena|neexistuje|nebyl nalezen|nelze nalézt|nenalezeno|již neexistuje|nenalezen|"
        "nepodařilo se najít|nebylo nalezeno|nemůžeme najít|nebyla bohužel nalezena|nebylo možné najít|"
        "nebyla nalezená",
        "tato požadovaná pozadovana hledaná hledana kterou hledáte hledate omlouváme omlouvame se bohužel bohuzel "
        "je na serveru tuto jejda nám líto ale s touto adresou promiňte chyba",
    ),
    "hu": (
        "oldal|oldalt|lap|weboldal|dokumentum|fájl|cikk|cím|url",
        "nem található|nem létezik|nem talált|már nem létezik|nem elérhető|nem találtuk|törölték|nincs ilyen oldal|"
        "nem találjuk|nem találtuk meg|nem létező oldal",
        "a az keresett kért kert ez sajnáljuk sajnaljuk sajnos az ön on által altal meg szerveren de keressett ezt "
        "oldalt",
    ),
    "ro": (
        "pagina|paginii|documentul|fișierul|articolul|adresa|url",
        "nu a fost găsită|nu a fost găsit|nu există|negăsită|nu mai există|inexistentă|nu este disponibilă|"
        "nu a putut fi găsită|nu am găsit|nu putem găsi|nu poate fi găsită|nu am putut găsi",
        "pe care o căutați cautati cautata căutată cauti cerută ceruta solicitată solicitata ne pare rău rau "
        "accesată accesata din păcate dar scuze",
    ),
    "el": (
        "σελίδα|η σελίδα|έγγραφο|αρχείο|άρθρο|διεύθυνση|url",
        "δεν βρέθηκε|δε βρέθηκε|δεν υπάρχει|δεν υπάρχει πλέον|δεν είναι διαθέσιμη|δεν μπορεί να βρεθεί|"
        "δεν μπορούμε να βρούμε",
        "η το που ζητησατε ψαχνετε αναζητατε λυπουμαστε αυτη συγγνωμη ζητουμενη δυστυχως αλλά ζητήθηκε αυτήν τη "
        "αναζητήσατε αναζητάτε σφάλμα",
    ),
    "ko": (
        "페이지|페이지를|페이지가|페이지는|문서|문서를|문서가|파일을|파일이|주소를",
        "찾을 수 없습니다|찾을 수 없음|존재하지 않습니다|존재하지 않는|찾지 못했습니다|찾을 수가 없습니다|없는|"
        "삭제되었습니다|찾을 수 없어요|찾을 수 없네요|없습니다|존재하지 않는 페이지입니다|찾을 수 없는 페이지입니다",
        "요청하신 요청한 해당 찾으시는 죄송합니다 이 원하시는 입니다 페이지입니다 현재 당신이 찾고 있는 그",
    ),
    "ar": (
        "الصفحة|صفحة|المستند|الملف|المقال|العنوان|الملفات",
        "غير موجودة|غير موجود|لم يتم العثور على|لم يتم العثور|لا توجد|غير متوفرة|غير متاحة|لم يتم العثور عليها|"
        "لا يمكن العثور على|تعذر العثور على|تعذر إيجاد|لم نتمكن من إيجاد|لم نتمكن من العثور على|لم نعثر على|"
        "لم يتم إيجادها|لم يتم إيجاد|ليست موجودة",
        "عذرا عفوا هذه المطلوبة التي تبحث عنها طلبتها للأسف نأسف على نحن آسفون لكننا لكن هذا أو آسف عذرًا طلبت نعتذر",
    ),
    "fa": (
        "صفحه|صفحهٔ|برگه|فایل|سند|آدرس|صفحه ای|صفحه‌ی",
        "یافت نشد|پیدا نشد|وجود ندارد|موجود نیست|مورد نظر یافت نشد|پیدا نشده است|یافت نشده است|پیدا نمی شود|"
        "یافت نمی شود|پیدا نمی‌شود",
        "مورد نظر شما متاسفانه متأسفانه درخواستی این ای که به دنبال آن هستید درخواست شده پوزش با عرض تقاضا شرمنده",
    ),
    "he": (
        "הדף|דף|העמוד|עמוד|הקובץ|המסמך|הכתבה|הכתובת",
        "לא נמצא|לא קיים|אינו קיים|לא נמצאה|אינו זמין|לא ניתן למצוא|הוסר|לא מצאנו את",
        "המבוקש שחיפשת שביקשת שחיפשתם מצטערים אופס זה את אנחנו אבל אנו מתנצלים הזה עמך הסליחה סליחה",
    ),
    "vi": (
        "trang|trang web|tài liệu|tệp|bài viết|địa chỉ|url",
        "không tìm thấy|không tồn tại|không được tìm thấy|không còn tồn tại|không có sẵn|không thể tìm thấy|"
        "không tìm thấy trang nào|không có",
        "ban yeu cau dang tim kiem rat tiec xin loi nay lỗi bạn yêu cầu đang đa đã tìm kiếm rất tiếc xin này chúng "
        "tôi nhưng mà được đó",
    ),
    "id": (
        "halaman|dokumen|berkas|artikel|alamat|url|laman",
        "tidak ditemukan|tidak ada|tidak tersedia|tidak dapat ditemukan|tak ditemukan|sudah tidak tersedia|"
        "telah dihapus|tidak dapat menemukan|tidak bisa ditemukan|tidak bisa menemukan",
        "yang anda cari minta maaf ini kamu mohon maaf tuju diminta tetapi kami tersebut Anda kesalahan",
    ),
}

_SPACELESS: Final[dict[str, tuple[str, str]]] = {
    "ja": (
        "ページが見つかりません|ページが見つかりませんでした|ページは見つかりません|ページは見つかりませんでした|"
        "ページが存在しません|ページは存在しません|ページは削除されました|ページがありません|ページはありません|"
        "ファイルが見つかりません|記事が見つかりません|ページを表示できません|ページが見つからない|"
        "該当するページがありません|url は見つかりませんでした|存在しないページです|"
        "ファイルまたはディレクトリが見つかりません|見つかりません|ページを見つけられませんでした|"
        "ページは存在しないか|ページが存在しないか|ページは移動または削除された",
        "お探しの|ご指定の|指定された|指定した|要求された|リクエストされた|アクセスしようとした|"
        "申し訳ございません|申し訳ありません|エラー|該当する|この|ご覧になろうとした|ご要望の|お客様が|が|error",
    ),
    "zh": (
        "页面不存在|页面未找到|找不到页面|网页不存在|页面找不到|找不到该页面|页面没有找到|无法找到页面|"
        "找不到网页|文章不存在|页面已删除|页面已被删除|找不到您访问的页面|您访问的页面不存在|未找到页面|"
        "文件不存在|没有找到您要访问的页面|无法找到该页|頁面不存在|找不到頁面|找不到網頁|找不到此頁面|網頁不存在|"
        "頁面未找到|找不到該頁面|無法找到頁面|内容不存在|未找到该页面|网页未找到|找不到文件或目录|"
        "找不到檔案或目錄|未找到|找不到您要查找的页面|没有找到页面|沒有找到頁面|找不到请求的页面|"
        "找不到請求的頁面|请求的页面不存在|請求頁面不存在|請求的頁面不存在|沒有找到頁|我们找不到该页面|"
        "找不到這一頁|找不到您所要的網頁|页面丢失|页面走丢了|您访问的页面不存在或已被删除|您要找的页面不存在|"
        "你访问的页面不存在|找不到此页面|您查看的页面不存在|網頁未找到|找不到该网页|找不到此網頁|頁面已被刪除|"
        "页面已失效|您所访问的页面不存在",
        "抱歉|对不起|對不起|很抱歉|您访问的|您訪問的|您要访问的|您请求的|你访问的|你要找的|您要找的|您要查看的|"
        "您要查找的|该|該|此|所请求的|您|你|访问的|错误|錯誤|出错了|哎呀|提示|啊|了|页|服务器|伺服器|非常|我们|"
        "我們|所|面|啦|error",
    ),
}


@cache
def vocabularies() -> dict[str, Vocabulary]:
    """The languages with spaces between words, by code."""
    return {code: vocabulary(*texts) for code, texts in (_SPACED | OTHERS).items()}


def vocabulary(nouns: str, states: str, fillers: str) -> Vocabulary:
    """A language by its lists: nouns and states separated by ``|``, fillers by spaces."""
    named, said, beside = phrases(nouns), phrases(states), phrases(fillers.replace(" ", "|"))
    return Vocabulary(
        named,
        said,
        frozenset(word for word in beside if " " not in word),
        tuple(word for word in beside if " " in word),
        frozenset(state for state in said if any(f" {noun} " in f" {state} " for noun in named)),
    )


@cache
def speakers() -> dict[str, frozenset[str]]:
    """The codes of the languages by the longest word of each state."""
    return by_word(vocabularies())


def by_word(languages: Mapping[str, Vocabulary]) -> dict[str, frozenset[str]]:
    """The codes of some languages by the longest word of each state: without such a word, no state is said."""
    found: dict[str, set[str]] = {}
    for code, language in languages.items():
        for state in language.states:
            found.setdefault(max(state.split(), key=len), set()).add(code)
    return {word: frozenset(codes) for word, codes in found.items()}


def spoken(words: Iterable[str], codes: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The languages, by the result of `by_word`, of which a state may be said in some words."""
    return frozenset().union(*(codes[word] for word in words if word in codes))


@cache
def spaceless() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The languages without spaces, by code: whole phrases, and other words that may accompany them.

    All without spaces, which folding puts where a vowel is a sign of its own; the longest first.
    """
    return {code: (_dense(whole), _dense(beside)) for code, (whole, beside) in (_SPACELESS | OTHERS_SPACELESS).items()}


def _dense(text: str) -> tuple[str, ...]:
    return tuple(phrase.replace(" ", "") for phrase in phrases(text))


LANGUAGES: Final = frozenset(_SPACED) | frozenset(_SPACELESS) | frozenset(OTHERS) | frozenset(OTHERS_SPACELESS)
