/**
 * The constraint engine on cases of maskbench: `npm run eval:maskbench [-- --data FILE.jsonl --tokenizer FOLDER --json]`. A case passes when every
 * valid instance goes through token by token, as compact JSON, with spaces and indented, and every invalid one is stopped. Ends with 1 if one fails.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRuntime } from "../../src/index.ts";
import { jsonText, parseJson } from "../../src/formats/json/exact-json.ts";
import { InferyardError } from "../../src/contract/errors.ts";
import type { CompiledGrammar } from "../../src/tasks/generation/constraints/compiled-grammar.ts";
import { GrammarCache, defaultGrammarCacheBytes } from "../../src/tasks/generation/constraints/grammar-cache.ts";
import { LocalGrammarHost } from "../../src/tasks/generation/constraints/grammar-host.ts";
import { constraintSource } from "../../src/tasks/generation/constraints/text-constraint.ts";
import { TokenConstraint } from "../../src/tasks/generation/constraints/token-constraint.ts";
import { textSettings } from "../../src/tasks/encoding/text-settings.ts";
import { type Tokenizer, loadTokenizer } from "../../src/tokenizers/index.ts";
import { sharedData } from "../../test/fixtures/shared-data.ts";

interface Case {
  readonly name: string;
  readonly schema: object | boolean;
  readonly tests: readonly { readonly valid: boolean; readonly data: unknown }[];
}

const { values: flags } = parseArgs({
  options: {
    data: { type: "string", default: `${sharedData}maskbench/cases.jsonl` },
    tokenizer: { type: "string", default: `${sharedData}gpt2-tiny-random` },
    json: { type: "boolean", default: false },
  },
});
await using runtime = await createRuntime();
const tokenizer = await loadTokenizer(textSettings(await runtime.manifest(flags.tokenizer)));
const grammars = new GrammarCache({
  host: new LocalGrammarHost(),
  tokenizer: { tokenizer, settings: undefined },
  size: tokenizer.vocabularySize,
  maxBytes: defaultGrammarCacheBytes,
});
const call = { client: "maskbench" };
await grammars.get(constraintSource({ type: "json" }), call); // reads the vocabulary
const cases = readFileSync(flags.data, "utf8")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => parseJson(line) as Case);

const maskTimes: number[] = [];
const compileTimes: number[] = [];
const refusals = new Map<string, number>();
const failures: string[] = [];
let passed = 0;
for (const { name, schema, tests } of cases) {
  const started = performance.now();
  let grammar: CompiledGrammar;
  try {
    grammar = await grammars.get(constraintSource({ type: "schema", schema }, { unlistedMembers: true }), call);
  } catch (error) {
    if (!(error instanceof InferyardError) || error.data["refused"] !== true) throw error;
    const keyword = String(error.data["keyword"] ?? error.message);
    refusals.set(keyword, (refusals.get(keyword) ?? 0) + 1);
    continue;
  }
  compileTimes.push(performance.now() - started);
  const texts = tests.flatMap(({ valid, data }) =>
    [jsonText(data), JSON.stringify(data, undefined, 1).replaceAll(/\n\s*/g, " "), JSON.stringify(data, undefined, 2)].map(
      (text) => ({ valid, text }),
    ),
  );
  let wrong: (typeof texts)[number] | undefined;
  for (const each of texts) if (wrong === undefined && (await fits(grammar, tokenizer, each.text)) !== each.valid) wrong = each;
  if (wrong === undefined) passed += 1;
  else
    failures.push(`${name}: ${wrong.valid ? "a valid" : "an invalid"} instance ${wrong.valid ? "is stopped" : "goes through"}`);
}
const refused = [...refusals.values()].reduce((sum, count) => sum + count, 0);
const microseconds = maskTimes.map((time) => time * 1000);
const report = {
  passed,
  failed: failures.length,
  refused,
  maskMicroseconds: summary(microseconds),
  compileMilliseconds: summary(compileTimes),
};
if (flags.json) console.log(JSON.stringify(report));
else {
  console.log(report);
  for (const [keyword, count] of refusals) console.log(`refused for ${keyword}: ${count}`);
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Whether every token of a text is allowed where it stands, and the text may end behind the last. */
async function fits(grammar: CompiledGrammar, tokens: Pick<Tokenizer, "encode">, text: string): Promise<boolean> {
  const constraint = new TokenConstraint({ grammar, ...call }, []);
  const { ids } = tokens.encode(text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY });
  for (const token of ids) {
    const started = performance.now();
    const mask = await constraint.allowed();
    maskTimes.push(performance.now() - started);
    if ((((mask[token >>> 5] ?? 0) >>> (token & 31)) & 1) === 0) return false;
    await constraint.push(token, text);
  }
  return constraint.accepts;
}

function summary(values: readonly number[]): { readonly mean: number; readonly p99: number } {
  const sorted = values.toSorted((left, right) => left - right);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean: rounded(mean), p99: rounded(sorted[Math.floor(0.99 * sorted.length)] ?? 0) };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
