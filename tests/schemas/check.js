// Holds what the program writes against the public descriptions of its formats, and the types that public generators
// make of the protocol against its names: check.js OPENRPC JSONSCHEMA SARIF SARIF SBOM TYPESCRIPT PYTHON (files), run where
// the packages of package.json are installed. Prints a verdict each; exit 1 where one is bad.
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");

// The packages are beside the working directory, not beside this file.
const load = createRequire(path.join(process.cwd(), "package.json"));
const read = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
const packageOf = (name) => path.join(process.cwd(), "node_modules", name);

function openrpc(file) {
  const verdict = load("@open-rpc/schema-utils-js").validateOpenRPCDocument(read(file));
  return verdict === true ? [] : [String(verdict)];
}

function against(schema, others, file) {
  const Ajv = load("ajv").default;
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false, formats: { "idn-email": true, "iri-reference": true } });
  load("ajv-formats")(ajv);
  others.forEach(([name, other]) => ajv.addSchema(other, name));
  const validate = ajv.compile(schema);
  return validate(read(file)) ? [] : validate.errors.map((one) => `${one.instancePath} ${one.message}`);
}

function jsonSchema(file) {
  const Ajv = load("ajv").default;
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false });
  ajv.addSchema(read(file), "messages");
  for (const name of Object.keys(read(file).definitions)) {
    ajv.compile({ $ref: `messages#/definitions/${name.replace(/~/g, "~0").replace(/\//g, "~1")}` });
  }
  return [];
}

function sarif(file) {
  const directory = path.join(packageOf("@microsoft/jest-sarif"), "lib/schemas");
  const schema = read(path.join(directory, fs.readdirSync(directory).find((name) => name.startsWith("sarif-2.1.0"))));
  delete schema.$schema; // draft 4 by name, draft 7 in what it uses but for `id`
  delete schema.id;
  return against(schema, [], file);
}

function cyclonedx(file) {
  const directory = path.join(packageOf("@cyclonedx/cyclonedx-library"), "res/schema");
  const schema = (name) => {
    const { $id, $schema, ...rest } = read(path.join(directory, name)); // they refer to each other by file
    return rest;
  };
  const others = ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"];
  return against(schema("bom-1.6.SNAPSHOT.schema.json"), others.map((name) => [name, schema(name)]), file);
}

// The titles of a document: the names that generated types should have.
function titles(value, found = new Set()) {
  if (value && typeof value === "object") {
    if (typeof value.title === "string" && (value.type || value.oneOf || value.allOf)) {
      found.add(value.title);
    }
    Object.values(value).forEach((below) => titles(below, found));
  }
  return found;
}

function typescript(file) {
  const document = read(files[0]);
  const named = titles(document);
  const methods = document.methods.map(({ name }) =>
    name.replace(/(^|[^A-Za-z$]+)([a-z])/g, (_, before, letter) => before.replace(/[^$]/g, "") + letter.toUpperCase()));
  const text = fs.readFileSync(file, "utf8");
  const generated = new Set([...text.matchAll(/^export (?:type|interface) ([\w$]+)/gm)].map(([, name]) => name));
  const isUnionOfAll = (name) => name.startsWith("AnyOf");
  return [
    ...[...named].filter((name) => !generated.has(name)).map((name) => `no type ${name}`),
    ...[...generated].filter((name) => !named.has(name) && !methods.includes(name) && !isUnionOfAll(name))
      .map((name) => `a type with a made-up name: ${name}`),
    ...[...text.matchAll(/^(export type .*= any;|  \w+\??: (any|unknown)\b.*)$/gm)].map(([line]) => `untyped: ${line}`),
  ];
}

// Classes of quicktype; it makes none of an empty object, and one of enumerations with the same values.
function python(file) {
  const definitions = Object.entries(read(files[1]).definitions).filter(([, schema]) => schema.properties);
  const text = fs.readFileSync(file, "utf8");
  const classes = [...text.matchAll(/^class (\w+)(\(Enum\))?:/gm)];
  const generated = new Set(classes.map(([, name]) => name));
  const named = titles(read(files[1]));
  return [
    ...definitions.filter(([name]) => !generated.has(name)).map(([name]) => `no class ${name}`),
    ...classes.filter(([, name, isEnum]) => !isEnum && !named.has(name)).map(([, name]) => `a class with a made-up name: ${name}`),
    ...[...text.matchAll(/^    \w+: .*\bAny\b.*$/gm)].map(([line]) => `untyped: ${line}`),
  ];
}

const rows = [
  ["OpenRPC document, @open-rpc/schema-utils-js", openrpc],
  ["JSON Schema of the messages, ajv", jsonSchema],
  ["SARIF 2.1.0 of verify", sarif],
  ["SARIF 2.1.0 of diff", sarif],
  ["CycloneDX 1.6", cyclonedx],
  ["TypeScript types of the protocol, @open-rpc/typings", typescript],
  ["Python types of the protocol, quicktype", python],
];
const files = process.argv.slice(2);
if (files.length !== rows.length) {
  console.error("usage: check.js OPENRPC JSONSCHEMA SARIF SARIF SBOM TYPESCRIPT PYTHON");
  process.exit(2);
}
let bad = 0;
rows.forEach(([name, check], i) => {
  let findings;
  try {
    findings = check(files[i]);
  } catch (error) {
    findings = [String(error)];
  }
  console.log(`${name}: ${findings.length === 0 ? "valid" : "NOT VALID"}`);
  findings.forEach((finding) => console.log(`  ${finding}`));
  bad += findings.length;
});
process.exit(bad === 0 ? 0 : 1);
