// What came of a run: its value, what it printed and displayed, its error and its warnings. Pictures come from a route of their own.

import { at } from "./api.js";
import { el, shown } from "./dom.js";
import { copy, json } from "./pieces.js";

const MOST_TEXT = 50_000;

function text(title, body) {
  if (!body) return null;
  const cut = body.length > MOST_TEXT;
  return el("section.card", el("div.card-head", el("h2", title), copy(body)), el("pre.code", shown(cut ? body.slice(0, MOST_TEXT) : body, { lines: true })),
    cut ? el("p.dim", `The first ${MOST_TEXT.toLocaleString("en")} of ${body.length.toLocaleString("en")} characters; Copy has all of them.`) : null);
}

function table({ columns, rows, total }) {
  return el("div.scrolled", el("table.rows", el("thead", el("tr", columns.map((each) => el("th", shown(each))))),
    el("tbody", rows.slice(0, 200).map((row) => el("tr", row.map((cell) => el("td", shown(typeof cell === "string" ? cell : JSON.stringify(cell)))))))),
  rows.length > 200 || total ? el("p.dim", `${Math.min(rows.length, 200)} of ${total ?? rows.length} rows`) : null);
}

function displayed(run, { mime, data }, number) {
  if (mime === "image/png" || mime === "image/svg+xml") return el("img.displayed", { src: at`/api/runs/${run.run_id}/outputs/${number}`, alt: `Picture ${number + 1} of the run`, loading: "lazy" });
  if (mime === "application/vnd.coilclaw.table+json") return table(data);
  if (mime === "application/json") return json(data);
  return el("pre.code", shown(String(data).slice(0, MOST_TEXT), { lines: true }));
}

/** Everything that a run gave back. */
export function outputs(run) {
  const value = run.value === null || run.value === undefined ? null : JSON.stringify(run.value, null, 2);
  return [
    run.error ? el("section.problem", { role: "alert" }, el("strong", shown(run.error.type)), el("p", shown(run.error.message)), run.error.line ? el("p", `Line ${run.error.line}`) : null,
      run.error.hint ? el("p.hint", shown(run.error.hint)) : null, run.error.traceback ? el("pre.code", shown(run.error.traceback, { lines: true })) : null) : null,
    run.warnings.length ? el("section.card", el("h2", "Warnings"), el("ul", run.warnings.map((each) => el("li", each.line ? `line ${each.line}: ` : "", shown(each.message))))) : null,
    text("Value", value),
    text("Output", run.stdout),
    text("Errors printed", run.stderr),
    run.outputs.length ? el("section.card", el("h2", "Displayed"), run.outputs.map((each, number) => displayed(run, each, number))) : null,
  ];
}
