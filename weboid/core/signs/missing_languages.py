"""The words for missing documents in the languages beyond the big ones, in the form of ``core/signs/missing_words``.

Sources, compared with each other: the translations of "Page not found" and of the sentence beside it in the catalogues
of Django's admin (django/contrib/admin/locale), Wagtail, django-oscar, Plone (plone.app.locales), Laravel-Lang
(Laravel-Lang/http-statuses:locales), mozilla.org (mozilla-l10n/www-l10n:*/404.ftl) and OpenStreetMap
(openstreetmap/openstreetmap-website:config/locales). A language in which they are unclear is left out.
"""

from typing import Final

_SERBO_CROATIAN: Final = (
    "stranica|stranicu|stranice|strana|datoteka|dokument|članak|adresa|url|fajl",
    "nije pronađena|nije pronađeno|nije pronađen|nije pronadjena|nije pronađjena|nije nađena|nije nađeno|ne postoji|"
    "ne možemo pronaći|nije moguće pronaći|više ne postoji|ne može se pronaći|ne možemo naći|ne može biti pronađena|"
    "nije dostupna|nepostojeća",
    "žao nam je tražena traženu koju tražite ali oprosti oprostite ispričavamo se ta tu ova ste tražili zatražena "
    "nažalost greška pogreška koji na poslužitelju serveru izvinite",
)

OTHERS: Final[dict[str, tuple[str, str, str]]] = {
    "af": (
        "bladsy|webblad|dokument|lêer|artikel|adres|url",
        "nie gevind nie|kon nie gevind word nie|kan nie gevind word nie|bestaan nie|bestaan nie meer nie|"
        "kon nie gevind word|nie beskikbaar nie",
        "die hierdie u jy jou wat aangevraagde jammer ons is was soek na op bediener gevraagde ongelukkig fout",
    ),
    "am": (
        "ገጽ|ገጹ|ድህረ ገጽ|ድህረ ገጹ|ድረ ገጽ|ፋይል|ፋይሉ",
        "የለም|አልተገኘም|ማግኘት አልቻልንም|ሊገኝ አልቻለም",
        "ይቅርታ ያንን የፈለጉት የሚፈልጉት ይህ ስህተት",
    ),
    "an": ("pachina|fichero", "no s'ha trobau|no s'ha trobada|no existe", "a ixa ista o que error"),
    "arz": (
        "الصفحه|صفحه|الصفحة|صفحة",
        "مش موجوده|مش موجودة|غير موجوده|مش متاحه|مش لاقيين",
        "عفوا اسفين دي اللى اللي بتدور عليها المطلوبه",
    ),
    "as": ("পৃষ্ঠা|পৃষ্ঠাটো|পৃষ্ঠাখন", "পোৱা নগ'ল|পোৱা নাযায়|বিচাৰি পোৱা নগ'ল|পোৱা নগল", "দুঃখিত আপুনি বিচৰা এই"),
    "ast": (
        "páxina|ficheru|documentu|artículu|url",
        "nun s'alcontró|nun s'atopó|nun s'alcuentra|nun esiste|nun se pudo atopar|nun se pudo alcontrar|"
        "nun podemos atopar|nun alcontrada|nun atopada",
        "la sentímoslo pero solicitada esa esta que l fallu",
    ),
    "az": (
        "səhifə|səhifəni|səhifəsi|fayl|sənəd|məqalə|url",
        "tapılmadı|mövcud deyil|mövcud deyildir|tapılmır|tapa bilmədik|artıq mövcud deyil|tapıla bilmədi",
        "üzr istəyirik amma sorğulanan axtardığınız bu təəssüf ki istədiyiniz xəta",
    ),
    "ba": ("бит|файл", "табылманы", "ғәфү итегеҙ был хата"),
    "be": (
        "старонка|старонку|старонкі|бачына|бачыну|файл|дакумент|артыкул",
        "не знойдзена|не знойдзены|не знойдзеная|не знойдзен|не знайшлі|не існуе|немагчыма знайсьці|"
        "не можа быць знойдзена|не можам знайсці|ня знойдзена|не ўдалося знайсці|больш не існуе",
        "на жаль запытаную гэту мы гэтая якую вы шукаеце па запытаная прабачце выбачайце такой памылка",
    ),
    "bg": (
        "страницата|страница|файлът|файл|документът|статията|адресът",
        "не е намерена|не е намерено|не е намерен|не беше намерена|не съществува|не може да бъде намерена|"
        "не е открита|не бе намерена|не успяхме да намерим|не беше открита|вече не съществува",
        "съжаляваме но поисканата търсената която търсите тази за съжаление грешка от вас извинете",
    ),
    "bn": (
        "পৃষ্ঠা|পৃষ্ঠাটি|পাতা|পাতাটি|পেজ|পেজটি|ফাইল|ফাইলটি",
        "পাওয়া যায়নি|খুঁজে পাওয়া যায়নি|খুঁজে পাইনি|পাওয়া যাচ্ছে না|খুঁজে পাওয়া যাচ্ছে না|পাওয়া যায় নি|খুঁজে পাওয়া যায় নি|বিদ্যমান নেই",
        "দুঃখিত আমরা কিন্তু অনুরোধকৃত আপনি যে যা খুঁজছেন এই সেই ত্রুটি আপনার",
    ),
    "br": (
        "pajenn|ar bajenn|bajenn|restr",
        "n'eo ket bet kavet|ne c'hallomp ket kavout|n'eus ket eus|ne c'haller ket kavout",
        "digarezit se ar mañ fazi",
    ),
    "bs": _SERBO_CROATIAN,
    "ca": (
        "pàgina|fitxer|document|article|adreça|url",
        "no trobada|no trobat|no s'ha trobat|no s'ha pogut trobar|no existeix|no hem pogut trobar|no es troba|"
        "ja no existeix|no està disponible|no podem trobar|no es pot trobar|no ha estat trobada|inexistent",
        "la el ho sentim però demanada sol·licitada que busqueu cerqueu cerques busques buscada esteu cercant heu "
        "aquesta vaja ups de en servidor estàs buscant",
    ),
    "ceb": ("panid", "wala makita|wala makit an|wala hikit i", "ang gipangita nga sayop pasensya"),
    "ckb": (
        "پەڕە|پەڕەی|پەڕەکە|لاپەڕە|لاپەڕەکە",
        "نەدۆزرایەوە|نەدۆزراوەتەوە|بوونی نییە|ناتوانرێت پەڕەی داواکراو بدۆزرێتەوە",
        "داوای لێبوردن ئەکەین دەکەین بەڵام داواکراو ببوورە ئەم هەڵە",
    ),
    "cy": (
        "y dudalen|dudalen|tudalen|ffeil|y ffeil",
        "ni ddarganfyddwyd|ni ddarganfuwyd|heb ei ganfod|heb ei chanfod|heb ganfod|heb ei ddarganfod|ddim yn bodoli|"
        "nid ydym yn gallu dod o hyd i'r|nid oes modd dod o hyd i'r|nid yw'r dudalen yn bodoli",
        "mae'n ddrwg gennym ond ymddiheuriadau honno y hon hwn yn gwall",
    ),
    "dsb": ("bok", "njejo se namakał|njedajo se namakaś", "ten pominany jo nam luto ale bóžko zmólka"),
    "dv": ("ޞަފްޙާ|ޞަފްޙާއެއް|ޕޭޖް", "ނުފެނެއެވެ|ނުފެނުނު|ހޯދިފައެއް ނުވެއެވެ|ނުފެނުނެވެ", "އެދިފައިވާ އެރަރ"),
    "eo": (
        "paĝo|paĝon|dosiero|dokumento|artikolo",
        "ne trovita|ne estis trovita|ne ekzistas|ne troveblas|ne troviĝis|ne povas trovi|ne plu ekzistas|ne trovebla|"
        "ne povis esti trovita",
        "bedaŭrinde la petita ni tiun tiu ĉi kiun vi serĉas eraro",
    ),
    "et": (
        "lehte|lehekülge|lehekülg|leht|faili|dokumenti|artiklit|aadressi",
        "ei leitud|ei leidu|ei eksisteeri|ei ole olemas|ei õnnestunud leida|pole olemas|enam ei eksisteeri|"
        "ei ole enam olemas|pole enam olemas",
        "vabandame kuid soovitud taotletud otsitud seda sellist kahjuks viga otsitavat teie mida otsite",
    ),
    "eu": (
        "orria|orri|orririk|web orria|fitxategia|dokumentua|artikulua|helbidea",
        "ez da aurkitu|ezin izan da aurkitu|ezin da aurkitu|ez da existitzen|ez da orria aurkitu|"
        "ez da orririk aurkitu|ezin izan da orria aurkitu|ezin dugu orri hori aurkitu|ezin dugu aurkitu",
        "sentitzen dugu baina eskatutako barkatu bilatzen ari zaren errorea",
    ),
    "fur": ("pagjine|file", "no cjatade|no cjatât", "la"),
    "fy": (
        "side|de side|artikel",
        "net fûn|koe net fûn wurde|bestiet net|kin net fûn wurde|kinne dy side net fine|net fine",
        "dy sorry wy kinne spitich de flater",
    ),
    "ga": (
        "leathanach|comhad",
        "ní bhfuarthas|gan aimsiú|níor aimsíodh|ní bhfuarthas an leathanach|níorbh fhéidir an leathanach|"
        "níl an leathanach ann",
        "an ár leithscéal ach iarrtha a aimsiú earráid sin seo",
    ),
    "gd": (
        "duilleag",
        "cha deach an duilleag a lorg|cha do lorg sinn an duilleag|chan urrainn dhuinn an duilleag sin a lorg|"
        "gun a lorg|cha deach a lorg",
        "tha sinn duilich ach a dh’iarr thu an sin mearachd",
    ),
    "gl": (
        "páxina|documento|ficheiro|artigo|enderezo|url",
        "non atopada|non se atopou|non pudo atoparse|non se pode atopar|non existe|non podemos atopar|"
        "non se puido atopar|non foi atopada|non encontrada|xa non existe|non está dispoñible",
        "a o sentímolo pero solicitada desculpe esa que buscas busca esta erro sentimos lamentámolo",
    ),
    "gn": ("kuatiarogue|togue", "ojejuhu'ỹva|ndojejuhúi|ndojuhúi pe kuatiarogue", "oreñyrõ ko pe"),
    "gu": (
        "પૃષ્ઠ|પેજ|પાનું|ફાઇલ",
        "મળ્યું નથી|મળી નથી|મળ્યું નહીં|મળી શક્યું નથી|અસ્તિત્વમાં નથી|નથી મળ્યું|મળ્યુ નથી|મળ્યુ નહીં",
        "માફ કરશો આ તમે જે શોધી રહ્યા છો તે વિનંતી કરેલ ભૂલ",
    ),
    "ha": (
        "shafi|shafin",
        "ba a samu ba|ba a samu shafin ba|ba a sami shafin ba|ba a samu shafi ba|ba a sami shafi ba|"
        "ba a samo shafin ba",
        "yi haƙuri da kuke nema wannan kuskure",
    ),
    "hi": (
        "पृष्ठ|पेज|पन्ना|फ़ाइल|वेबपेज|वेब पेज",
        "नहीं मिला|लापता|मौजूद नहीं है|नहीं मिल रहा|नहीं मिल रहा है|नहीं मिल सका|उपलब्ध नहीं है|अस्तित्व में नहीं है|पता नहीं चला|"
        "नहीं पाया गया|प्राप्त नहीं हुआ|नहीं मिली|मौजूद नहीं",
        "क्षमा करें हमें यह वह आप जो जिस जिसे खोज ढूंढ रहे हैं अनुरोधित त्रुटि आपके द्वारा माफ़ अनुरोध किया गया कि की",
    ),
    "hr": _SERBO_CROATIAN,
    "hsb": (
        "strona|stronu|dataja",
        "njeje so namakała|njeda so namakać|njemóžemy tu stronu namakać",
        "je nam žel ale požadana ta bohužel zmylk",
    ),
    "ht": (
        "paj|paj la|paj sa a|dosye",
        "pa jwenn|nou pa jwenn|pa egziste|pa jwenn paj la|nou pa ka jwenn",
        "w ap chèche a eskize padon nou erè",
    ),
    "hy": (
        "էջը|էջ|էջն|ֆայլը|հասցեն",
        "չի գտնվել|գտնված չէ|չի գնվել|գոյություն չունի|չգտնվեց|հնարավոր չէ գտնել|չի հայտնաբերվել",
        "ներողություն ենք հայցում բայց հարցվող ձեր փնտրած այս որոնվող պահանջվող ցավոք սխալ",
    ),
    "ia": (
        "pagina|file|documento",
        "non trovate|non poteva esser trovate|non pote trovar|non existe|non pote esser trovate",
        "le regrettabilemente requestate desolate nos ille error",
    ),
    "io": ("pagino", "ne renkontresis|ne trovesis|ne existas", "la demandita pardonez ma"),
    "is": (
        "síða|síðan|síðu|síðuna|skrá|skráin|skjal|vefsíða",
        "fannst ekki|finnst ekki|er ekki til|ekki fundin|finnum ekki|ekki fundið|er ekki lengur til|"
        "fannst umbeðin síða ekki",
        "því miður við þessa þessi sem þú baðst um umbeðin villa ert að leita",
    ),
    "jv": ("kaca", "ora ditemokake|ora ketemu|ora tinemu|ora ditemokaké", "nyuwun pangapura sing sampeyan goleki iki"),
    "ka": (
        "გვერდი|ფაილი",
        "ვერ მოიძებნა|არ მოიძებნა|არ არსებობს|ვერ იქნა ნაპოვნი|არ არის ნაპოვნი|ვერ ვიპოვეთ|აღარ არსებობს",
        "სამწუხაროდ მოთხოვნილი თქვენს მიერ მითითებული უკაცრავად ეს შეცდომა ასეთი",
    ),
    "kab": ("asebter|asebtar|afaylu", "ulac it|ulac|ur yettwaf ara", "suref aɣ tuccḍa"),
    "kk": (
        "бет|бетті|беті|бетіңіз|парақ|файл|құжат",
        "табылмады|таба алмадық|табылған жоқ|қолжетімді емес",
        "кешірім сұраймыз сіздің сұраған кешіріңіз біз бұл сіз іздеген өкінішке орай сұралған қате",
    ),
    "kn": (
        "ಪುಟ|ಪುಟವು|ಪುಟವನ್ನು|ಕಡತ",
        "ಸಿಗಲಿಲ್ಲ|ಕಂಡುಬಂದಿಲ್ಲ|ದೊರೆತಿಲ್ಲ|ಕಂಡು ಬಂದಿಲ್ಲ|ಅಸ್ತಿತ್ವದಲ್ಲಿಲ್ಲ|ಸಿಕ್ಕಿಲ್ಲ|ದೊರಕಲಿಲ್ಲ",
        "ಕ್ಷಮಿಸಿ ನೀವು ಕೇಳಿದ ಹುಡುಕುತ್ತಿರುವ ಈ ವಿನಂತಿಸಿದ ದೋಷ",
    ),
    "ku": (
        "rûpel|dosye|belge",
        "nehate dîtin|nehat dîtin|peyda nebû|nayê dîtin|nehate peydakirin",
        "bibore ev ku hûn lê digerin mixabin çewtî",
    ),
    "ky": (
        "барак|барагы|баракча|файл",
        "табылган жок|табылбады|табылбай калды",
        "кечирим сурайбыз сиз сураган издеген бул тилекке каршы кечиресиз ката",
    ),
    "la": (
        "pagina|fasciculus",
        "non inventa est|non inventa|non reperta|inveniri non potest|non inveniri potest|non exstat|non reperta est",
        "haec quam quaeris petita erratum",
    ),
    "lb": (
        "säit|websäit|fichier|artikel",
        "net fonnt|gouf net fonnt|net fonnt ginn|existéiert net|konnt net fonnt ginn|existéiert net méi",
        "d dës déi gesicht feeler ass",
    ),
    "lij": ("pagina", "no atrovâ|no poemmo trovâ|no existe", "ne rincresce quella sta"),
    "lt": (
        "puslapis|puslapio|tinklalapis|tinklalapio|failas|dokumentas|straipsnis",
        "nerastas|nerasta|nebuvo rastas|buvo nerastas|neegzistuoja|negalime rasti|nepavyko rasti|nebeegzistuoja|"
        "neradome|nėra rastas",
        "atsiprašome bet prašytas prašomas kurio ieškote šio toks ieškomas jūsų klaida deja kurį šis",
    ),
    "lv": (
        "lapa|lapu|fails|dokuments|raksts|adrese",
        "nav atrasta|nav atrodama|nav atrasts|neeksistē|nevaram atrast|nav iespējams atrast|netika atrasta|"
        "nevar atrast|vairs neeksistē|nav pieejama|neizdevās atrast|nevarēja atrast",
        "atvainojiet atvainojamies pieprasītā pieprasīto šo šāda šī mēs jūs jūsu meklētā kuru meklējat kļūda diemžēl",
    ),
    "mai": ("पृष्ठ|पन्ना", "नहि भेटल", "क्षमा करू"),
    "mg": ("pejy|ny pejy|ilay pejy", "tsy hita|tsy misy|mbola tsy misy", "miala tsiny ny io angatahinao fa"),
    "mi": (
        "whārangi|te whārangi",
        "kua ngaro|kāore i kitea|kāhore i kitea|kāhore ka taea te kimihia|kaore i kitea",
        "te nei hē tēnei aroha mai",
    ),
    "mk": (
        "страницата|страница|датотеката|податотеката|документот",
        "не е најдена|не е пронајдена|не постои|не можеме да ја најдеме|не може да се најде|не беше пронајдена|"
        "не е најдено|не е пронајдено|веќе не постои|не беше најдена",
        "се извинуваме извинете која ја побаравте таа барате што грешка за жал бараната оваа страницата",
    ),
    "ml": (
        "താൾ|താള്‍|പേജ്|ഫയൽ",
        "കണ്ടെത്താനായില്ല|കണ്ടെത്തിയില്ല|കണ്ടെത്താൻ കഴിഞ്ഞില്ല|കണ്ടെത്താന്‍ കഴിഞ്ഞില്ല|നിലവിലില്ല|ലഭ്യമല്ല|കാണാനില്ല",
        "ക്ഷമിക്കണം ആവശ്യപ്പെട്ട പൊറുക്കണം ഞങ്ങൾക്ക് ആ ഈ നിങ്ങൾ തിരയുന്ന",
    ),
    "mn": (
        "хуудас|хуудсыг|файл",
        "олдсонгүй|байхгүй байна|олж чадсангүй|байхгүй",
        "уучлаарай хүссэн хандахыг таны хайсан энэ алдаа байна",
    ),
    "mr": (
        "पान|पृष्ठ|पेज|पानं",
        "मिळाले नाही|सापडले नाही|सापडलं नाही|आढळले नाही|अस्तित्वात नाही|उपलब्ध नाही",
        "आम्ही क्षमस्व आहोत पण विनंती केलेले माफ करा आम्हाला ते हे आपण शोधत असलेले त्रुटी तुम्ही आहात",
    ),
    "ms": (
        "halaman|laman|fail|dokumen|muka surat",
        "tidak dijumpai|tidak ditemui|tidak wujud|tidak dapat menemui|tidak dapat dijumpai|tidak dapat ditemui|"
        "tidak lagi wujud",
        "maaf tetapi yang diminta kami ini anda cari ralat harap",
    ),
    "mt": ("paġna|il paġna|fajl", "ma nstabitx|ma nstabx|ma teżistix|ma tinstabx", "li qed tfittex mitluba skużana"),
    "nds": (
        "siet|sied|datei",
        "nich funnen|nich funnen warrn|gifft dat nich|gifft dat nich mehr|nich finnen",
        "de disse deit uns leed kunn",
    ),
    "ne": (
        "पृष्ठ|पेज|पाना|फाइल",
        "भेटिएन|फेला परेन|फेला पार्न सकिएन|भेट्टिएन|अवस्थित छैन|उपलब्ध छैन",
        "हामी क्षमाप्रार्थी छौं तर अनुरोध गरिएको माफ गर्नुहोस् तपाईंले खोज्नुभएको यो त्रुटि",
    ),
    "nn": (
        "sida|side|fila|artikkelen|dokumentet",
        "fann ikkje|finst ikkje|kan ikkje finne|ikkje funne|finn ikkje|vart ikkje funnen|ikkje funnen|"
        "blei ikkje funnen|kunne ikkje finne|finst ikkje lenger",
        "du spør etter beklagar vi denne leitar orsak den som kan",
    ),
    "oc": (
        "pagina|fichièr",
        "pas trobada|non trobada|pas trobat|avèm pas pogut trobar|existís pas|es pas estada trobada|s'es pas trobat",
        "la aquesta o planhèm",
    ),
    "om": ("fuula|fuulli|fuulichi", "hin argamne|hin argamu", "barbaaddan dogoggora"),
    "or": ("ପୃଷ୍ଠା|ପୃଷ୍ଠାଟି", "ମିଳିଲା ନାହି|ମିଳିଲା ନାହିଁ|ମିଳୁନାହିଁ", "କ୍ଷମା କରିବେ ଏହି"),
    "os": ("фарс", "нӕ зыны|нæ зыны", "хатыр фӕлӕ домд фæлæ"),
    "pa": (
        "ਸਫ਼ਾ|ਪੰਨਾ|ਪੇਜ|ਫਾਇਲ",
        "ਨਹੀਂ ਲੱਭਿਆ|ਨਹੀਂ ਲੱਭੀ|ਨਹੀਂ ਮਿਲਿਆ|ਮੌਜੂਦ ਨਹੀਂ ਹੈ|ਨਹੀਂ ਲਭਿਆ|ਨਹੀਂ ਲੱਭ ਸਕਿਆ",
        "ਅਫ਼ਸੋਸ ਸਾਨੂੰ ਉਹ ਮਾਫ਼ ਕਰਨਾ ਇਹ ਤੁਸੀਂ ਜੋ",
    ),
    "pnb": ("صفحہ|صفہ|فائل", "نہیں لبھیا|نئیں لبھیا|کجھ نہیں لبھیا", "اے معافی"),
    "ps": (
        "پاڼه|پاڼې|مخ|دوتنه",
        "ونه موندل شوه|ونه موندل شو|پیدا نشوه|پیدا نشو|و نه موندل شوه|شتون نه لري",
        "بښنه دا غوښتل شوې",
    ),
    "rm": ("pagina|datoteca", "betg chattà|betg chattada|na chattain betg|n'exista betg", "la questa perstgisa nus"),
    "sa": ("पृष्ठम्|पृष्ठं|पुटम्", "न लभ्यते|न लब्धम्|न प्राप्तम्", "क्षम्यताम् इदं"),
    "sc": ("pàgina|documentu", "no agatada|no agatadu|no est istada agatada|no esistit", "sa sa pàgina chircas"),
    "scn": ("pàggina", "nun truvata|nun pòttimu truvari|nun esisti|nun si trova", "sta la"),
    "sco": ("page", "no fund|cannae find", "ach we thon the ye"),
    "sd": ("صفحو", "نه مليو|نہ مليو|موجود ناهي|نه ملي سگهيو", "معاف ڪجو هي"),
    "si": (
        "පිටුව|පිටුවක්|ගොනුව",
        "හමු නොවුණි|හමු නොවීය|සොයාගත නොහැක|හමු වුණේ නැහැ|සොයා ගත නොහැක|සොයා ගත නොහැකි විය|හමුනොවිණි",
        "කණගාටුයි එම සමාවන්න ඔබ සොයන මෙම දෝෂය",
    ),
    "sk": (
        "stránka|stránku|stránky|súbor|dokument|článok|adresa",
        "nebola nájdená|nenájdená|nenašla sa|neexistuje|sa nenašla|nebol nájdený|nedokážeme nájsť|nenájdené|"
        "nenájdený|sa tu nenachádza|sa nenachádza|už neexistuje|nie je možné nájsť|sa nepodarilo nájsť|"
        "nie je dostupná|nemožno nájsť",
        "ľutujeme ale požadovaná ktorú hľadáte hľadaná požadujete je nám to ľúto túto táto ospravedlňujeme sa chyba "
        "bohužiaľ na serveri prepáčte",
    ),
    "skr": ("ورقہ|فائل", "کائنی لبھا|کائنی لبھی|کائنی لبھ سڳے", "افسوس اساں او"),
    "sl": (
        "stran|strani|datoteka|datoteke|dokument|stranka",
        "ni najdena|ni mogoče najti|ni bilo mogoče najti|ne obstaja|ne najdemo|ni bila najdena|ni najdeno|nismo našli|"
        "ne obstaja več|ni na voljo|ni bilo mogoče",
        "zahtevane zahtevana oprostite opravičujemo se a te ta iskana ki jo iščete žal napaka iskane vendar iskreno "
        "nam je najti",
    ),
    "so": ("bogga|bog|faylka", "lama helin|lama heli karo|ma jiro", "aad raadinayso waan ka xunnahay khalad"),
    "sq": (
        "faqe|faqja|faqen|dokumenti|skedari|artikulli|adresa|url",
        "nuk u gjet|s u gjet|s u gjet dot|nuk gjendet|nuk ekziston|nuk mund të gjendet|nuk mund të gjendej|"
        "nuk ekziston më|s e gjejmë dot|nuk e gjejmë dot|nuk u gjend",
        "na ndjeni por e kërkuar kjo që kërkuat po kërkoni në server ju vjen keq atë gabim",
    ),
    "sr": (
        "страница|страницу|странице|страна|датотека|документ|чланак|" + _SERBO_CROATIAN[0],
        "није пронађена|није пронађено|није пронађен|није нађена|није нађено|не постоји|не можемо наћи|"
        "није могуће пронаћи|више не постоји|не може се пронаћи|није доступна|" + _SERBO_CROATIAN[1],
        "жао нам је тражена тражену коју тражите али извините та ту ова на нажалост жалост грешка захтевана "
        + _SERBO_CROATIAN[2],
    ),
    "su": ("kaca", "teu kapanggih|henteu kapendak|henteu kapanggih|teu kapendak", "punten anu ieu"),
    "sw": (
        "ukurasa|faili|kurasa",
        "haujapatikana|haukupatikana|haupatikani|haipatikani|haupo|hauwezi kupatikana|haikupatikana",
        "samahani uliotafutwa huu unaotafuta uliyoomba ulioomba hitilafu kosa",
    ),
    "ta": (
        "பக்கம்|பக்கத்தை|பக்கத்தைக்|கோப்பு",
        "காணவில்லை|காண இயலவில்லை|காணப்படவில்லை|கண்டுபிடிக்க முடியவில்லை|கிடைக்கவில்லை|கண்டறியப்படவில்லை",
        "நீங்கள் விரும்பிய மன்னிக்கவும் அந்தப் அந்த இந்த இந்தப் தேடும் எங்களால் அதற்காக நாங்கள் வருந்துகிறோம் கோரிய பிழை",
    ),
    "te": (
        "పుట|పేజీ|పేజీని|ఫైలు",
        "దొరకలేదు|కనబడలేదు|కనుగొనబడలేదు|కనుగొనలేకపోయాం|దొరకలేడు|లభించలేదు|కనుగొనలేకపోయాము",
        "క్షమించండి మీరు కోరిన ఆ ఈ వెతుకుతున్న లోపం",
    ),
    "tet": ("pájina", "la hetan", "ne'ebé husu ona deskulpa erru"),
    "tg": (
        "саҳифа|саҳифаи|файл",
        "ёфт нашуд|дарёфт нашуд|пайдо нашуд|вуҷуд надорад|мавҷуд нест",
        "мутаассифона ин дархостшуда бубахшед хато",
    ),
    "tk": ("sahypa|faýl", "tapylmady|ýok", "bagyşlaň bu siziň gözleýän ýalňyşlyk"),
    "tl": (
        "pahina|pahinang|ang pahina|ang pahinang",
        "hindi makita|hindi mahanap|hindi natagpuan|hindi matagpuan|hindi nahanap|di po namin makita|"
        "hindi namin makita",
        "ang paumanhin yan hinahanap mo na iyong ito hiniling namin po error",
    ),
    "tt": ("сәхифә|бит|файл", "табылмаган|табылмады|табылмый", "кызганычка каршы соралган бу гафу итегез хата"),
    "ug": (
        "بەت|بەتنى|ھۆججەت",
        "تېپىلمىدى|مەۋجۇت ئەمەس",
        "كەچۈرۈڭ لېكىن تەلەب قىلىنغان ئىلتىماس قىلغان خاتالىق بۇ",
    ),
    "ur": (
        "صفحہ|صفہہ|پیج|فائل",
        "نھیں ملا|نہیں ملا|نھیں مل سکا|نہیں مل سکا|نہیں مل سکتا|موجود نہیں|موجود نہیں ہے|دستیاب نہیں|نہیں ملی|"
        "دستیاب نہیں ہے",
        "ھم معذرت خواہ ھیں مطلوبہ معاف کریں ہمیں وہ آپ جو جس تلاش کر رہے ہیں یہ کیا گیا",
    ),
    "uz": (
        "sahifa|sahifani|fayl|саҳифа|hujjat",
        "topilmadi|topa olmadik|mavjud emas|топилмади|мавжуд эмас",
        "kechirasiz biz bu siz qidirayotgan so'ralgan izlayotgan uzr afsuski xato xatolik qidirgan кечирасиз сиз",
    ),
    "yi": ("בלאט|זייט|בלעטל", "נישט געפונען|ניט געפונען|עקזיסטירט נישט", "דער די דאס איז"),
    "zu": ("ikhasi", "alitholakalanga|akutholakalanga|alitholakali", "uxolo olifunayo"),
}
"""Nouns, states and fillers by language, as in ``missing_words``."""

OTHERS_SPACELESS: Final[dict[str, tuple[str, str]]] = {
    "km": (
        "រកមិនឃើញទំព័រ|មិនអាចរកទំព័រនោះបានទេ|រកមិនឃើញទំព័រនេះ|រកទំព័រមិនឃើញ|រកមិនឃើញទំព័រដែលអ្នកស្វែងរក|"
        "ទំព័រដែលលោកអ្នកចង់រកនេះពុំមាននៅក្នុងម៉ាស៊ីនរបស់យើងខ្ញុំទេ|ទំព័រដែលលោកអ្នកចង់រកនេះពុំមាននឹងក្នុងម៉ាស៊ីនរបស់យើងខ្ញុំទេ",
        "សុំអធ្យាស្រ័យ|សូមអភ័យទោស|សួមអភ័យទោស|យើង|error",
    ),
    "lo": (
        "ບໍ່ເຫັນໜ້າ|ບໍ່ພົບໜ້າ|ບໍ່ພົບໜ້ານີ້|ບໍ່ສາມາດຊອກຫາໜ້ານັ້ນໄດ້|ບໍ່ພົບໜ້າທີ່ທ່ານຊອກຫາ|ບໍ່ພົບຫນ້າ",
        "ຂໍອະໄພ|ພວກເຮົາ|error",
    ),
    "my": (
        "စာမျက်နှာကို မတွေ့ပါ|စာမျက်နှာ မတွေ့ပါ|စာမျက်နှာ ရှာမတွေ့ပါ|စာမျက်နှာကို ရှာမတွေ့ပါ|စာမျက်နှာ မရှိပါ",
        "ရှာနေတဲ့|ရှာဖွေနေသော|တောင်းပန်ပါတယ်|ဝမ်းနည်းပါတယ်|သင်|error",
    ),
    "th": (
        "ไม่พบหน้า|ไม่พบหน้านี้|ไม่พบหน้าที่ต้องการ|ไม่พบหน้าที่ต้องการหา|ไม่พบหน้าเว็บ|ไม่พบหน้าเว็บนี้|ไม่พบหน้าที่คุณต้องการ|"
        "ไม่พบหน้าดังกล่าว|ไม่พบหน้าที่คุณค้นหา|ไม่พบหน้าเว็บที่คุณต้องการ|ไม่พบเพจ|หาหน้าไม่พบ|หน้านี้ไม่มีอยู่|ไม่พบไฟล์|"
        "ไม่พบข้อมูลที่ร้องขอ|หน้าที่คุณกำลังมองหาไม่มีอยู่|ไม่พบหน้าที่ร้องขอ|ไม่พบหน้าที่คุณกำลังมองหา|ไม่พบหน้าเพจ|"
        "ไม่พบหน้าเว็บที่ต้องการ|ไม่พบหน้าเพจที่คุณต้องการ|ไม่พบเนื้อหา",
        "ขออภัย|เรา|ค่ะ|ครับ|คุณ|ผิดพลาด|ข้อผิดพลาด|เกิดข้อผิดพลาด|error",
    ),
}
"""Whole phrases and what may accompany them, by language."""
