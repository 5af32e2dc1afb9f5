// A call that needs approval, shown whole. The Inbox and the chat show the same card, and each card stays in step by itself.

import { at, get, post } from "../api.js";
import { rowBlock } from "../diff.js";
import { el, mount, shown } from "../dom.js";
import { ago } from "../format.js";
import { notice, risk } from "../pieces.js";
import { listen } from "../stream.js";
import { isApproved, outcome } from "./decided.js";
import { reading } from "./reading.js";
import { windowOffer } from "./window_offer.js";

const OPEN_RUN = ["running", "suspended", "orphaned"];
const LONGEST_TIMER_MS = 86_400_000;

/**
 * Make the card of one approval: `{node, update(approval), close}`.
 *
 * `compact` is for narrow places; `loaded(details)` is told what the card displays, `changed()` that its state may differ.
 */
export function approvalCard(approval, { compact = false, loaded = () => {}, changed = () => {} } = {}) {
  const { id } = approval;
  let facts = approval; // The latest that is known, displayed or not.
  let displayed = null; // What is on the card, with its digest.
  let deciding = false;
  let here = false;
  let offer = null;
  let loads = 0;
  let closed = false;

  const request = el("div.request-content");
  const why = el("div.why");
  const foot = el("div.card-foot");
  const alert = el("div.card-alert", { role: "status" });
  const node = el("article.card.approval", {
    class: compact ? "compact" : "", tabindex: "0", "data-approval": id, "aria-label": `${approval.tool} needs approval`, on: { keydown: pressed },
  },
    el("header.card-head", el("h3", el("code", shown(approval.tool))), risk(approval.risk),
      el("span.dim", approval.line ? `line ${approval.line} · ` : null, "asked ", ago(approval.created_at)),
      compact ? el("a.small", { href: at`/app/runs/${approval.run_id}` }, "Run") : null),
    alert,
    el("div.request", { tabindex: "0", role: "region", "aria-label": "What will run" }, request),
    why, foot);
  const gate = reading(request, refresh);

  const approve = el("button.primary.approve", { type: "button", disabled: true, on: { click: () => decide({ decision: "allow-once" }) } }, "Approve once");
  const widen = el("button.widen", { type: "button", "aria-expanded": "false", on: { click: toggleOffer } }, "Approve with a window …");
  const reason = el("input.reason", { type: "text", maxlength: 500, autocomplete: "off", placeholder: "Reason, which the model receives", "aria-label": "Reason for denying, which the model receives" });
  const deny = el("button.danger.deny", { type: "button", on: { click: denied } }, "Deny");
  const hint = el("p.gate.dim");
  const place = el("div.offer-place");
  mount(foot, el("div.decision", el("div.actions", approve, widen), el("div.actions.denial", reason, deny)), hint, place);

  const isPending = () => facts.status === "pending" && !isOver();
  const isOver = () => displayed !== null && displayed.status === "pending" && !OPEN_RUN.includes(displayed.run_status);
  const isReady = () => isPending() && displayed !== null && !deciding && displayed.digest === facts.digest && gate.isReady();

  function refresh() {
    if (closed) return;
    approve.disabled = !isReady();
    offer?.setReady(isReady());
    deny.disabled = deciding;
    mount(hint, displayed === null ? "Loading what will run …" : gate.isWhole() ? "With the card focused: A approves once, D goes to the reason for denying." : "Approve works once all of the request has been on screen: scroll to its end.");
    changed();
  }

  function pressed(event) {
    if (event.target !== node || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !isPending()) return;
    if (event.key === "a") decide({ decision: "allow-once" });
    else if (event.key === "d") {
      event.preventDefault();
      reason.focus();
    }
  }

  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing && !event.repeat) denied();
  });

  function denied() {
    return decide({ decision: "deny", ...(reason.value.trim() ? { reason: reason.value.trim() } : {}) });
  }

  function toggleOffer() {
    offer = offer === null && displayed !== null ? windowOffer(displayed, (window) => decide({ decision: "window", window })) : null;
    widen.setAttribute("aria-expanded", String(offer !== null));
    mount(place, offer?.node ?? null);
    refresh();
  }

  async function decide(wanted) {
    const approves = wanted.decision !== "deny";
    if (deciding || !isPending() || (approves && !isReady())) return;
    deciding = true;
    refresh();
    try {
      const answer = await post(at`/api/approvals/${id}/decision`, { ...wanted, digest: (displayed ?? facts).digest });
      here = approves === isApproved(answer.status);
      if (!here) say("It was decided before your decision arrived.", "bad");
      show({ ...displayed, ...answer, source: displayed?.source });
    } catch (error) {
      if (error.status === 409 || error.status === 404) await load(`Not decided: ${error.message}. This is what it has become.`);
      else notice(error.hint ? `${error.message}: ${error.hint}` : error.message, "bad");
    } finally {
      deciding = false;
      refresh();
    }
  }

  function say(text, tone = "wait") {
    mount(alert, text ? el("p", { class: tone }, shown(text)) : null);
  }

  /** Display what the server says; anything that was not displayed before has not been read. */
  function show(found) {
    const isOther = displayed === null || found.digest !== displayed.digest || JSON.stringify(found.rows) !== JSON.stringify(displayed.rows);
    facts = found;
    displayed = found;
    if (isOther && found.rows) {
      mount(request, rowBlock(found.rows));
      mount(why, el("p", el("span.dim", "Why: "), shown(found.reason || "no reason given")),
        el("p", el("span.dim", "Rule: "), found.matched_rule ? el("code", shown(found.matched_rule)) : "none is named",
          el("span.dim", " · version "), el("code", shown(found.tool_version.slice(0, 12)))));
      if (offer) toggleOffer();
      gate.restart();
    }
    if (!isPending()) end();
    loaded(found);
    refresh();
  }

  /** The card stays in place and says what became of it. Whoever was in it is left on it. */
  function end() {
    const hadFocus = foot.contains(document.activeElement);
    node.classList.add("over");
    mount(foot, isOver() ? el("p.outcome", el("strong", "No longer waits"), `: its run is ${displayed.run_status.replaceAll("_", " ")}`) : outcome(facts, here),
      facts.window ? el("p.dim", `A window is open for ${facts.window.uses} further uses.`) : null);
    if (hadFocus) node.focus({ preventScroll: true });
    if (!here && !alert.firstChild && !isOver()) say("Decided elsewhere.", "dim");
  }

  async function load(note = null) {
    const mine = ++loads;
    try {
      const found = await get(at`/api/approvals/${id}`);
      if (closed || mine !== loads) return;
      if (note) say(note, "bad");
      show(found);
    } catch (error) {
      if (closed || mine !== loads) return;
      say(`It cannot be shown: ${error.message}`, "bad");
      displayed = null;
      refresh();
    }
  }

  /** Hear newer facts about the same approval. */
  function update(next) {
    if (closed || !isPending()) return;
    const wasDigest = facts.digest;
    facts = { ...facts, digest: next.digest ?? facts.digest };
    if (next.digest && next.digest !== wasDigest) {
      refresh();
      load("It has changed. This is what it has become.");
    } else if (next.status && next.status !== "pending") load();
  }

  const unlisten = listen(({ name, data }) => {
    if (!isPending() || deciding) return;
    const isAboutThis = name === "approval.decided" && data.approval === id;
    const isAboutRun = (name === "run.finished" || name === "run.cancelled") && data.run_id === approval.run_id;
    if (isAboutThis || isAboutRun || name === "reconnected" || name === "missed") load();
  });
  const left = Date.parse(approval.expires_at) - Date.now();
  const expiry = left < LONGEST_TIMER_MS ? setTimeout(() => { if (isPending()) load(); }, Math.max(left, 0) + 1500) : null;

  load();

  function close() {
    closed = true;
    clearTimeout(expiry);
    unlisten();
    gate.close();
  }

  return {
    node, update, close, isPending, isReady,
    digest: () => displayed?.digest ?? facts.digest,
    reload: load,
    unsettle: () => gate.unsettle(),
    /** Take over what a decision about the whole sheet made of it. */
    settled(answer) {
      here = true;
      show({ ...displayed, ...answer });
    },
  };
}
