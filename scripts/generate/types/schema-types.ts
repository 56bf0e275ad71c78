/** TypeScript types of records, made from their zod schemas: one for each named schema. `npm run schemas` writes them. */
import type { z } from "zod";
import { receiptTypes } from "../../../src/receipts/receipt-schema.ts";
import { decisionTypes } from "../../../src/runtime/decision/decision-schema.ts";

/** Schemas of one file by the names of their types, with the imports of its text. */
interface SchemaFile {
  readonly path: string;
  readonly schemas: Readonly<Record<string, z.ZodType>>;
  readonly imports: string;
}

const files: readonly SchemaFile[] = [
  { path: "runtime/decision/generated-decision.ts", schemas: decisionTypes, imports: "" },
  {
    path: "receipts/generated-receipt.ts",
    schemas: receiptTypes,
    imports: 'import type { Decision } from "../runtime/decision/generated-decision.ts";\n',
  },
];

const names: ReadonlyMap<z.core.$ZodType, string> = new Map(
  files.flatMap(({ schemas }) => Object.entries(schemas).map(([name, schema]) => [schema, name] as const)),
);

/** The generated files with their texts. */
export function schemaTypes(): readonly (readonly [file: URL, text: string])[] {
  return files.map(({ path, schemas, imports }) => {
    const types = Object.entries(schemas).map(([name, schema]) => declare(name, schema));
    const header = "/** Written by `npm run schemas`; the zod schema beside it is the source. */\n";
    return [new URL(`../../../src/${path}`, import.meta.url), `${header}${imports}\n${types.join("\n")}`];
  });
}

function declare(name: string, schema: z.ZodType): string {
  const { description = "" } = schema;
  const written = write(schema, "");
  if (schema.def.type === "object") return `${comment(description, "")}export interface ${name} ${written}\n`;
  const line = `export type ${name} = ${written};\n`;
  const isLong = line.length > maxColumns;
  return comment(description, "") + (isLong ? line.replace(" = ", " = | ").replaceAll(" | ", "\n  | ") : line);
}

/** Columns of a line at most, as the formatter has it. */
const maxColumns = 130;

function comment(description: string | undefined, indent: string): string {
  return description === undefined ? "" : `${indent}/** ${description} */\n`;
}

/** The type of a schema: its name, or what it is made of. */
function getType(schema: z.core.$ZodType, indent: string): string {
  return names.get(schema) ?? write(schema, indent);
}

function write(schema: z.core.$ZodType, indent: string): string {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "object") {
    const members = Object.entries(def.shape).map(([name, member]) => getMember(name, member as z.ZodType, `${indent}  `));
    return `{\n${members.join("")}${indent}}`;
  }
  if (def.type === "array") return `readonly ${getType(def.element, indent)}[]`;
  if (def.type === "nullable") return `${getType(def.innerType, indent)} | null`;
  if (def.type === "literal") return def.values.map((value) => JSON.stringify(value)).join(" | ");
  if (def.type === "enum") {
    const values = Object.values(def.entries).map((value) => JSON.stringify(value));
    return values.join(" | ");
  }
  if (def.type === "string" || def.type === "number" || def.type === "boolean") return def.type;
  throw new TypeError(`no type is written for the schema ${def.type}`);
}

/** A member; what is told of a named type is told once, with the type. */
function getMember(name: string, schema: z.ZodType, indent: string): string {
  const inner = schema.def.type === "optional" ? (schema as z.ZodOptional<z.ZodType>).def.innerType : schema;
  const isNamed = names.has(schema) || (names.has(inner) && schema.description === inner.description);
  const mark = schema === inner ? "" : "?";
  return `${comment(isNamed ? undefined : schema.description, indent)}${indent}readonly ${name}${mark}: ${getType(inner, indent)};\n`;
}
