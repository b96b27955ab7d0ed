"""All lists of words that tell nothing, side by side, with the reason for each difference.

`scripts/dev.py docs` writes the lists of the shell, the engine's page and VS Code from here: those import nothing of ours.
"""

from __future__ import annotations

from collections.abc import Collection

# In most questions and most texts: they tell nothing anywhere.
_QUESTION_WORDS = (
    "a an and are as at be by can do does for from has have how i if in into is it its of on or our should so that "
    "the their then there this to via was we what when where which who why will with you your"
)
# Words of most lines of a text. The index of code keeps them, because `any`, `them` and `not` are names and operators there.
_LINE_WORDS = "any been but could did had me my no not some than them these they up would"
# Verbs that tell nothing: code does these things to everything, and notes say them of everything.
_DOING_WORDS = "get let done used use"
# Questions ask where something is stored, handled or checked: code does that to everything.
_HANDLING_WORDS = (
    "called calls calculated calculates checked checks computed computes created creates declared defined defines found finds "
    "handled handles kept keeps made makes managed manages performed performs processed processes set sets stored stores"
)
# Notes are short prose: a word that stands in every second note tells nothing. Code has these rarely, as names (`never`, `always`).
_NOTE_WORDS = (
    "about after again all also always am anybody anyone anything because before being cannot doing each either else "
    "ever every few gets give given go goes going got having he her here him his just like made make makes many may "
    "might more most much must need needs never nor now off one only other out over own please same say says she "
    "somebody something such take takes thing things those through too under until us uses using very want wants way "
    "well were whether while whom whose within without yes yet"
)
# The rest of the words that join a sentence.
_JOINING_WORDS = "already another before both during nothing several somebody someone still than themselves though upon"
# Notes are written in people's own languages, but code is not.
_GERMAN_NOTE_WORDS = (
    "aber als am an auch auf aus bei bin bis da das dass dem den der des die dies ein eine einem einen einer es fuer "
    "fur hat ich im in ist ja kein mit nach nicht noch nur oder sich sie sind um und uns vom von wann war was wenn "
    "wer wie wir wird wo zu zum zur"
)
_FRENCH_NOTE_WORDS = (
    "au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur mais ne nous ou par pas pour qu "
    "que qui sa se ses son sur un une vous"
)
_SPANISH_WORDS = (
    "al como con cual cuando de del desde donde e el en es esta este estos la las lo los mas no o para pero por que se si "
    "sin sobre son su sus tras un una unos y"
)
_PORTUGUESE_WORDS = (
    "a ao aos as com como da das de depois do dos e em entre essa esse esta este foi mas na nas nao no nos o onde os ou "
    "para pela pelo por quando que se sem seu sua sao um uma umas"
)
_ITALIAN_WORDS = (
    "ai al alla anche che chi come con da dai dal dalla de dei del della delle di dopo dove e ed gli i il in la le lo ma "
    "nei nel nella non o per piu quando se si sono su sulla tra un una uno viene"
)
# A question in another language than English says these too.
_GERMAN_QUESTION_WORDS = "eines funktioniert nachdem vor warum welche welcher welches wieso wo woher"
_FRENCH_QUESTION_WORDS = "apres avant comment d fonctionne l n ou quand s sans sont une"
# Keywords, and what questions about code call it: they are in every file. In a note, `private` or `import` is its subject.
_CODE_WORDS = (
    "def class function func fn return self import const var public private static new none null true false code file "
    "files implement implemented implementation happen happens"
)
# Matches of these words are not marked in a hit. A mark too many costs little, so only the commonest are listed; words of fewer
# than three letters are never marked.
_UNMARKED_WORDS = "the and for are was how where what which who does did with from that this into when not"

IN_CODE = frozenset(f"{_QUESTION_WORDS} {_DOING_WORDS} {_CODE_WORDS}".split())
"""Not searched for in code and in rules."""
FILLING = frozenset(f"{_LINE_WORDS} {_NOTE_WORDS} {_JOINING_WORDS}".split())
"""Searched for in code, but rare there only because people write few sentences: they tell less than their rarity says."""
_IN_SPOKEN_LANGUAGES = tuple(
    frozenset(words.split())
    for words in (
        f"{_GERMAN_NOTE_WORDS} {_GERMAN_QUESTION_WORDS}",
        f"{_FRENCH_NOTE_WORDS} {_FRENCH_QUESTION_WORDS}",
        _SPANISH_WORDS,
        _PORTUGUESE_WORDS,
        _ITALIAN_WORDS,
    )
)
# One alone may be a name in code (`des`, `la`), unless the question has letters of other languages too.
_MIN_SPOKEN_WORDS = 2
_ALSO_ENGLISH = frozenset(
    f"{_QUESTION_WORDS} {_LINE_WORDS} {_NOTE_WORDS} come d die hat l n non pas per s son sin war".split()
)
HANDLING = frozenset(_HANDLING_WORDS.split())
"""Searched for in code, but a place is no closer for having them, nor farther."""
IN_NOTES = frozenset(
    f"{_QUESTION_WORDS} {_LINE_WORDS} {_DOING_WORDS} {_NOTE_WORDS} {_GERMAN_NOTE_WORDS} {_FRENCH_NOTE_WORDS}".split()
)
"""Not searched for in memories."""
UNMARKED = frozenset(_UNMARKED_WORDS.split())
"""Not marked in hits on the engine's page and in VS Code."""


def find_spoken_stop_words(words: Collection[str], *, has_marks: bool) -> frozenset[str]:
    """The stop words of the language of a question in German, French, Spanish, Portuguese or Italian, which is not searched for in code.

    Empty where the question has as many words of English, or too few that no English text has. `words` are in lower case, without
    accents; `has_marks` tells whether the question has accents or other letters than English.
    """
    asked = frozenset(words)
    telling = asked - _ALSO_ENGLISH
    found = max(_IN_SPOKEN_LANGUAGES, key=lambda stop_words: len(stop_words & telling))
    least = max(1 if has_marks else _MIN_SPOKEN_WORDS, len(IN_CODE & asked - found) + 1)
    return found if len(found & telling) >= least else frozenset()
