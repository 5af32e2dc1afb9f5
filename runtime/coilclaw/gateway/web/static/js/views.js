// Every view by its address.

import { heading } from "./pieces.js";
import { el } from "./dom.js";

const soon = (title) => async () => ({ title, node: el("div", heading(title)) });

export const VIEWS = [
  ["/app/inbox", soon("Inbox")],
  ["/app/runs", soon("Runs")],
  ["/app/receipts", soon("Receipts")],
  ["/app/tools", soon("Tools")],
  ["/app/projects", soon("Projects")],
  ["/app/status", soon("Status")],
];
