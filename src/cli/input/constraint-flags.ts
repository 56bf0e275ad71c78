/** Flags that say what a generated text must be. */
import type { Command } from "commander";
import { invalidInput } from "../../contract/errors.ts";
import { parseJson } from "../../formats/json/exact-json.ts";
import type { TextConstraint } from "../../tasks/generation/constraints/text-constraint.ts";
import { parseGivenJson, readGivenText } from "./given-file.ts";

/** Their values. */
export interface ConstraintFlags {
  readonly schema?: string;
  readonly regex?: string;
  readonly choice?: readonly string[];
  readonly grammar?: string;
}

/** Adds the flags. */
export function addConstraintFlags(command: Command): Command {
  return command
    .option("--schema <file>", "the text is JSON that is valid by this JSON Schema")
    .option("--regex <pattern>", "the whole text matches this regular expression")
    .option(
      "--choice <text>",
      "the text is one of these; given again for each",
      (value, before: readonly string[] | undefined) => [...(before ?? []), value],
    )
    .option("--grammar <file>", "the text is one of this grammar in GBNF");
}

/** The constraint that the flags state. Throws INPUT_INVALID for several, and for a file that cannot be read. */
export async function readConstraint({
  schema,
  regex,
  choice: choices,
  grammar,
}: ConstraintFlags): Promise<{ readonly constraint?: TextConstraint }> {
  const given = Object.entries({ schema, regex, choice: choices, grammar }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    throw invalidInput(`${given.map(([name]) => `--${name}`).join(" and ")} say what the text must be`, "give one of them");
  }
  if (schema !== undefined) return { constraint: { type: "schema", schema: await readSchema(schema) } };
  if (regex !== undefined) return { constraint: { type: "regex", pattern: regex } };
  if (choices !== undefined) return { constraint: { type: "choice", choices } };
  return grammar === undefined ? {} : { constraint: { type: "grammar", grammar: await readGivenText(grammar) } };
}

/** What the schema contains is checked where it is compiled. */
async function readSchema(path: string): Promise<object> {
  return parseGivenJson(await readGivenText(path), path, undefined, parseJson) as object;
}
