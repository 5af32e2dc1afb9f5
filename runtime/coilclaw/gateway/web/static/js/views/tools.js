// Tools: what can be called, as a model sees it, and trying one.

import { at, get, post, query as asked } from "../api.js";
import { el, mount, shown } from "../dom.js";
import { argumentForm } from "../arguments.js";
import { action, copy, empty, facts, heading, json, notice, problem, refreshing, risk, state } from "../pieces.js";
import { listen } from "../stream.js";

const CHANGES = /^tool\.|^receipt$|^reconnected$/;

function problems(errors, held) {
  return [
    held ? el("p.waiting-note", `${held === 1 ? "One tool file is" : `${held} tool files are`} quarantined: `, el("a", { href: "/app/inbox" }, "read and trust in the Inbox")) : null,
    errors.map((each) => el("section.problem", el("strong", shown(each.file), each.line ? `, line ${each.line}` : ""), el("p", shown(each.message)), each.hint ? el("p.hint", shown(each.hint)) : null, each.excerpt ? el("pre.code", shown(each.excerpt, { lines: true })) : null)),
  ];
}

export async function toolsView() {
  const search = el("input", { id: "tool-search", type: "search", placeholder: "name, argument or purpose", autocomplete: "off" });
  const body = refreshing(async () => {
    const [found, held] = await Promise.all([get(`/api/registry${asked({ q: search.value.trim() })}`), get("/api/quarantine")]);
    return el("div", problems(found.errors, held.files.length), found.tools.length ? el("ul.tool-list", found.tools.map((tool) =>
      el("li.card", el("div.card-head", el("a.tool-name", { href: `/app/tools/${encodeURIComponent(tool.id)}` }, shown(tool.id)), el("span.actions", risk(tool.risk), state(tool.policy))),
        el("p", shown(tool.description)), tool.missing_secrets.length ? el("p.bad-text", "Needs secrets: ", shown(tool.missing_secrets.join(", "))) : null)))
      : empty("No tool fits", "Try other words."));
  });
  let due = null;
  const later = () => { due ??= setTimeout(() => { due = null; body.refresh(); }, 200); };
  search.addEventListener("input", later);
  const stop = listen(({ name }) => { if (CHANGES.test(name)) later(); });
  const reload = action("Reload", async () => {
    const done = await post("/api/registry/reload");
    notice(`${done.loaded.length} loaded, ${done.removed.length} removed, ${done.failed.length} failed, ${done.quarantined.length} quarantined`);
    await body.refresh();
  });
  await body.ready;
  return { title: "Tools", node: el("div", heading("Tools", { about: "Everything that runs and chats may call, and what policy says about it.", actions: [reload] }),
    el("div.filters", el("label", { for: "tool-search" }, "Search"), search), body.node), close: () => { clearTimeout(due); stop(); body.close(); } };
}

function tryIt(tool) {
  const form = argumentForm(tool.input_schema);
  const answer = el("div.answer", { role: "status" });
  const call = action("Call", async () => {
    mount(answer, el("p.dim", "Calling …"));
    try {
      show(await post(at`/api/registry/${tool.id}/call`, { arguments: form.value() }));
    } catch (error) {
      mount(answer);
      throw error;
    }
  }, { kind: "primary" });
  function show(done) {
    let value = null;
    try { value = done.output ? JSON.parse(done.output) : null; } catch { value = done.output; }
    mount(answer, el("p", state(done.status), " ", el("a", { href: `/app/runs/${encodeURIComponent(done.run_id)}` }, "the run"),
      done.receipt_id ? [", ", el("a", { href: `/app/receipts/${encodeURIComponent(done.receipt_id)}` }, "its receipt")] : null),
    done.status === "suspended" ? el("p.waiting-note", "It waits for a person: ", el("a", { href: "/app/inbox" }, "decide in the Inbox"), ". The run goes on by itself then.") : done.error ? el("p.problem", shown(done.error)) : json(value));
  }
  return el("section.card", el("h2", "Try it"), el("p.dim", "Policy, approvals and receipts apply as always."), form.node, el("div.actions", call), answer);
}

export async function toolView({ id }) {
  let tool;
  try {
    tool = await get(at`/api/registry/${id}`);
  } catch (error) {
    return { title: "Tool", node: el("div", heading("Tool"), problem(error)) };
  }
  const node = el("div", heading(el("span", shown(tool.id), " ", risk(tool.risk), " ", state(tool.policy)), { about: shown(tool.description) }),
    el("section.card", facts([["Policy", el("span", state(tool.policy), " ", shown(tool.reason))], ["Aliases", tool.aliases.length ? shown(tool.aliases.join(", ")) : null], ["Version", el("span.mono", shown(tool.version))],
      ["Calls", el("a", { href: `/app/receipts${asked({ tool: tool.id, type: "tool.call." })}` }, "its receipts")]])),
    tryIt(tool),
    el("section.card", el("div.card-head", el("h2", "As a model sees it"), copy(tool.stub)), el("pre.code", shown(tool.stub, { lines: true }))),
    el("section.card", el("h2", "Takes"), json(tool.input_schema)), tool.output_schema ? el("section.card", el("h2", "Answers"), json(tool.output_schema)) : null);
  return { title: tool.id, node };
}
