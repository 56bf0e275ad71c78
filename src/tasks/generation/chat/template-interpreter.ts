/** Runs chat templates (Jinja) with bounds, since a model's template is a stranger's program. */
import * as jinja from "@huggingface/jinja";
import { formatDate } from "../../../templates/builtins/format-date.ts";

/** A parsed template. */
export interface ParsedTemplate {
  readonly body: readonly unknown[];
}

/** A value of a template. */
interface Value {
  readonly value: unknown;
}

/** Variables of a template. */
interface Environment {
  set(name: string, value: unknown): unknown;
}

/** The part of the package that is used here; its own declarations import files without extensions, which TypeScript does not resolve for modules. */
interface Jinja {
  readonly Environment: new () => Environment;
  readonly Interpreter: new (environment: Environment) => {
    evaluate(statement: unknown, environment: Environment): Value;
    run(program: ParsedTemplate): Value;
  };
  parse(tokens: unknown): ParsedTemplate;
  tokenize(template: string, options: { readonly lstrip_blocks: boolean; readonly trim_blocks: boolean }): unknown;
}

const { Environment, Interpreter, parse, tokenize } = jinja as unknown as Jinja;

/** Steps of the interpreter that a template may take: about a second of work. */
const maxSteps = 1_000_000;
/** Characters of the longest text that a template may make. */
const maxCharacters = 20_000_000;
/** Characters of a template. The longest known have about 30,000. */
const maxTemplateCharacters = 500_000;
/** Numbers of the longest `range`. */
const maxRange = 10_000;
/** Milliseconds that a template may take: a loop whose body is empty takes no steps. */
const maxMilliseconds = 5000;

/** A template called `raise_exception`: it does not accept the conversation. */
export class TemplateRefusal extends Error {}

/** A template went beyond a bound. */
export class TemplateBound extends Error {}

class BoundedInterpreter extends Interpreter {
  #steps = 0;
  #characters = 0;
  readonly #started = performance.now();

  override evaluate(statement: unknown, environment: Environment): Value {
    this.#steps += 1;
    if (this.#steps > maxSteps) throw new TemplateBound(`takes more than ${maxSteps} steps`);
    if (performance.now() - this.#started > maxMilliseconds)
      throw new TemplateBound(`takes more than ${maxMilliseconds / 1000} seconds`);
    const value = super.evaluate(statement, environment);
    if (typeof value.value === "string" && value.value.length > 1000) {
      this.#characters += value.value.length;
      if (value.value.length > maxCharacters || this.#characters > 50 * maxCharacters)
        throw new TemplateBound(`makes a text of more than ${maxCharacters} characters`);
    }
    return value;
  }
}

/** Parses a template. Throws Error for one that is not Jinja, and TemplateBound for one that is too long. */
export function parseTemplate(template: string): ParsedTemplate {
  if (template.length > maxTemplateCharacters) throw new TemplateBound(`has more than ${maxTemplateCharacters} characters`);
  return parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true })); // as transformers sets them
}

/** The text that a template makes of variables. Throws TemplateRefusal, TemplateBound, and Error for a template that fails. */
export function runTemplate(program: ParsedTemplate, variables: Readonly<Record<string, unknown>>): string {
  const environment = new Environment();
  const globals = { false: false, true: true, none: null, False: false, True: true, None: null };
  const functions = {
    raise_exception: raise,
    range: boundedRange,
    strftime_now: (format: string) => formatDate(format, new Date()),
  };
  for (const [name, value] of Object.entries({ ...globals, ...functions, ...variables })) environment.set(name, value);
  const { value } = new BoundedInterpreter(environment).run(program);
  return typeof value === "string" ? value : "";
}

function raise(message: unknown): never {
  throw new TemplateRefusal(typeof message === "string" ? message : "no reason given");
}

function boundedRange(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (!(count <= maxRange)) throw new TemplateBound(`counts to more than ${maxRange}`);
  return Array.from({ length: count }, (_, index) => from + index * step);
}
