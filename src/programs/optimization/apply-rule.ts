/** Applies rules to graphs, with a proof for each place. */
import { getMessage } from "../../contract/errors.ts";
import { GraphEdit, OperatorGraph } from "./operator-graph.ts";
import { findDisproof } from "./proofs/prove-rewrite.ts";
import type { RewriteMatch, RewriteRule } from "./rewrite-rule.ts";

/** Most places at which one application of a rule rewrites. */
const maxPlaces = 256;

/** A rewritten graph, or why there is none, as a sentence without a full stop. */
export type GraphRewrite = { readonly graph: OperatorGraph; readonly places: number } | { readonly reason: string };

/** Proofs by the form of the rewrite, so that equal places are proved once. */
export type Proofs = Map<string, string | undefined>;

/** Rewrites a graph at the place with this name, or, if `site` is undefined, wherever the rule matches until it does not any more. */
export function applyRule(graph: OperatorGraph, rule: RewriteRule, site: string | undefined, proofs: Proofs): GraphRewrite {
  let current = graph;
  let places = 0;
  const done = new Set<string>();
  for (;;) {
    const match = findMatch(current, rule, site, done);
    if (match === undefined || places >= maxPlaces) break;
    done.add(match.site);
    const result = applyMatch(current, rule, match, proofs);
    if ("reason" in result) {
      if (site !== undefined) return result;
      continue;
    }
    current = result.graph;
    places += 1;
    if (site !== undefined) break;
  }
  return places === 0 ? { reason: "it matches no place" } : { graph: current, places };
}

function findMatch(
  graph: OperatorGraph,
  rule: RewriteRule,
  site: string | undefined,
  done: ReadonlySet<string>,
): RewriteMatch | undefined {
  for (const match of rule.matches(graph)) if (!done.has(match.site) && (site === undefined || match.site === site)) return match;
  return undefined;
}

function applyMatch(graph: OperatorGraph, rule: RewriteRule, match: RewriteMatch, proofs: Proofs): GraphRewrite {
  const edit = new GraphEdit(graph, match.site);
  try {
    match.rewrite(edit);
    const rewritten = new OperatorGraph(edit.apply(), graph.inputTypes);
    for (const name of edit.replaced) {
      const [before, after] = [graph.types.get(name), rewritten.types.get(name)];
      if (after !== undefined && JSON.stringify(before) !== JSON.stringify(after))
        return { reason: `the type of "${name}" would change` };
    }
    const form = describeRewrite(graph, rule, match, edit);
    if (!proofs.has(form)) proofs.set(form, findDisproof(graph, match, edit));
    const disproof = proofs.get(form);
    return disproof === undefined ? { graph: rewritten, places: 1 } : { reason: disproof };
  } catch (error) {
    return { reason: getMessage(error) };
  }
}

/** The rewrite with numbers in place of names, and the types of what it reads. */
function describeRewrite(graph: OperatorGraph, rule: RewriteRule, match: RewriteMatch, edit: GraphEdit): string {
  const numbers = new Map<string, number>();
  const getNumber = (name: string): number => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  const describeNodes = (nodes: RewriteMatch["matched"]): unknown =>
    nodes.map(({ operator, inputs, outputs, attributes }) => [
      operator,
      inputs.map(getNumber),
      outputs.map(getNumber),
      [...attributes],
    ]);
  const nodes = [describeNodes(match.matched), describeNodes(edit.added), edit.replaced.map(getNumber)];
  const read = [...numbers.keys()].map((name) => {
    const literal = edit.initializers.get(name) ?? graph.literal(name);
    const isSmall = literal !== undefined && literal.data.length < 8;
    return [
      edit.initializers.get(name)?.shape ?? graph.types.get(name),
      isSmall ? Array.from(literal.data as ArrayLike<unknown>, String) : "",
    ];
  });
  return JSON.stringify([rule.name, nodes, read], (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}
