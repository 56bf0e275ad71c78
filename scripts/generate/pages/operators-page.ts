/** docs/reference/operators.md, made from the table of operators and what was measured of them. `npm run schemas` writes it. */
import { readFileSync } from "node:fs";
import { newestVersions, operatorFamilies } from "../../../src/engine/onnx/operators/table.ts";

export const operatorsPage: URL = new URL("../../../docs/reference/operators.md", import.meta.url);

/** What scripts/conformance/measure-operators.ts found, by operator, "domain:Name" outside of the standard domain. */
export const operatorTypesFile: URL = new URL("../engine-operators.json", import.meta.url);

/** Element types that conformance cases of an operator have. */
export interface OperatorTypes {
  /** Generated kernels compute every case. */
  readonly kernels: readonly string[];
  /** Of some cases the interpreter computes a part, or all. */
  readonly partly: readonly string[];
  /** Of every case the interpreter computes a part, or all. */
  readonly interpreter: readonly string[];
}

interface Row {
  readonly domain: string;
  readonly operator: string;
  readonly versions: string;
  readonly family: string;
  readonly types: OperatorTypes | undefined;
}

/** By domain, then by name. */
function rows(): readonly Row[] {
  const measured = JSON.parse(readFileSync(operatorTypesFile, "utf8")) as Readonly<Record<string, OperatorTypes>>;
  return Object.entries(operatorFamilies)
    .flatMap(([family, operators]) =>
      Object.entries(operators).map(([key, rules]): Row => {
        const at = key.lastIndexOf(":");
        const versions = rules.map(({ since }) => since).join(", ");
        return {
          domain: at < 0 ? "ai.onnx" : key.slice(0, at),
          operator: key.slice(at + 1),
          versions,
          family: spaced(family),
          types: measured[key],
        };
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

function line({ operator, domain, versions, types, family }: Row): string {
  const { kernels = [], partly = [], interpreter = [] } = types ?? {};
  const computed = [...kernels, ...partly.map((type) => `${type} in part`)];
  return `| ${operator} | ${domain} | ${versions} | ${computed.join(", ")} | ${interpreter.join(", ")} | ${family} |\n`;
}

export function operatorsText(): string {
  const all = rows();
  const newest = [...newestVersions].map(([domain, version]) => `${domain === "" ? "ai.onnx" : domain} ${version}`).join(", ");
  return `# Operators of the engine

What our own engine (\`native\`) computes of ONNX: ${all.length} operators, written by \`npm run schemas\` from
\`src/engine/onnx/operators/table.ts\`; a test holds the two together. Each is known from the versions named on, each up to the next; the newest
versions of operator sets that are read: ${newest}. A model with any other operator, or a newer version, is refused when it is loaded, with the
operator, its domain, version and node. [Conformance](conformance.md) says how they are checked.

The interpreter computes all of them, and is what kernels are tested against. Generated kernels compute the types that the column names, "in part" where they
leave some cases to it (a pool whose places are asked for); the types of the next column are left to it in every case. Both columns are measured on
ONNX's own cases (\`npm run measure:operators\`) by the type of the first input; where both are empty there is no case of that operator alone.

| operator | domain | since | kernels | interpreter alone | family |
|---|---|---|---|---|---|
${all.map(line).join("")}
The rules of a family are in one file below \`src/engine/onnx/operators/\`. They translate operators to the operations of \`src/engine/ir/operations.ts\`.
`;
}
