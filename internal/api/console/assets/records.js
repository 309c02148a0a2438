// What is read of the audit log: history and audit are a filter, a list and "Older".
import { $, call, el } from "./dom.js";
import { stamp, visible } from "./text.js";

const hour = 3600e3;

// search joins a form to a list of what the router finds. entry makes the elements of one.
export function search(name, path, member, entry) {
  const form = $(name + "-form"), rows = $(name + "-rows"), more = $(name + "-more"), note = $(name + "-note");
  let last = "", asked = 0, since = "";

  async function show(older) {
    const turn = ++asked, query = new URLSearchParams();
    for (const [field, value] of new FormData(form)) if (value.trim() && field !== "span") query.set(field, value.trim());
    if (older) query.set("until", last);
    else since = new Date(Date.now() - form.elements.span.value * hour).toISOString();
    query.set("since", since);
    note.textContent = "looking";
    try {
      const answer = JSON.parse(await call(path + "?" + query));
      if (turn !== asked) return;
      const list = answer[member].map(entry);
      if (older) rows.append(...list);
      else rows.replaceChildren(...list);
      last = answer[member].at(-1)?.time || last;
      more.hidden = !answer.more;
      $(name + "-empty").hidden = rows.children.length > 0;
      note.textContent = rows.children.length + (answer.more ? " found, and there are older ones" : " found") + (answer.partial ? ", as far as was read in time: search a shorter time" : "");
      if (older) list[0]?.querySelector("a")?.focus();
    } catch (error) {
      if (turn === asked) note.textContent = error.code ? visible(error.message) : "The router can't be reached.";
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(false);
  });
  form.addEventListener("change", (event) => { if (event.target.tagName === "SELECT") show(false); });
  more.addEventListener("click", () => show(true));
  return () => show(false);
}

// when is a time for people, by their own clock.
export const when = (time) => el("time", { dateTime: time, textContent: stamp(time) });

export const verdict = (kind, text) => el("span", { class: "badge", "data-action": kind, textContent: visible(text) });

// line is some texts that exist, with dots between them.
export const line = (...texts) => el("div", { class: "muted meta", textContent: visible(texts.filter(Boolean).join(" · ")) });
