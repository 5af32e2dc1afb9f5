// Python source in coloured pieces that the server computed, with line numbers.

import { el } from "./dom.js";
import { marked } from "./legible.js";

function piece([kind, text]) {
  return el("span", { class: `code-${kind}` }, marked(text, { lines: true }).map((each) =>
    each.mark ? el("span.unseen", { title: each.title }, each.text) : each.text));
}

/** Source as numbered lines; `lines` are those to mark. */
export function codeBlock(rows, lines = []) {
  const wanted = new Set(lines);
  return el("ol.code-lines", rows.map((pieces, number) =>
    el("li", { "data-line": number + 1, class: wanted.has(number + 1) ? "marked" : "", "aria-current": wanted.has(number + 1) ? "true" : null },
      el("span.code-line", pieces.map(piece)))));
}
