"""English: verbs by sense, nouns by class, and the words that say who acted, when, and in which mood."""

from __future__ import annotations

from typing import Final

__all__ = ["MARKS", "NOUNS", "NUMBERS", "PHRASES", "TEXTUAL", "UNKNOWN", "VERBS"]

UNKNOWN: Final = r"[a-z]{3,}(?:ed|led|ped)"

# `send/sent`: base and past; `write/wrote/written`: base, past, participle; `ship+`: the consonant is doubled.
VERBS: Final = """
send: ship+ loop send/sent ping resend/resent email e-mail mail forward notify dispatch deliver transmit broadcast text dm message relay
  reply respond invite cc bcc alert page inform warn remind mailshot fax
submit: submit+ file lodge request hand queue enqueue initiate resubmit expedite
post: post publish tweet announce comment share repost release
create: create add build/built generate make/made open register insert provision establish import log+ onboard issue
  clone fork duplicate spawn initialize initialise append attach link enter sign
book: book reserve schedule arrange rebook organise organize secure
set: set/set configure enable activate adjust tune pin+ toggle switch turn dim+ arm disarm mute unmute snooze silence connect disconnect pair unpair plug play
lock: lock unlock block unblock freeze/froze/frozen seal
update: update change touch alter resize compress zip+ unzip+ paste crop+ star grant_x modify edit rename revise correct amend replace patch mark assign flag+ label tag+ fix convert redirect reroute allocate escalate whitelist blacklist waive restock replenish transcribe digitise digitize
  upgrade downgrade reset/reset overwrite/overwrote/overwritten restore revert extend shorten refresh renew reassign
  rewrite/rewrote/rewritten swap+ bump rotate migrate close resolve reopen transition tick check_off complete_task promote demote
  raise lower increase decrease pause resume fill rearrange clean tidy reconnect
move: move reschedule postpone shift relocate archive push_back advance
delete: delete remove erase clear purge drop+ wipe trash uninstall unsubscribe revoke detach discard destroy prune
  nuke scrub+ empty
cancel: cancel cancelled/cancelled call_off abort stop+ terminate kill halt end close shut/shut disable deactivate suspend void ban
pay: pay/paid transfer+ purchase buy/bought order charge refund wire donate settle reimburse top_up deposit withdraw/withdrew/withdrawn credit debit invoice bill reorder tip+ spend/spent sell/sold trade exchange rent lease hire invest
write: write/wrote/written
save: save store export upload download copy backup back_up record sync synchronize synchronise persist put/put print scan
run: run/ran/run re-run/re-ran/re-run execute compile test rebuild/rebuilt rerun/reran/rerun benchmark format trigger
deploy: deploy redeploy launch install reinstall rollback spin/spun scale
start: start restart reboot reload boot kick power
push: push
commit: commit stage stash rebase
merge: merge
call: call phone dial ring/rang/rung contact
approve: approve accept confirm authorise authorize grant sign validate
do: sort do/did/done complete finish handle process perform carry_out conduct accomplish implement wrap+ sort_out effect
read: pull check search look_up read/read fetch retrieve query review inspect examine verify scan open compare browse consult look
  pull_up go_through/went_through double-check count list view monitor analyse analyze audit cross-check
refuse: decline reject refuse deny dismiss
join: join enrol+ enroll register subscribe sign_up book_in onboard
"""

# Verbs that no tool is needed for: what is thought, said or written into the answer itself.
TEXTUAL: Final = """
bring/brought think/thought know/knew/known understand/understood see/saw/seen notice find/found hear/heard say/said tell/told explain mention note describe
suggest recommend assume suppose guess believe feel/felt hope want need like love prefer plan+ intend expect mean/meant agree disagree
decide consider wonder realise realize remember forget/forgot/forgotten learn try attempt begin/began/begun keep/kept leave/left
use take/took/taken get/got/gotten give/gave/given have/had come/came/come be/was/been become/became/become seem appear help work show/shown
include highlight summarise summarize outline answer ask translate draft prepare compose propose word phrase quote cite list base
focus group sort_by skip+ ignore limit round calculate compute estimate count figure reason conclude identify spot+ recognise
recognize interpret treat refer+ point apologise apologize miss stick/stuck hold/held wait stay remain plan follow enjoy
trained design fail struggle encounter hit/hit lack receive return lose/lost choose/chose/chosen pick opt split/split
break/broke/broken allow intend mean promise claim call name avoid hesitate aim welcome appreciate thank
laugh smile happen talk speak/spoke/spoken chat+ discuss cover limit touch observe detect deduce infer+ confuse misread/misread misunderstand/misunderstood
"""

MARKS: Final = {
    "V": "them him her yourself himself herself itself themselves there here very much more most less many few such other others than too well okay ok yes hi hello thanks sorry please-note per upon among between across against along around because-of despite during except like near toward towards until-then via within while-also whereas good news great sure perfect also-known away",
    "I": "i we me us myself",
    "Y": "you u ya",
    "T": "he she they who someone somebody anyone everyone people nobody",
    "P": "it this that these those everything all both each none nothing either one ones another",
    "H": "have has had having ve did does do",
    "B": "was were been got",
    "S": "is are am 's re stands",
    "R": "being",
    "M": "can could will would should shall may might must 'll 'd ll wo ca need needs needed want wants wanted going "
    "gonna plan planning hope try tried trying attempted intend about please let lets let's be able ready supposed able "
    "happy glad prepared to ought cannot like unable asked wish expect expected meant aims used",
    "N": "not n't never no neither nor without cannot unable hardly barely nothing none nobody n't ain't",
    "A": "just already now also successfully then finally already really actually indeed both all only recently therefore "
    "still duly promptly immediately instantly automatically previously subsequently additionally since ever even so again "
    "simply quickly safely properly correctly completely fully partially partly permanently manually personally kindly "
    "once-again hereby thereby first next afterwards meanwhile quietly directly yet too accordingly officially each newly freshly "
    "certainly definitely absolutely of-course as-well earlier today currently temporarily formally secretly silently",
    "C": "soon if once unless until till whether assuming suppose supposing provided providing should lest would-have were-it "
    "whenever wherever either-if",
    "c": "when after before while",
    "K": "because since although though so but however that",
    "W": "who which whose whom that where what why how",
    "E": "ago yesterday previously originally formerly historically earlier",
    "D": "the a an your my our his her their its this that these those some any every each all both no another",
    "J": "and or but then plus nor & as-well-as",
    "O": "to for in on at with from into onto via by of about under over per through within as off out up down regarding to",
    "F": "fail failed fails failing error unable rejected refused denied declined bounced crashed unavailable blocked "
    "timeout unsuccessful unsuccessfully aborted pending queued awaiting skipped failure problem impossible refuses "
    "attempted tried unfortunately missing held invalid expired offline busy undeliverable unreachable outstanding",
    "G": "managed able succeeded finished proceeded completed went-ahead",
    "~": "the a an i you to of in and is it that for on with as at by be this are was not have from or but we your my can will",
    "L": "each always usually typically normally generally often automatically sometimes typically every daily default whenever",
}

PHRASES: Final = {
    "open": r"\bbeing \w+(?:ed|en|nt|lt)\b|in review|being reviewed|sign-off|\bapproval\b|permission|needs? (?:your|a)|\bstill\b|jammed|stuck|in progress|under review|waiting (?:for|on)|has(?: not|n't)|have(?: not|n't) (?:yet )?|not yet|on hold|as soon as|fell through|turned down|went wrong|whether|can't (?:tell|say)|up to (?:now|speed)_",
    "unchanged": r"\b(?:unchanged|untouched|unaffected|unmodified|as (?:it|they) (?:was|were)|(?:still )?where (?:it|they) (?:was|were)|still sitting in|exactly as before)\b|\b(?:before|without) \w+ing anything",
    "generic": r"(?:all|you'?re|you are|we'?re|everything(?:'s| is| has been)?) (?:all )?(?:set|done|sorted|good to go|ready|"
    r"taken care of|handled|complete|completed|finished|in place)|(?:it|that|this|everything|all of (?:it|this|that|them))"
    r"(?:'s| is| has been| was| were)(?: now| all| already)? (?:done|sorted|taken care of|handled|complete|dealt with|finished|"
    r"all set|in place)|(?:took|taken|taking) care of (?!y)|consider it done|mission accomplished|job done|task (?:is )?"
    r"(?:complete|done|accomplished)|dealt with|all (?:requested |your )?(?:changes|tasks|steps|actions|items|requests|jobs) "
    r"(?:are|were|have been) (?:now )?(?:complete|done|completed|made|applied|finished|carried out)|no further action (?:is )?(?:needed|required)|"
    r"(?<!\bi )(?<!\bwe )went (?:through|smoothly|well|fine|without a hitch|off without)|worked like a charm|that'?s (?:all )?(?:done|sorted)|did (?:it|that|so|this|everything|as you asked)|"
    r"(?:has|have) gone (?:through|live)|is (?:now |back )?(?:live|up and running)|(?:is|are) (?:now )?(?:live|in effect|in force|up and running|up to date)(?: again| now)",
    "send": r"(?:went|gone|is|are|going) out(?: to)?(?= |$)|(?:is|are) on (?:its|their|the) way|(?:now )?in (?:\w+ ){0,3}(?:inbox|mailbox)|"
    r"(?:has|have|should have|got|received) (?:it|them|the (?:mail|email|file|message|link))(?: now| by now)|let \w+ know|fired off|shot off|got in touch|drop(?:ped)? \w+ a (?:line|note)",
    "heard": r"^(?:i'm |i am |so |very |really )*(?:glad|great|happy|nice|good|wonderful|lovely|delighted|relieved|congrat\w*)\b(?: to (?:hear|see|know|read))?(?: that| it| you| everything| things| on)|i understand|sorry (?:to hear|that)|sounds like|you(?:'ve| have)? (?:told|said|mentioned|wrote)|(?:author|article|text|paper|book|report|writer|study|he|she) (?:\w+ )?(?:argues?|claims?|says?|states?|explains?|reports?|writes?|notes?|suggests?) that",
    "report": r"(?:author|article|text|paper|book|report|writer|study|he|she) (?:\w+ )?(?:argues?|claims?|says?|states?|explains?|reports?|writes?|notes?|suggests?) that|you(?:'ve| have)? (?:told|said|mentioned|wrote)|according to|\bper \[|i (?:can )?(?:also )?see\b|i noticed|(?:records?|logs?|history|calendar|tracker|tracking|page|document|file|mail|email|message|statement|ledger|report|system|dashboard|transcript|site|website|portal|airline|provider|supplier|vendor|bank|shop|seller|courier) (?:\w+ )?(?:claims?|shows?|says?|states?|indicates?|mentions?|confirms?|lists?)|(?:he|she|they|landlord|it) (?:says?|wrote|writes|mentions?|confirms?)|looks like|i found (?:that|an?|two|three|\d)|(?:it|there) (?:says|appears|seems)|found out|turns out|based on",
    "imperative": r"^(?:please |then |first,? |next,? |and )?(?:check|make sure|verify|ensure|see|confirm|find out|look)\b.{0,40}\b(?:that|whether|if|which|how)\b|\b(?:check|verify|make sure|ensure|confirm) (?:that|whether|if)\b",
    "ignore": r"well done|easier said than done|said and done|needs? to be done|to be done|have you done|get (?:it|things|this) done|getting (?:it|things) done|done (?:with|by) you|once done|"
    r"when(?:ever)? you(?:'re| are) (?:done|ready|all set)|are (?:all )?set to|ready set|data set|set of|mind set|if done|can be done|should be done|could be done|is to be",
}

NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)

NOUNS: Final = """
prose: introduction conclusion essay article passage paragraph sentence clause wording phrasing tone grammar spelling style repetition stanza verse adverb poem typo
mail: mail email e-mail emails message note reply letter newsletter invitation invite notification confirmation heads-up memo digest reminder-mail
message: message dm sms text note reply notification ping thread heads-up post announcement
event: event meeting appointment calendar invitation invite call slot session stand-up standup sync lunch dinner booking hold series 1:1 room
reminder: reminder alarm timer task todo to-do alert
file: file document report folder directory spreadsheet pdf csv backup copy attachment image photo picture video deck slides archive doc draft log logs
text: table list summary draft outline poem paragraph sentence tone wording word version example snippet function code plan explanation
  answer overview breakdown comparison story essay script-below recipe translation rewrite heading bullet title section comment step template mistake assumption
  sql query clause adverb phrase calculation typo argument argument suggestion question response point variable class method loop
payment: payment transfer invoice bill money amount refund deposit transaction fee rent salary donation
booking: flight hotel table room seat ticket reservation booking trip stay car parking train court slot appointment
order: order purchase item cart groceries delivery subscription
contact: contact lead customer client record entry profile address
issue: issue ticket bug task card story case request pr
repo: repo repository branch commit pr pull-request tag release build merge
record: record row table entry field database db column value data sheet page
account: bank iban account user password permission permissions role access key token subscription membership
device: light lights lamp thermostat heating door alarm tv music volume blinds heater radiator temperature
system: server service deployment script job pipeline container test tests suite command migration program process instance cluster site website app
"""
