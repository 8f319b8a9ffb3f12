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
  find("question").innerHTML = found.question || "<p class='note'>There is nothing left to ask. The answers are kept; close this page, and stop the command with Ctrl-C.</p>";
  find("question").focus({ preventScroll: true });
  scrollTo(0, 0);
}

document.addEventListener("click", (event) => {
  const what = event.target.closest("[data-say]")?.dataset.say;
  if (what) say(what);
});
document.addEventListener("keydown", (event) => {
  const what = KEYS[event.key.toLowerCase()];
  if (!what || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (number === null && what !== "back") return;
  if (what === "cluster" && !document.querySelector("[data-say=cluster]")) return;
  event.preventDefault();
  say(what);
});
say("next");
