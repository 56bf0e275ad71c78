/** Why a chat template gives no text. */

/** The template called `raise_exception`: it does not accept the conversation. */
export class TemplateRefusal extends Error {}

/** Name of a bounded resource of a rendering. */
export type BoundName = "characters" | "nesting" | "steps" | "bytes" | "digits" | "milliseconds" | "heapMebibytes";

/** The error of a template that exceeds a bound. */
export class TemplateBound extends Error {
  readonly bound: BoundName;
  readonly limit: number;
  /** Requested amount, if known: more than the limit. */
  readonly number: number | undefined;

  constructor(bound: BoundName, limit: number, message: string, number?: number) {
    super(message);
    this.bound = bound;
    this.limit = limit;
    this.number = number;
  }
}

/** The template is not Jinja, or an operation of it fails, as Jinja2 reports it. */
export class TemplateFailure extends Error {
  /** Line of the template, from 1, where it is known. */
  line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** The template uses a part of Jinja2 that this interpreter does not have: Jinja2 would render it. */
export class TemplateUnsupported extends TemplateFailure {}
