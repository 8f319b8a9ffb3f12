"use strict";
// Shows openapi.json as a page; everything is put in as text.
function add(parent, name, text) {
  const made = parent.appendChild(document.createElement(name));
  made.textContent = text || "";
  return made;
}
function find(spec, one) {
  return one && one.$ref ? one.$ref.slice(2).split("/").reduce((at, name) => at[name], spec) : one;
}
function describe(spec, schema) {
  return [schema, ...(schema.oneOf || []), ...(schema.allOf || [])].map((each) => find(spec, each))
    .flatMap((each) => Object.entries(each.properties || {}))
    .map(([name, each]) => name + ": " + (each.enum ? each.enum.join(" | ") : each.type || "object") +
      (each.description ? " – " + each.description : ""));
}
fetch("openapi.json").then((answer) => answer.json()).then((spec) => {
  document.getElementById("about").textContent = spec.info.description;
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const part = add(document.getElementById("paths"), "section");
      add(part, "h2", method.toUpperCase() + " " + path);
      add(part, "p", about.summary);
      for (const one of about.parameters || []) add(part, "p", "?" + one.name + "=…");
      const sent = about.requestBody && about.requestBody.content["application/json"];
      if (sent) {
        for (const line of describe(spec, find(spec, sent.schema))) add(part, "div", line);
        add(part, "pre", "curl " + base + path + " -H 'Content-Type: application/json' \\\n  -d '" +
          JSON.stringify(sent.example) + "'");
      }
      for (const [status, one] of Object.entries(about.responses)) {
        const found = find(spec, one);
        add(part, "div", status + " " + found.description);
        if (status !== "200") continue;
        for (const line of describe(spec, Object.values(found.content)[0].schema)) add(part, "div", "  " + line);
      }
    }
  }
});
