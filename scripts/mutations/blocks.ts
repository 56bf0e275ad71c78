/** Blocks of code, and which of them each group of checks runs: a mutant is held against the groups that run its block. */
import ts from "typescript";

/** A block of statements, or the expression that an arrow function returns. */
export interface CodeBlock {
  /** Index over all files. */
  readonly index: number;
  /** Offsets in the file of its first character, and of the first after it. */
  readonly start: number;
  readonly end: number;
}

/** The blocks of a file, an inner one after the one around it. `first`: index of the first. */
export function findBlocks(text: string, first: number): readonly CodeBlock[] {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.ESNext, true);
  const found: CodeBlock[] = [];
  const visit = (node: ts.Node): void => {
    const isExpression = ts.isArrowFunction(node.parent) && node.parent.body === node;
    if (node !== source && (ts.isBlock(node) || isExpression))
      found.push({ index: first + found.length, start: node.getStart(source), end: node.end });
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found;
}

/** Counts every entry into a block in `globalThis.enteredBlocks`. */
export function withCounters(text: string, blocks: readonly CodeBlock[]): string {
  const inserted = blocks.flatMap(({ index, start, end }) => {
    const count = `globalThis.enteredBlocks.add(${index})`;
    return text[start] === "{"
      ? [{ at: start + 1, text: `${count};` }]
      : [
          { at: start, text: `(${count}, ` },
          { at: end, text: ")" },
        ];
  });
  let [result, from] = ["globalThis.enteredBlocks ??= new Set();", 0];
  for (const { at, text: added } of inserted.toSorted((one, other) => one.at - other.at)) {
    result += text.slice(from, at) + added;
    from = at;
  }
  return result + text.slice(from);
}

/** Index of the innermost block around a place; undefined outside of all functions. */
export function blockAt(blocks: readonly CodeBlock[], offset: number): number | undefined {
  return blocks.findLast(({ start, end }) => start <= offset && offset < end)?.index;
}
