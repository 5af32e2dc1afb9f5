// The chat beside every view.

import { el } from "./dom.js";

/** Make the rail. `moved(path, made)` tells it which view is shown beside it. */
export function rail() {
  const node = el("aside.rail", { "aria-label": "Chat" }, el("h2", "Chat"));
  return { node, moved: () => {} };
}
