// Receipts.

import { el } from "../dom.js";
import { heading } from "../pieces.js";

export async function receiptsView() {
  return { title: "Receipts", node: el("div", heading("Receipts")) };
}

export async function receiptView() {
  return { title: "Receipts", node: el("div", heading("Receipts")) };
}
