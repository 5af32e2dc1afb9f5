// Inbox.

import { el } from "../dom.js";
import { heading } from "../pieces.js";

export async function inboxView() {
  return { title: "Inbox", node: el("div", heading("Inbox")) };
}
