// Status: how the runtime stands, what runs, and the emergency stop.

import { get } from "../api.js";
import { el, shown } from "../dom.js";
import { stopButtons } from "../estop.js";
import { ago } from "../format.js";
import { facts, heading, refreshing, state } from "../pieces.js";
import { listen } from "../stream.js";

const TONES = { ok: "good", warning: "wait", error: "bad" };
const COUNTERS = [
  ["running", "running", "/app/runs?status=running"], ["queued", "queued", "/app/runs?status=queued"], ["suspended", "suspended", "/app/runs?status=suspended"],
  ["pending_approvals", "approvals wait", "/app/inbox"], ["open_windows", "open windows", "/app/inbox"], ["quarantined", "quarantined files", "/app/inbox"],
  ["tools", "tools", "/app/tools"], ["receipts", "receipts verified", "/app/receipts"],
];

async function load() {
  const [status, running] = await Promise.all([get("/status"), get("/api/runs?status=running&limit=20")]);
  return el("div",
    el("ul.counters", COUNTERS.map(([name, label, href]) => el("li", el("a", { href }, el("strong", status.counts[name].toLocaleString("en")), el("span", label))))),
    el("section.card", el("h2", "What runs now"), running.runs.length
      ? el("ul.plain-list", running.runs.map((run) => el("li", state(run.status), " ", el("a", { href: `/app/runs/${encodeURIComponent(run.run_id)}` }, shown(run.name)), " ", ago(run.started_at))))
      : el("p.dim", "Nothing.")),
    el("section.card", el("h2", "Checks"), el("ul.plain-list", status.findings.map((each) =>
      el("li", el("span.state", { class: TONES[each.state] ?? "dim" }, each.state), " ", shown(each.check), ": ", shown(each.detail)))),
    el("p.dim", "More checks of this machine: ", el("code", "coilclaw doctor"))),
    el("section.card", el("h2", "This runtime"), facts([["Version", shown(status.version)], ["Home", shown(status.home)], ["Workspace", shown(status.workspace)], ["Engine", status.engine], ["Autonomy", status.autonomy]])));
}

export async function statusView() {
  const buttons = stopButtons();
  const body = refreshing(load);
  let due = null;
  const stop = listen(({ name }) => {
    if (!name.startsWith("chat.")) due ??= setTimeout(() => { due = null; body.refresh(); }, 500);
  });
  await body.ready;
  return { title: "Status", node: el("div", heading("Status"), buttons.node, body.node), close: () => { clearTimeout(due); stop(); buttons.close(); body.close(); } };
}
