/** White space of JSON, as printers write it: none before a colon or a comma, and at most one line end, so that no model goes on with it for ever. */
import type { Automaton } from "../automata/automaton.ts";
import { WordLiteral } from "../automata/words.ts";
import { type GrammarNode, repeat, textNode } from "./grammar.ts";

/** Greatest indentation of one level, in spaces, and number of levels that are told apart. */
const [maxSpaces, maxLevels] = [4, 20];

const [start, behindSpace, behindReturn, behindLine] = [0, 1, 2, 3];
/** With so many spaces or tabs after the line end. */
const spaces = (count: number): number => behindLine + count;
const tabs = (count: number): number => (count === 0 ? behindLine : spaces(maxSpaces * maxLevels) + count);

/** Nothing, a space, or a line end with the indentation of a level at most: spaces, or tabs. */
class LineBreak implements Automaton {
  readonly start = start;
  readonly #level: number;

  constructor(level: number) {
    this.#level = level;
  }

  step(state: number, byte: number): number {
    const level = this.#level;
    switch (byte) {
      case 0x20:
        if (state === start) return behindSpace;
        return state >= behindLine && state < spaces(maxSpaces * level) ? state + 1 : -1;
      case 0x09:
        if (state === behindLine && level > 0) return tabs(1);
        return state > spaces(maxSpaces * maxLevels) && state < tabs(level) ? state + 1 : -1;
      case 0x0d:
        return state === start ? behindReturn : -1;
      case 0x0a:
        return state === start || state === behindReturn ? behindLine : -1;
      default:
        return -1;
    }
  }

  accepts(state: number): boolean {
    return state !== behindReturn;
  }

  continues(state: number): boolean {
    return [0x20, 0x09, 0x0a].some((byte) => this.step(state, byte) >= 0);
  }

  atDepth(depth: number): Automaton {
    return byLevel[Math.min(depth, maxLevels)] as Automaton;
  }
}

const byLevel: readonly Automaton[] = Array.from({ length: maxLevels + 1 }, (_, level) => new LineBreak(level));

/** After an opening bracket or a comma, and before a closing bracket: nothing, a space, or a line end with its indentation. */
export const lineBreak: GrammarNode = textNode(new LineBreak(0));

/** After a colon: nothing, or a space. */
export const afterColon: GrammarNode = repeat(textNode(new WordLiteral(" ")));
