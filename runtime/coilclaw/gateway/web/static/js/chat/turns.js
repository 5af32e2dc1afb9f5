// The turns of a conversation as they are drawn: what a person said, tool lines, answers and their evidence.

import { el, mount, shown } from "../dom.js";
import { clock, counted } from "../format.js";
import { state } from "../pieces.js";

export const AGENT = "CoilClaw";
let markdown = null;

/** Show a text as Markdown. The parser is loaded with the first answer; until then the text stands as it is. */
export function formatted(node, text) {
  if (markdown) return mount(node, markdown(text));
  mount(node, shown(text, { lines: true }));
  node.dataset.waiting = "";
  import("../markdown.js").then((module) => {
    ({ markdown } = module);
    if ("waiting" in node.dataset) {
      delete node.dataset.waiting;
      mount(node, markdown(node.textOf?.() ?? text));
    }
  }, () => {}); // Without it the text is as legible.
  return node;
}

function label(who, when) {
  return el("p.who", el("span.name", who), when ? el("time", { datetime: when, title: new Date(when).toLocaleString() }, clock(when)) : null);
}

/** What a person said. */
export function personTurn(message) {
  return el("article.turn.person", { "aria-label": "You" }, label("YOU", message.created_at), el("div.said", shown(message.content, { lines: true })));
}

/** A call as a line of a ledger. */
export function ledgerLine(call) {
  const line = el("li.ledger", { class: `is-${call.status}` },
    el("span.tool", shown(call.tool ?? "a tool")),
    call.args_summary ? el("span.what", shown(call.args_summary)) : null,
    el("span.outcome", String(call.status ?? "unknown").replaceAll("_", " ")),
  );
  if (call.message && call.status !== "succeeded") line.append(el("span.message", shown(call.message)));
  return line;
}

/** A finished answer: its calls, its text, and what shows that it is so. */
export function answerTurn(message) {
  const { trace = [], activity = [], claims = [], status, model } = message.metadata;
  const text = el("div.said");
  formatted(text, message.content);
  const unusual = status && status !== "answered" ? state(status) : null;
  return el("article.turn.agent", { "aria-label": AGENT, "data-message": message.id },
    label(AGENT, message.created_at),
    trace.length ? el("ul.calls", { "aria-label": "Calls" }, trace.map(ledgerLine)) : null,
    text, unusual, evidence(activity, claims, model),
  );
}

function evidence(activity, claims, model) {
  const unproven = claims.filter((each) => each && typeof each === "object" && each.supported === false);
  if (!activity.length) return null;
  const rows = activity.filter((each) => each && typeof each === "object").map((item) =>
    el("tr",
      el("td", el("code", shown(item.tool_id ?? "")), item.summary ? el("div.what", shown(item.summary)) : null),
      el("td", state(String(item.status ?? "unknown")), item.approval && item.approval !== "none" ? el("div.what", shown(`${item.approval}${item.decided_by ? ` by ${item.decided_by}` : ""}`)) : null),
      el("td", item.receipt_ref ? el("a", { href: `/app/receipts/${encodeURIComponent(item.receipt_ref)}`, "aria-label": `Receipt of ${item.tool_id}` }, "Receipt") : null),
    ));
  return el("details.evidence",
    el("summary", `Evidence · ${counted(rows.length, "call")}`, unproven.length ? ` · ${counted(unproven.length, "claim")} without evidence` : ""),
    el("table", el("thead", el("tr", el("th", { scope: "col" }, "Call"), el("th", { scope: "col" }, "Outcome"), el("th", { scope: "col" }, "Receipt"))), el("tbody", rows)),
    model ? el("p.dim", "Answered by ", shown(model)) : null,
  );
}

/** The answer that is being made. `update(answer)` draws it again; the text at most as often as that is cheap. */
export function liveTurn({ approval, retry, stop, discard }) {
  const calls = el("ul.calls", { "aria-label": "Calls" });
  const text = el("div.said");
  const foot = el("div.foot-line", { role: "status" });
  const node = el("article.turn.agent.live", { "aria-label": `${AGENT}, answering` }, label(AGENT), calls, text, foot);
  const lines = new Map();
  let drawn = "";
  let due = null;
  let latest = null;
  let cost = 0;
  let footing = null;
  text.textOf = () => latest?.text ?? "";

  function drawText() {
    due = null;
    if (drawn === latest.text) return;
    const begun = performance.now();
    drawn = latest.text;
    formatted(text, drawn);
    cost = performance.now() - begun;
  }

  function update(answer) {
    const isOther = latest !== answer;
    latest = answer;
    for (const [id, { line, close }] of lines) {
      if (answer.calls.has(id)) continue;
      close?.();
      line.remove();
      lines.delete(id);
    }
    for (const [id, call] of answer.calls) {
      const facts = JSON.stringify(call);
      const before = lines.get(id);
      if (before?.facts === facts) continue;
      before?.close?.();
      const asks = call.status === "pending" && call.approval_id;
      const made = asks ? approval(call) : { node: ledgerLine(call) };
      if (before) before.line.replaceWith(made.node);
      else calls.append(made.node);
      lines.set(id, { line: made.node, close: made.close, facts });
    }
    if (isOther && drawn && !answer.text) {
      drawn = "";
      mount(text);
    }
    if (!due) due = setTimeout(drawText, Math.max(40, 6 * cost));
    const kind = `${answer.state} ${answer.error?.message ?? ""}`;
    if (kind !== footing) {
      footing = kind;
      mount(foot, footFor(answer));
    }
    node.dataset.state = answer.state;
  }

  function footFor(answer) {
    if (answer.state === "working") return [el("span.busy", { "aria-hidden": "true" }), el("span", "Working"), stop];
    if (answer.state === "waiting") return [el("span", "Waits for a decision"), stop];
    if (answer.state === "failed") {
      return [el("div.problem", el("strong", "No answer"), el("p", shown(answer.error?.message ?? "")),
        answer.error?.hint ? el("p.hint", shown(answer.error.hint)) : null, el("div.actions", retry, discard))];
    }
    if (answer.state === "unanswered") return [el("span", "This message has no answer yet"), el("div.actions", retry, discard)];
    return [];
  }

  return { node, update, close: () => { clearTimeout(due); for (const { close } of lines.values()) close?.(); } };
}
