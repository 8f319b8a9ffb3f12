"use strict";

const token = location.hash.slice(1);
const KEYS = { s: "same", d: "different", u: "unsure", k: "skip", b: "back", a: "all" };
const JUDGEMENTS = ["same", "different", "unsure"];
const LOOK = 4000; // milliseconds until the page looks what others have answered
const ENDED = "The review has ended or cannot be reached. All earlier answers are saved; new answers are not. To continue, start neardup review again and open its new address.";
const STOP = "You can stop here, or continue with the next pair: each further answer improves the result.";
const PAUSE = 600; // in which keys do nothing after a pair has changed by itself
let shown = { number: null }; // the pair, and what is known of it
let answered = null; // how many answers the page showed last
let isBusy = false;
let turn = 0; // of what was asked for
let changed = -PAUSE;
let values = null; // the group of records whose values are chosen now

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

async function ask(action, answer, more = {}) {
  const reply = await fetch(action, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ reader, number: shown.number, answer, ...more }),
  });
  const result = await reply.json();
  if (!reply.ok) complain(asOptions([result.error, result.next].filter(Boolean).join("; ")));
  return reply.ok ? result : null;
}

const busily = (work) => async (...words) => {
  if (isBusy) return;
  isBusy = true;
  turn += 1;
  find("question").setAttribute("aria-busy", "true");
  try {
    await work(...words);
  } catch {
    complain(ENDED);
  }
  isBusy = false;
  find("question").setAttribute("aria-busy", "false");
};

const say = busily(async (what) => {
  const result = await (JUDGEMENTS.includes(what) ? ask("answer", what) : ask(what, null));
  values = null;
  if (result) draw(result, what);
});

// See what others have answered. A key that is pressed meanwhile goes first.
async function look() {
  if (isBusy || values || document.visibilityState !== "visible" || find("sure").open) return;
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
  if (did.did === "cluster") return `Saved: ${count(did.answers, "answer")} “same”. Back undoes all of them. ${did.learned}`;
  if (did.did === "nothing") return `Someone else has already answered “${did.stands}” for this pair, so your answer was not saved.`;
  if (did.did === "unseen") return "You are now asked about the records that nobody has looked at.";
  if (did.did !== "back") return "";
  if (did.answers === undefined) return "Nothing more to undo in this review. To change an earlier answer, use the command neardup answer.";
  if (did.answers === 0) return "Back to the pair that you skipped.";
  const what = did.answers === 1 ? "your answer is" : `your ${did.answers} answers are`;
  return `Undone: ${what} no longer saved.${did.stands ? ` Without it, the answer for the pair is “${did.stands}”.` : ""}`;
}

// Which compared columns speak for the same and which against it, by their bits, or by the words that differ.
function weigh({ rows, shown: others }) {
  const columns = rows.slice(0, rows.length - others).filter(([values], _, all) => values && all.length > 1);
  const isMissing = ([values]) => values.some((value) => !value);
  const says = ([, , steps = [], , , bits = null]) => bits ?? (steps.length ? -1 : 1);
  const list = (chosen) => chosen.map(([, field, , , level]) => (level ? `${field} (${level})` : field)).join(", ");
  const present = columns.filter((row) => !isMissing(row));
  const [yes, no] = [present.filter((row) => says(row) > 0), present.filter((row) => says(row) < 0)];
  yes.sort((row, other) => says(other) - says(row));
  no.sort((row, other) => says(row) - says(other));
  const missing = columns.filter(isMissing).map(([, field]) => field);
  return [
    yes.length ? `What speaks for “same”: ${list(yes)}.` : "",
    no.length ? `What speaks for “different”: ${list(no)}.` : "",
    missing.length ? `Missing, so not counted: ${missing.join(", ")}.` : "",
  ].filter(Boolean).join(" ");
}

// What the program would have said of a pair that was answered, and why.
function explain(pair, word, learned) {
  const likely = percent(pair.similarity);
  const guess = pair.similarity >= pair.threshold - 1e-6 ? "same" : "different";
  const why = pair.measure === "fields" ? `chance of “same”: ${likely}` : `${likely} similar; from ${percent(pair.threshold)} it says “same”`;
  const did = word === guess ? "so did the program" : `the program guessed “${guess}”`;
  const reasons = weigh(pair.question);
  const fold = expertFold(pair.question.rows, reasons ? [make("p", {}, reasons)] : [], "Why, with figures for experts");
  const made = make("div", { class: "note did" }, make("p", {}, `You said “${word}”, ${did} (${why}). `, make("b", {}, learned)));
  made.append(...fold);
  return made;
}

function paragraph(kind, text) {
  const made = document.createElement("p");
  made.className = kind;
  made.textContent = text;
  return made;
}

// Say what a key did above the question.
function tell(note) {
  document.querySelector(".did")?.remove();
  find("question").prepend(typeof note === "string" ? paragraph("note did", note) : note);
}

// Names of arguments stand in backticks.
const asOptions = (text) => text.replace(/`(\w+)`/g, (_, name) => `--${name.replaceAll("_", "-")}`);

// What the program alone decides. It is counted when it is told, as that takes a moment for a long list.
async function tellRest(place, isEnd) {
  const rest = await ask("finish", null).catch(() => complain(ENDED));
  if (!rest) return;
  const { unseen, unsureApart, asks, isOfBest } = rest;
  const unsure = unsureApart ? ` ${count(unsureApart, "pair")} that you were unsure of ${unsureApart === 1 ? "stays" : "stay"} apart.` : "";
  if (!unseen) {
    // In place of a best match that is different, the file takes the next best, about which nobody is asked.
    const seen = isOfBest ? "Somebody has looked at the best match of every record that is left out. Where you said “different”, the next best match counts: once the file is written, the page says how many records nobody has looked at." : "Somebody has looked at every record that is left out.";
    place.append(paragraph("", `${seen}${unsure}${isEnd ? "" : ` ${STOP}`}`));
    return;
  }
  const many = make("b", {}, `${count(unseen, "record")} would be left out that nobody has looked at.`);
  place.append(make("p", {}, `${isEnd ? "" : "If you stop here, the program decides the rest: "}`, many, unsure));
  if (asks) place.append(make("p", {}, button("Look at these first", () => say("unseen"), "quiet yes"), " You are asked about these alone, first where the program is least sure. Or write the file without."));
}

// What is said after each thirty answers, when nothing is left, and to finish: the files to write.
function conclude(result, isEnd, isOnValues = false) {
  const { same, different, unsure, left } = result.tally;
  const lines = [`${count(same + different + unsure, "answer")} saved: ${result.bar}.`];
  if (result.advice) lines.push(`${asOptions(result.advice)}.`);
  const { clean, model } = result.outputs;
  if (!isEnd) lines.push(clean ? "" : STOP);
  else if (left) lines.push("Other people are looking at the remaining pairs. If they skip a pair, it appears here.");
  else lines.push("All pairs are answered.");
  const made = make("div", { class: "note round" }, ...(isOnValues ? [] : [make("p", {}, lines.join(" ").trim())]));
  if (clean) {
    const rest = make("div", { class: "rest" });
    made.append(rest);
    tellRest(rest, isEnd);
  }
  const add = (name, label, [file, folder], text) => made.append(make("p", { class: "output" },
    button(label, () => write(name, file, folder)), " ", make("bdi", {}, ...plain(file)), ` ${text}`));
  if (result.merges && !isOnValues) made.append(make("p", { class: "output" }, button("Choose values …", () => sayOfValues("values")), " Optional: records of one thing may disagree, about a phone number for example. Choose which value the clean file gets."));
  if (clean) add("clean", "Write the clean file", clean, "is a copy of your list without the duplicates. A record that stays also gets what only its duplicates know. The file goes by your answers, and where you gave none, by the program's first guess. Your list stays as it is.");
  else made.append(paragraph("", "The records did not come from a file, so no clean file can be written here."));
  if (model) add("model", "Save the model", model, "keeps what was learned, to compare lists like this one: with neardup duplicates and its option --model.");
  return made;
}

// Write a file. What is asked before is answered in the dialog.
async function write(action, file, folder, canonical = "first", agreed = []) {
  const say = (text) => {
    find("written").textContent = text;
    find("written").hidden = false;
  };
  const buttons = document.querySelectorAll(".output button");
  for (const each of buttons) each.disabled = true;
  say(`Writing ${file} … For a long list, this takes minutes.`);
  try {
    const result = await ask(action, null, { agreed, canonical });
    if (!result) say("Nothing was written.");
    else if (result.asks) {
      say("Nothing is written yet.");
      openDialog({ title: "Write the file?", text: asOptions(result.asks.join(" ")), yes: "Yes, write it", act: () => write(action, file, folder, canonical, [...agreed, ...result.asks]) });
    } else {
      say(describeFile(action, result, `${file} is in the folder ${folder}.`));
      if (result.fuller) find("written").append(make("br"), `${number(result.fuller)} of those left out ${result.fuller === 1 ? "has" : "have"} more columns filled than the record that stays. `, button("Keep the fullest records instead", () => write(action, file, folder, "fullest")));
    }
  } catch {
    complain(ENDED);
  }
  for (const each of buttons) each.disabled = false;
}

function describeFile(action, result, where) {
  if (action === "model") return `${where} It was made of ${result.same} “same” and ${result.different} “different”. Of these ${result.same + result.different} answers it foretells ${result.right}, without knowing them; the program at first ${result.default_right}.`;
  const failed = result.failed ? ` ${count(result.failed, "record")} could not be read, and ${result.failed === 1 ? "is" : "are"} left out, too.` : "";
  const merged = result.values ? ` Each record that stays has the values of its group: ${count(result.chosen, "value")} chosen, ${count(result.filled, "gap")} filled${result.open ? `, ${count(result.open, "value")} of the first record where others differ` : ""}. ${result.values} lists each value with its record.${result.outdated ? ` ${count(result.outdated, "earlier choice")} no longer ${result.outdated === 1 ? "fits" : "fit"} the records, so nothing was done by ${result.outdated === 1 ? "it" : "them"}.` : ""}` : "";
  return `${where} It has ${number(result.kept)} of ${count(result.records, "record")}: ${count(result.removed, "duplicate")} ${result.removed === 1 ? "is" : "are"} ${result.values ? "merged into the others" : "left out"}, by ${count(result.obeyed, "answer")} and the program's guesses; ${result.unseen ? `nobody has looked at ${number(result.unseen)} of them` : "somebody has looked at each of them"}.${merged}${failed} You can close this page, and the window in which you started the review.`;
}

const listValues = (columns) => columns.filter(([, value]) => value).map(([name, value]) => make("span", {}, make("b", {}, ...plain(name)), " ", make("bdi", {}, ...visible(value, IN_TEXTS))));

// Records without ids are named by their numbers.
const nameRecord = (id) => make("bdi", { class: "id" }, ...plain(shown.numbered ? `record ${id}` : id));

function drawQuestion({ ids, rows, members, shown: others, texts, passages }) {
  const weight = ([, , steps = [], , , bits = null]) => (bits === null ? steps.length : Math.abs(bits));
  const compared = rows.slice(0, rows.length - others);
  // On a phone, what decides comes first: what is below may be out of view.
  if (matchMedia("(max-width: 36rem)").matches) compared.sort((row, other) => weight(other) - weight(row));
  const drawn = rows.some(([values]) => values) ? [fieldTable(ids.map(nameRecord), [...compared, ...rows.slice(rows.length - others)], { hasLevels: false, shown: others })] : [];
  if (passages.length) drawn.push(...passagesView(texts.map((text, at) => ({ words: text.split(" "), head: nameRecord(ids[at]) })), passages));
  if (members.length) {
    const all = button(`All ${members.length} records like these … `, () => {});
    all.dataset.say = "all";
    all.append(make("kbd", { "aria-hidden": "true" }, "A"));
    drawn.push(all);
  }
  return drawn;
}

function draw(result, what) {
  const [before, pair] = [shown.number, shown];
  find("problem").hidden = true;
  const { same, different, unsure, left } = result.tally;
  const total = same + different + unsure;
  const isFirst = result.unseen !== undefined; // asked first about what nobody has looked at
  const goal = isFirst ? total + result.unseen : Math.min((Math.floor(total / result.round) + 1) * result.round, total + left);
  find("progress").hidden = false;
  find("progress").max = goal || 1;
  find("progress").value = total;
  find("count").textContent = isFirst ? `${total} answered: ${result.bar}; ${count(result.unseen, "record")} left to look at` : `${total} of ${goal} answered: ${result.bar}`;
  const isRound = total > 0 && total % result.round === 0 || answered !== null && Math.floor(total / result.round) > Math.floor(answered / result.round);
  const isNew = result.number !== before || result.number === null && JSON.stringify(result.tally) !== JSON.stringify(shown.tally);
  const isOver = !isFirst && (what === "unseen" || shown.unseen !== undefined && what !== "back");
  answered = total;
  if (what === "look" && !isNew) return;
  if (what === "look" && before !== null) changed = performance.now();
  shown = result;
  const isEnd = result.number === null;
  find("answers").hidden = false;
  for (const button of find("answers").children) button.disabled = isEnd && button.dataset.say !== "back";
  find("title").textContent = isEnd ? "All pairs are answered" : "Are these records the same?";
  const note = what === "look" && before !== null ? "The previous pair was answered or is shown elsewhere." : describe(result.note, result, before) || JUDGEMENTS.includes(what) && before !== null && explain(pair, what, result.note.learned);
  const parts = [];
  if (isEnd || isOver || isRound && !isFirst && what !== "back") parts.push(conclude(result, isEnd));
  if (!isEnd) parts.push(...drawQuestion(result.question));
  find("question").replaceChildren(...parts);
  if (note) tell(note);
  // A button keeps the focus, so that it can be pressed again. What changes is read out anyway.
  const held = document.activeElement;
  if (held === document.body || held.disabled) find("question").focus({ preventScroll: true });
  scrollTo(0, 0);
}

let agree = () => {}; // what the dialog asks about

function openDialog({ title, text, yes, records = [], act }) {
  find("sure-title").textContent = title;
  find("sure-text").textContent = text;
  find("sure-yes").textContent = yes;
  find("sure-key").hidden = !records.length; // a file may be asked about while pairs are answered by keys
  find("sure-records").replaceChildren(...records.map(([name, columns]) => make("li", { class: "record" }, nameRecord(name), ...listValues(columns))));
  agree = act;
  find("sure").close(); // another question may be open
  find("sure").showModal();
  find("sure").scrollTop = 0;
}

// A group is asked about in view of its records: nobody answers for what is not seen.
function openGroup() {
  const { cluster, pairs, different, question } = shown;
  if (!question.members.length) {
    tell("There are no further records like these two, or more than 12, so there is no group to show.");
    return;
  }
  const others = different ? `, also for ${count(different, "pair")} answered “different”` : "";
  openDialog({
    title: `Are all ${cluster} records the same?`, records: question.members, yes: "Yes, all are the same", act: () => say("cluster"),
    text: `“Same” will be saved for ${count(pairs, "pair")} of them at once${others}. Back undoes all of this.`,
  });
}

/* Values that disagree */

const sayOfValues = busily(async (what) => {
  const picks = {};
  if (what === "choose") values.columns.forEach(({ name }, at) => { picks[name] = Number(document.querySelector(`[name=column${at}]:checked`).value); });
  find("written").textContent = "Looking for values that disagree … For a long list, this takes minutes.";
  find("written").hidden = what !== "values";
  const result = await ask(what, null, { number: values?.number ?? null, picks, state: values?.state ?? "" });
  find("written").hidden = true;
  if (result) drawValues(result);
});

function describeValues({ did, undone }) {
  if (did === "undo" && undone === undefined) return "Nothing more to undo here.";
  if (did === "undo") return undone ? "Undone: your choice is no longer saved." : "Back to the records that you skipped.";
  const changed = "Someone else has chosen meanwhile, or the records have changed, so nothing was saved.";
  return { changed, pass: "Skipped: nothing was chosen.", choose: "Saved." }[did];
}

// The values of a column, of which one is chosen: first that which was chosen, or that of most records.
function valueField({ name, who, kept, values: all }, at, records) {
  const options = all.map(([text, size, ids], place) => {
    const radio = make("input", { type: "radio", name: `column${at}`, value: place });
    radio.checked = place === 0;
    const names = ids.flatMap((id, index) => [index ? ", " : "", nameRecord(id)]);
    const chosen = place ? "" : who ? ` – chosen by ${who}` : " – chosen";
    const state = who !== null ? chosen : place === kept ? " – taken if you skip" : "";
    const from = make("span", { class: "from" }, `${size} of ${count(records, "record")}: `, ...names, size > ids.length ? ", …" : "", state);
    return make("label", {}, radio, make("span", {}, make("bdi", { dir: "auto" }, ...visible(text, IN_TEXTS)), from));
  });
  return make("fieldset", { class: "values" }, make("legend", {}, ...plain(name)), ...options);
}

function drawValues(result) {
  const { number: group, records, agreed = [], columns = [], groups, left, note } = result;
  const isEnd = group === null;
  values = result;
  find("problem").hidden = true;
  find("answers").hidden = true;
  find("progress").hidden = true;
  find("count").textContent = `${count(left, "group")} of records left`;
  find("title").textContent = isEnd ? "No more values to choose" : "Which values are right?";
  const rest = left ? "Someone else is choosing the values of the groups that are left." : groups ? "All values that disagree are chosen, or skipped." : "Nowhere do the records of one thing disagree, so there is nothing to choose.";
  const said = [describeValues(note), isEnd && rest].filter(Boolean).join(" ");
  const keyed = (label, what, key, type = "quiet") => {
    const made = button(label, () => sayOfValues(what), type);
    if (key) made.append(" ", make("kbd", { "aria-hidden": "true" }, key));
    return made;
  };
  const first = isEnd ? [keyed("Go through them again", "again")] : [keyed("Save, next", "choose", "S", "quiet yes"), keyed("Skip", "pass", "K")];
  const shows = isEnd ? [conclude(shown, false, true)] : [
    paragraph("", `These ${records} records become one. They disagree on ${count(columns.length, "value")}: choose what the clean file gets.`),
    make("p", { class: "record" }, ...listValues(agreed)),
    ...columns.map((column, at) => valueField(column, at, records)),
  ];
  const buttons = make("div", { class: "answers", role: "group", "aria-label": "Choice" }, ...first, keyed("Back", "undo", "B"), button("To the pairs", () => say("next")));
  find("question").replaceChildren(...(said ? [paragraph("note did", said)] : []), ...shows, buttons);
  find("question").focus({ preventScroll: true });
  scrollTo(0, 0);
}

function act(what) {
  if (performance.now() - changed < PAUSE) return;
  const isAsked = find("sure").open;
  if (isAsked) find("sure").close();
  if (what === "yes") agree();
  else if (what === "all") openGroup();
  else if (what === "finish") {
    document.querySelector(".round")?.remove();
    find("question").prepend(conclude(shown, shown.number === null, values !== null));
    scrollTo(0, 0);
  } else if (what !== "close") say(what);
}

document.addEventListener("click", (event) => {
  const what = event.target.closest("[data-say]")?.dataset.say;
  if (what) act(what);
});
document.addEventListener("keydown", (event) => {
  const isAsked = find("sure").open;
  // On a keyboard of other letters, by the place of the key: Ы is where S is.
  const key = /^[a-z]$/i.test(event.key) ? event.key : event.code.replace("Key", "");
  const what = KEYS[key.toLowerCase()];
  if (!what || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (values && !isAsked) {
    const does = { same: "choose", skip: "pass", back: "undo" }[what];
    if (does && (values.number !== null || what === "back")) sayOfValues(does);
    return;
  }
  if (shown.number === null && what !== "back" && !isAsked) return;
  event.preventDefault();
  if (!isAsked) act(what);
  else if (what === "same" && !find("sure-key").hidden) act("yes");
});
setInterval(look, LOOK);
addEventListener("focus", look);
say("next");
