// Runs.

import { el } from "../dom.js";
import { heading } from "../pieces.js";

export async function runsView() {
  return { title: "Runs", node: el("div", heading("Runs")) };
}

export async function runView() {
  return { title: "Runs", node: el("div", heading("Runs")) };
}
