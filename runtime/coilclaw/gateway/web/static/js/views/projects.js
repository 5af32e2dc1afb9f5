// Projects.

import { el } from "../dom.js";
import { heading } from "../pieces.js";

export async function projectsView() {
  return { title: "Projects", node: el("div", heading("Projects")) };
}

export async function projectView() {
  return { title: "Projects", node: el("div", heading("Projects")) };
}
