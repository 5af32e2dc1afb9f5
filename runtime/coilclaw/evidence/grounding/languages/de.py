"""German: verbs by sense, nouns by class, and the words that say who acted, when, and in which mood."""

from __future__ import annotations

from typing import Final

__all__ = ["MARKS", "NOUNS", "NUMBERS", "PHRASES", "TEXTUAL", "UNKNOWN", "VERBS"]

UNKNOWN: Final = r"(?:(?:ab|an|auf|aus|bei|durch|ein|fest|frei|her|hin|hoch|los|mit|nach|um|vor|weg|weiter|zu|zurück|zusammen)?ge[a-zäöüß]{2,}(?:t|en)|(?:ab|an|auf|aus|bei|durch|ein|fest|frei|her|hin|hoch|los|mit|nach|um|vor|weg|weiter|zu|zurück|zusammen)?(?:be|ver|er|ent|zer|über|unter|um)[a-zäöüß]{3,}(?:t|en)|[a-zäöüß]{2,}iert)"

VERBS: Final = """
join: einchecken/eingecheckt
send: senden/gesendet/gesandt schicken/geschickt verschicken/verschickt versenden/versendet/versandt abschicken/abgeschickt
  weiterleiten/weitergeleitet mailen/gemailt benachrichtigen/benachrichtigt informieren/informiert einladen/eingeladen
  antworten/geantwortet beantworten/beantwortet übermitteln/übermittelt zustellen/zugestellt zusenden/zugesendet zuschicken/zugeschickt
  verständigen/verständigt anschreiben/angeschrieben absenden/abgesendet/abgesandt rausschicken/rausgeschickt losschicken/losgeschickt
  rausgehen/rausgegangen erinnern/erinnert mitteilen/mitgeteilt anfragen/angefragt melden/gemeldet ankündigen/angekündigt ausliefern/ausgeliefert
submit: einreichen/eingereicht beantragen/beantragt anmelden/angemeldet abgeben/abgegeben anfordern/angefordert nachreichen/nachgereicht beauftragen/beauftragt reklamieren/reklamiert
post: posten/gepostet veröffentlichen/veröffentlicht teilen/geteilt freigeben/freigegeben kommentieren/kommentiert publizieren/publiziert
create: erstellen/erstellt anlegen/angelegt hinzufügen/hinzugefügt eintragen/eingetragen erzeugen/erzeugt einrichten/eingerichtet verlinken/verlinkt ausstellen/ausgestellt abonnieren/abonniert
  eröffnen/eröffnet registrieren/registriert einfügen/eingefügt importieren/importiert generieren/generiert aufnehmen/aufgenommen anhängen/angehängt
  ergänzen/ergänzt verknüpfen/verknüpft aufsetzen/aufgesetzt
book: buchen/gebucht reservieren/reserviert planen/geplant vereinbaren/vereinbart terminieren/terminiert umbuchen/umgebucht einplanen/eingeplant
set: setzen/gesetzt stellen/gestellt einstellen/eingestellt aktivieren/aktiviert einschalten/eingeschaltet ausschalten/ausgeschaltet stummschalten/stummgeschaltet dimmen/gedimmt verbinden/verbunden trennen/getrennt herunterfahren/heruntergefahren hochfahren/hochgefahren
  konfigurieren/konfiguriert anschalten/angeschaltet abschalten/abgeschaltet öffnen/geöffnet
  schließen/geschlossen anpassen/angepasst verriegeln/verriegelt regeln/geregelt hochstellen/hochgestellt umstellen/umgestellt hochdrehen/hochgedreht
  herunterdrehen/heruntergedreht absenken/abgesenkt
lock: sperren/gesperrt entsperren/entsperrt blockieren/blockiert freischalten/freigeschaltet aufschließen/aufgeschlossen
update: aktualisieren/aktualisiert ändern/geändert bearbeiten/bearbeitet umbenennen/umbenannt korrigieren/korrigiert ersetzen/ersetzt umleiten/umgeleitet zuordnen/zugeordnet skalieren/skaliert rotieren/rotiert komprimieren/komprimiert entpacken/entpackt befüllen/befüllt verteilen/verteilt
  markieren/markiert zuweisen/zugewiesen abhaken/abgehakt zurücksetzen/zurückgesetzt wiederherstellen/wiederhergestellt verlängern/verlängert
  hinterlegen/hinterlegt überschreiben/überschrieben umwandeln/umgewandelt konvertieren/konvertiert migrieren/migriert beheben/behoben
  zusammenführen/zusammengeführt erhöhen/erhöht senken/gesenkt ausfüllen/ausgefüllt erneuern/erneuert reparieren/repariert kürzen/gekürzt sortieren/sortiert
  verändern/verändert aufräumen/aufgeräumt vermerken/vermerkt überarbeiten/überarbeitet pausieren/pausiert
move: verschieben/verschoben verlegen/verlegt vorziehen/vorgezogen archivieren/archiviert umziehen/umgezogen ablegen/abgelegt einsortieren/einsortiert
delete: löschen/gelöscht entfernen/entfernt leeren/geleert bereinigen/bereinigt deinstallieren/deinstalliert entziehen/entzogen
  austragen/ausgetragen verwerfen/verworfen vernichten/vernichtet widerrufen/widerrufen
cancel: stornieren/storniert absagen/abgesagt kündigen/gekündigt abbrechen/abgebrochen stoppen/gestoppt beenden/beendet abbestellen/abbestellt
  abmelden/abgemeldet deaktivieren/deaktiviert
refuse: ablehnen/abgelehnt verweigern/verweigert abweisen/abgewiesen
pay: zahlen/gezahlt bezahlen/bezahlt überweisen/überwiesen kaufen/gekauft bestellen/bestellt erstatten/erstattet begleichen/beglichen aufgeben/aufgegeben zurückerstatten/zurückerstattet belasten/belastet ordern/geordert
  abbuchen/abgebucht nachbestellen/nachbestellt gutschreiben/gutgeschrieben spenden/gespendet einzahlen/eingezahlt
write: schreiben/geschrieben
save: speichern/gespeichert sichern/gesichert exportieren/exportiert hochladen/hochgeladen herunterladen/heruntergeladen
  kopieren/kopiert drucken/gedruckt ausdrucken/ausgedruckt abspeichern/abgespeichert synchronisieren/synchronisiert
deploy: ausrollen/ausgerollt deployen/deployt/deployed installieren/installiert einspielen/eingespielt
start: starten/gestartet neustarten/neugestartet hochfahren/hochgefahren
run: ausführen/ausgeführt durchführen/durchgeführt testen/getestet anstoßen/angestoßen bauen/gebaut laufenlassen/laufengelassen
push: pushen/gepusht committen/committet/committed mergen/gemergt/gemerged
call: anrufen/angerufen telefonieren/telefoniert kontaktieren/kontaktiert
approve: genehmigen/genehmigt bestätigen/bestätigt akzeptieren/akzeptiert unterschreiben/unterschrieben signieren/signiert annehmen/angenommen
do: erledigen/erledigt tun/getan abschließen/abgeschlossen fertigstellen/fertiggestellt machen/gemacht umsetzen/umgesetzt abarbeiten/abgearbeitet
  veranlassen/veranlasst vornehmen/vorgenommen abwickeln/abgewickelt bewerkstelligen/bewerkstelligt
read: prüfen/geprüft suchen/gesucht durchsuchen/durchsucht nachsehen/nachgesehen ansehen/angesehen lesen/gelesen abrufen/abgerufen
  überprüfen/überprüft durchsehen/durchgesehen nachschlagen/nachgeschlagen vergleichen/verglichen anschauen/angeschaut nachschauen/nachgeschaut
  auslesen/ausgelesen durchgehen/durchgegangen abfragen/abgefragt sichten/gesichtet laden/geladen kontrollieren/kontrolliert
"""

TEXTUAL: Final = """
denken/gedacht wissen/gewusst verstehen/verstanden sehen/gesehen bemerken/bemerkt finden/gefunden hören/gehört sagen/gesagt erklären/erklärt
erwähnen/erwähnt notieren/notiert beschreiben/beschrieben vorschlagen/vorgeschlagen empfehlen/empfohlen annehmen/angenommen entscheiden/entschieden
berücksichtigen/berücksichtigt versuchen/versucht behalten/behalten lassen/gelassen benutzen/benutzt verwenden/verwendet nehmen/genommen bekommen/bekommen
erhalten/erhalten geben/gegeben haben/gehabt gehen/gegangen kommen/gekommen sein/gewesen werden/geworden helfen/geholfen zeigen/gezeigt
zusammenfassen/zusammengefasst fragen/gefragt übersetzen/übersetzt entwerfen/entworfen vorbereiten/vorbereitet formulieren/formuliert
auflisten/aufgelistet gruppieren/gruppiert auslassen/ausgelassen ignorieren/ignoriert berechnen/berechnet schätzen/geschätzt zählen/gezählt erkennen/erkannt
feststellen/festgestellt entdecken/entdeckt freuen/gefreut gefallen/gefallen verpassen/verpasst warten/gewartet bleiben/geblieben folgen/gefolgt
scheitern/gescheitert verlieren/verloren wählen/gewählt auswählen/ausgewählt vergessen/vergessen lernen/gelernt meinen/gemeint hoffen/gehofft
gelingen/gelungen passieren/passiert gebeten/gebeten entnehmen/entnommen wünschen/gewünscht stoßen/gestoßen nennen/genannt verlassen/verlassen
besprechen/besprochen sprechen/gesprochen gliedern/gegliedert betonen/betont hervorheben/hervorgehoben verzichten/verzichtet unterlassen/unterlassen absehen/abgesehen
"""

MARKS: Final = {
    "V": "ihm ihn ihnen so sehr mehr viel viele wenig andere anderen dort hier dann nur mal ganz gut gerne danke hallo okay ja nein bitte-sehr sich selbst etwas jeder jede jedes wieder noch-einmal pro gegen ohne-hin zwischen trotz etwa rund ungefähr heute morgen",
    "I": "ich wir habe hab mir uns",
    "Y": "du ihr hast habt dir dich euch",
    "T": "er man jemand niemand wer hat hatte hatten sie",
    "P": "es das dies alles beides alle",
    "H": "haben",
    "B": "wurde wurden worden",
    "S": "ist sind bin steht liegt stehen liegen",
    "R": "wird werden",
    "M": "kann können könnte könnten soll sollen sollte will wollen wollte möchte möchten würde würden muss müssen müsste darf dürfen lassen "
    "zu bitte wäre wären hätte hätten werde versuche versuchte gern gerne sei seien ließe lässt",
    "N": "nicht kein keine keinen keinem keiner keines nie niemals nichts ohne weder noch-nicht niemand keinerlei",
    "A": "bereits schon jetzt nun soeben gerade eben erfolgreich auch dann danach zuerst außerdem zudem inzwischen endlich "
    "wunschgemäß wie-gewünscht direkt sofort ebenfalls zusätzlich anschließend schließlich vollständig dabei hiermit somit damit noch ja zwar natürlich übrigens",
    "C": "wenn falls sobald bevor ehe bis ob sofern solange",
    "c": "nachdem als während",
    "K": "weil da dass denn obwohl sodass aber jedoch doch sondern",
    "W": "der die das den dem welche welcher welches was wer wie wo warum wann",
    "E": "gestern vorgestern damals früher ursprünglich vorige vorigen vergangene vergangenen einst zuvor",
    "D": "der die das den dem des ein eine einen einem einer eines ihr ihre ihren ihrem deine deinen dein deinem mein meine diese diesen dieser dieses alle beide",
    "J": "und oder sowie aber & bzw",
    "O": "an für in im am mit von vom aus auf zu zum zur über unter per durch bei um nach wegen ab",
    "F": "fehlgeschlagen gescheitert fehler abgelehnt verweigert ausstehend wartet warten leider unmöglich schlug schlägt misslungen schiefgelaufen "
    "schiefgegangen aussteht steht-aus versucht nicht-möglich abgewiesen verweigerte unzustellbar ungültig abgelaufen belegt offline",
    "G": "konnte konnten gelungen",
    "L": "immer normalerweise üblicherweise meist meistens automatisch täglich jeweils grundsätzlich in-der-regel",
    "~": "ich und nicht die der das ist ein eine zu den dem mit für auf von sie es wie aber auch",
}

PHRASES: Final = {
    "open": r"\bwird (?:gerade|noch|derzeit|aktuell)|in prüfung|wird geprüft|freigabe|genehmigung|zustimmung|noch nicht|läuft noch|in bearbeitung|steht (?:noch )?aus|wartet|fehlt|schiefgelaufen|noch auf|bleibt|weiterhin",
    "unchanged": r"\b(?:unverändert|unberührt|unangetastet|wie (?:zuvor|vorher|bisher))\b|ohne etwas zu|bevor (?:ich )?etwas",
    "generic": r"\b(?:alles (?:ist )?(?:erledigt|fertig|bereit|eingerichtet|klar gegangen|geregelt|in ordnung gebracht)|ist (?:jetzt |nun |bereits )?(?:erledigt|fertig|durch|online|live|geschafft)|"
    r"gekümmert|hat (?:alles )?geklappt|lief (?:alles )?(?:glatt|durch|problemlos)|fertig[.!]?$|vollzogen|geklappt)",
    "send": r"\b(?:ist|sind) (?:jetzt |bereits |schon )?(?:raus|unterwegs|rausgegangen)\b|\b(?:wei(?:ß|ss)|wissen) (?:jetzt |nun |ebenfalls |schon )?bescheid\b|bescheid (?:gegeben|gesagt)|\bging(?:en)? (?:\w+ )?(?:raus|an)\b",
    "heard": r"^(?:es )?(?:freut mich|wie schön|schön|super|toll|prima|klasse|gut)(?: sehr)?, (?:dass|wenn)|glückwunsch|verstanden, dass|verstehe|(?:du hast|sie haben|ihr habt) (?:gesagt|geschrieben|erwähnt)|tut mir leid, dass",
    "report": r"(?:du hast|sie haben|ihr habt) |laut|gemäß|ich sehe|wie ich sehe|(?:zeigt|steht|heißt|meldet|schreibt|sagt|geht hervor|ergibt)|offenbar|nach dem verlauf|im verlauf",
    "imperative": r"\b(?:prüfen|überprüfen|kontrollieren|achten|vergewissern|schauen) sie\b|stellen sie sicher|\b(?:prüfe|prüf|schau|achte)\b.*\bob\b",
    "ignore": r"gut gemacht|erledigt haben|erledigt ist,|zu erledigen",
}

NUMBERS: Final = "null ein/eins/eine/einen/einem zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"

NOUNS: Final = """
prose: einleitung schluss aufsatz artikel absatz satz sätze formulierung ton wortwahl stil wiederholung strophe gedicht tippfehler
mail: mail e-mail email nachricht brief antwort einladung benachrichtigung newsletter bestätigung rundmail
message: nachricht sms antwort benachrichtigung
event: termin ereignis meeting besprechung kalender kalendereintrag sitzung treffen einladung verabredung arzttermin zahnarzttermin
reminder: erinnerung aufgabe wecker timer
file: datei dokument bericht ordner verzeichnis tabelle sicherung kopie anhang bild foto video präsentation backup protokoll
text: liste zusammenfassung entwurf gliederung gedicht absatz satz ton version beispiel funktion code plan überblick übersicht übersetzung text tabelle vorschlag
payment: zahlung überweisung rechnung betrag geld rückerstattung erstattung gebühr miete
booking: flug hotel tisch zimmer platz ticket reservierung buchung reise bahn zug parkplatz
order: bestellung einkauf artikel lieferung abo abonnement
contact: kontakt kunde kundin eintrag adresse anschrift
issue: ticket fehler aufgabe karte vorgang
repo: repository branch commit build release
record: datensatz zeile eintrag feld datenbank spalte wert daten
account: konto benutzer passwort berechtigung zugang rolle schlüssel mitgliedschaft
device: licht lampe thermostat heizung tür musik lautstärke rollladen temperatur
system: server dienst skript job test tests migration prozess befehl website app
"""
