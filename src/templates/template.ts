/**
 * Chat templates: Jinja as transformers renders it (Jinja2 3.1 in its immutable sandbox, with loop controls, `tojson`, `raise_exception`, `strftime_now` and the block
 * `generation`), within bounds, since a model's template is a stranger's program.
 */
import { Budget, maxBytes, maxDepth, maxTemplateCharacters, type TemplateLimits, templateLimits } from "./budget.ts";
import { TemplateBound, TemplateFailure, TemplateRefusal } from "./errors.ts";
import { Renderer } from "./renderer.ts";
import { parseStatements } from "./syntax/template-parser.ts";
import type { TemplateStatement } from "./syntax/nodes.ts";
import { parseTemplateJson } from "./values/json.ts";
import { Dict, type TemplateValue } from "./values/values.ts";

/** A parsed template. */
export interface Template {
  readonly body: readonly TemplateStatement[];
}

/** Further settings of a rendering. */
export interface RenderOptions {
  /** Time that `strftime_now` returns. */
  readonly now: Date;
  /** Default: `templateLimits` of the variables. */
  readonly limits?: TemplateLimits;
}

/** Parses a template. Throws TemplateFailure for one that is not Jinja, and TemplateBound for one that is too long or nested too deeply. */
export function parseTemplate(source: string): Template {
  if (source.length > maxTemplateCharacters) {
    throw new TemplateBound(
      "characters",
      maxTemplateCharacters,
      `has more than ${maxTemplateCharacters} characters`,
      source.length,
    );
  }
  return { body: guarded(() => parseStatements(source)) };
}

/**
 * The text that a template makes of variables: the JSON text of an object. Numbers and the order of keys are as in the text. Throws TemplateRefusal if the
 * template calls `raise_exception`, TemplateBound beyond a bound, and TemplateFailure where Jinja2 would fail.
 */
export function renderTemplate(
  { body }: Template,
  variables: string,
  { now, limits = templateLimits(variables.length) }: RenderOptions,
): string {
  const renderer = new Renderer(new Budget(limits), now);
  return guarded(() => {
    try {
      return renderer.render(body, getVariables(parseTemplateJson(variables)));
    } catch (error) {
      if (error instanceof TemplateFailure) error.line ??= renderer.currentLine;
      throw error;
    }
  });
}

function getVariables(value: TemplateValue): Map<string, TemplateValue> {
  const variables = new Map<string, TemplateValue>();
  if (value instanceof Dict) for (const [name, each] of value.entries()) if (typeof name === "string") variables.set(name, each);
  return variables;
}

/** Names the limits of the machine, which the counted ones stay below. */
function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError) || error instanceof TemplateRefusal) throw error;
    if (error.message.includes("stack")) throw new TemplateBound("nesting", maxDepth, "nests more than the stack holds");
    throw new TemplateBound("bytes", maxBytes, `makes a text or list that is too large (${error.message})`);
  }
}
