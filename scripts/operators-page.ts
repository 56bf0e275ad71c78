/** docs/reference/operators.md, made from the table of operators. `npm run schemas` writes it. */
import { newestVersions, operatorFamilies } from "../src/engine/operators/table.ts";

export const operatorsPage: URL = new URL("../docs/reference/operators.md", import.meta.url);

interface Row {
  readonly domain: string;
  readonly operator: string;
  readonly versions: string;
  readonly family: string;
}

/** By domain, then by name. */
function rows(): readonly Row[] {
  return Object.entries(operatorFamilies)
    .flatMap(([family, operators]) =>
      Object.entries(operators).map(([key, rules]): Row => {
        const at = key.lastIndexOf(":");
        const versions = rules.map(({ since }) => since).join(", ");
        return { domain: at < 0 ? "ai.onnx" : key.slice(0, at), operator: key.slice(at + 1), versions, family: spaced(family) };
      }),
    )
    .toSorted((one, other) => order(one.domain, other.domain) || order(one.operator, other.operator));
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** "treeEnsembles" as people write it. */
function spaced(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

export function operatorsText(): string {
  const all = rows();
  const newest = [...newestVersions].map(([domain, version]) => `${domain === "" ? "ai.onnx" : domain} ${version}`).join(", ");
  return `# Operators of the engine

What our own engine (\`native\`) computes of ONNX: ${all.length} operators, written by \`npm run schemas\` from
\`src/engine/operators/table.ts\`; a test holds the two together. Each is known from the versions named on, each up to the next; the newest
versions of operator sets that are read: ${newest}. A model with any other operator, or a newer version, is refused when it is loaded, with the
operator, its domain, version and node. [Conformance](conformance.md) says how they are checked.

| operator | domain | since | family |
|---|---|---|---|
${all.map(({ operator, domain, versions, family }) => `| ${operator} | ${domain} | ${versions} | ${family} |\n`).join("")}
Every family is a file of \`src/engine/operators/\`, and builds what it means of the primitive operations of \`src/engine/graph/operations.ts\`.
`;
}
