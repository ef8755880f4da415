"""The words with which documents in the big languages report that the requested one is missing, as one table.

``core/signs/soft404`` combines them. The phrases are standard ones of servers and content management systems. A word is
listed only if existing documents are not named by it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from weboid.core.document.folding import phrases, words_of

NUMBERS: Final = frozenset({"404", "410"})
COMMON: Final = NUMBERS | words_of(
    "error fehler erreur errore erro fout fel feil fejl virhe hata hiba chyba eroare blad ошибка помилка σφαλμα loi "
    "kesalahan galat خطا خطأ שגיאה 오류 에러 http https status code statuscode oops ooops oop uups ups opps whoops "
    "hoppla hups oh uh no sorry ой уупс"
)
"""Words that may accompany the phrase in any language."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One language: nouns, states said of them, and other words that such a sentence may contain; all folded."""

    nouns: tuple[str, ...]
    states: tuple[str, ...]
    fillers: frozenset[str]


_SPACED: Final[dict[str, tuple[str, str, str]]] = {
    "en": (
        "page|pages|webpage|web page|document|file|url|address|resource|article",
        "not found|cannot be found|can't be found|could not be found|couldn't be found|can not be found|not be found|"
        "does not exist|doesn't exist|no longer exists|does not exist anymore|no longer available|isn't available|"
        "not available|has been removed|was removed|has been deleted|was deleted|cannot find|can't find|"
        "could not find|couldn't find|can not find|unable to find|is missing|missing page|is gone|isn't here|"
        "not exist|no such",
        "the this that a an we you your are is was were re ve s t it may might have has been be to for requested "
        "request requesting looking trying reach access seeking wanted want on here server site our by of or in at "
        "and i m but which unfortunately entered specified does seems seem like any longer moved either",
    ),
    "de": (
        "seite|webseite|internetseite|datei|dokument|artikel|adresse|url",
        "nicht gefunden|nicht finden|nicht vorhanden|existiert nicht|existiert nicht mehr|nicht mehr vorhanden|"
        "nicht verfügbar|nicht mehr verfügbar|nicht existiert|wurde gelöscht|gibt es nicht|gibt es nicht mehr|"
        "nicht auffindbar|wurde entfernt|nicht mehr gefunden",
        "die diese der das dieses den gewünschte gewunschte gesuchte angeforderte angefragte aufgerufene "
        "aufgerufenen konnte konnten kann können konnen wurde werden leider sie ist es auf diesem server unter wir "
        "haben hat tut uns leid entschuldigung von ihnen angegebene suchen dieser unserem oder seite gewunscht",
    ),
    "fr": (
        "page|document|fichier|article|adresse|url",
        "non trouvée|non trouvé|introuvable|n'existe pas|n'existe plus|n'a pas été trouvée|n'a pas été trouvé|"
        "pas trouvée|pas trouvé|n'est plus disponible|n'est pas disponible|a été supprimée|est introuvable|"
        "n'a pu être trouvée|n'a pas pu être trouvée|inexistante|inexistant",
        "la le l cette cet ce que vous nous avez demandee demande recherchee recherchez cherchez desole desolee oups "
        "est a ou sur ce serveur site n pas pu votre de malheureusement semble il qui",
    ),
    "es": (
        "página|documento|archivo|artículo|dirección|url",
        "no encontrada|no encontrado|no se encuentra|no existe|no se ha encontrado|no se encontró|"
        "no ha sido encontrada|no fue encontrada|no se pudo encontrar|no está disponible|ya no está disponible|"
        "ya no existe|no disponible|no se puede encontrar",
        "la el esta este que lo sentimos solicitada solicitado solicita solicitaste buscas busca buscada estas esta "
        "buscando usted ha de en servidor sitio parece vaya perdon",
    ),
    "it": (
        "pagina|documento|file|articolo|indirizzo|url",
        "non trovata|non trovato|non esiste|non esiste più|non è stata trovata|non è stato trovato|inesistente|"
        "non è disponibile|non è più disponibile|non disponibile|non è stato possibile trovare|impossibile trovare",
        "la il lo questa questo che richiesta richiesto cerchi cercata stai cercando hai ci dispiace spiacenti siamo "
        "sul server sito l è e di",
    ),
    "pt": (
        "página|documento|arquivo|ficheiro|artigo|endereço|url",
        "não encontrada|não encontrado|não existe|não foi encontrada|não foi encontrado|não foi possível encontrar|"
        "não existe mais|já não existe|não está disponível|não está mais disponível|inexistente|"
        "não pôde ser encontrada",
        "a o esta este que voce solicitada solicitado procura procurada procurou esta procurando desculpe lamentamos "
        "pedimos desculpa no servidor site de",
    ),
    "nl": (
        "pagina|webpagina|document|bestand|artikel|adres|url",
        "niet gevonden|niet worden gevonden|niet vinden|bestaat niet|bestaat niet meer|niet beschikbaar|"
        "niet meer beschikbaar|kon niet worden gevonden|kan niet worden gevonden|is niet gevonden|is verwijderd",
        "de het deze dit die je u wij we kunnen kon kan kunt zoekt zoek bent op naar opgevraagde gevraagde "
        "opgevraagd helaas is werd op server site onze",
    ),
    "pl": (
        "strona|strony|stronę|dokument|plik|pliku|artykuł|adres|url",
        "nie znaleziona|nie została znaleziona|nie znaleziono|nie istnieje|nie została odnaleziona|nie odnaleziono|"
        "nie można znaleźć|już nie istnieje|nie jest dostępna|nie udało się znaleźć",
        "ta ten podana żądana zadana szukana której ktorej szukasz przepraszamy niestety na serwerze o podanym "
        "adresie taka wybrana",
    ),
    "ru": (
        "страница|страницы|страницу|документ|файл|статья|адрес|url",
        "не найдена|не найден|не найдено|не существует|не удалось найти|больше не существует|не обнаружена|удалена|"
        "недоступна|была удалена",
        "эта этой такой такая запрошенная запрашиваемая запрашиваемой вами вы ищете которую искали к сожалению "
        "извините простите на сервере сайте по данному адресу или запрошенный запрашиваемый была нашем мы увы",
    ),
    "uk": (
        "сторінка|сторінки|сторінку|документ|файл|стаття|адреса|url",
        "не знайдена|не знайдено|не існує|не вдалося знайти|більше не існує|видалена|не знайдений|було видалено",
        "ця цієї цієі такої такоі запитана яку ви шукаєте шукаете на жаль вибачте на сервері або була",
    ),
    "tr": (
        "sayfa|sayfası|sayfaya|belge|dosya|makale|adres|url",
        "bulunamadı|bulunamıyor|mevcut değil|mevcut değildir|yok|bulunmamaktadır|artık mevcut değil|kaldırılmış",
        "aradığınız aradiginiz istenen istediğiniz istediginiz üzgünüz uzgunuz bu maalesef sunucuda ne yazık ki yazik",
    ),
    "sv": (
        "sidan|sida|dokumentet|filen|artikeln|adressen|url",
        "hittades inte|kunde inte hittas|finns inte|finns inte längre|hittas inte|kan inte hittas|ej hittad|"
        "hittar inte|kunde inte hitta|har tagits bort|existerar inte",
        "den du söker soker sökte sokte letar efter tyvärr tyvarr begärda begarda som kan vi denna ursäkta ursakta "
        "att begarde",
    ),
    "da": (
        "siden|side|dokumentet|filen|artiklen|adressen|url",
        "ikke fundet|blev ikke fundet|findes ikke|kunne ikke findes|findes ikke længere|eksisterer ikke|"
        "kunne ikke finde|er slettet",
        "den du leder efter søger soger søgte beklager desværre desvaerre vi som denne ønskede onskede kan er",
    ),
    "no": (
        "siden|side|dokumentet|filen|artikkelen|adressen|url",
        "ikke funnet|ble ikke funnet|finnes ikke|kunne ikke finnes|finnes ikke lenger|eksisterer ikke|finner ikke|"
        "fant ikke|fant vi ikke|kunne ikke finne|er slettet",
        "den du leter etter søker soker beklager dessverre vi som denne kan vi er",
    ),
    "fi": (
        "sivua|sivu|sivusto|tiedostoa|asiakirjaa|artikkelia|osoitetta|url",
        "ei löydy|ei löytynyt|ei ole olemassa|ei ole enää olemassa|ei voitu löytää|ei enää löydy|on poistettu|"
        "ei löydetty",
        "etsimääsi etsimaasi hakemaasi pyydettyä pyydettya valitettavasti pahoittelut pahoittelemme tätä tata "
        "kyseistä kyseista",
    ),
    "cs": (
        "stránka|stránku|stránky|dokument|soubor|článek|adresa|url",
        "nenalezena|nebyla nalezena|neexistuje|nebyl nalezen|nelze nalézt|nenalezeno|již neexistuje|nenalezen|"
        "nepodařilo se najít|nebylo nalezeno",
        "tato požadovaná pozadovana hledaná hledana kterou hledáte hledate omlouváme omlouvame se bohužel bohuzel je "
        "na serveru",
    ),
    "hu": (
        "oldal|lap|weboldal|dokumentum|fájl|cikk|cím|url",
        "nem található|nem létezik|nem talált|már nem létezik|nem elérhető|nem találtuk|törölték",
        "a az keresett kért kert ez sajnáljuk sajnaljuk sajnos az ön on által altal meg szerveren",
    ),
    "ro": (
        "pagina|paginii|documentul|fișierul|articolul|adresa|url",
        "nu a fost găsită|nu a fost găsit|nu există|negăsită|nu mai există|inexistentă|nu este disponibilă|"
        "nu a putut fi găsită",
        "pe care o căutați cautati cautata căutată cauti cerută ceruta solicitată solicitata ne pare rău rau "
        "accesată accesata",
    ),
    "el": (
        "σελίδα|η σελίδα|έγγραφο|αρχείο|άρθρο|διεύθυνση|url",
        "δεν βρέθηκε|δε βρέθηκε|δεν υπάρχει|δεν υπάρχει πλέον|δεν είναι διαθέσιμη|δεν μπορεί να βρεθεί",
        "η το που ζητησατε ψαχνετε αναζητατε λυπουμαστε αυτη συγγνωμη ζητουμενη δυστυχως",
    ),
    "ko": (
        "페이지|페이지를|페이지가|페이지는|문서|문서를|문서가|파일을|파일이|주소를",
        "찾을 수 없습니다|찾을 수 없음|존재하지 않습니다|존재하지 않는|찾지 못했습니다|찾을 수가 없습니다|없는|"
        "삭제되었습니다|찾을 수 없어요",
        "요청하신 요청한 해당 찾으시는 죄송합니다 이 원하시는 입니다 페이지입니다 현재",
    ),
    "ar": (
        "الصفحة|صفحة|المستند|الملف|المقال|العنوان",
        "غير موجودة|غير موجود|لم يتم العثور على|لم يتم العثور|لا توجد|غير متوفرة|غير متاحة|لم يتم العثور عليها|"
        "لا يمكن العثور على",
        "عذرا عفوا هذه المطلوبة التي تبحث عنها طلبتها للأسف نأسف على",
    ),
    "fa": (
        "صفحه|صفحهٔ|برگه|فایل|سند|آدرس",
        "یافت نشد|پیدا نشد|وجود ندارد|موجود نیست|مورد نظر یافت نشد|پیدا نشده است|یافت نشده است",
        "مورد نظر شما متاسفانه متأسفانه درخواستی این ای که به دنبال آن هستید درخواست شده پوزش",
    ),
    "he": (
        "הדף|דף|העמוד|עמוד|הקובץ|המסמך|הכתבה|הכתובת",
        "לא נמצא|לא קיים|אינו קיים|לא נמצאה|אינו זמין|לא ניתן למצוא|הוסר",
        "המבוקש שחיפשת שביקשת שחיפשתם מצטערים אופס זה את",
    ),
    "vi": (
        "trang|trang web|tài liệu|tệp|bài viết|địa chỉ|url",
        "không tìm thấy|không tồn tại|không được tìm thấy|không còn tồn tại|không có sẵn|không thể tìm thấy",
        "ban yeu cau dang tim kiem rat tiec xin loi nay lỗi bạn yêu cầu đang đa đã tìm kiếm rất tiếc xin này",
    ),
    "id": (
        "halaman|dokumen|berkas|artikel|alamat|url",
        "tidak ditemukan|tidak ada|tidak tersedia|tidak dapat ditemukan|tak ditemukan|sudah tidak tersedia|"
        "telah dihapus",
        "yang anda cari minta maaf ini kamu mohon maaf tuju diminta",
    ),
}

_SPACELESS: Final[dict[str, tuple[str, str]]] = {
    "ja": (
        "ページが見つかりません|ページが見つかりませんでした|ページは見つかりません|ページは見つかりませんでした|"
        "ページが存在しません|ページは存在しません|ページは削除されました|ページがありません|ページはありません|"
        "ファイルが見つかりません|記事が見つかりません|ページを表示できません|ページが見つからない|"
        "該当するページがありません|url は見つかりませんでした|存在しないページです",
        "お探しの|ご指定の|指定された|指定した|要求された|リクエストされた|アクセスしようとした|申し訳ございません|"
        "申し訳ありません|エラー|該当する|この|ご覧になろうとした|ご要望の|お客様が|が|error",
    ),
    "zh": (
        "页面不存在|页面未找到|找不到页面|网页不存在|页面找不到|找不到该页面|页面没有找到|无法找到页面|找不到网页|"
        "文章不存在|页面已删除|页面已被删除|找不到您访问的页面|您访问的页面不存在|未找到页面|文件不存在|"
        "没有找到您要访问的页面|无法找到该页|頁面不存在|找不到頁面|找不到網頁|找不到此頁面|網頁不存在|頁面未找到|"
        "找不到該頁面|無法找到頁面|内容不存在|未找到该页面",
        "抱歉|对不起|對不起|很抱歉|您访问的|您訪問的|您要访问的|您请求的|你访问的|你要找的|您要找的|您要查看的|"
        "您要查找的|该|該|此|所请求的|您|你|访问的|错误|錯誤|出错了|哎呀|提示|啊|了|页|error",
    ),
}


@cache
def vocabularies() -> dict[str, Vocabulary]:
    """The languages with spaces between words, by code."""
    return {
        code: Vocabulary(phrases(nouns), phrases(states), frozenset(phrases(fillers.replace(" ", "|"))))
        for code, (nouns, states, fillers) in _SPACED.items()
    }


@cache
def spaceless() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The languages without spaces, by code: whole phrases, and other words that may accompany them."""
    return {code: (phrases(whole), phrases(beside)) for code, (whole, beside) in _SPACELESS.items()}


LANGUAGES: Final = frozenset(_SPACED) | frozenset(_SPACELESS)
