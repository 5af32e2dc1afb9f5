// The frame around every view: navigation on the left, the view, and the chat on the right.

import { el, mount, shown } from "./dom.js";
import { stopBanner } from "./estop.js";
import { notices } from "./pieces.js";
import { rail } from "./rail.js";
import { signOut } from "./session.js";
import { watchConnection } from "./stream.js";
import { watchWaiting } from "./waiting.js";

const PLACES = [
  ["projects", "Projects", "M4 7h6l2 2h8v10H4z"],
  ["inbox", "Inbox", "M4 13l3-8h10l3 8v6H4zM4 13h5l1 2h4l1-2h5"],
  ["runs", "Runs", "M8 5l11 7-11 7z"],
  ["receipts", "Receipts", "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6"],
  ["tools", "Tools", "M14 6a4 4 0 0 0-5 5l-6 6 3 3 6-6a4 4 0 0 0 5-5l-3 3-3-3z"],
  ["status", "Status", "M3 12h4l3-7 4 14 3-7h4"],
];
const THEMES = ["auto", "dark", "light"];
const THEME = "coilclaw.theme";

function applyTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

applyTheme(localStorage.getItem(THEME) ?? "auto");

function themeButton() {
  const button = el("button.plain", { type: "button", on: { click: next } });
  function label() {
    mount(button, `Theme: ${localStorage.getItem(THEME) ?? "auto"}`);
  }
  function next() {
    const theme = THEMES[(THEMES.indexOf(localStorage.getItem(THEME) ?? "auto") + 1) % THEMES.length];
    localStorage.setItem(THEME, theme);
    applyTheme(theme);
    label();
  }
  label();
  return button;
}

/** Make the frame. `view` is where views are shown; `moved(path, made)` is to be called for each. */
export function frame(session) {
  const view = el("main.view", { id: "view", tabindex: "-1" });
  const count = el("span.count", { hidden: true });
  const links = PLACES.map(([name, label, path]) =>
    el("a.place", { href: `/app/${name}`, "data-place": name },
      el("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, el("path", { d: path, fill: "none", stroke: "currentColor" })),
      el("span", label), name === "inbox" ? count : null),
  );
  const connection = el("p.connection", { role: "status" });
  watchConnection((how) => {
    connection.className = `connection ${how}`;
    mount(connection, { live: "Live", connecting: "Connecting …", offline: "Offline: trying to reconnect" }[how]);
  });
  watchWaiting((number) => {
    count.hidden = number === 0;
    mount(count, String(number), el("span.unseen-label", " waiting"));
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (number) document.title = `(${number}) ${document.title}`;
  });
  const chat = rail();
  const navigation = el("nav.places", { "aria-label": "Main" },
    el("a.brand", { href: "/app/inbox" }, el("img", { src: "/static/icon.svg", alt: "", width: 24, height: 24 }), el("span", "CoilClaw")),
    links,
    chat.opener,
    el("div.foot", connection, el("p.who", "Signed in as ", shown(session.name)), themeButton(),
      el("button.plain", { type: "button", on: { click: signOut } }, "Sign out")),
  );
  const skip = el("a.skip", { href: "#view", on: { click: (event) => { event.preventDefault(); view.focus(); } } }, "Skip to the view");
  const node = el("div.frame", skip, navigation, el("div.middle", stopBanner(), view), chat.node, notices);
  function moved(path, made) {
    for (const link of links) {
      const here = path === `/app/${link.dataset.place}` || path.startsWith(`/app/${link.dataset.place}/`);
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const waiting = /^\(\d+\) /.exec(document.title)?.[0] ?? "";
    document.title = `${waiting}${made.title} · CoilClaw`;
    chat.moved(path, made);
    view.scrollTop = 0;
  }
  return { node, view, moved };
}
