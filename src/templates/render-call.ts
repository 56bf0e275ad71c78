/** Rendering as the rest of the program asks for it: parsed templates are kept, and failures are errors of the contract. */
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { LruMap } from "../concurrency/lru-map.ts";
import { type BoundName, TemplateBound, TemplateFailure, TemplateRefusal, TemplateUnsupported } from "./errors.ts";
import { type Template, parseTemplate, renderTemplate } from "./template.ts";

/** One rendering. It survives a structured clone. */
export interface RenderCall {
  /** Source text of the template. */
  readonly source: string;
  /** The JSON text of an object: the template's variables. */
  readonly variables: string;
  /** Time that `strftime_now` returns, in milliseconds since 1970. */
  readonly now: number;
}

/** Characters of the parsed templates that are kept. */
const maxKeptCharacters = 1_000_000;

/** Renders templates, and keeps the last ones parsed. */
export class TemplateEngine {
  readonly #parsed = new LruMap<Template>(maxKeptCharacters);

  /**
   * The text that a template makes. Throws TEMPLATE_REFUSED with `refusal` in its data if the template calls `raise_exception`, MODEL_UNSUPPORTED if it uses a
   * feature of Jinja2 that is left out here, and MODEL_INVALID if it fails, or exceeds a bound: with `bound` and `limit` in its data.
   */
  render({ source, variables, now }: RenderCall): string {
    try {
      return renderTemplate(this.#template(source), variables, { now: new Date(now) });
    } catch (error) {
      throw contractError(error);
    }
  }

  #template(source: string): Template {
    const kept = this.#parsed.get(source);
    if (kept !== undefined) return kept;
    const template = parseTemplate(source);
    this.#parsed.set(source, template, source.length);
    return template;
  }
}

function contractError(error: unknown): unknown {
  if (error instanceof TemplateRefusal) {
    return new InferyardError("TEMPLATE_REFUSED", `the model's chat template refuses the conversation: ${error.message}`, {
      data: { refusal: error.message },
      remedy: "change the order or the roles of the messages",
    });
  }
  if (error instanceof TemplateBound) return beyondBound(error.message, error);
  if (!(error instanceof TemplateFailure)) return error;
  const line = error.line === undefined ? {} : { line: error.line };
  if (error instanceof TemplateUnsupported) {
    return new InferyardError(
      "MODEL_UNSUPPORTED",
      `the model's chat template uses what this version does not have: ${error.message}`,
      {
        data: line,
        remedy: "render the prompt yourself and give it to `generate`",
      },
    );
  }
  const place = error.line === undefined ? "" : ` in line ${error.line}`;
  return new InferyardError("MODEL_INVALID", `the model's chat template fails${place}: ${error.message}`, {
    data: line,
    remedy: correction,
  });
}

const correction = "correct chat_template in tokenizer_config.json, or render the prompt yourself and give it to `generate`";

/** The bound that a template exceeded. */
export interface ExceededBound {
  readonly bound: BoundName;
  readonly limit: number;
  /** Requested amount, if known. */
  readonly number?: number | undefined;
}

/** The error of a template that exceeds a bound: "takes more than 2000000 steps". */
export function beyondBound(problem: string, { bound, limit, number }: ExceededBound): InferyardError {
  const data = { bound, limit, ...omitUndefined({ number }) };
  return new InferyardError("MODEL_INVALID", `the model's chat template ${problem}`, { data, remedy: correction });
}
