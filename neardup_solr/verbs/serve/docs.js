"use strict";
// The description of the service, openapi.json, as a page. It comes after words.js.

function lookUp(spec, one) {
  return one?.$ref ? one.$ref.slice(2).split("/").reduce((at, name) => at[name], spec) : one;
}

// The fields of an object, of any of its kinds.
function listFields(spec, schema) {
  const kinds = [schema, ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].map((one) => lookUp(spec, one));
  return kinds.flatMap(({ properties = {} }) => Object.entries(properties));
}

function nameType(spec, schema) {
  const { enum: values, type = "object", items } = schema;
  if (values) return values.join(" | ");
  if (type === "array") return `array of ${nameType(spec, lookUp(spec, items))}`;
  const fields = listFields(spec, schema).map(([name]) => name);
  return fields.length ? `{${fields.join(", ")}}` : [type].flat().join(" or ");
}

function makeTable(spec, schema) {
  const rows = listFields(spec, schema).map(([name, about]) => make("tr", {},
    make("th", { scope: "row" }, make("code", {}, name)),
    make("td", {}, make("code", {}, nameType(spec, lookUp(spec, about))), " ", about.description ?? "")));
  return rows.length ? [make("table", {}, ...rows)] : [];
}

function makePath(spec, base, method, path, about) {
  const sent = about.requestBody?.content["application/json"];
  const words = (about.parameters ?? []).map(({ name }, at) => `${name}=${at + 1}`).join("&");
  const address = `'${base}${path}${words && "?"}${words}'`;
  const curl = sent ? `curl ${address} \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(sent.example)}'` : `curl ${address}`;
  const answers = Object.entries(about.responses).map(([status, one]) => [status, lookUp(spec, one)]);
  const good = answers.filter(([status]) => status === "200").map(([, one]) => one);
  const bad = answers.filter(([status]) => status !== "200").map(([status]) => status);
  return make("section", { class: "path" },
    make("h2", {}, make("span", { class: "tag" }, method.toUpperCase()), " ", make("code", {}, path)),
    make("p", {}, about.summary),
    make("pre", {}, curl),
    ...(sent ? [make("h3", {}, "Request"), ...makeTable(spec, lookUp(spec, sent.schema))] : []),
    make("h3", {}, "Response"),
    ...good.flatMap((one) => [make("p", {}, one.description), ...makeTable(spec, lookUp(spec, Object.values(one.content)[0].schema))]),
    ...(bad.length ? [make("p", { class: "left" }, `Errors: ${bad.join(", ")}`)] : []));
}

async function start() {
  find("theme").addEventListener("click", turnTheme);
  const spec = await (await fetch("openapi.json")).json();
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  find("about").textContent = spec.info.description;
  for (const [path, methods] of Object.entries(spec.paths)) {
    find("paths").append(...Object.entries(methods).map(([method, about]) => makePath(spec, base, method, path, about)));
  }
}

start();
