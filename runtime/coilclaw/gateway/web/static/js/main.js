// Begins the app: finds the session, puts up the frame, and shows the view of the address.

import { el, mount, shown } from "./dom.js";
import { frame } from "./frame.js";
import { beginIcon } from "./icon.js";
import { beginNotifications } from "./notifications.js";
import { problem } from "./pieces.js";
import { route, start } from "./router.js";
import { findSession, onSignedOut } from "./session.js";
import { begin, end } from "./stream.js";
import { VIEWS } from "./views.js";
import { beginWaiting } from "./waiting.js";

const app = document.getElementById("app");

function signedOutPage(reason) {
  return el("main.signed-out",
    el("img", { src: "/static/icon.svg", alt: "", width: 56, height: 56 }),
    el("h1", "CoilClaw"),
    reason ? el("p.problem", { role: "alert" }, shown(reason)) : null,
    el("p", "This page opens with a one-time link, which the server prints when it starts. For a new one, run"),
    el("pre.code", "coilclaw serve link"),
    el("p.dim", "The link works once and for a few minutes; the session it begins stays in this browser."),
  );
}

async function begun() {
  let session;
  try {
    session = await findSession();
  } catch (error) {
    if (error.status === 0) return mount(app, el("main.signed-out", problem(error, begun)));
    return mount(app, signedOutPage(error.message));
  }
  if (session === null) return mount(app, signedOutPage(null));
  onSignedOut(() => {
    end();
    mount(app, signedOutPage("The session has ended."));
  });
  const made = frame(session);
  mount(app, made.node);
  begin();
  beginWaiting();
  beginIcon();
  beginNotifications();
  for (const [path, view] of VIEWS) route(path, view);
  return start(made.view, made.moved);
}

begun();
