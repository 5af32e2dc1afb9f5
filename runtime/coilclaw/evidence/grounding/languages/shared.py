"""Word lists that hold across languages, because their words mean nothing else in the others."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "ACTIVE",
    "AMBIGUOUS",
    "ASKING",
    "BUT",
    "CREATIVE",
    "ELSE",
    "INSTRUMENTS",
    "IS",
    "JUST",
    "LAST",
    "LIGHT",
    "NOR",
    "NOUN_SENSE",
    "NOW",
    "NO_AGENT",
    "NO_MATTER",
    "ONLY",
    "OURSELVES",
    "OUTCOME",
    "PLANNED",
    "RECENT",
    "SPEAKER",
    "STILL",
    "TICKED",
    "TIMES",
    "WAS",
    "WEAK",
    "WHOLE",
    "WITHOUT",
    "YOURS",
    "words",
]


def words(text: str) -> frozenset[str]:
    """A list of words, written as a text."""
    return frozenset(text.split())


ASKING: Final = words("""
did do does have has is are was were shall should can could would will want what which who when where why how
anything ok okay right may haben hast habe ist sind wurde wurden soll sollen kann können darf möchten wollen
wer wie wo wann warum hat quieres puedo ha qué quién cómo debo necesitas desea voulez avez souhaitez dois puis
est-ce avez-vous faut qui que
""")
"""Words that begin a question."""

WEAK: Final = words("""
to a de d' zu für for para por pour me us nous mir uns die der das den dem que be until till bis hasta ihr un
""")
"""Prepositions and the like, which are marked as something else too."""

LIGHT: Final = words("""
made done performed carried placed conducted completed processed did gemacht vorgenommen durchgeführt getätigt
hecho hecha hechos hechas hice realizado realizada realizados realizadas realicé efectuado efectuada efectué
make do perform ran run mis mise mises dado di dimos gave given issued gegeben erteilt
fait faite faits faites effectué effectuée effectués effectuées réalisé réalisée
""")
"""Verbs whose noun says what was done: `made a payment`."""

INSTRUMENTS: Final = words("""
cleanup script job run migration tool command query import export sync workflow backup deployment automation
pipeline
""")
"""What acts on behalf of the assistant: `The cleanup removed 3 files`."""

TIMES: Final = words("""
week month year night monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall
winter time quarter january february march april may june july august september october november december
woche monat jahr wochen montag dienstag mittwoch donnerstag freitag semana mes año noche lunes martes
miércoles jueves viernes semaine mois année an fois nuit lundi mardi mercredi jeudi vendredi
""")
"""Spans and days that `last` makes a time that is over."""

LAST: Final = words("""
last letzte letzten letzter letztes letztem pasado pasada pasados pasadas dernier dernière derniers dernières
passé passée
""")
"""Words that make such a time."""

NOR: Final = words("""
nor ni noch neither weder
""")
"""Coordinators that go on with a negation."""

BUT: Final = words("Jbut Jaber Jpero Jmais Jjedoch Jsondern")
"""Coordinators, as clauses name them, behind which something else is said to have come about."""

JUST: Final = words("""
acabo acabamos viens venons
""")
"""`I have just done it`: `acabo de`, `je viens de`."""

AMBIGUOUS: Final = words("""
set put read shut reset run overwrite split hit cut
""")
"""English past forms that are the base form too."""

RECENT: Final = words("""
moment moments second seconds minute minutes momento instante minuto minutos segundos instant sekunden minuten
augenblick
""")
"""A time that is over, but only just: the assistant may mean itself."""

OURSELVES: Final = words("""
me us mir uns mí nosotros moi nous assistant agent bot tool assistent system
""")
"""Agents that are the assistant."""

NO_AGENT: Final = words("""
email e-mail mail phone mistake default accident hand text sms post itself chat telefon correo teléfono erreur
courriel téléphone error monday tuesday wednesday thursday friday saturday sunday tomorrow today noon then now
adding removing using setting von vom dem
""")
"""Words behind `by` that name no agent."""

WHOLE: Final = words("""
nothing anything no none any nobody anyone never nichts kein keine keinen keinerlei nie nada ningún ninguna
ninguno nunca rien aucun aucune jamais
""")
"""Words that deny everything of a kind."""

ONLY: Final = words("""
only just merely simply lediglich nur bloß solo sólo solamente únicamente seulement simplement juste
uniquement único única
""")
"""Words that deny everything else."""

WAS: Final = words("""
was were war waren lag lagen era eran estaba estaban était étaient option best recommend
""")
"""Words of sentences that do not say how things are now."""

PLANNED: Final = words("""
scheduled planned set marked listed located assigned geplant angesetzt eingetragen programada programado
prevista prevu prevue fijada
""")
"""Participles that describe a plan as often as an action."""

NOW: Final = words("""
now jetzt nun ya ahora désormais maintenant dorénavant
""")
"""Words that say that something has changed."""

STILL: Final = words("""
still remains remain noch weiterhin immer sigue siguen todavía aún toujours encore
""")
"""Words that say that nothing has changed."""

WITHOUT: Final = words("without ohne sin sans")
"""Negations of a thing and not of a verb."""

YOURS: Final = words("""
your ihr ihre ihren ihrem ihrer dein deine deinen deinem deiner tu tus su sus votre vos ton ta tes
""")
"""Words for what belongs to the person."""

ACTIVE: Final = words("active live on off enabled disabled aktiv an aus offen activo activa actif activée activé")
"""States that something was switched into."""

ELSE: Final = words("""
else other others further weitere weiteren sonst sonstigen andere anderen otro otra otros otras más demás autre autres
""")
"""Words that deny only the rest."""

IS: Final = words("it this that he she who what where how here there everything something nothing all one")
"""Words behind which `'s` is a verb."""

NOUN_SENSE: Final = {
    noun: sense
    for sense, nouns in {
        "update": """
change changes edit edits modification modifications adjustment adjustments änderung änderungen anpassung
cambio cambios modificación modifications changement changements jour
""",
        "pay": """
payment payments transfer transfers purchase order orders refund refunds wire zahlung überweisung bestellung
kauf pago pagos transferencia compra pedido paiement paiements virement virements achat commande
""",
        "read": """
query queries search searches check lookup abfrage suche consulta búsqueda requête recherche
""",
        "book": """
booking bookings reservation reservations appointment buchung reservierung reserva cita réservation
""",
        "call": """
call calls anruf llamada appel
""",
        "delete": """
deletion deletions löschung eliminación suppression
""",
        "cancel": """
cancellation stornierung kündigung cancelación annulation baja
""",
        "save": """
backup backups copy copies sicherung copia respaldo sauvegarde copie
""",
        "deploy": """
deployment deploy rollout despliegue déploiement
""",
    }.items()
    for noun in nouns.split()
}
"""Nouns that say what was done, with a verb that does not."""

CREATIVE: Final = re.compile(
    r"\b(?:poem|haiku|version|translation|rewrite|fassung|übersetzung|versión|traducción|traduction|draft|letter|template|story|sample|example|dialogue|script|entwurf|gedicht|vorlage|beispiel|borrador|poema|plantilla|ejemplo|brouillon|poème|modèle|exemple)\b|草稿|译文|改写|诗|范文|模板|示例",
    re.IGNORECASE,
)
"""Texts that an answer may contain, in which others speak."""

NO_MATTER: Final = re.compile(
    r"\bno (?:problem|worries|further|more|reboot|need|longer|issues?|doubt|rush)|not only|don't worry|nothing (?:else|more|further)|without (?:any|a) |kein problem|keine sorge|nichts (?:mehr|weiter)|no (?:hay |te |se )?(?:problema|preocupe)|sin (?:problemas?|más)|nada más|pas de (?:souci|problème)|rien d'autre|rien (?:de )?plus|ne vous inquiétez|no charge|no cost|no fee"
)
"""Negations that do not say that something was not done."""

SPEAKER: Final = re.compile(
    r"[*_]{0,2}(?:customer|agent|user|assistant|bot|caller|support|client|kunde|cliente|agente|客户|客服|用户|助手)\s*[:：][*_]{0,2}",
    re.IGNORECASE,
)
"""The beginning of a line of a dialogue."""

TICKED: Final = re.compile(
    r"^\s*(?:[-*+•]\s+)?(?:\[[xX✓✔]\]|[✅☑✔✓])\s*\S|[✅☑✔✓]\s*\|?\s*$|(?:[|:→]|->|=>)\s*(?:200\s+)?(?:ok|done)\b[\s.!|]*$",
    re.IGNORECASE,
)
"""A line that is ticked off."""
OUTCOME: Final = re.compile(
    r"^(?:both|all|it|everything|that|they|these)\b[^,;.]{0,20}\b(?:taken care of|went through)\b"
    r"|^(?:that|it|both|all) (?:has |have )?worked\b(?! (?:as|by|like|in|on|for|at|with))"
    r"|^consider (?:it|them|that|this) \w+(?:ed|nt|one)\b|^\S+\.\w{1,5} no longer exists\b",
    re.IGNORECASE,
)
"""What became of a thing, which only an action brings about."""
