// The turns of one conversation with its composer. It follows what is new only while its end is on screen.

import { el, mount, shown } from "../dom.js";
import { action, problem } from "../pieces.js";
import { follow } from "./conversation.js";
import { answerTurn, liveTurn, personTurn } from "./turns.js";
import { pendingCall } from "./pending_call.js";

const NEAR_PX = 48;
const draftOf = (id) => `coilclaw.draft.${id}`;

/** Show a conversation. `view()` says what the person looks at. */
export function thread(id, { view, changed = () => {} }) {
  const list = el("div.turns");
  const more = el("div.more");
  const scroller = el("div.scroller", { tabindex: "0", role: "log", "aria-label": "Messages", "aria-live": "off" }, more, list);
  const jump = el("button.jump", { type: "button", hidden: true, on: { click: toEnd } }, "New messages ↓");
  const trouble = el("div.trouble", { role: "alert" });
  const input = el("textarea", { rows: 3, "aria-label": "Message", placeholder: "Write a message", maxlength: 100_000 });
  const send = el("button.primary", { type: "submit" }, "Send");
  const form = el("form.composer", { on: { submit: (event) => { event.preventDefault(); submit(); } } }, input, send);
  const node = el("div.thread", scroller, jump, trouble, form);
  const drawn = new Map();
  let live = null;
  let isAtEnd = true;
  let newest = null;

  input.value = sessionStorage.getItem(draftOf(id)) ?? "";
  input.addEventListener("input", () => sessionStorage.setItem(draftOf(id), input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });
  scroller.addEventListener("scroll", () => {
    isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
    if (isAtEnd) jump.hidden = true;
  });
  const grown = new ResizeObserver(() => { if (isAtEnd) scroller.scrollTop = scroller.scrollHeight; });
  grown.observe(list);
  grown.observe(scroller);

  const conversation = follow(id, draw);
  const { talk } = conversation;
  const stop = action("Stop", conversation.stop, { kind: "danger small" });
  const retry = action("Try again", conversation.retry, { kind: "small" });
  const discard = action("Discard", conversation.stop, { kind: "plain small", title: "End this exchange without an answer" });
  const earlier = action("Earlier messages", async () => {
    const height = scroller.scrollHeight - scroller.scrollTop;
    await conversation.loadEarlier();
    scroller.scrollTop = scroller.scrollHeight - height;
  }, { kind: "plain small" });

  function toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    isAtEnd = true;
    jump.hidden = true;
    input.focus();
  }

  function emptied() {
    input.value = "";
    sessionStorage.removeItem(draftOf(id));
    mount(trouble);
  }

  async function submit() {
    const text = input.value;
    if (!text.trim() || send.disabled) return;
    send.disabled = true;
    try {
      await conversation.send(text, view(), emptied);
      emptied();
      isAtEnd = true;
    } catch (error) {
      // The text stays where it is.
      mount(trouble, el("p", shown(`Not sent: ${error.message}`)), error.hint ? el("p.hint", shown(error.hint)) : null,
        el("button.small", { type: "button", on: { click: submit } }, "Send again"));
    } finally {
      refuse();
    }
  }

  function refuse() {
    send.disabled = talk.facts === null || talk.answer !== null;
  }

  function draw() {
    if (talk.problem && talk.facts === null) return mount(list, problem(talk.problem, conversation.load));
    if (list.querySelector(":scope > .problem")) mount(list);
    mount(more, talk.earlier ? earlier : null);
    let place = list.firstChild;
    const kept = new Set();
    for (const message of talk.messages) {
      kept.add(message.id);
      let turn = drawn.get(message.id);
      if (!turn) {
        turn = message.role === "user" ? personTurn(message) : answerTurn(message);
        drawn.set(message.id, turn);
      }
      if (turn === place) place = place.nextSibling;
      else list.insertBefore(turn, place);
    }
    for (const [message, turn] of drawn) {
      if (kept.has(message)) continue;
      turn.remove();
      drawn.delete(message);
    }
    drawAnswer();
    if (!talk.messages.length) {
      if (!list.querySelector(".greeting")) list.append(el("p.greeting", "Ask for something. Every call that is made for it stands here with its receipt, and calls that need approval wait for you."));
    } else list.querySelector(".greeting")?.remove();
    const latest = `${talk.messages.length} ${talk.answer?.next ?? "-"}`;
    if (newest !== null && latest !== newest && !isAtEnd) jump.hidden = false;
    newest = latest;
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    scroller.setAttribute("aria-busy", String(talk.answer?.state === "working"));
    refuse();
    changed(talk);
    return undefined;
  }

  function drawAnswer() {
    if (talk.answer === null) {
      live?.close();
      live?.node.remove();
      live = null;
      return;
    }
    live ??= liveTurn({ approval: pendingCall, retry, stop, discard });
    if (list.lastChild !== live.node) list.append(live.node);
    live.update(talk.answer);
  }

  refuse();
  return {
    node, talk, ready: conversation.ready, focus: () => input.focus(),
    close: () => { conversation.close(); live?.close(); grown.disconnect(); },
  };
}
