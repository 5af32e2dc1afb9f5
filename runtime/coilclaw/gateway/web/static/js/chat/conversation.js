// One conversation as this window knows it: its messages, and the answer that is being made. It draws nothing.

import { at, get, headers, post, Problem, query } from "../api.js";
import { listen } from "../stream.js";

const PAGE = 50;

/** An answer in the making: `state` is `working`, `waiting`, `failed`, or `unanswered` when nobody works on it. */
function answerTo(message, state = "working") {
  return { message, next: 0, calls: new Map(), text: "", state, error: null };
}

/** Follow a conversation. `changed()` is called after every change; `close()` ends it. */
export function follow(id, changed) {
  const talk = { id, facts: null, messages: [], earlier: null, answer: null, problem: null, unsure: null };
  let loading = null;
  let again = false;
  let closed = false;
  let held = [];

  function known(message) {
    return talk.messages.some((each) => each.id === message);
  }

  /** Read it from the server. Events that arrive meanwhile are held, and those that it knows already are dropped by their number. */
  function load() {
    if (loading) {
      again = true;
      return loading;
    }
    loading = (async () => {
      try {
        do {
          again = false;
          take(await get(at`/api/conversations/${id}` + query({ limit: PAGE })));
        } while (again);
        talk.problem = null;
      } catch (error) {
        talk.problem = error;
      }
      loading = null;
      const waiting = held;
      held = [];
      for (const event of waiting) hear(event);
      if (!closed) changed();
    })();
    return loading;
  }

  function take(facts) {
    const first = facts.messages[0]?.id;
    const place = talk.messages.findIndex((each) => each.id === first);
    const before = place > 0 ? talk.messages.slice(0, place) : [];
    talk.messages = [...before, ...facts.messages];
    if (!before.length) talk.earlier = facts.earlier;
    talk.facts = facts;
    if (talk.unsure && talk.messages.some((each) => each.role === "user" && each.content === talk.unsure.text && !talk.unsure.known.has(each.id))) {
      talk.unsure.arrived();
      talk.unsure = null;
    }
    const last = talk.messages[talk.messages.length - 1];
    if (last?.role !== "user") talk.answer = null;
    else if (facts.answering?.message_id === last.id) {
      talk.answer = answerTo(last.id);
      for (const { event, data } of facts.answering.events) step(event, data);
    } else if (talk.answer?.message !== last.id || talk.answer.state !== "failed") talk.answer = answerTo(last.id, "unanswered");
  }

  function step(name, data) {
    const answer = talk.answer;
    answer.next += 1;
    if (name === "delta") answer.text += data.text;
    else if (name === "tool") {
      answer.calls.set(data.call_id ?? `call ${answer.calls.size}`, data);
      answer.state = [...answer.calls.values()].some((each) => each.status === "pending" && each.approval_id) ? "waiting" : "working";
    } else if (name === "error") {
      answer.state = "failed";
      answer.error = data;
    } else if (name === "done") answer.state = "done";
  }

  function hear({ name, data }) {
    if (name === "reconnected" || name === "missed") return void load();
    if (!name.startsWith("chat.") || data.conversation_id !== id) return undefined;
    if (loading) return void held.push({ name, data });
    if (name === "chat.message") {
      if (known(data.message.id)) return undefined;
      talk.messages.push(data.message);
      talk.answer = answerTo(data.message.id);
      return changed();
    }
    if (name === "chat.notice") return void load();
    if (!known(data.message_id)) return void load();
    const last = talk.messages[talk.messages.length - 1];
    if (last.id !== data.message_id) return undefined; // Of an answer that is here already.
    if (data.number === 0) talk.answer = answerTo(data.message_id);
    if (talk.answer?.message !== data.message_id || data.number > talk.answer.next) return void load();
    if (data.number < talk.answer.next) return undefined;
    step(name.slice(5), data);
    // What is kept has the evidence too.
    if (name === "chat.done") return void load();
    return changed();
  }

  const unlisten = listen(hear);

  /** Send a message and begin with its answer. `arrived()` is called if only a later look shows that the server has it. */
  async function send(text, view, arrived) {
    try {
      const { id: message } = await post(at`/api/conversations/${id}/messages`, { content: text, start: true, ...(view ? { view } : {}) });
      talk.unsure = null;
      if (!known(message)) {
        talk.messages.push({ id: message, role: "user", content: text, created_at: new Date().toISOString(), metadata: {} });
        talk.answer = answerTo(message);
        changed();
      }
    } catch (error) {
      if (error instanceof Problem && error.status === 0) talk.unsure = { text, known: new Set(talk.messages.map((each) => each.id)), arrived };
      throw error;
    }
  }

  /** Answer the last message again, or at last. The events come over the stream of all. */
  async function retry() {
    const path = at`/api/conversations/${id}/stream` + query({ messageId: talk.answer.message });
    let response;
    try {
      response = await fetch(path, { headers: headers({ Accept: "text/event-stream" }), credentials: "same-origin", cache: "no-store" });
    } catch {
      throw new Problem(0);
    }
    if (!response.ok) throw new Problem(response.status, (await response.json()).error);
    await response.body.cancel(); // Whoever disconnects stops nothing.
    await load();
  }

  async function stop() {
    await post(at`/api/conversations/${id}/cancel`);
    await load();
  }

  async function loadEarlier() {
    const facts = await get(at`/api/conversations/${id}` + query({ limit: PAGE, before: talk.earlier }));
    talk.messages = [...facts.messages, ...talk.messages];
    talk.earlier = facts.earlier;
    changed();
  }

  const ready = load();
  return { talk, ready, load, send, retry, stop, loadEarlier, close: () => { closed = true; unlisten(); } };
}
