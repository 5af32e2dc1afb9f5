// Receipts: the log, the latest first, and one receipt with its contents.

import { at, get, headers, Problem, query as asked } from "../api.js";
import { el, mount, save, shown } from "../dom.js";
import { ago, clock } from "../format.js";
import { action, copy, facts, heading, json, problem, state } from "../pieces.js";
import { go } from "../router.js";
import { listen } from "../stream.js";
import { virtualRows } from "../virtual.js";

const PAGE = 200;
const TYPES = ["run.", "tool.call.", "tool.call.requested", "tool.call.pending", "tool.call.approved", "tool.call.denied", "tool.call.started", "tool.call.succeeded", "tool.call.failed", "tool.", "approval.", "estop.", "auth.", "project."];

async function verification() {
  const known = await get("/api/receipts/verification");
  const said = known.ok === null ? "Not verified yet"
    : known.ok ? `Verified to seq ${known.verified_to.toLocaleString("en")} at ${clock(known.verified_at)}` : "Verification failed";
  return el("details.verified", { class: known.ok === false ? "bad" : "good" }, el("summary", el("strong", said), known.problem ? [": ", shown(known.problem)] : null),
    known.whole_at ? el("p", `Contents too, all of them: at ${clock(known.whole_at)}; since then what came after.`) : null,
    el("p", "This says that each receipt follows the one before it and is unchanged. It does not say that what a tool reported is true, and it cannot notice a log that was replaced as a whole, with its key, by somebody who can write to the home. Keep an export elsewhere to compare."));
}

function row(receipt) {
  return el("a.receipt-row", { href: `/app/receipts/${encodeURIComponent(receipt.id)}` },
    el("span.number", String(receipt.seq)), el("span.type", shown(receipt.type)), el("span.name", shown(receipt.tool ?? receipt.run_id ?? "")), el("span.when", clock(receipt.timestamp)));
}

export async function receiptsView(_, query) {
  const filter = Object.fromEntries(["type", "run", "tool"].map((name) => [name, query.get(name) ?? ""]));
  let items = [];
  let cursor;
  let reading = false;
  let closed = false;
  let waiting = 0;
  const news = el("button.small", { type: "button", hidden: true, on: { click: () => { waiting = 0; newest(); } } });
  const follow = el("input", { type: "checkbox", id: "follow", checked: true, on: { change: () => newest() } });
  const about = el("p.dim", { role: "status" });
  const trouble = el("div");
  const list = virtualRows({ label: "Receipts", height: 34, row, wanted: () => older() });
  const page = (from) => get(`/api/receipts${asked({ ...filter, limit: PAGE, cursor: from })}`);

  function show() {
    list.show(items);
    mount(about, items.length ? `${items.length.toLocaleString("en")} shown${cursor === null ? ", all there are" : "; more as you scroll"}` : cursor === null ? "No receipt fits." : "Looking …");
  }

  async function older() {
    if (reading || cursor === null || closed) return;
    reading = true;
    try {
      const answer = await page(cursor);
      cursor = answer.cursor;
      items = [...items, ...answer.receipts];
      mount(trouble);
    } catch (error) {
      cursor = null;
      mount(trouble, problem(error));
    } finally {
      reading = false;
    }
    if (!closed) show();
  }

  async function newest() {
    if (reading || closed) { again(); return; }
    reading = true;
    try {
      const answer = await page(null);
      const last = items[0]?.seq ?? 0;
      const fresh = answer.receipts.filter((each) => each.seq > last);
      // With a gap between what came and what is there, the list begins anew.
      if (fresh.length === answer.receipts.length && answer.cursor !== null) { items = answer.receipts; cursor = answer.cursor; }
      else items = [...fresh, ...items];
      news.hidden = true;
      waiting = 0;
    } catch { /* The next event tries again. */ } finally {
      reading = false;
    }
    if (!closed) show();
  }

  let due = null;
  const again = () => { due ??= setTimeout(() => { due = null; newest(); }, 300); };
  const stop = listen(({ name, data }) => {
    if (!data.receipt && name !== "reconnected" && name !== "missed") return;
    waiting += 1;
    if (follow.checked && list.node.scrollTop < 40) { again(); return; }
    news.hidden = false;
    mount(news, `${waiting} new`);
  });
  const field = (name, label, more = {}) => {
    const input = el("input", { id: `receipt-${name}`, value: filter[name], autocomplete: "off", maxlength: 200, ...more });
    input.addEventListener("change", () => go(`/app/receipts${asked({ ...filter, [name]: input.value.trim() })}`));
    return [el("label", { for: `receipt-${name}` }, label), input];
  };
  const types = el("select", { id: "receipt-type", on: { change: () => go(`/app/receipts${asked({ ...filter, type: types.value })}`) } },
    el("option", { value: "" }, "all"), [...new Set([...TYPES, filter.type].filter(Boolean))].map((each) => el("option", { value: each, selected: each === filter.type }, each.endsWith(".") ? `${each}*` : each)));
  const exported = action("Export", async () => {
    const response = await fetch("/api/receipts/export", { headers: headers(), credentials: "same-origin" });
    if (!response.ok) throw new Problem(response.status, { message: "the log could not be exported" });
    save("receipts.jsonl", await response.blob());
  });
  const [proof] = await Promise.all([verification().catch((error) => problem(error)), older()]);
  const node = el("div.receipts", heading("Receipts", { about: "What happened, one receipt for each step; none of them can be changed.", actions: [exported] }), proof,
    el("div.filters", el("label", { for: "receipt-type" }, "Type"), types, field("tool", "Tool", { placeholder: "files.read" }), field("run", "Run", { placeholder: "run-…" }),
      el("label", { for: "follow" }, follow, " Follow"), news), trouble, list.node, about);
  return { title: "Receipts", node, close: () => { closed = true; clearTimeout(due); stop(); list.close(); } };
}

export async function receiptView({ id }) {
  let receipt;
  try {
    receipt = await get(at`/api/receipts/${id}`);
  } catch (error) {
    return { title: "Receipt", node: el("div", heading("Receipt"), problem(error)) };
  }
  const run = receipt.run_id && el("a", { href: `/app/runs/${encodeURIComponent(receipt.run_id)}${asked({ call: receipt.tool_call_id })}` }, receipt.run_id);
  const part = (name, hash) => (hash ? el("section.card", el("h2", name === "arguments" ? "Arguments" : "Result"), receipt.kept.includes(name) ? json(receipt[name]) : el("p.dim", "Not kept; the receipt stays bound to its hash.")) : null);
  const node = el("div", heading(el("span", shown(receipt.type), " ", state(receipt.status))), el("section.card", facts([
    ["Receipt", el("span.mono", receipt.id, " ", copy(location.origin + location.pathname, "Copy link"))], ["Number", String(receipt.seq)], ["When", el("span", clock(receipt.timestamp), " (", ago(receipt.timestamp), ")")],
    ["Run", run], ["Tool", receipt.tool ? el("a", { href: `/app/tools/${encodeURIComponent(receipt.tool)}` }, shown(receipt.tool)) : null], ["Version", receipt.tool_version ? el("span.mono", shown(receipt.tool_version)) : null], ["Risk", receipt.risk],
    ["Hash", el("span.mono", receipt.receipt_hash)], ["Follows", el("span.mono", receipt.previous_hash)]])),
  part("arguments", receipt.args_hash), part("result", receipt.result_hash), el("section.card", el("h2", "What it says"), json(receipt.payload)));
  return { title: `Receipt ${receipt.seq}`, node };
}
