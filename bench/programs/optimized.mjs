/** The optimized form of a program on a backend, timed as `run.mjs` times the plain one. */
import { compileProgram, optimize } from "inferyard/program";

/** Searches for the fastest form, and compiles it. `budget`: see `optimize`. */
export async function compileOptimized(program, { weights, backend, backends, budget }) {
  const found = await optimize(program, { weights, backend, backends, budget });
  const kernel = await compileProgram(found.program, { backend, backends, weights: found.weights, ...found.settings });
  return { kernel, report: found.report };
}

/** What a search changed, as a clause. */
export function describeChanges({ steps, settings, tried }) {
  const changes = [...steps.map(({ rule }) => rule), ...Object.entries(settings).map(([name, value]) => `${name} ${value}`)];
  const counts = ["faster", "slower", "bounded", "unproved", "wrong"].map((verdict) => [
    verdict,
    tried.filter((each) => each.verdict === verdict).length,
  ]);
  const told = counts.filter(([, count]) => count > 0).map(([verdict, count]) => `${count} ${verdict}`);
  return `${changes.join(", ") || "nothing is faster"} (${told.join(", ") || "nothing tried"})`;
}
