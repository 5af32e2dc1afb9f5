// Notifications, for whoever wants them. They say that something waits, never what it would do, and only open the Inbox.

import { el, mount } from "./dom.js";
import { counted } from "./format.js";
import { notice } from "./pieces.js";
import { go } from "./router.js";
import { watchWaiting } from "./waiting.js";

const WANTED = "coilclaw.notify";
const KINDS = { approval: "a call needs approval", quarantine: "a tool file is quarantined", unknown: "the outcome of a call is unknown" };

const isOn = () => localStorage.getItem(WANTED) === "yes" && globalThis.Notification?.permission === "granted";

/** Begin to notify of what comes from now on. */
export function beginNotifications() {
  let known = null;
  watchWaiting((number, items) => {
    const keys = new Set(items.map(({ kind, id }) => `${kind} ${id}`));
    const fresh = known === null ? [] : items.filter(({ kind, id }) => !known.has(`${kind} ${id}`));
    known = keys;
    if (!fresh.length || !isOn() || (document.visibilityState === "visible" && document.hasFocus())) return;
    // One for all windows: those of the same tag replace each other. There are no buttons in it.
    const made = new Notification(`${counted(number, "thing")} ${number === 1 ? "waits" : "wait"} for you`, { body: KINDS[fresh[0].kind] ?? "something needs a decision", tag: "coilclaw.waiting" });
    made.addEventListener("click", () => {
      globalThis.focus();
      go("/app/inbox");
      made.close();
    });
  });
}

/** The switch for them; nothing where the browser has none. */
export function notificationSwitch() {
  if (!globalThis.Notification) return null;
  const button = el("button.plain", { type: "button", "aria-pressed": "false", on: { click: change } });
  function say() {
    button.setAttribute("aria-pressed", String(isOn()));
    mount(button, isOn() ? "Notifications: on" : "Notifications: off");
  }
  async function change() {
    if (isOn()) localStorage.removeItem(WANTED);
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(WANTED, "yes");
    else notice("The browser does not allow notifications from this page.", "bad");
    say();
  }
  say();
  return button;
}
