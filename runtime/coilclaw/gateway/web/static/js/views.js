// Every view by its address.

import { inboxView } from "./views/inbox.js";
import { runsView, runView } from "./views/runs.js";
import { receiptsView, receiptView } from "./views/receipts.js";
import { toolsView, toolView } from "./views/tools.js";
import { projectsView, projectView } from "./views/projects.js";
import { statusView } from "./views/status.js";

export const VIEWS = [
  ["/app/inbox", inboxView],
  ["/app/runs", runsView],
  ["/app/runs/:id", runView],
  ["/app/receipts", receiptsView],
  ["/app/receipts/:id", receiptView],
  ["/app/tools", toolsView],
  ["/app/tools/:id", toolView],
  ["/app/projects", projectsView],
  ["/app/projects/:id", projectView],
  ["/app/status", statusView],
];
