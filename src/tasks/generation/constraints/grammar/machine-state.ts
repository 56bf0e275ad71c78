/** States of a pushdown machine: positions in automata, each with the stack of what follows it. */
import type { Automaton } from "../automata/automaton.ts";
import type { GrammarNode, ObjectNode } from "./grammar.ts";
import type { MemberSet } from "./member-set.ts";

/** The parts that follow a position: a linked list. Equal lists are the same object. */
export interface Stack {
  readonly number: number;
  readonly part: StackPart;
  /** The parts that follow. Undefined: the end of the text. */
  readonly rest: Stack | undefined;
  /** Number of objects and lists of JSON that are open. */
  readonly depth: number;
}

/** A part of a grammar that follows a position. */
export type StackPart =
  | { readonly kind: "node"; readonly node: GrammarNode }
  /** `count`: how often it was read. */
  | { readonly kind: "repeat"; readonly node: Extract<GrammarNode, { kind: "repeat" }>; readonly count: number }
  /** The items of a sequence from a number on. */
  | { readonly kind: "sequence"; readonly node: Extract<GrammarNode, { kind: "sequence" }>; readonly at: number }
  /** After a text of a switch, whose automaton says which it is. */
  | { readonly kind: "switch"; readonly node: Extract<GrammarNode, { kind: "switch" }> }
  | ObjectPart;

/** After `{` or a member: before the name of another member, or after a name, which the state of the automaton identifies. */
export interface ObjectPart {
  readonly kind: "object";
  readonly place: "member" | "name" | "property";
  readonly node: ObjectNode;
  /** Properties that remain. */
  readonly remaining: MemberSet;
  readonly count: number;
}

/** The automaton being read, and the stack that follows it. */
export interface Thread {
  readonly automaton: Automaton;
  readonly stack: Stack | undefined;
  /** By state of the automaton. */
  readonly positions: Map<number, Position>;
  /** Of the machine when the positions were computed. */
  generation: number;
}

/** A position in an automaton. */
export interface Position {
  readonly number: number;
  readonly automaton: Automaton;
  readonly state: number;
  readonly thread: Thread;
  /** The state in which it is the only reading. */
  alone: MachineState | undefined;
}

/** All readings of a text. */
export interface MachineState {
  readonly positions: readonly Position[];
  /** Whether the text may end here. */
  readonly accepts: boolean;
  /** By byte: the next state; null: none; undefined: not computed. */
  readonly next: (MachineState | null | undefined)[];
}

/** Distinguishes parts of one kind and node. */
export function getDetail(part: StackPart): string | number {
  switch (part.kind) {
    case "node":
    case "switch":
      return "";
    case "repeat":
      return part.count;
    case "sequence":
      return part.at;
    case "object":
      return `${part.place}${part.remaining.id},${part.count}`;
    default:
      return part satisfies never;
  }
}
