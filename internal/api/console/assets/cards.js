// Cards: what waits for a person, one below the other.
import { el } from "./dom.js";
import { left, visible } from "./text.js";

// card shows an approval request; review is called with it.
export function card(question, now, review) {
  const button = el("button", { type: "button", class: "review", textContent: "Review", "data-review": question.id, "aria-describedby": "card-" + question.id });
  button.addEventListener("click", () => review(question));
  return el("li", {},
    el("div", { class: "top" }, el("b", { textContent: visible(question.hook) }), el("span", { class: "muted" }, "asks · ",
      el("span", { class: "left", textContent: rest(question.expires, now()), "data-expires": question.expires }))),
    el("div", { class: "prompt clamp", id: "card-" + question.id, textContent: visible(question.prompt.trim(), true) }),
    el("div", { class: "muted meta", textContent: visible(question.event + " · session " + question.session_id) }),
    question.progress ? el("div", { class: "meta", textContent: visible(question.progress) }) : "",
    button);
}

const rest = (expires, now) => {
  const text = left(Date.parse(expires) - now);
  return text === "over" ? "the time is over" : text + " left";
};

// count counts down on every card.
export function count(now) {
  for (const span of document.querySelectorAll("span[data-expires]")) span.textContent = rest(span.dataset.expires, now);
}
