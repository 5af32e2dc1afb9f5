// Runs: the list, and starting one.

import { get, post, query as asked } from "../api.js";
import { el, mount, shown } from "../dom.js";
import { ago } from "../format.js";
import { action, empty, heading, problem, state } from "../pieces.js";
import { go } from "../router.js";
import { listen } from "../stream.js";

export { runView } from "./run.js";

const STATES = ["queued", "running", "orphaned", "suspended", "completed", "failed", "rejected", "timed_out", "out_of_memory", "output_exceeded", "diverged", "cancelled", "crashed"];
const CHANGES = /^run\.(queued|started|suspended|resumed|finished|diverged)$|^reconnected$|^missed$/;

function editor() {
  const code = el("textarea.mono", { id: "new-code", rows: 8, spellcheck: "false", placeholder: "tools.files.list(path=\".\")" });
  const start = action("Run", async () => {
    const { run_id: id } = await post("/api/runs", { code: code.value });
    go(`/app/runs/${id}`);
  }, { kind: "primary" });
  return el("details.card.editor", el("summary", "Start a run"),
    el("label", { for: "new-code" }, "Python that calls tools; policy and approvals apply as always"), code, el("div.actions", start));
}

function row(run) {
  return el("tr", { "data-run": run.run_id },
    el("td", state(run.status)),
    el("td", el("a", { href: `/app/runs/${encodeURIComponent(run.run_id)}` }, shown(run.name)), el("div.dim.mono.small-text", run.run_id)),
    el("td.wide-only", run.engine),
    el("td", ago(run.started_at)));
}

export async function runsView(_, query) {
  const status = STATES.includes(query.get("status")) ? query.get("status") : "";
  const body = el("tbody");
  const table = el("table.rows", el("thead", el("tr", el("th", "State"), el("th", "Run"), el("th.wide-only", "Engine"), el("th", "Began"))), body);
  const place = el("div");
  const chosen = el("select", { id: "run-status", on: { change: () => go(`/app/runs${asked({ status: chosen.value })}`) } },
    el("option", { value: "" }, "all"), STATES.map((each) => el("option", { value: each, selected: each === status }, each.replaceAll("_", " "))));
  let runs = [];
  let cursor = null;
  let closed = false;
  const more = action("More", async () => add(await page(cursor)));
  const page = (from) => get(`/api/runs${asked({ status, limit: 50, cursor: from })}`);

  function add(answer) {
    runs = [...runs, ...answer.runs.filter((each) => !runs.some((known) => known.run_id === each.run_id))];
    cursor = answer.cursor;
    draw();
  }

  function draw() {
    if (closed) return;
    mount(body, runs.map(row));
    mount(place, runs.length ? [table, cursor ? el("p.more", more) : null]
      : empty(status ? `No run is ${status.replaceAll("_", " ")}` : "No runs yet", "Start one above, in the chat, or with ", el("code", "coilclaw run FILE"), "."));
  }

  async function refresh() {
    try {
      const answer = await page(null);
      const fresh = new Set(answer.runs.map((each) => each.run_id));
      const oldest = answer.cursor === null ? null : answer.runs.at(-1)?.started_at;
      // Pages that were asked for stay; what the first page has is newer.
      const older = oldest === null ? [] : runs.filter((each) => !fresh.has(each.run_id) && each.started_at <= oldest);
      if (!older.length) cursor = answer.cursor;
      runs = [...answer.runs, ...older];
      draw();
    } catch (error) {
      if (!closed) mount(place, problem(error, refresh));
    }
  }

  await refresh();
  let due = null;
  const stop = listen(({ name }) => {
    if (CHANGES.test(name)) due ??= setTimeout(() => { due = null; refresh(); }, 120);
  });
  const node = el("div", heading("Runs", { about: "Every snippet and every direct call, newest first." }), editor(),
    el("div.filters", el("label", { for: "run-status" }, "State"), chosen), place);
  return { title: "Runs", node, close: () => { closed = true; clearTimeout(due); stop(); } };
}
