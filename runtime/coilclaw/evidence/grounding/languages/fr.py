"""French: verbs by sense, nouns by class, and the words that say who acted, when, and in which mood."""

from __future__ import annotations

from typing import Final

__all__ = ["MARKS", "NOUNS", "NUMBERS", "PHRASES", "TEXTUAL", "UNKNOWN", "VERBS"]

UNKNOWN: Final = r"[a-zàâçèêëîïôûù]{2,}(?:é|ée|és|ées)"

VERBS: Final = """
send: envoyer expédier transmettre/transmis transférer_mail notifier avertir prévenir/prévenu informer répondre/répondu inviter adresser relancer livrer signaler renvoyer alerter communiquer remettre/remis
submit: soumettre/soumis déposer demander inscrire/inscrit
post: publier partager annoncer poster commenter diffuser
create: créer ajouter générer enregistrer insérer ouvrir/ouvert importer joindre/joint noter inscrire/inscrit établir saisir/saisi rattacher lier émettre/émis abonner
book: réserver planifier programmer fixer organiser caler reprogrammer
set: configurer activer régler allumer éteindre/éteint fermer mettre/mis ajuster baisser définir enclencher armer désarmer brancher débrancher lever connecter déconnecter
lock: verrouiller déverrouiller bloquer débloquer geler
update: modifier changer corriger renommer remplacer actualiser marquer assigner attribuer restaurer réinitialiser prolonger renouveler convertir migrer réparer résoudre/résolu clôturer compléter remplir fusionner éditer augmenter réduire/réduit rectifier basculer trier nettoyer étiqueter épingler compresser décompresser redimensionner associer dissocier réaffecter réassigner rétablir
move: déplacer reporter décaler archiver avancer ranger repousser
delete: supprimer effacer retirer vider enlever désinstaller révoquer purger détruire/détruit
cancel: annuler arrêter interrompre/interrompu résilier désactiver stopper désabonner désinscrire/désinscrit
refuse: refuser rejeter
pay: payer régler virer transférer acheter commander rembourser verser créditer débiter facturer prélever
write: écrire/écrit
save: sauvegarder stocker exporter téléverser télécharger copier imprimer synchroniser mémoriser charger
deploy: installer déployer
start: démarrer redémarrer
run: exécuter lancer tester compiler relancer
push: pousser
call: appeler contacter téléphoner joindre/joint
approve: accorder approuver accepter confirmer autoriser signer valider octroyer
do: faire/fait terminer achever finaliser réaliser traiter effectuer accomplir gérer
read: vérifier chercher consulter lire/lu rechercher examiner comparer parcourir/parcouru regarder contrôler inspecter analyser récupérer relire/relu afficher passer_en_revue
"""

TEXTUAL: Final = """
penser savoir/su comprendre/compris voir/vu remarquer trouver entendre/entendu dire/dit expliquer mentionner décrire/décrit suggérer recommander supposer décider considérer essayer tenter garder laisser utiliser
prendre/pris recevoir/reçu donner avoir/eu aller/allé venir/venu être/été devenir/devenu aider montrer résumer traduire/traduit préparer rédiger proposer calculer estimer compter détecter identifier reconnaître/reconnu
aimer espérer échouer perdre/perdu choisir oublier apprendre/appris ignorer observer parler rester suivre/suivi pouvoir/pu vouloir/voulu devoir/dû constater repérer repéré indiquer rencontrer apprécier rire/ri lister classer
regrouper limiter souligner tenir/tenu
"""

MARKS: Final = {
    "V": "ainsi très plus moins beaucoup peu autre autres ici là aujourd'hui demain merci bonjour oui non bon bonne même chaque entre contre pendant-que quelque quelques parfait voilà donc-voilà moi toi eux lui-même",
    "I": "je j' ai avons on nous",
    "Y": "tu vous as avez",
    "T": "il elle ils elles quelqu'un qui personne",
    "P": "tout cela ceci ça c' tous toutes",
    "H": "a ont avait avaient avoir aurait auraient aura auront",
    "B": "été fut furent",
    "S": "est sont était étaient êtes",
    "R": "étant",
    "X": "me te se le la les lui leur l' m' t' s' y en vous nous",
    "M": "peux peut pouvez pouvons pourrais pourrait puis vais va allons veux voulez voudrais dois doit devez devrait sera seront serait seraient être pour de d' faut souhaitez aimerais "
    "soit soient ait aient aurait auraient aurais aura auront tenté essayé pu veuillez avoir",
    "N": "ne n' pas jamais rien aucun aucune ni sans personne plus guère nul",
    "A": "bien déjà aussi également maintenant désormais correctement juste ensuite puis enfin venons viens directement immédiatement donc tout d'abord simplement automatiquement notamment bel",
    "C": "si fois supposer lorsqu' lorsque quand dès jusqu'à tant sauf pourvu",
    "c": "après avant pendant une-fois",
    "K": "parce car mais que qu' puisque cependant quoique bien-que",
    "W": "qui que dont où quoi quel quelle comment pourquoi combien qu'",
    "E": "hier avant-hier auparavant précédemment jadis autrefois initialement",
    "D": "le la les l' un une des du de votre vos ton ta tes mon ma mes son sa ses ce cet cette ces leur leurs tous toutes",
    "J": "et ou mais puis ni &",
    "O": "à au aux de du d' dans sur avec pour par chez vers en depuis sous",
    "F": "échoué échec erreur refusé refusée refusés refusées rejeté rejetée attente malheureusement impossible tenté essayé échoue invalide invalides expiré expirée rebondi indisponible saturé abouti",
    "G": "réussi parvenu pu arrivé",
    "L": "toujours généralement habituellement normalement automatiquement souvent chaque",
    "~": "le la les de des et un une je vous est pas pour dans que qui sur au ce il ne à du en avec votre",
}

PHRASES: Final = {
    "open": r"en train d|en préparation|en revue|d'examen|à l'étude|accord de|validation|approbation|autorisation|en cours|toujours|encore|en attente|reste",
    "unchanged": r"\b(?:inchangée?s?|intacte?s?|tels? quels?|telles? quelles?)\b|sans rien (?:changer|modifier|toucher)",
    "generic": r"^(?:c'est (?:fait|bon|réglé|en ordre|terminé|chose faite|parti)|fait|voilà, c'est fait|terminé)\b|\bc'est (?:fait|réglé|chose faite|en ligne|terminé|parti)\b|\btout (?:est|a été) (?:bien )?(?:prêt|fait|réglé|en ordre|en place|terminé|bon|bouclé)|"
    r"\bme suis (?:occupé|chargé)e? d|\btout s'est bien passé|\b(?:est|sont) (?:désormais |maintenant )?(?:en ligne|opérationnel)|mission accomplie|\b(?:est|sont) bien partie?s?\b",
    "send": r"\b(?:est|sont) (?:bien |déjà )?(?:partie?s?|en route)\b|\b(?:est|sont) (?:désormais |maintenant |bien )?(?:au courant|prévenue?s?|informée?s?)\b|mis au courant",
    "heard": r"(?:ravie?|heureu(?:x|se)|contente?|content)\b (?:que|d'apprendre|de voir|pour)|(?:super|génial|tant mieux|bravo|félicitations)\b(?: que| si| pour)|je comprends|vous (?:dites|indiquez|avez dit)|désolée? que",
    "report": r"d'après|selon|je vois|(?:indique|montre|précise|mentionne|affiche|dit)|il ressort|apparemment",
    "imperative": r"\b(?:vérifiez|assurez-vous|vérifie|contrôlez|confirmez|regardez)\b",
    "ignore": r"bien fait|une fois fait|en fait|tout à fait|fait partie|du fait|le fait|au fait|il fait|ça fait|cela fait|fait que|fait de|si c'est fait",
}

NUMBERS: Final = "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"

NOUNS: Final = """
prose: introduction conclusion essai paragraphe phrase tournure ton style répétition orthographe strophe poème adverbe
mail: mail e-mail email courriel message lettre réponse invitation notification avis convocation
message: message sms réponse notification
event: événement évènement réunion rendez-vous agenda calendrier appel séance invitation créneau
reminder: rappel tâche alarme minuteur
file: fichier document rapport dossier répertoire copie image photo vidéo présentation sauvegarde pdf
text: tableau liste résumé brouillon plan poème paragraphe phrase ton version exemple fonction code explication traduction texte proposition
payment: paiement virement facture montant argent remboursement acompte loyer
booking: vol hôtel table chambre place billet réservation voyage salle
order: commande achat article livraison abonnement
contact: contact client cliente fiche adresse
issue: ticket incident bug tâche carte
repo: dépôt branche commit
record: enregistrement ligne champ données colonne valeur
account: compte utilisateur permission accès rôle clé
device: lumière lampe thermostat chauffage porte musique volume volet radiateur température portail
system: serveur service script test tests migration processus commande site application déploiement
"""
