// A call that was under way when its process ended: nobody knows what it did, so a person says what to make of it.

import { at, get, post } from "../api.js";
import { el, mount, shown } from "../dom.js";
import { ago, clock } from "../format.js";
import { json, notice } from "../pieces.js";
import { reading } from "./reading.js";

/** Make the card of a call of unknown outcome: `{node, update(items), close, unsettle}`. */
export function unknownCard(item) {
  let isWaiting = true;
  let working = false;
  const alert = el("div.card-alert", { role: "status" });
  const request = el("div.request-content", el("p.dim", "Loading what was called …"));
  const hint = el("p.gate.dim");
  const retry = el("button.primary.retry", { type: "button", disabled: true, on: { click: () => decide("retry") } }, "Call it again");
  const failed = el("button.danger.failed", { type: "button", on: { click: () => decide("failed") } }, "Count it as failed");
  const foot = el("div.card-foot", el("div.actions", retry, failed), hint);
  const node = el("article.card.unknown", { tabindex: "0", "data-receipt": item.receipt, "aria-label": `The outcome of ${item.tool} is unknown` },
    el("header.card-head", el("h3", el("code", shown(item.tool))), el("span.state.wait", "outcome unknown"), el("span.dim", "started ", ago(item.since))),
    el("p", "Its process ended while it was under way. It may have done all of its work, some, or none: look at the other side before you call it again."),
    alert, el("div.request", { tabindex: "0", role: "region", "aria-label": "What was called" }, request),
    el("p.why", el("a", { href: at`/app/runs/${item.run_id}` }, "Open the run"), " · ", el("a", { href: at`/app/receipts/${item.receipt}` }, "Receipt")), foot);
  const gate = reading(request, refresh);

  function refresh() {
    retry.disabled = !isWaiting || working || !gate.isReady();
    failed.disabled = working;
    mount(hint, gate.isWhole() ? "The decision is about this call alone; the run continues with it." : "Calling again works once all of the call has been on screen: scroll to its end.");
  }

  function end(text) {
    const hadFocus = foot.contains(document.activeElement);
    isWaiting = false;
    node.classList.add("over");
    mount(foot, el("p.outcome", text, " · ", clock(Date.now())));
    if (hadFocus) node.focus({ preventScroll: true });
  }

  async function decide(decision) {
    if (!isWaiting || working || (decision === "retry" && !gate.isReady())) return;
    working = true;
    refresh();
    try {
      await post(at`/api/runs/${item.run_id}/unknown`, { decision, receipt: item.receipt });
      end(decision === "retry" ? "Called again from this window" : "Counted as failed from this window");
    } catch (error) {
      if (error.status === 409 || error.status === 404) mount(alert, el("p.bad", shown(`Not decided: ${error.message}`)));
      else notice(error.hint ? `${error.message}: ${error.hint}` : error.message, "bad");
    } finally {
      working = false;
      if (isWaiting) refresh();
    }
  }

  async function load() {
    try {
      const found = await get(at`/api/receipts/${item.receipt}`);
      mount(request, found.kept.includes("arguments") ? json(found.arguments) : el("p", "Its arguments are no longer kept."));
      gate.restart();
    } catch (error) {
      mount(request, el("p.bad", shown(`What was called cannot be shown: ${error.message}`)), el("button", { type: "button", on: { click: load } }, "Try again"));
    }
  }

  load();
  refresh();
  return {
    node,
    update: ([next]) => { if (!next && isWaiting && !working) end("Decided elsewhere, or no longer waits"); },
    close: () => gate.close(), unsettle: () => gate.unsettle(), isOver: () => !isWaiting,
  };
}
