"""Words too common to say what a text is about, in the language the text is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import stopwordsiso

# The list for English that stopwordsiso has holds "thought", "world" and "system", which chapters are about.
_ENGLISH = frozenset(
    "a about above after again against all almost alone along already also although always am among an and another "
    "any anyone anything are aren't around as at away be became because become been before being below between beyond "
    "both but by came can can't cannot come could couldn't did didn't do does doesn't doing don't done down during "
    "each either else enough even ever every everyone everything few first for from further gave get give given go "
    "goes going gone got great had hadn't has hasn't hath have haven't having he he's hence her here hers herself him "
    "himself his how however i i'd i'll i'm i've if in indeed instead into is isn't it it's its itself just know "
    "least less let let's like little made make many may me might mine more moreover most mr mrs much must my myself "
    "near neither never nevertheless no nobody none nor not nothing now of off often oh on once one only onto or "
    "other others ought our ours ourselves out over own perhaps put quite rather said same say see seem seemed seems "
    "seen several shall shalt shan't she she's should shouldn't since so some somebody someone something sometimes "
    "somewhat soon still such take taken than that that's the thee their theirs them themselves then thence there "
    "there's therefore these they they're they've thine this those thou though three through throughout thus thy "
    "thyself till to together too took towards two under unless until unto up upon us used very was wasn't we we're "
    "we've well went were weren't what what's whatever when whence whenever where whereas wherever whether which "
    "while who who's whole whom whose why will with within without won't would wouldn't ye yes yet you you're you've "
    "your yours yourself yourselves".split()
)
_SAMPLE = 2000
_ENOUGH = 0.15
"""Of running text a third to a half are stop words; below this none of the lists is the text's."""


def stop_words_of(words: Sequence[str]) -> frozenset[str]:
    """Stop words of the language in whose list most of ``words`` (folded, running text) stand; maybe none."""
    sample = words[:_SAMPLE]
    shares = [(sum(word in listed for word in sample), language) for language, listed in _lists().items()]
    most = max((share for share, _ in shares), default=0)
    if most < _ENOUGH * len(sample) or not sample:
        return frozenset()
    return _lists()[min(language for share, language in shares if share == most)]


@cache
def _lists() -> dict[str, frozenset[str]]:
    lists = {language: frozenset(stopwordsiso.stopwords(language)) for language in sorted(stopwordsiso.langs())}
    return {**lists, "en": _ENGLISH}
