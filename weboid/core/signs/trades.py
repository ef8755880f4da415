"""The trades of those who buy domains that were given up, by what their titles say: gambling, pills, loans (C-11).

A title alone proves nothing, for there are honest pages about all of this: it counts where another page was before.
"""

import re
from typing import Final

from weboid.core.document.folding import first_of, folded, phrases

_GAMBLING: Final = phrases(
    "casino|casinos|kasino|kasyno|kasyna|kasyn|kazino|cazino|kaszinó|казино|онлайн казино|игровые автоматы|"
    "букмекер|букмекерская|ставки на спорт|вулкан|slots|slot gacor|slot online|situs slot|link slot|agen slot|"
    "daftar slot|slot dana|slot deposit|slot thailand|slot demo|slot resmi|slot terpercaya|slot maxwin|slot qris|"
    "gacor|togel|judi|judi online|bandar bola|sbobet|maxwin|bandarqq|pkv games|rtp live|poker online|poker|"
    "free spins|sportsbook|sports betting|online betting|betting sites|bookmaker|bookmakers|wettanbieter|sportwetten|"
    "spielautomaten|glücksspiel|machines à sous|paris sportifs|apuestas|tragaperras|scommesse|apostas|cassino|"
    "bahis|bahis siteleri|iddaa|deneme bonusu|canlı bahis|nhà cái|cá cược|xổ số|nổ hũ|tài xỉu|"
    "娱乐城|娛樂城|博彩|赌场|賭場|彩票|开奖|開獎|棋牌|老虎机|百家乐|百家樂|六合彩|体育投注|真人荷官|"
    "カジノ|オンラインカジノ|카지노|바카라|토토|슬롯|먹튀|คาสิโน|สล็อต|บาคาร่า|แทงบอล|เว็บตรง|หวย|sòng bạc|کازینو|شرط بندی"
)
_OTHERS: Final = phrases(
    "viagra|cialis|levitra|kamagra|sildenafil|tadalafil|canadian pharmacy|online pharmacy|pharmacy online|"
    "buy tramadol|buy xanax|виагра|potenzmittel|porn|porno|xxx|escort|escorts|escort service|sex cams|camgirls|hentai|"
    "порно|проститутки|成人视频|色情|アダルト動画|payday loan|payday loans|quick loans|instant loans|bad credit loans|"
    "loans online|personal loans|kredit ohne|kredit ohne schufa|займ|займы|микрозаймы|кредит онлайн|chwilówki|"
    "replica watches|replica handbags|fake watches|essay writing|write my essay|buy essay|essay service|cbd gummies|"
    "buy followers|weight loss pills"
)
_ALL: Final = (*_GAMBLING, *_OTHERS)
_KOREAN: Final = tuple(phrase for phrase in _ALL if "\u1100" <= phrase[0] <= "\u11ff")
"""Korean has spaces, but joins such words with others. Folded, its letters stand one by one."""
# Brands of gambling have a number: slot88, togel 4d, 1xbet, bet365.
_NUMBERED: Final = re.compile(
    r"(?:^| )(?:[a-z]{0,12}(?:bet|toto|qq)[0-9]{2,4}|[a-z]{0,12}(?:slots?|togel) ?[0-9]{2,4}|[0-9]{1,3}xbet)(?: |$)"
)


def trade_in(title: str) -> str | None:
    """The words of a title that name such a trade."""
    said = folded(title)
    if found := _NUMBERED.search(said):
        return found[0].strip()
    return first_of(_ALL, said) or next((phrase for phrase in _KOREAN if phrase in said), None)
