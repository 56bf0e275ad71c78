/** Left factoring: of the options of a choice, those that begin with a literal are read as one trie, however many they are. */
import { addToList, getOrInsert } from "../../../../contract/checked.ts";
import { WordLiteral, WordTrie, sortedWords } from "../automata/words.ts";
import { chargeSteps } from "../constraint-budget.ts";
import { type GrammarNode, choiceOf, sequenceOf, switchOf } from "./grammar.ts";

type Choice = Extract<GrammarNode, { kind: "choice" }>;
type Sequence = Extract<GrammarNode, { kind: "sequence" }>;

/** Sequences and rules that are followed to find what a part begins with. */
const maxDepth = 50;

/** Factors the choices of one grammar, each when it is first read. */
export class LeftFactoring {
  readonly #dead: ReadonlySet<GrammarNode>;
  readonly #factored = new Map<Choice, readonly GrammarNode[]>();
  readonly #tails = new Map<Sequence, GrammarNode>();

  /** `dead`: parts that no text fits. */
  constructor(dead: ReadonlySet<GrammarNode>) {
    this.#dead = dead;
  }

  /** Alternatives, one of which is read. */
  options(node: Choice): readonly GrammarNode[] {
    return getOrInsert(this.#factored, node, () => this.#factor(node));
  }

  #factor(node: Choice): readonly GrammarNode[] {
    const others: GrammarNode[] = [];
    const byWord = new Map<string, GrammarNode[]>();
    const seen = new Set<GrammarNode>([node]);
    for (const option of seen) {
      chargeSteps(1);
      if (this.#dead.has(option)) continue;
      if (option.kind === "choice") {
        for (const inner of option.options) seen.add(inner);
        continue;
      }
      if (option.kind === "rule" && option.body !== undefined) {
        seen.add(option.body);
        continue;
      }
      const { word, rest } = this.#getHead(option);
      if (word === undefined) others.push(option);
      else {
        addToList(byWord, word, rest);
      }
    }
    if (byWord.size === 0) return others;
    const words = sortedWords([...byWord.keys()]);
    return [
      ...others,
      switchOf(
        WordTrie.of(words),
        words.map((word) => choiceOf(byWord.get(word) ?? [])),
      ),
    ];
  }

  /** The literal with which a part begins, and what follows it. */
  #getHead(option: GrammarNode): { readonly word: string | undefined; readonly rest: GrammarNode } {
    let node = option;
    // From the innermost sequence to the outermost.
    const tails: GrammarNode[] = [];
    for (let depth = 0; depth < maxDepth; depth += 1) {
      if (node.kind === "text" && node.automaton instanceof WordLiteral)
        return { word: node.automaton.word, rest: sequenceOf(tails.toReversed()) };
      if (node.kind === "rule" && node.body !== undefined) node = node.body;
      else if (node.kind === "sequence" && node.items[0] !== undefined) {
        tails.push(this.#getTail(node));
        [node] = node.items as [GrammarNode];
      } else break;
    }
    return { word: undefined, rest: option };
  }

  /** What follows the first item of a sequence. */
  #getTail(node: Sequence): GrammarNode {
    return getOrInsert(this.#tails, node, () => withoutFirst(node));
  }
}

function withoutFirst({ items, isList }: Sequence): GrammarNode {
  const rest = sequenceOf(items.slice(1));
  return isList === true && rest.kind === "sequence" ? { ...rest, isList } : rest;
}
