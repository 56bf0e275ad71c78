/**
 * Regular expressions of ECMAScript as automata. The expressions are parsed by @eslint-community/regexpp. Not those of src/regular-expressions/, which search
 * texts: these are intersected and complemented, and say of every state whether a text that fits can be reached.
 */
import { getOrInsert } from "../../../../contract/checked.ts";
import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";
import { InferyardError, getMessage } from "../../../../contract/errors.ts";
import { chargeSteps, withinBudget } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { type Dfa, difference, emptyDfa, intersection, lengthDfa } from "./automaton.ts";
import { type CodePointRange, characterSet } from "./code-points.ts";
import { ByteNfa } from "./byte-nfa.ts";

/** Where matches are sought. */
export interface RegularExpressionOptions {
  /** Whether the whole text must match; otherwise any part of it, as `RegExp.test` does. Default: false. */
  readonly whole?: boolean;
  /** Flags of the expression: "i" and "s" are supported, "u" is implied. Default: none. */
  readonly flags?: string;
}

/**
 * The texts that a regular expression matches. Throws INPUT_INVALID for an invalid one, and for constructs that are not regular or not supported: references to
 * groups, lookbehind, word boundaries, lookahead other than at the start.
 */
export function regularExpressionDfa(source: string, options: RegularExpressionOptions = {}): Dfa {
  return withinBudget(() => compileExpression(source, options));
}

function compileExpression(source: string, { whole = false, flags = "" }: RegularExpressionOptions): Dfa {
  chargeSteps(2000 + 20 * source.length);
  const other = /[^isudg]/.exec(flags)?.[0];
  if (other !== undefined)
    throw constraintRefusal(`the flag ${other} of a regular expression is not supported`, "write it without this flag");
  const { alternatives } = parse(source);
  const compile = new Compiler({ ignoreCase: flags.includes("i"), dotAll: flags.includes("s"), whole });
  // Lookahead at the start is an intersection; alternatives that have none are compiled together.
  const plain = alternatives.filter((alternative) => leadingLookaheads(alternative).length === 0);
  const others = alternatives.filter((alternative) => leadingLookaheads(alternative).length > 0);
  const parts = others.map((alternative) => compile.withLookaheads(alternative));
  if (plain.length > 0 || alternatives.length === 0) parts.push(compile.alternatives(plain));
  return parts.length === 1 ? (parts[0] ?? emptyDfa) : union(parts);
}

function parse(source: string): AST.Pattern {
  const parser = new RegExpParser({ ecmaVersion: 2024 });
  try {
    return parser.parsePattern(source, 0, source.length, { unicode: true });
  } catch (error) {
    try {
      const pattern = parser.parsePattern(source, 0, source.length, { unicode: false });
      refuseForeign(pattern);
      return pattern;
    } catch (other) {
      if (other instanceof InferyardError) throw other;
      throw constraintRefusal(
        `the regular expression ${shortened(JSON.stringify(source))} is invalid: ${shortened(getMessage(error))}`,
        "correct it",
      );
    }
  }
}

/**
 * Without the flag "u", under which expressions that escape punctuation are read, escapes of other languages are the letter itself: `\Z` would be a Z. Throws INPUT_INVALID for
 * these, and for classes of POSIX.
 */
function refuseForeign(pattern: AST.Pattern): void {
  visitRegExpAST(pattern, {
    onCharacterEnter({ raw, value }) {
      const isOther = /^\\[A-Za-z1-9]/.test(raw) && (raw.codePointAt(1) === value || /^\\\d/.test(raw));
      if (isOther || raw === "\\")
        throw constraintRefusal(`${raw} is no escape of ECMAScript's regular expressions`, "write the expression without it");
    },
    onCharacterClassEnter({ raw }) {
      if (/\[:\^?[a-z]+:\]$/.test(raw))
        throw constraintRefusal(
          `${shortened(raw)} has a class of POSIX, which ECMAScript's regular expressions do not have`,
          "list its characters",
        );
    },
  });
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function union(parts: readonly Dfa[]): Dfa {
  const all = lengthDfa(0, Number.POSITIVE_INFINITY);
  return difference(all, intersection(...(parts.map((part) => difference(all, part)) as [Dfa, ...Dfa[]])));
}

/** Assertions before the first element that reads a character, after ^. */
function leadingLookaheads({ elements }: AST.Alternative): readonly AST.LookaheadAssertion[] {
  const found: AST.LookaheadAssertion[] = [];
  for (const element of elements) {
    if (element.type !== "Assertion") break;
    if (element.kind === "lookahead") found.push(element);
    else if (element.kind !== "start") break;
  }
  return found;
}

interface CompileSettings {
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
  readonly whole: boolean;
}

class Compiler {
  readonly #settings: CompileSettings;
  readonly #sets = new Map<string, readonly CodePointRange[]>();

  constructor(settings: CompileSettings) {
    this.#settings = settings;
  }

  alternatives(alternatives: readonly AST.Alternative[]): Dfa {
    const { whole } = this.#settings;
    const nfa = new ByteNfa();
    const end = whole ? nfa.state() : nfa.final();
    const start = whole ? nfa.state() : nfa.anyBefore();
    const [from, to] = [nfa.state(), nfa.state()];
    nfa.empty(start, from);
    nfa.empty(to, end);
    for (const { elements } of alternatives) this.#sequence(nfa, elements, from, to);
    return nfa.determine(start, end);
  }

  /** `^(?=a)(?!b)c`: what matches `^c`, and `^a`, and not `^b`. */
  withLookaheads(alternative: AST.Alternative): Dfa {
    const lookaheads = leadingLookaheads(alternative);
    const isAnchored = alternative.elements[0]?.type === "Assertion" && alternative.elements[0].kind === "start";
    if (!isAnchored && !this.#settings.whole)
      throw constraintRefusal("lookahead is supported behind ^ only", "write ^ before it");
    const rest = alternative.elements.filter((element) => !lookaheads.includes(element as AST.LookaheadAssertion));
    const all = lengthDfa(0, Number.POSITIVE_INFINITY);
    const anywhere = new Compiler({ ...this.#settings, whole: false });
    return lookaheads.reduce(
      (dfa, { negate, alternatives }) => {
        const ahead = anywhere.#anchored(alternatives);
        return negate ? difference(dfa, ahead) : intersection(dfa, ahead);
      },
      intersection(all, this.#plain(rest)),
    );
  }

  #plain(elements: readonly AST.Element[]): Dfa {
    const { whole } = this.#settings;
    const nfa = new ByteNfa();
    const end = whole ? nfa.state() : nfa.final();
    const start = nfa.state();
    this.#sequence(nfa, elements, start, end);
    return nfa.determine(start, end);
  }

  #anchored(alternatives: readonly AST.Alternative[]): Dfa {
    const nfa = new ByteNfa();
    const end = nfa.final();
    const start = nfa.state();
    for (const { elements } of alternatives) this.#sequence(nfa, elements, start, end);
    return nfa.determine(start, end);
  }

  #sequence(nfa: ByteNfa, elements: readonly AST.Element[], from: number, to: number): void {
    let place = from;
    for (const element of elements) {
      const next = nfa.state();
      this.#element(nfa, element, place, next);
      place = next;
    }
    nfa.empty(place, to);
  }

  #element(nfa: ByteNfa, element: AST.Element, from: number, to: number): void {
    switch (element.type) {
      case "Assertion":
        if (element.kind === "start") nfa.atStart(from, to);
        else if (element.kind === "end") nfa.atEnd(from, to);
        else
          throw constraintRefusal(
            `${element.raw} in a regular expression is not supported there`,
            "write the expression without it",
          );
        break;
      case "Group":
      case "CapturingGroup":
        if (element.type === "Group" && element.modifiers !== null)
          throw constraintRefusal("modifiers in a regular expression are not supported", "write it without them");
        for (const { elements } of element.alternatives) this.#sequence(nfa, elements, from, to);
        break;
      case "Quantifier":
        this.#repeat(nfa, element, from, to);
        break;
      case "Character":
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass":
        nfa.read(from, to, this.#ranges(element));
        break;
      case "Backreference":
        throw constraintRefusal(
          `${element.raw} in a regular expression refers to a group, which no automaton can`,
          "write it without references",
        );
      default:
        element satisfies never;
    }
  }

  #ranges(element: Parameters<typeof characterSet>[0]): readonly CodePointRange[] {
    return getOrInsert(this.#sets, element.raw, () => characterSet(element, this.#settings));
  }

  #repeat(nfa: ByteNfa, { element, min, max }: AST.Quantifier, from: number, to: number): void {
    let place = from;
    for (let count = 0; count < min; count += 1) {
      const next = nfa.state();
      this.#element(nfa, element, place, next);
      place = next;
    }
    if (max === Number.POSITIVE_INFINITY) {
      const [loop, back] = [nfa.state(), nfa.state()];
      nfa.empty(place, loop);
      this.#element(nfa, element, loop, back);
      nfa.empty(back, loop);
      nfa.empty(loop, to);
      return;
    }
    for (let count = min; count < max; count += 1) {
      const next = nfa.state();
      nfa.empty(place, to);
      this.#element(nfa, element, place, next);
      place = next;
    }
    nfa.empty(place, to);
  }
}
