// Status.

import { el } from "../dom.js";
import { heading } from "../pieces.js";

export async function statusView() {
  return { title: "Status", node: el("div", heading("Status")) };
}
