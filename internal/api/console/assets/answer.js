// The page that a link leads to: one approval request and one answer. The link's token is
// in the fragment, which is sent to no server but in the header below.
import { $, early } from "./dom.js";
import { edits, rest, subject } from "./judge.js";
import { left, sender, visible } from "./text.js";

const token = location.hash.slice(1);
let shown = 0;

async function ask(method) {
  const response = await fetch("/v1/link", { method, headers: { authorization: "Bearer " + token } });
  const text = await response.text();
  let body = {};
  try { body = JSON.parse(text); } catch { /* a proxy's page */ }
  if (!response.ok) throw new Error(body.error || response.statusText || "The router answered " + response.status + ".");
  return body;
}

function outcome(text, kind = "") {
  $("outcome").textContent = text;
  $("outcome").dataset.kind = kind;
  $("outcome").hidden = false;
}

const verdict = (d) => (d.granted ? "Allowed" : "Denied") + (d.timed_out ? ": nobody answered in time." : " by " + visible(d.claimed_by || d.decided_by) + (d.option ? ": " + visible(d.option) : "."));

function show({ approval, agent, emitter, option, view, decision }) {
  $("about").textContent = "An agent waits: " + visible(sender(emitter, agent)) + ". Hook " + visible(approval.hook) + ", " + visible(approval.event) + ", session " + visible(approval.session_id);
  $("prompt").textContent = visible(approval.prompt, true);
  $("subject").replaceChildren(...subject(view));
  $("edits").replaceChildren(...edits(view.edits), ...edits(view.changed));
  $("edits").hidden = $("edits").children.length === 0;
  $("rest").replaceChildren(...(view.rest.length ? [rest(view.rest)] : []));
  if (decision) {
    outcome(verdict(decision), decision.granted ? "allowed" : "denied");
    return;
  }
  const grants = ["allow", "allow once", "allow always"].includes(option.toLowerCase());
  $("submit").textContent = visible(option);
  $("submit").toggleAttribute("data-grants", grants);
  $("left").textContent = "Without an answer it is " + (approval.default === "allow" ? "allowed" : "denied") + " in " + left(Math.max(Date.parse(approval.expires) - Date.now(), 0)) + ".";
  $("confirm").hidden = false;
  shown = performance.now();
}

$("confirm").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (early(event, shown)) {
    outcome("Not answered: that came too soon after this appeared. Answer again.");
    return;
  }
  $("submit").disabled = true;
  try {
    const { option } = await ask("POST");
    $("confirm").hidden = true;
    outcome("Answered: " + visible(option), $("submit").hasAttribute("data-grants") ? "allowed" : "denied");
  } catch (error) {
    outcome(visible(error.message));
    $("submit").disabled = false;
  }
});

try {
  show(await ask("GET"));
} catch (error) {
  $("about").textContent = "";
  outcome(visible(error.message));
}
addEventListener("hashchange", () => location.reload());
