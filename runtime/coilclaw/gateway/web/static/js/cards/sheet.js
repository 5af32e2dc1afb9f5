// All pending calls of one run on one sheet, with the snippet they come from and what the run has done so far.

import { at, post } from "../api.js";
import { codeBlock } from "../code.js";
import { el, mount, shown } from "../dom.js";
import { counted, duration } from "../format.js";
import { notice, state } from "../pieces.js";
import { approvalCard } from "./approval.js";

function activityList(items) {
  return el("ol.activity", items.map((each) => el("li", state(each.status), " ", el("code", shown(each.tool_id)),
    each.duration_ms ? el("span.dim", ` ${duration(each.duration_ms)}`) : null,
    each.receipt_ref ? [" ", el("a.small", { href: at`/app/receipts/${each.receipt_ref}` }, "receipt")] : null)));
}

/** Make the sheet of a run: `{node, update(items), close, unsettle}`. */
export function runSheet(runId) {
  const cards = new Map();
  const title = el("h2", "Run ", el("code", shown(runId.slice(0, 16))));
  const count = el("span.dim");
  const context = el("div.context");
  const list = el("div.cards");
  const approveAll = el("button.primary.approve-all", { type: "button", disabled: true, on: { click: () => decideAll("allow-once") } });
  const reason = el("input.reason", { type: "text", maxlength: 500, autocomplete: "off", placeholder: "Reason, which the model receives", "aria-label": "Reason for denying all, which the model receives" });
  const denyAll = el("button.danger.deny-all", { type: "button", on: { click: () => decideAll("deny") } });
  const foot = el("footer.sheet-foot", { hidden: true }, approveAll, reason, denyAll);
  const node = el("section.sheet", { "data-run": runId, "aria-label": "Calls of one run" },
    el("header.sheet-head", title, count, el("a", { href: at`/app/runs/${runId}` }, "Open the run")), context, list, foot);
  let deciding = false;
  let told = "";

  const pending = () => [...cards.values()].filter((card) => card.isPending());

  function refresh() {
    const waiting = pending();
    mount(count, waiting.length ? `${counted(waiting.length, "call")} ${waiting.length === 1 ? "waits" : "wait"}` : "nothing waits any more");
    foot.hidden = waiting.length < 2;
    mount(approveAll, `Approve all ${waiting.length} once`);
    mount(denyAll, `Deny all ${waiting.length}`);
    approveAll.disabled = deciding || !waiting.length || !waiting.every((card) => card.isReady());
    denyAll.disabled = deciding;
    node.classList.toggle("over", !waiting.length);
  }

  /** Show the run around its calls. */
  function about(details) {
    const lines = [...cards.values()].map((card) => Number(card.node.dataset.line)).filter(Boolean);
    const now = JSON.stringify([details.activity, lines]);
    if (now === told || !details.code) return;
    told = now;
    mount(title, shown(details.name || "snippet"));
    const wasOpen = [...context.querySelectorAll("details")].map((each) => each.open);
    const before = details.activity.filter((each) => each.status !== "pending");
    mount(context,
      el("details", { open: wasOpen[0] ?? false }, el("summary", `So far: ${before.length ? counted(before.length, "call") : "no call yet"}`), before.length ? activityList(before) : el("p.dim", "The run has called nothing else.")),
      details.source === null ? null : el("details", { open: wasOpen[1] ?? false }, el("summary", "Snippet"), codeBlock(details.code, lines)));
    for (const card of cards.values()) card.unsettle();
  }

  async function decideAll(decision) {
    const chosen = pending();
    if (deciding || (decision !== "deny" && !chosen.every((card) => card.isReady()))) return;
    deciding = true;
    refresh();
    try {
      const digests = Object.fromEntries(chosen.map((card) => [card.node.dataset.approval, card.digest()]));
      const answer = await post(at`/api/runs/${runId}/decision`, { decision, digests, ...(decision === "deny" && reason.value.trim() ? { reason: reason.value.trim() } : {}) });
      const isAsWanted = (each) => (each.status === "denied") === (decision === "deny");
      for (const each of answer.approvals) isAsWanted(each) ? cards.get(each.id)?.settled(each) : cards.get(each.id)?.reload();
    } catch (error) {
      if (error.status !== 409) notice(error.hint ? `${error.message}: ${error.hint}` : error.message, "bad");
      else for (const card of chosen) card.reload(`Not decided: ${error.message}. This is what it has become.`);
    } finally {
      deciding = false;
      refresh();
    }
  }

  /** The calls that wait now: new ones are added at the end, those that no longer wait stay and say why. */
  function update(items) {
    for (const item of items) {
      if (cards.has(item.id)) cards.get(item.id).update(item);
      else {
        const card = approvalCard({ ...item, created_at: item.created_at ?? item.since }, { loaded: about, changed: refresh });
        if (item.line) card.node.dataset.line = String(item.line);
        cards.set(item.id, card);
        list.append(card.node);
      }
    }
    const present = new Set(items.map(({ id }) => id));
    for (const [id, card] of cards) if (!present.has(id) && card.isPending()) card.reload();
    refresh();
  }

  return {
    node, update,
    close: () => { for (const card of cards.values()) card.close(); },
    unsettle: () => { for (const card of cards.values()) card.unsettle(); },
    isOver: () => pending().length === 0,
  };
}
