/**
 * Reads a text by a grammar, byte by byte. All readings of the text so far are one state: a set of positions in automata, each with the stack of what
 * follows it. States and the steps between them are computed when they are first needed, and kept.
 */
import type { Automaton } from "../automata/automaton.ts";
import { refusal } from "../refusal.ts";
import { type GrammarNode, type ObjectNode, type ObjectProperty, checkGrammar, literal } from "./grammar.ts";

/** What follows a position: a linked list, each link of which exists once. */
interface Stack {
  readonly number: number;
  readonly part: StackPart;
  /** Undefined: the end of the text. */
  readonly rest: Stack | undefined;
}

type StackPart =
  | { readonly kind: "node"; readonly node: GrammarNode }
  /** `count`: how often it was read. */
  | { readonly kind: "repeat"; readonly node: Extract<GrammarNode, { kind: "repeat" }>; readonly count: number }
  /** Behind `{` or a member, before a name, or behind one. `seen`: a bit for each property. */
  | {
      readonly kind: "object";
      readonly place: "member" | "name";
      readonly node: ObjectNode;
      readonly seen: bigint;
      readonly count: number;
    };

/** A position in an automaton. */
interface Position {
  readonly number: number;
  readonly automaton: Automaton;
  readonly state: number;
  readonly stack: Stack | undefined;
}

/** All readings of a text. */
export interface MachineState {
  readonly positions: readonly Position[];
  /** Whether the text may end here. */
  readonly accepts: boolean;
  /** By byte: the next state; null: none; undefined: not computed. */
  readonly next: (MachineState | null | undefined)[];
}

/** Greatest number of readings of one text. */
const maxPositions = 4096;
/** States that are kept before all are dropped; those in use stay with their texts. */
const maxStates = 20_000;

const [braceOpen, braceClose, comma, colon] = ["{", "}", ",", ":"].map(literal) as [
  GrammarNode,
  GrammarNode,
  GrammarNode,
  GrammarNode,
];

/** Reads texts by a grammar. */
export class PushdownMachine {
  /** The state of the empty text. */
  readonly start: MachineState;
  readonly #dead: ReadonlySet<GrammarNode>;
  readonly #numbers = new Map<object, number>();
  readonly #stacks = new Map<string, Stack>();
  readonly #positions = new Map<string, Position>();
  readonly #states = new Map<string, MachineState>();
  #count = 0;

  /** Throws as `checkGrammar`. */
  constructor(root: GrammarNode) {
    this.#dead = checkGrammar(root).dead;
    const reading = new Reading();
    this.#expand(this.#push({ kind: "node", node: root }, undefined), reading);
    this.start = this.#stateOf(reading);
  }

  /** The state after a byte; undefined if the text does not fit. */
  step(state: MachineState, byte: number): MachineState | undefined {
    const known = state.next[byte];
    if (known !== undefined) return known ?? undefined;
    const reading = new Reading();
    for (const { automaton, state: before, stack } of state.positions) {
      const after = automaton.step(before, byte);
      if (after < 0) continue;
      if (automaton.continues(after)) reading.add(this.#position(automaton, after, stack));
      if (automaton.accepts(after)) this.#expand(stack, reading);
    }
    const next = reading.isEmpty ? null : this.#stateOf(reading);
    state.next[byte] = next;
    return next ?? undefined;
  }

  /** Adds the positions at which a stack begins. */
  #expand(from: Stack | undefined, reading: Reading): void {
    const open: (Stack | undefined)[] = [from];
    while (open.length > 0) {
      const stack = open.pop();
      if (stack === undefined) {
        reading.accepts = true;
        continue;
      }
      if (reading.seen.has(stack)) continue;
      reading.seen.add(stack);
      if (reading.seen.size > maxPositions) throw tooAmbiguous();
      const { part, rest } = stack;
      if (part.kind === "node") this.#expandNode(part.node, rest, open, reading);
      else if (part.kind === "repeat") open.push(...this.#repeated(part, rest));
      else open.push(...this.#inObject(part, rest));
    }
  }

  #expandNode(node: GrammarNode, rest: Stack | undefined, open: (Stack | undefined)[], reading: Reading): void {
    if (this.#dead.has(node)) return;
    switch (node.kind) {
      case "text": {
        const { automaton } = node;
        if (automaton.continues(automaton.start)) reading.add(this.#position(automaton, automaton.start, rest));
        if (automaton.accepts(automaton.start)) open.push(rest);
        break;
      }
      case "sequence":
        open.push(this.#pushAll(node.items, rest));
        break;
      case "choice":
        for (const option of node.options) open.push(this.#pushNode(option, rest));
        break;
      case "repeat":
        open.push(this.#push({ kind: "repeat", node, count: 0 }, rest));
        break;
      case "rule":
        if (node.body !== undefined) open.push(this.#pushNode(node.body, rest));
        break;
      case "object":
        open.push(this.#pushNode(braceOpen, this.#push({ kind: "object", place: "member", node, seen: 0n, count: 0 }, rest)));
        break;
      default:
        node satisfies never;
    }
  }

  #repeated({ node, count }: Extract<StackPart, { kind: "repeat" }>, rest: Stack | undefined): readonly (Stack | undefined)[] {
    const { item, min, max } = node;
    const next = max === Number.POSITIVE_INFINITY ? Math.min(count + 1, min) : count + 1;
    return [
      ...(count >= min ? [rest] : []),
      ...(count < max && !this.#dead.has(item)
        ? [this.#pushNode(item, this.#push({ kind: "repeat", node, count: next }, rest))]
        : []),
    ];
  }

  #inObject(part: Extract<StackPart, { kind: "object" }>, rest: Stack | undefined): readonly (Stack | undefined)[] {
    const { node, seen, count, place } = part;
    const missing = node.properties.filter(({ isRequired }, index) => isRequired && !isSeen(seen, index)).length;
    if (place === "member") {
      const isEnd = missing === 0 && count >= node.min;
      const names = this.#push({ ...part, place: "name" }, rest);
      return [
        ...(isEnd ? [this.#pushAll([node.space, braceClose], rest)] : []),
        ...(this.#hasMembers(part, missing)
          ? [this.#pushAll(count > 0 ? [node.space, comma, node.space] : [node.space], names)]
          : []),
      ];
    }
    const cap = node.max === Number.POSITIVE_INFINITY ? Math.max(node.min, 1) : node.max;
    const next = Math.min(count + 1, cap);
    // The required ones need the places that are left.
    const hasPlaces = missing < node.max - count;
    const member = (
      { key, value }: { readonly key: GrammarNode; readonly value: GrammarNode },
      after: bigint,
    ): readonly (Stack | undefined)[] => {
      if (this.#dead.has(key) || this.#dead.has(value)) return [];
      const behind = this.#push({ kind: "object", place: "member", node, seen: after, count: next }, rest);
      return [this.#pushAll([key, node.space, colon, node.space, value], behind)];
    };
    return [
      ...node.properties.flatMap((property, index) =>
        isSeen(seen, index) || (!property.isRequired && !hasPlaces) ? [] : member(property, seen | (1n << BigInt(index))),
      ),
      ...(hasPlaces ? node.others.flatMap((other) => member(other, seen)) : []),
    ];
  }

  /** Whether a member may follow. `missing`: number of required members that have not been read. */
  #hasMembers({ node, seen, count }: Extract<StackPart, { kind: "object" }>, missing: number): boolean {
    const hasPlaces = missing < node.max - count;
    const isPossible = ({ key, value }: Pick<ObjectProperty, "key" | "value">): boolean =>
      !this.#dead.has(key) && !this.#dead.has(value);
    return (
      count < node.max &&
      (node.properties.some(
        (property, index) => !isSeen(seen, index) && (property.isRequired || hasPlaces) && isPossible(property),
      ) ||
        (hasPlaces && node.others.some(isPossible)))
    );
  }

  #pushAll(nodes: readonly GrammarNode[], rest: Stack | undefined): Stack | undefined {
    return nodes.reduceRight<Stack | undefined>((stack, node) => this.#pushNode(node, stack), rest);
  }

  #pushNode(node: GrammarNode, rest: Stack | undefined): Stack {
    return this.#push({ kind: "node", node }, rest);
  }

  #push(part: StackPart, rest: Stack | undefined): Stack {
    const detail = part.kind === "node" ? "" : part.kind === "repeat" ? part.count : `${part.place}${part.seen},${part.count}`;
    const key = `${part.kind} ${this.#numberOf(part.node)} ${detail} ${rest?.number ?? -1}`;
    const known = this.#stacks.get(key);
    if (known !== undefined) return known;
    const stack: Stack = { number: this.#count++, part, rest };
    this.#stacks.set(key, stack);
    return stack;
  }

  #position(automaton: Automaton, state: number, stack: Stack | undefined): Position {
    const key = `${this.#numberOf(automaton)} ${state} ${stack?.number ?? -1}`;
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    const position: Position = { number: this.#count++, automaton, state, stack };
    this.#positions.set(key, position);
    return position;
  }

  #numberOf(part: object): number {
    const known = this.#numbers.get(part);
    if (known !== undefined) return known;
    this.#numbers.set(part, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  #stateOf({ positions, accepts }: Reading): MachineState {
    const sorted = [...positions].toSorted((left, right) => left.number - right.number);
    if (sorted.length > maxPositions) throw tooAmbiguous();
    const key = `${accepts} ${sorted.map(({ number }) => number).join(",")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= maxStates) this.#forget();
    const state: MachineState = { positions: sorted, accepts, next: [] };
    this.#states.set(key, state);
    return state;
  }

  /** Numbers go on counting, so that nothing that is still in use is taken for something else. */
  #forget(): void {
    this.#states.clear();
    this.#positions.clear();
    this.#stacks.clear();
    this.start.next.length = 0;
  }
}

/** Readings that are being collected. */
class Reading {
  readonly positions: Set<Position> = new Set();
  readonly seen: Set<Stack> = new Set();
  accepts = false;

  get isEmpty(): boolean {
    return this.positions.size === 0 && !this.accepts;
  }

  add(position: Position): void {
    this.positions.add(position);
  }
}

function isSeen(seen: bigint, index: number): boolean {
  return ((seen >> BigInt(index)) & 1n) === 1n;
}

function tooAmbiguous(): Error {
  return refusal(`a text can be read in more than ${maxPositions} ways`, "make the grammar less ambiguous");
}
