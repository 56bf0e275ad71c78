/**
 * Reads a text by a grammar, byte by byte. All readings of the text so far are one state: a set of positions in automata, each with the stack of what
 * follows it. States and the steps between them are computed when they are first needed, and kept.
 */
import { getOrInsert } from "../../../../contract/checked.ts";
import type { Automaton } from "../automata/automaton.ts";
import type { JsonString } from "../automata/json-string.ts";
import type { WordTrie } from "../automata/words.ts";
import { chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { checkGrammar } from "./check-grammar.ts";
import { type GrammarNode, type ObjectNode, literalNode } from "./grammar.ts";
import { afterColon, lineBreak } from "./json-layout.ts";
import { LeftFactoring } from "./left-factoring.ts";
import {
  type MachineState,
  type ObjectPart,
  type Position,
  type Stack,
  type StackPart,
  type Thread,
  getDetail,
} from "./machine-state.ts";
import { ObjectMembers } from "./object-members.ts";

/** Greatest number of readings of one text, and of parts that are looked at to find them. */
const [maxPositions, maxParts] = [4096, 65_536];
/** Estimated memory of what is kept before all is dropped; what is in use stays with its texts. */
const maxKeptBytes = 32 * 2 ** 20;
/** Of a link of a stack or a position, of a state, and of each position of a state; of the steps of a state. */
const newLinkSteps = 8;
const [linkBytes, stateBytes, positionBytes, stepsBytes] = [300, 300, 20, 1000];

const [braceOpen, braceClose, comma, colon] = ["{", "}", ",", ":"].map(literalNode) as [
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
  readonly #factoring: LeftFactoring;
  readonly #members = new Map<ObjectNode, ObjectMembers>();
  readonly #numbers = new Map<object, number>();
  readonly #stacks = new Map<string, Stack>();
  readonly #threads = new Map<string, Thread>();
  readonly #states = new Map<string, MachineState>();
  #count = 0;
  #keptBytes = 0;
  #generation = 0;

  /** Throws as `checkGrammar`. */
  constructor(root: GrammarNode) {
    this.#dead = checkGrammar(root).dead;
    this.#factoring = new LeftFactoring(this.#dead);
    const reading = new Reading();
    this.#expand(this.#push({ kind: "node", node: root }, undefined), reading);
    this.start = this.#getState(reading);
  }

  /** Estimated memory in bytes of the states that were computed and are kept. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Number of times that all states were dropped, except the first and the ones in use. */
  get generation(): number {
    return this.#generation;
  }

  /** The state after a byte; undefined if the text does not fit. */
  step(state: MachineState, byte: number): MachineState | undefined {
    const known = state.next[byte];
    if (known !== undefined) return known ?? undefined;
    const next = this.#next(state.positions, byte);
    if (state.next.length === 0) this.#keptBytes += stepsBytes;
    state.next[byte] = next ?? null;
    return next;
  }

  #next(positions: readonly Position[], byte: number): MachineState | undefined {
    chargeSteps(1 + positions.length);
    const [first] = positions;
    if (first !== undefined && positions.length === 1) {
      const { automaton, state, thread } = first;
      const after = automaton.step(state, byte);
      if (after < 0) return undefined;
      if (!automaton.accepts(after)) return this.#alone(this.#positionIn(thread, after));
    }
    const reading = new Reading();
    for (const { automaton, state, thread } of positions) {
      const after = automaton.step(state, byte);
      if (after < 0) continue;
      if (automaton.continues(after)) reading.add(this.#positionIn(thread, after));
      if (automaton.accepts(after)) this.#expand(this.#behind(automaton, after, thread.stack), reading);
    }
    return reading.isEmpty ? undefined : this.#getState(reading);
  }

  /** What follows where an automaton has read its text. */
  #behind(automaton: Automaton, state: number, stack: Stack | undefined): Stack | undefined {
    if (stack?.part.kind === "switch") {
      const { node } = stack.part;
      return this.#pushNode(node.cases[(automaton as WordTrie).wordAt(state)] as GrammarNode, stack.rest);
    }
    if (stack?.part.kind === "object" && stack.part.place === "property") {
      const { node, remaining } = stack.part;
      const { property, rest } = this.#getMembers(node).read(automaton as JsonString, state, remaining);
      return this.#pushMember(property.value, { ...stack.part, remaining: rest }, stack.rest);
    }
    return stack;
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
      chargeSteps(2);
      if (reading.seen.size > maxParts) throw tooAmbiguous();
      this.#expandPart(stack, open, reading);
    }
  }

  #expandPart(stack: Stack, open: (Stack | undefined)[], reading: Reading): void {
    const { part, rest } = stack;
    switch (part.kind) {
      case "node":
        this.#expandNode(part.node, rest, open, reading);
        break;
      case "repeat":
        open.push(...this.#repeated(part, rest));
        break;
      case "sequence":
        open.push(this.#itemsFrom(part.node, part.at, rest));
        break;
      case "object":
        open.push(...this.#inObject(part, rest));
        if (part.place === "name") this.#addNames(part, rest, reading);
        break;
      case "switch":
        break; // only ever after its automaton
      default:
        part satisfies never;
    }
  }

  #itemsFrom(node: Extract<GrammarNode, { kind: "sequence" }>, at: number, rest: Stack | undefined): Stack | undefined {
    const item = node.items[at];
    if (item === undefined) return rest;
    return this.#pushNode(item, at + 1 < node.items.length ? this.#push({ kind: "sequence", node, at: at + 1 }, rest) : rest);
  }

  #expandNode(node: GrammarNode, rest: Stack | undefined, open: (Stack | undefined)[], reading: Reading): void {
    if (this.#dead.has(node)) return;
    switch (node.kind) {
      case "text": {
        const automaton = node.automaton.atDepth?.(rest?.depth ?? 0) ?? node.automaton;
        if (automaton.continues(automaton.start)) reading.add(this.#position(automaton, automaton.start, rest));
        if (automaton.accepts(automaton.start)) open.push(rest);
        break;
      }
      case "sequence":
        open.push(this.#itemsFrom(node, 0, rest));
        break;
      case "choice":
        for (const option of this.#factoring.options(node)) open.push(this.#pushNode(option, rest));
        break;
      case "switch":
        reading.add(this.#position(node.words, node.words.start, this.#push({ kind: "switch", node }, rest)));
        break;
      case "repeat":
        open.push(this.#push({ kind: "repeat", node, count: 0 }, rest));
        break;
      case "rule":
        if (node.body !== undefined) open.push(this.#pushNode(node.body, rest));
        break;
      case "object": {
        const remaining = this.#getMembers(node).all;
        open.push(this.#pushNode(braceOpen, this.#push({ kind: "object", place: "member", node, remaining, count: 0 }, rest)));
        break;
      }
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

  #inObject(part: ObjectPart, rest: Stack | undefined): readonly (Stack | undefined)[] {
    const { node, remaining, count, place } = part;
    // The required ones need the places that are left.
    const hasPlaces = remaining.required < node.max - count;
    const { others } = this.#getMembers(node);
    if (place === "name")
      return hasPlaces ? others.map(({ name, value }) => this.#pushNode(name, this.#pushMember(value, part, rest))) : [];
    const isEnd = remaining.required === 0 && count >= node.min;
    const hasMembers = count < node.max && (remaining.required > 0 || (hasPlaces && (remaining.count > 0 || others.length > 0)));
    const names = this.#push({ ...part, place: "name" }, rest);
    return [
      ...(isEnd ? [this.#pushAll(count > 0 ? [lineBreak, braceClose] : [braceClose], rest)] : []),
      ...(hasMembers ? [this.#pushAll(count > 0 ? [comma, lineBreak] : [lineBreak], names)] : []),
    ];
  }

  /** Adds the names of the properties that may follow. */
  #addNames(part: ObjectPart, rest: Stack | undefined, reading: Reading): void {
    const { node, remaining, count } = part;
    const onlyRequired = remaining.required >= node.max - count;
    if ((onlyRequired ? remaining.required : remaining.count) === 0) return;
    const names = this.#getMembers(node).names(remaining, onlyRequired);
    reading.add(this.#position(names, names.start, this.#push({ ...part, place: "property" }, rest)));
  }

  /** What follows the name of a member: its value, then other members. */
  #pushMember(value: GrammarNode, part: ObjectPart, rest: Stack | undefined): Stack | undefined {
    const { node, count } = part;
    const cap = node.max === Number.POSITIVE_INFINITY ? Math.max(node.min, 1) : node.max;
    const behind = this.#push({ ...part, place: "member", count: Math.min(count + 1, cap) }, rest);
    return this.#pushAll([colon, afterColon, value], behind);
  }

  #getMembers(node: ObjectNode): ObjectMembers {
    return getOrInsert(this.#members, node, () => new ObjectMembers(node, this.#dead));
  }

  #pushAll(nodes: readonly GrammarNode[], rest: Stack | undefined): Stack | undefined {
    return nodes.reduceRight<Stack | undefined>((stack, node) => this.#pushNode(node, stack), rest);
  }

  #pushNode(node: GrammarNode, rest: Stack | undefined): Stack {
    return this.#push({ kind: "node", node }, rest);
  }

  #push(part: StackPart, rest: Stack | undefined): Stack {
    const key = `${part.kind} ${this.#getNumber(part.node)} ${getDetail(part)} ${rest?.number ?? -1}`;
    const known = this.#stacks.get(key);
    if (known !== undefined) return known;
    chargeSteps(newLinkSteps);
    this.#keptBytes += linkBytes;
    const isNested = part.kind === "object" || (part.kind === "sequence" && part.node.isList === true);
    const stack: Stack = { number: this.#count++, part, rest, depth: (rest?.depth ?? 0) + (isNested ? 1 : 0) };
    this.#stacks.set(key, stack);
    return stack;
  }

  #position(automaton: Automaton, state: number, stack: Stack | undefined): Position {
    const key = `${this.#getNumber(automaton)} ${stack?.number ?? -1}`;
    const thread = this.#threads.get(key) ?? {
      automaton,
      stack,
      positions: new Map<number, Position>(),
      generation: this.#generation,
    };
    this.#threads.set(key, thread);
    return this.#positionIn(thread, state);
  }

  #positionIn(thread: Thread, state: number): Position {
    if (thread.generation !== this.#generation) {
      thread.positions.clear();
      thread.generation = this.#generation;
    }
    const known = thread.positions.get(state);
    if (known !== undefined) return known;
    chargeSteps(newLinkSteps);
    this.#keptBytes += linkBytes;
    const { automaton } = thread;
    const position: Position = { number: this.#count++, automaton, state, thread, alone: undefined };
    thread.positions.set(state, position);
    return position;
  }

  #getNumber(part: object): number {
    const known = this.#numbers.get(part);
    if (known !== undefined) return known;
    this.#numbers.set(part, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** The state in which a position is the only reading, and the text may not end. */
  #alone(position: Position): MachineState {
    position.alone ??= this.#newState([position], false);
    return position.alone;
  }

  #getState({ positions, accepts }: Reading): MachineState {
    const [only] = positions;
    if (positions.size === 1 && only !== undefined && !accepts) return this.#alone(only);
    const sorted = [...positions].toSorted((left, right) => left.number - right.number);
    if (sorted.length > maxPositions) throw tooAmbiguous();
    const key = `${accepts} ${sorted.map(({ number }) => number).join(",")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = this.#newState(sorted, accepts);
    this.#states.set(key, state);
    return state;
  }

  #newState(positions: readonly Position[], accepts: boolean): MachineState {
    if (this.#keptBytes > maxKeptBytes) this.#forget();
    this.#keptBytes += stateBytes + positionBytes * positions.length;
    return { positions, accepts, next: [] };
  }

  /** Numbers go on counting, so that nothing that is still in use is taken for something else. */
  #forget(): void {
    this.#states.clear();
    this.#threads.clear();
    this.#stacks.clear();
    for (const members of this.#members.values()) members.forget();
    this.start.next.length = 0;
    this.#keptBytes = 0;
    this.#generation += 1;
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

function tooAmbiguous(): Error {
  return constraintRefusal(`a text can be read in more than ${maxPositions} ways`, "make the grammar less ambiguous");
}
