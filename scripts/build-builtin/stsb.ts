/** The STS benchmark: sentence pairs with a similarity given by people. Only ever used to measure. */
import { readFile } from "node:fs/promises";

export interface Pair {
  readonly a: string;
  readonly b: string;
  readonly score: number;
}

/** Lines of `sentence,sentence,score`; a sentence with commas stands in double quotes, in which a quote is doubled. */
export async function readPairs(path: string): Promise<Pair[]> {
  const lines = (await readFile(path, "utf8")).trim().split(/\r?\n/);
  return lines.map((line) => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
    );
    const [a = "", b = "", score = ""] = cells;
    if (cells.length !== 3) throw new Error(`${path}: ${line} has ${cells.length} columns`);
    return { a, b, score: Number(score) };
  });
}

/** Spearman's correlation: Pearson's of the ranks, equal values sharing their mean rank. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const mean = (a.length - 1) / 2;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (const [index, value] of x.entries()) {
    const [p, q] = [value - mean, (y[index] ?? 0) - mean];
    xy += p * q;
    xx += p * p;
    yy += q * q;
  }
  return xy / Math.sqrt(xx * yy);
}

function ranks(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const result: number[] = [];
  for (let first = 0; first < order.length;) {
    let end = first + 1;
    while (end < order.length && values[order[end] ?? 0] === values[order[first] ?? 0]) end++;
    for (const index of order.slice(first, end)) result[index] = (first + end - 1) / 2;
    first = end;
  }
  return result;
}
