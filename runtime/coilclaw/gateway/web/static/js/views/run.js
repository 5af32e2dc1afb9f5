// One run: its timeline, its source, its calls, and what came of it. Choosing a call marks it in all of them.

import { at, get, post } from "../api.js";
import { el, mount, shown } from "../dom.js";
import { ago, duration } from "../format.js";
import { action, copy, facts, heading, json, notice, problem, state } from "../pieces.js";
import { outputs } from "../outputs.js";
import { listen } from "../stream.js";
import { nameOf, timeline } from "../timeline.js";
import { momentsOf } from "../lanes.js";
import { virtualRows } from "../virtual.js";

const OVER = new Set(["completed", "failed", "rejected", "timed_out", "out_of_memory", "output_exceeded", "diverged", "cancelled", "crashed"]);
const MOST_LINES = 5000;

export async function runView({ id }, query) {
  let details = null;
  let data = { calls: [], moments: [], log: "" };
  let selected = query.get("call");
  let line = null;
  let closed = false;
  const top = el("div.run-top");
  const ends = el("div.run-ends");
  const source = el("div.source", { "aria-label": "Source", role: "region", tabindex: "0" });
  const opened = el("section.opened", { "aria-live": "polite" });
  const verdict = el("div", { role: "status" });
  const picture = timeline((call) => select(call));
  const list = virtualRows({ label: "Calls", height: 34, row: callRow });

  function callRow(call) {
    const { requested, started, ended } = momentsOf(call);
    return el("button.call-row", { type: "button", "data-call": call.id, "aria-pressed": String(call.id === selected),
      class: line !== null && call.line === line ? "of-line" : "", on: { click: () => select(call) } },
      el("span.number", String(call.number ?? "")), state(call.status), el("span.name", shown(nameOf(call))),
      el("span.dim.took", ended ? duration(ended - (started ?? requested)) : ""));
  }

  function select(call) {
    selected = call?.id ?? null;
    line = call?.line ?? null;
    history.replaceState(null, "", call ? `${location.pathname}?call=${encodeURIComponent(call.id)}` : location.pathname);
    marks();
    if (call) open(call);
  }

  function selectLine(number) {
    const first = data.calls.find((each) => each.line === number);
    if (first) select(first);
  }

  function marks() {
    const call = data.calls.find((each) => each.id === selected) ?? null;
    picture.select(call, line);
    list.again();
    if (call) list.reveal(data.calls.indexOf(call));
    for (const row of source.querySelectorAll(".source-line")) {
      const here = line !== null && Number(row.dataset.line) === line;
      row.classList.toggle("marked", here);
      if (here) row.scrollIntoView({ block: "nearest" });
    }
  }

  function open(call) {
    const contents = el("div", el("p.dim", "Loading …"));
    mount(opened, el("h2", shown(call.tool)), el("p.dim", shown(call.summary)),
      facts([["State", state(call.status)], ["Line", call.line ? String(call.line) : null], ["Approval", call.approval === "none" ? null : call.approval],
        ["Decided by", call.decided_by ? shown(call.decided_by) : null]]),
      el("h3", "Receipts"),
      el("ol.steps", call.steps.map(([kind, seq, when]) => el("li", el("a", { href: `/app/receipts/${data.log}-${seq}` }, kind), " ", el("span.dim", `no. ${seq}, ${when.slice(11, 23)}`)))),
      contents);
    const last = call.steps.at(-1);
    if (!last) return;
    get(at`/api/receipts/${`${data.log}-${last[1]}`}`).then((receipt) => {
      mount(contents, receipt.kept.includes("arguments") ? [el("h3", "Arguments"), json(receipt.arguments)] : el("p.dim", "Its arguments are not kept."),
        receipt.kept.includes("result") ? [el("h3", "Result"), json(receipt.result)] : null);
    }, (error) => mount(contents, problem(error)));
  }

  function drawSource() {
    const lines = new Set(data.calls.map((each) => each.line));
    const rows = details.code.slice(0, MOST_LINES);
    mount(source, rows.length ? el("div.source-lines", rows.map((pieces, number) => {
      const called = lines.has(number + 1);
      const text = el("code", pieces.map(([kind, piece]) => el("span", { class: `code-${kind}` }, shown(piece, { lines: false }))));
      return el("div.source-line", { "data-line": number + 1, class: called ? "called" : "" },
        called ? el("button.plain.line-number", { type: "button", "aria-label": `Line ${number + 1}: show its calls`, on: { click: () => selectLine(number + 1) } }, String(number + 1))
          : el("span.line-number", String(number + 1)), text);
    })) : el("p.dim", details.kind === "snippet" ? "The source is not kept." : "A direct call has no source."));
    if (details.code.length > MOST_LINES) source.append(el("p.dim", `The first ${MOST_LINES} of ${details.code.length} lines.`));
  }

  function drawTop() {
    const act = (name, work) => action(name, async () => { await work(); await refresh(); });
    const status = details.state;
    const buttons = [
      status === "suspended" || status === "orphaned" ? act("Resume", () => post(at`/api/runs/${id}/resume`)) : null,
      OVER.has(status) ? null : action("Cancel", async () => { await post(at`/api/runs/${id}/cancel`); notice("Cancelled"); await refresh(); }, { kind: "danger" }),
      status === "completed" || status === "failed" ? action("Replay", replay, { title: "Repeat it from its journal, with no side effects, and compare" }) : null,
    ];
    const title = el("span", shown(details.name), " ", state(status));
    const waiting = details.approvals.length + details.unknown.length;
    mount(top, heading(title, { actions: buttons.filter(Boolean) }),
      waiting ? el("p.waiting-note", `${waiting === 1 ? "One call waits" : `${waiting} calls wait`} for a person: `, el("a", { href: "/app/inbox" }, "decide in the Inbox")) : null,
      facts([["Run", el("span.mono", id, " ", copy(id))], ["Began", ago(details.started_at)], ["Engine", details.engine],
        ["Took", details.duration_ms ? duration(details.duration_ms) : null],
        ["Retry of", details.retry_of ? el("a", { href: `/app/runs/${encodeURIComponent(details.retry_of)}` }, details.retry_of) : null],
        ["Run's receipts", data.moments.length ? data.moments.map(([kind, seq]) => [el("a", { href: `/app/receipts/${data.log}-${seq}` }, kind.slice(4)), " "]) : null]]), verdict);
  }

  async function replay() {
    mount(verdict, el("p.dim", "Repeating …"));
    try {
      const done = await post(at`/api/runs/${id}/replay`);
      mount(verdict, el("div.verdict", { class: done.identical ? "good" : "bad" }, el("strong", done.identical ? "Identical" : "Different"),
        ` after ${done.calls} calls; compared: ${done.compared.join(", ")}.`, done.note ? el("p", shown(done.note)) : null, done.difference ? json(done.difference) : null));
    } catch (error) {
      mount(verdict);
      throw error;
    }
  }

  let sourceOf = null;
  async function read() {
    const began = performance.now();
    const [made, calls] = await Promise.all([get(`${at`/api/runs/${id}`}?events=false`), get(at`/api/runs/${id}/calls`)]);
    if (closed) return 0;
    details = made;
    data = calls;
    drawTop();
    mount(ends, outputs(details));
    const wanted = JSON.stringify([details.source, [...new Set(data.calls.map((each) => each.line))]]);
    if (wanted !== sourceOf) drawSource();
    sourceOf = wanted;
    picture.show(data);
    list.show(data.calls);
    const call = data.calls.find((each) => each.id === selected) ?? null;
    line = call?.line ?? null;
    marks();
    return performance.now() - began;
  }

  let busy = false;
  let again = false;
  let due = null;
  let pause = 150;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      do {
        again = false;
        // A long run is read less often, so that most of the time is left for whoever looks at it.
        pause = Math.max(150, 4 * await read());
      } while (again && !closed);
    } finally {
      busy = false;
    }
  }

  const node = el("div.run", top, picture.node,
    el("div.run-columns", el("section", el("h2", "Source"), source), el("section", el("h2", "Calls"), list.node)), opened, ends);
  const stop = listen(({ name, data: event }) => {
    if (event.run_id !== id && name !== "reconnected" && name !== "missed") return;
    due ??= setTimeout(() => { due = null; refresh().catch(() => {}); }, pause);
  });
  const close = () => { closed = true; clearTimeout(due); stop(); picture.close(); list.close(); };
  try {
    await refresh();
  } catch (error) {
    close();
    return { title: "Run", node: el("div", heading("Run"), problem(error)) };
  }
  const chosen = data.calls.find((each) => each.id === selected);
  if (chosen) open(chosen);
  return { title: details.name, node, close };
}
