"use strict";

const find = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const KEYS = { s: "same", d: "different", u: "unsure", k: "skip", b: "back", a: "cluster" };
const JUDGEMENTS = ["same", "different", "unsure"];
let number = null; // of the pair that is shown
let isBusy = false;

// A name of this tab, which stays when it is loaded again.
let reader = sessionStorage.getItem("reader");
if (!reader) {
  reader = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16)).join("");
  sessionStorage.setItem("reader", reader);
}

async function say(what) {
  if (isBusy) return;
  isBusy = true;
  find("question").setAttribute("aria-busy", "true");
  const isAnswer = JUDGEMENTS.includes(what);
  try {
    const reply = await fetch(isAnswer ? "answer" : what, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ reader, number, answer: isAnswer ? what : null }),
    });
    const found = await reply.json();
    if (reply.ok) draw(found);
    else complain(found.error);
  } catch {
    complain("The server does not answer, so nothing was kept since. Start neardup review again, and open its new address.");
  }
  isBusy = false;
  find("question").setAttribute("aria-busy", "false");
}

function complain(problem) {
  find("problem").textContent = problem;
  find("problem").hidden = false;
}

// The HTML is made by the server, which escapes all that comes from a text.
function draw(found) {
  number = found.number;
  find("problem").hidden = true;
  find("bar").innerHTML = found.bar;
  find("answers").hidden = false;
  for (const button of find("answers").children) button.disabled = number === null && button.dataset.say !== "back";
  find("title").textContent = number === null ? "There is nothing left to ask" : "Are these two the same?";
  find("question").innerHTML = found.question;
  // A button keeps the focus, so that it can be pressed again. What changes is read out anyway.
  const held = document.activeElement;
  if (held === document.body || held.disabled) find("question").focus({ preventScroll: true });
  scrollTo(0, 0);
}

document.addEventListener("click", (event) => {
  const what = event.target.closest("[data-say]")?.dataset.say;
  if (what) say(what);
});
document.addEventListener("keydown", (event) => {
  // On a keyboard of other letters, by the place of the key: Ы is where S is.
  const key = /^[a-z]$/i.test(event.key) ? event.key : event.code.replace("Key", "");
  const what = KEYS[key.toLowerCase()];
  if (!what || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (number === null && what !== "back") return;
  event.preventDefault();
  const cluster = document.querySelector("details.cluster");
  if (what !== "cluster" || cluster?.open) say(what);
  else if (cluster) cluster.open = true; // nobody judges what is not seen
});
say("next");
