// A tool file that was written through the bridge: its difference from what is in force, and trust in exactly that.

import { get, post } from "../api.js";
import { rowBlock } from "../diff.js";
import { el, mount, shown } from "../dom.js";
import { clock } from "../format.js";
import { notice } from "../pieces.js";
import { reading } from "./reading.js";

/** Make the card of a quarantined file: `{node, update(items), close, unsettle}`. */
export function quarantineCard(item) {
  const { path } = item;
  let displayed = null;
  let isWaiting = true;
  let working = false;
  const alert = el("div.card-alert", { role: "status" });
  const warning = el("p.bad");
  const about = el("div.why");
  const request = el("div.request-content");
  const hint = el("p.gate.dim");
  const trust = el("button.primary.trust", { type: "button", disabled: true, on: { click: trusted } }, "Trust this content");
  const foot = el("div.card-foot", el("div.actions", trust), hint);
  const node = el("article.card.quarantine", { tabindex: "0", "data-path": path, "aria-label": `${path} is quarantined` },
    el("header.card-head", el("h3", el("code", shown(path))), el("span.state.wait", "quarantined")),
    alert, warning, el("div.request", { tabindex: "0", role: "region", "aria-label": "What would come into force" }, request), about, foot);
  const gate = reading(request, refresh);

  function refresh() {
    trust.disabled = !isWaiting || working || !gate.isReady();
    mount(hint, gate.isWhole() ? "Trusted is exactly the content with this hash. Any later change is quarantined again." : "Trust works once all of the difference has been on screen: scroll to its end.");
  }

  function say(text) {
    mount(alert, el("p.bad", shown(text)));
  }

  function show(found) {
    displayed = found;
    mount(request, found.difference.length ? rowBlock(found.difference) : el("p.dim", "Its content is what is in force."));
    mount(warning, found.warning ? shown(found.warning) : null);
    mount(about, el("p", el("span.dim", "Why: "), shown(found.reason)), el("p", el("span.dim", "Hash: "), el("code", shown(found.hash))));
    gate.restart();
    refresh();
  }

  function end(text) {
    const hadFocus = foot.contains(document.activeElement);
    isWaiting = false;
    node.classList.add("over");
    mount(foot, el("p.outcome", { class: "good" }, text, " · ", clock(Date.now())));
    if (hadFocus) node.focus({ preventScroll: true });
  }

  async function trusted() {
    if (!isWaiting || working || !gate.isReady()) return;
    working = true;
    refresh();
    try {
      await post("/api/quarantine/trust", { path, hash: displayed.hash });
      end("Trusted in this window");
    } catch (error) {
      if (error.status === 409 || error.status === 404) {
        say(`Not trusted: ${error.message}. This is what it has become.`);
        const held = (await get("/api/quarantine")).files.find((each) => each.path === path);
        if (held) show(held);
        else end("No longer quarantined");
      } else notice(error.hint ? `${error.message}: ${error.hint}` : error.message, "bad");
    } finally {
      working = false;
      if (isWaiting) refresh();
    }
  }

  function update([next]) {
    if (!next) {
      if (isWaiting && !working) end("No longer quarantined: trusted, changed or removed elsewhere");
    } else if (isWaiting && next.hash !== displayed.hash) {
      say("It has changed. This is what it has become.");
      show(next);
    }
  }

  show(item);
  return { node, update, close: () => gate.close(), unsettle: () => gate.unsettle(), isOver: () => !isWaiting };
}
