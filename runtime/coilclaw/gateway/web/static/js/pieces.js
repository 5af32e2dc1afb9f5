// Small pieces that every view uses: states, notices, empty lists, tables, copies.

import { el, mount, shown } from "./dom.js";

const TONES = {
  completed: "good", succeeded: "good", answered: "good", granted: "good", consumed: "good", ok: "good", allow: "good", live: "good",
  suspended: "wait", pending: "wait", required: "wait", running: "wait", queued: "wait", ask: "wait", waiting: "wait", orphaned: "wait",
  failed: "bad", denied: "bad", crashed: "bad", timed_out: "bad", out_of_memory: "bad", output_exceeded: "bad", rejected: "bad",
  diverged: "bad", deny: "bad", offline: "bad", expired: "bad", cancelled: "dim", unknown: "wait",
};

/** A state as a small label. It is told by its word; its colour only helps. */
export function state(word) {
  return el("span.state", { class: TONES[word] ?? "dim" }, word.replaceAll("_", " "));
}

/** The risk of a tool. */
export function risk(word) {
  return el("span.risk", { class: word }, word);
}

/** The head of a view: its name, what it is about, and what can be done. */
export function heading(title, { about = null, actions = [] } = {}) {
  return el("header.heading", el("div", el("h1", title), about ? el("p.about", about) : null), el("div.actions", actions));
}

/** What a list shows when there is nothing in it. */
export function empty(title, ...text) {
  return el("div.empty", el("strong", title), el("p", text));
}

/** An error where a view would be, with what to do. */
export function problem(error, retry) {
  return el(
    "div.problem", { role: "alert" },
    el("strong", "This cannot be shown"),
    el("p", shown(error.message)),
    error.hint ? el("p.hint", shown(error.hint)) : null,
    retry ? el("button", { on: { click: retry } }, "Try again") : null,
  );
}

const notices = el("div.notices", { role: "status", "aria-live": "polite" });

/** Say something in the corner for a while; errors stay until they are closed. */
export function notice(text, tone = "good") {
  const close = () => made.remove();
  const made = el("div.notice", { class: tone }, shown(text), el("button.plain", { "aria-label": "Close", on: { click: close } }, "×"));
  notices.append(made);
  if (tone !== "bad") setTimeout(close, 6000);
}

export { notices };

/** A button that works on something: disabled meanwhile, and whatever goes wrong is said. */
export function action(label, work, { kind = "", title } = {}) {
  const button = el("button", { type: "button", class: kind, title, on: { click: run } }, label);
  async function run() {
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (error) {
      notice(error.hint ? `${error.message}: ${error.hint}` : error.message, "bad");
    } finally {
      button.disabled = false;
      button.removeAttribute("aria-busy");
    }
  }
  return button;
}

/** A button that copies a text. */
export function copy(text, label = "Copy") {
  return action(label, async () => {
    await navigator.clipboard.writeText(text);
    notice("Copied");
  }, { kind: "plain small" });
}

/** Data as indented JSON, with every string legible. */
export function json(value) {
  return el("pre.code", shown(JSON.stringify(value, null, 2) ?? "null", { lines: true }));
}

/** Pairs of names and values. */
export function facts(pairs) {
  return el("dl.facts", pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [el("dt", name), el("dd", value)]));
}

/** A view that reads itself again: `load()` gives its node; what it shows stays until the next is there. */
export function refreshing(load) {
  const node = el("div.refreshing", { "aria-busy": "true" }, el("p.dim", "Loading …"));
  let again = false;
  let busy = false;
  let closed = false;
  async function refresh() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      do {
        again = false;
        const made = await load();
        if (!closed && made !== undefined) mount(node, made);
      } while (again && !closed);
    } catch (error) {
      if (!closed) mount(node, problem(error, refresh));
    } finally {
      busy = false;
      node.removeAttribute("aria-busy");
    }
  }
  const ready = refresh();
  return { node, refresh, ready, close: () => { closed = true; } };
}
