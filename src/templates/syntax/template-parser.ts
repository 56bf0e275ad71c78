/** Parses templates: the statements of Jinja2, its loop controls, and the block `generation` of transformers. */
import { TemplateFailure, TemplateUnsupported } from "../errors.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { tokenize } from "./lexer.ts";
import type { CallNode, TemplateExpression, MacroNode, MacroSignature, TemplateStatement } from "./nodes.ts";
import { TokenStream, describe } from "./token-stream.ts";

/** Special names of macros. */
const special = ["varargs", "kwargs", "caller"] as const;

/** Parses a template. Throws TemplateFailure for one that is not Jinja, and TemplateBound for one that nests too deeply. */
export function parseStatements(template: string): readonly TemplateStatement[] {
  return new TemplateParser(new TokenStream(tokenize(template))).parseTemplate();
}

type StatementParser = (line: number) => TemplateStatement;

class TemplateParser extends ExpressionParser {
  #loops = 0;

  readonly #statements: Readonly<Record<string, StatementParser>> = {
    for: (line) => this.#for(line),
    if: (line) => this.#if(line),
    set: (line) => this.#set(line),
    with: (line) => this.#with(line),
    macro: () => ({ kind: "macro", macro: this.#macro(this.parseName(), "endmacro") }),
    call: (line) => this.#call(line),
    filter: (line) => ({ kind: "filterBlock", line, filters: this.parseFilters(true), body: this.#body("endfilter") }),
    generation: () => ({ kind: "scope", body: this.#body("endgeneration") }),
    block: () => this.#block(),
    print: (line) => this.#print(line),
    break: () => this.#loopControl("break"),
    continue: () => this.#loopControl("continue"),
    autoescape: (line) => this.#autoescape(line),
  };

  parseTemplate(): readonly TemplateStatement[] {
    const { body, end } = this.#statementsUntil([]);
    if (end !== undefined) throw new TemplateFailure(`Encountered unknown tag '${end}'.`);
    return body;
  }

  /** Statements up to a tag of one of these names, whose name token is the current one. Without such a tag: up to the end of the template. */
  #statementsUntil(ends: readonly string[]): { readonly body: TemplateStatement[]; readonly end: string | undefined } {
    const { stream } = this;
    const body: TemplateStatement[] = [];
    for (;;) {
      const { kind, text, line } = stream.next();
      if (kind === "data") body.push({ kind: "text", text });
      else if (kind === "variableBegin") {
        body.push({ kind: "output", line, value: this.parseTuple() });
        stream.expect("variableEnd");
      } else if (kind === "blockBegin") {
        const { current } = stream;
        if (current.kind === "name" && ends.includes(current.text)) return { body, end: current.text };
        body.push(this.#statement());
        stream.expect("blockEnd");
      } else if (kind === "end") {
        if (ends.length > 0)
          throw stream.failure(`Unexpected end of template. Jinja was looking for the following tags: '${ends.join("' or '")}'.`);
        return { body, end: undefined };
      } else throw stream.failure(`unexpected '${describe(stream.current)}'`);
    }
  }

  #statement(): TemplateStatement {
    const { stream } = this;
    if (!stream.isKind("name")) throw stream.failure("tag name expected");
    const { text: tag, line } = stream.next();
    const parse = Object.hasOwn(this.#statements, tag) ? this.#statements[tag] : undefined;
    if (parse === undefined) throw new TemplateFailure(`Encountered unknown tag '${tag}'.`, line);
    return stream.nested(() => parse(line));
  }

  /** The body of a tag, up to one of these tags, which is left as the current token. */
  #bodyUntil(ends: readonly string[]): { readonly body: readonly TemplateStatement[]; readonly end: string } {
    this.stream.skipOperator(":");
    this.stream.expect("blockEnd");
    const { body } = this.#statementsUntil(ends);
    return { body, end: this.stream.next().text };
  }

  #body(end: string): readonly TemplateStatement[] {
    return this.#bodyUntil([end]).body;
  }

  #for(line: number): TemplateStatement {
    const { stream } = this;
    const target = this.parseTarget({ ends: ["in"] });
    if (!stream.skipName("in")) throw stream.failure(`expected token 'in', got '${describe(stream.current)}'`);
    const over = this.parseTuple({ conditions: false, ends: ["recursive"] });
    const test = stream.skipName("if") ? this.parseExpression() : undefined;
    const recursive = stream.skipName("recursive");
    this.#loops += 1;
    const { body, end } = this.#bodyUntil(["endfor", "else"]);
    this.#loops -= 1;
    const otherwise = end === "else" ? this.#body("endfor") : [];
    return { kind: "for", line, target, over, test, recursive, body, otherwise };
  }

  #if(line: number): TemplateStatement {
    const branches: { readonly test: TemplateExpression; readonly body: readonly TemplateStatement[] }[] = [];
    for (;;) {
      const test = this.parseTuple({ conditions: false });
      const { body, end } = this.#bodyUntil(["elif", "else", "endif"]);
      branches.push({ test, body });
      if (end === "elif") continue;
      return { kind: "if", line, branches, otherwise: end === "else" ? this.#body("endif") : [] };
    }
  }

  #set(line: number): TemplateStatement {
    const target = this.parseTarget({ members: true });
    if (this.stream.skipOperator("=")) return { kind: "set", line, target, value: this.parseTuple() };
    const filters = this.parseFilters(false);
    return { kind: "setBlock", line, target, filters, body: this.#body("endset") };
  }

  #with(line: number): TemplateStatement {
    const bindings: (readonly [ReturnType<TemplateParser["parseTarget"]>, TemplateExpression])[] = [];
    while (!this.stream.isKind("blockEnd")) {
      if (bindings.length > 0) this.stream.expectOperator(",");
      const target = this.parseTarget();
      this.stream.expectOperator("=");
      bindings.push([target, this.parseExpression()]);
    }
    return { kind: "with", line, bindings, body: this.#body("endwith") };
  }

  #call(line: number): TemplateStatement {
    const signature = this.stream.isOperator("(") ? this.#signature() : { names: [], defaults: [] };
    const call = this.parseExpression();
    if (call.kind !== "call") throw new TemplateFailure("expected call", line);
    const caller = this.#macro("caller", "endcall", signature);
    return { kind: "callBlock", line, call: call satisfies CallNode, caller };
  }

  #macro(name: string, end: string, signature: MacroSignature = this.#signature()): MacroNode {
    const reads = new Set<string>();
    this.reads.push(reads);
    const loops = this.#loops;
    this.#loops = 0;
    const body = this.#body(end);
    this.#loops = loops;
    this.reads.pop();
    return { name, ...signature, body, reads: new Set(special.filter((each) => reads.has(each))) };
  }

  #signature(): MacroSignature {
    const { stream } = this;
    const names: string[] = [];
    const defaults: TemplateExpression[] = [];
    stream.expectOperator("(");
    while (!stream.isOperator(")")) {
      if (names.length > 0) stream.expectOperator(",");
      names.push(this.parseName());
      if (stream.skipOperator("=")) defaults.push(this.parseExpression());
      else if (defaults.length > 0) throw stream.failure("non-default argument follows default argument");
    }
    stream.next();
    return { names, defaults };
  }

  /** A block, which no other template can replace. */
  #block(): TemplateStatement {
    const name = this.parseName();
    this.stream.skipName("scoped");
    this.stream.skipName("required");
    const body = this.#body("endblock");
    this.stream.skipName(name);
    return { kind: "scope", body };
  }

  #print(line: number): TemplateStatement {
    const outputs: TemplateStatement[] = [];
    while (!this.stream.isKind("blockEnd")) {
      if (outputs.length > 0) this.stream.expectOperator(",");
      outputs.push({ kind: "output", line, value: this.parseExpression() });
    }
    return { kind: "scope", body: outputs };
  }

  #loopControl(kind: "break" | "continue"): TemplateStatement {
    if (this.#loops === 0) throw this.stream.failure(`'${kind}' outside loop`);
    return { kind };
  }

  #autoescape(line: number): TemplateStatement {
    const value = this.parseExpression();
    if (value.kind !== "constant" || value.value !== false) throw new TemplateUnsupported("autoescape is not supported", line);
    return { kind: "scope", body: this.#body("endautoescape") };
  }
}
