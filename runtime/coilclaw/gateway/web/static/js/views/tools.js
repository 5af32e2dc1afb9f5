// Tools.

import { el } from "../dom.js";
import { heading } from "../pieces.js";

export async function toolsView() {
  return { title: "Tools", node: el("div", heading("Tools")) };
}

export async function toolView() {
  return { title: "Tools", node: el("div", heading("Tools")) };
}
