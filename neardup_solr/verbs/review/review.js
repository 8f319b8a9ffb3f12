"use strict";

const token = location.hash.slice(1);
const KEYS = { s: "same", d: "different", u: "unsure", k: "skip", b: "back", a: "all" };
const JUDGEMENTS = ["same", "different", "unsure"];
const LOOK = 4000; // milliseconds until the page looks what others have answered
const ENDED = "The review has ended or cannot be reached. All earlier answers are saved; new answers are not. To continue, start neardup review again and open its new address.";
const PAUSE = 600; // in which keys do nothing after a pair has changed by itself
let shown = { number: null }; // the pair, and what is known of it
let answered = null; // how many answers the page showed last
let isBusy = false;
let turn = 0; // of what was asked for
let changed = -PAUSE;

// Names of this browser and of this tab, which stay when the page is loaded again.
function makeName(storage, name) {
  const made = [...crypto.getRandomValues(new Uint8Array(10))].map((byte) => byte.toString(16)).join("");
  try {
    storage().setItem(name, storage().getItem(name) ?? made);
    return storage().getItem(name);
  } catch { // a browser that stores nothing
    return made;
  }
}
const reader = `${makeName(() => localStorage, "browser")}/${makeName(() => sessionStorage, "tab")}`;

async function ask(action, answer) {
  const reply = await fetch(action, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ reader, number: shown.number, answer }),
  });
  const result = await reply.json();
  if (!reply.ok) complain(result.error);
  return reply.ok ? result : null;
}

async function say(what) {
  if (isBusy) return;
  isBusy = true;
  turn += 1;
  find("question").setAttribute("aria-busy", "true");
  try {
    const result = await (JUDGEMENTS.includes(what) ? ask("answer", what) : ask(what, null));
    if (result) draw(result, what);
  } catch {
    complain(ENDED);
  }
  isBusy = false;
  find("question").setAttribute("aria-busy", "false");
}

// See what others have answered. A key that is pressed meanwhile goes first.
async function look() {
  if (isBusy || document.visibilityState !== "visible" || find("sure").open) return;
  const begun = turn;
  try {
    const result = await ask("look", null);
    if (result && turn === begun) draw(result, "look");
  } catch {
    if (turn === begun) complain(ENDED);
  }
}

function complain(problem) {
  find("problem").textContent = problem;
  find("problem").hidden = false;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function percent(share) {
  const whole = Math.round(100 * share);
  if (whole === 100 && share < 1) return "over 99 %";
  return whole === 0 && share > 0 ? "under 1 %" : `${whole} %`;
}

// What the last key did, if it is not plain to see.
function describe(did, pair, before) {
  if (did.did === "skip") return pair.number === before ? "Skipped, but this is the last pair." : "Skipped: nothing was saved. The pair is shown again after all others.";
  if (did.did === "cluster") return `Saved: ${count(did.answers, "answer")} “same”. Back undoes all of them.`;
  if (did.did === "nothing") return `Someone else has already answered “${did.stands}” for this pair, so your answer was not saved.`;
  if (did.did !== "back") return "";
  if (did.answers === undefined) return "Nothing more to undo in this review. To change an earlier answer, use the command neardup answer.";
  if (did.answers === 0) return "Back to the pair that you skipped.";
  const what = did.answers === 1 ? "your answer is" : `your ${did.answers} answers are`;
  return `Undone: ${what} no longer saved.${did.stands ? ` Without it, the answer for the pair is “${did.stands}”.` : ""}`;
}

// Which columns speak for the same and which against it, by their bits, or by the words that differ.
function weigh(rows) {
  const columns = rows.filter(([values]) => values && rows.length > 1);
  const isMissing = ([values]) => values.some((value) => !value);
  const says = ([, , steps = [], , , bits = null]) => bits ?? (steps.length ? -1 : 1);
  const list = (chosen) => chosen.map(([, field, , , level]) => (level ? `${field} (${level})` : field)).join(", ");
  const present = columns.filter((row) => !isMissing(row));
  const [yes, no] = [present.filter((row) => says(row) > 0), present.filter((row) => says(row) < 0)];
  yes.sort((row, other) => says(other) - says(row));
  no.sort((row, other) => says(row) - says(other));
  const missing = columns.filter(isMissing).map(([, field]) => field);
  return [
    yes.length ? `Evidence for “same”: ${list(yes)}.` : "",
    no.length ? `Evidence for “different”: ${list(no)}.` : "",
    missing.length ? `Missing, so not counted: ${missing.join(", ")}.` : "",
  ].filter(Boolean);
}

// How alike the two are, and what speaks for it and against it.
function explain(pair) {
  const likely = percent(pair.similarity);
  const is = pair.similarity >= pair.threshold - 1e-6 ? "same" : "different";
  const words = pair.distance === null ? "" : ` (${count(pair.distance, "word")} ${pair.distance === 1 ? "differs" : "differ"})`;
  const lines = pair.measure === "fields"
    ? [`The program guesses that they are ${is === "same" ? "the same" : "two different things"}: judging by their columns, the chance that they are the same is ${likely}.`]
    : [`The two are ${likely} similar${words}. From ${percent(pair.threshold)}, the program treats two records as the same.`];
  lines.push(...weigh(pair.question.rows ?? []));
  if (pair.cluster > 2) lines.push(`It put both into a group of ${pair.cluster.toLocaleString("en")} records.`);
  return lines.join(" ");
}

function paragraph(kind, text) {
  const made = document.createElement("p");
  made.className = kind;
  made.textContent = text;
  return made;
}

// Say what a key did above the question.
function tell(text) {
  document.querySelector(".did")?.remove();
  find("question").prepend(paragraph("note did", text));
}

// What is said after each thirty answers, and when nothing is left.
function conclude(result, total, isEnd) {
  const { left } = result.tally;
  const advice = result.advice.replace(/`(\w+)`/g, (_, name) => `--${name.replace("_", "-")}`);
  const lines = [`${count(total, "answer")} saved: ${result.bar}.`];
  if (advice) lines.push(`${advice}.`);
  if (!isEnd) lines.push(advice ? "You can also continue with the next pair." : "You can stop here: close this page and press Ctrl-C in the terminal of the review. Each further answer improves the result.");
  else if (left) lines.push("Other people are looking at the remaining pairs. If they skip a pair, it appears here.");
  else lines.push("All pairs are answered. Close this page and press Ctrl-C in the terminal of the review.");
  return paragraph("note round", lines.join(" "));
}

function drawQuestion({ ids, rows, members }) {
  const id = (text) => make("bdi", { class: "id" }, ...plain(text));
  const drawn = [fieldTable(ids.map(id), rows)];
  if (members.length) {
    const all = button("All are the same … ", () => {});
    all.dataset.say = "cluster";
    all.append(make("kbd", { "aria-hidden": "true" }, "A"));
    const list = members.map(([name, text]) => make("li", {}, id(name), " ", make("bdi", {}, ...visible(text, IN_TEXTS))));
    drawn.push(make("details", { class: "cluster" }, make("summary", {}, `All ${members.length} records in the group`), make("ul", {}, ...list), all));
  }
  return drawn;
}

function draw(result, what) {
  const before = shown.number;
  find("problem").hidden = true;
  const { same, different, unsure, left } = result.tally;
  const total = same + different + unsure;
  const goal = Math.min(Math.max(1, Math.ceil(total / result.round)) * result.round, total + left);
  find("progress").max = goal || 1;
  find("progress").value = total;
  find("count").textContent = `${total} of ${goal} answered: ${result.bar}`;
  const isRound = total > 0 && total % result.round === 0 || answered !== null && Math.floor(total / result.round) > Math.floor(answered / result.round);
  const isNew = result.number !== before || result.number === null && JSON.stringify(result.tally) !== JSON.stringify(shown.tally);
  answered = total;
  if (what === "look" && !isNew) return;
  if (what === "look" && before !== null) changed = performance.now();
  shown = result;
  const isEnd = result.number === null;
  find("answers").hidden = false;
  for (const button of find("answers").children) button.disabled = isEnd && button.dataset.say !== "back";
  find("title").textContent = isEnd ? "All pairs are answered" : "Are these records the same?";
  const note = what === "look" && before !== null ? "The previous pair was answered or is shown elsewhere." : describe(result.note, result, before);
  const parts = [];
  if (isEnd || isRound && what !== "back") parts.push(conclude(result, total, isEnd));
  if (!isEnd) parts.push(paragraph("why-asked", explain(result)));
  if (!isEnd) parts.push(...drawQuestion(result.question));
  find("question").replaceChildren(...parts);
  if (note) tell(note);
  // A button keeps the focus, so that it can be pressed again. What changes is read out anyway.
  const held = document.activeElement;
  if (held === document.body || held.disabled) find("question").focus({ preventScroll: true });
  scrollTo(0, 0);
}

// A group is shown, then a question is asked: nobody answers for what is not seen.
function openGroup() {
  const group = document.querySelector("details.cluster");
  if (!group) {
    tell("These two records are not in a group of 3 to 12 records, so there is no group to show.");
    return;
  }
  if (!group.open) {
    group.open = true;
    group.scrollIntoView({ block: "nearest" });
    return;
  }
  const { cluster, pairs, different } = shown;
  find("sure-title").textContent = `Are all ${cluster} records the same?`;
  find("sure-text").textContent = `“Same” will be saved for ${count(pairs, "pair")} of them at once${different ? `, also for ${count(different, "pair")} answered “different”` : ""}. Back undoes all of this.`;
  find("sure").showModal();
}

function act(what) {
  if (performance.now() - changed < PAUSE) return;
  const isAsked = find("sure").open;
  if (what === "close") find("sure").close();
  else if (what === "all" || what === "cluster" && !isAsked) openGroup();
  else {
    if (isAsked) find("sure").close();
    say(what);
  }
}

document.addEventListener("click", (event) => {
  const what = event.target.closest("[data-say]")?.dataset.say;
  if (what) act(what);
});
document.addEventListener("keydown", (event) => {
  const isAsked = find("sure").open;
  if (event.key === "Escape" && !isAsked) {
    const group = document.querySelector("details.cluster[open]");
    if (group) group.open = false;
  }
  // On a keyboard of other letters, by the place of the key: Ы is where S is.
  const key = /^[a-z]$/i.test(event.key) ? event.key : event.code.replace("Key", "");
  const what = KEYS[key.toLowerCase()];
  if (!what || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (shown.number === null && what !== "back") return;
  event.preventDefault();
  if (!isAsked) act(what);
  else if (what === "same") act("cluster");
});
setInterval(look, LOOK);
addEventListener("focus", look);
say("next");
