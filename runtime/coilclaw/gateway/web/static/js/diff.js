// Rows that the server computed: arguments, and differences between texts. Every row wraps; none can pass for two.

import { el } from "./dom.js";
import { marked } from "./legible.js";

const KINDS = { green: "added", red: "removed", cyan: "hunk" };
const DEEPEST = 24;
// What the server writes in place of something that nobody would see.
const WRITTEN_OUT = /(⟦[^⟧]*⟧|⇥|\\u[0-9a-f]{4})/;

/** A line that the server made legible, with what it wrote out shown as marks. */
export function legibleLine(text) {
  const node = el("span.text", { dir: "auto" });
  for (const [number, part] of text.split(WRITTEN_OUT).entries()) {
    if (number % 2) node.append(el("span.unseen", { title: "written out: it could not be seen" }, part.replace(/[⟦⟧]/g, "")));
    else for (const piece of marked(part, { lines: true })) node.append(piece.mark ? el("span.unseen", { title: piece.title }, piece.text) : piece.text);
  }
  return node;
}

function row({ lead, text, colour }) {
  const sign = lead.trimStart();
  const made = el("div.row", { class: KINDS[colour] ?? (text ? "" : "label") }, sign ? el("span.lead", sign) : null, text ? legibleLine(text) : null);
  // Deep nesting must not leave a text without any width.
  made.style.paddingInlineStart = `${Math.min(lead.length - sign.length, DEEPEST)}ch`;
  return made;
}

/** Rows as one block. */
export function rowBlock(rows) {
  return el("div.rows-block", rows.map(row));
}
